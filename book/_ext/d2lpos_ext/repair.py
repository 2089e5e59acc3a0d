"""Faults of the theme and of the extensions in use, mended in the finished pages."""

import re
from pathlib import Path

from sphinx.application import Sphinx

FIRST = '<figure class="first"'
# Where the browser keeps nothing, asking for its storage is an error, which the theme does not expect.
KEPT = """<script>
const kept = Object.fromEntries(["localStorage", "sessionStorage"].map(name => {
  try { return [name, window[name]]; } catch {}
  const here = new Map();
  return [name, {getItem: key => here.get(key) ?? null, setItem: (key, value) => here.set(key, `${value}`), removeItem: key => here.delete(key)}];
}));
</script>
"""
STORAGE = re.compile(r"\b(?:window\.)?((?:local|session)Storage\b)")
KEEPING = ("scripts/pydata-sphinx-theme.js", "sphinx_highlight.js")
UNUSED = ("togglebutton", "design-tabs", "bootstrap")
FORMULA = '<span class="math">(?:(?!</math>).)*</math></span>'


# How lines of a module begin that a script does without: blanks, a comment that fills the line, and what is exported.
BEGINNING = re.compile(r"^\s*(?:(?://.*|/\*\*.*\*/)\n|export )?", re.MULTILINE)


def at_once(module: re.Match) -> str:
    """Return a module as a script that runs where it stands."""
    return f'<script>\n"use strict"; {{\n{BEGINNING.sub("", module[1])}}}\n</script>'


REPAIRS = [
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        # 1.4 MB of script that redraws icons which the web font has drawn already.
        (r'<script src="[^"]*/fontawesome\.js[^"]*"></script>', ""),
        # Scripts that no page needs: tabs and folds of a kind that the book does not have, and Bootstrap, for tooltips alone.
        # A title says as much.
        (rf"\s*<(?:script|link)\b[^>]*/(?:{'|'.join(UNUSED)})\.js[^>]*>(?:</script>)?", ""),
        (r"\s*<script>(?:let toggle|var togglebuttonSelector)[^<]*</script>", ""),
        (r' data-bs-(?:toggle|placement|title)="[^"]*"', ""),
        (
            r'<script data-cfasync="false">(.*?</script>)',
            lambda script: KEPT + "<script>" + STORAGE.sub(r"kept.\1", script[1]),
        ),
        # It lies on what one reads.
        (r'<button [^>]*id="pst-back-to-top".*?</button>', ""),
        # Under a policy, browsers look no further than a script that they wait for, so these would come one by one. The
        # first is needed at once.
        (r'<script (?=[^>]*src="[^"]*_static/(?!documentation_options|ledger))(?!defer)', "<script defer "),
        # A style sheet that only names another: a second wait.
        (r"_static/styles/theme\.css\?", "_static/basic.css?"),
        # Firefox would fetch the next page ahead of the reader, is refused by the policy, and says so in the console.
        (r'\s*<link rel="(?:next|prev)"[^>]*>', ""),
        # Bootstrap marks no entry of "On this page" while a long section is read; book.js does.
        (r' data-bs-spy="scroll" data-bs-target="[^"]*" data-offset="\d+" data-bs-root-margin="[^"]*"', ""),
        # The first page has the title of the book, which would stand there twice.
        (r"<title>(.*?) &#8212; \1</title>", r"<title>\1</title>"),
        # A place for the advertisements of a host that the book does not use.
        (r'<div id="ethical-ad-placement".*?</div>', ""),
        # The link that skips all else leads to what stands above the text.
        (r'href="#main-content"(.*?<article) class', r'href="#page-text"\1 id="page-text" class'),
        # Nothing is shown before a screenful is there, or the whole of a short text: a table of which half has come has
        # other columns than the whole, and the blank after a half-read line counts as one that moves. A page that is
        # full of programs says itself which figure ends its first screen.
        (r'<footer class="bd-footer-article">', '<footer id="after-text" class="bd-footer-article">'),
        (
            rf'(?=</head>.*?<article(?:.*?(?={FIRST})|.{{14500}}.*?|.*)(?:<section|<footer|{FIRST}) id="([^"]+)")',
            r'<link rel="expect" blocking="render" href="#\1">\n',
        ),
        # The sidebar holds a name and a search besides its navigation, so it has to be a landmark itself.
        (r'(<div id="pst-primary-sidebar" class="[^"]*")>', r'\1 role="complementary" aria-label="Book">'),
        # These labels hide the words of the element: it would be spoken of by a name that nobody sees.
        (r'<summary aria-label="Toggle hidden content">', "<summary>"),
        (r'(<button class="[^"]*\bsearch-button-field\b[^"]*") title="Search" aria-label="Search"', r"\1"),
        # Each box has a section with the same id, and all proofs of a page are called "proof".
        (r'(<section[^>]*?) id="(?:exercise|solution|proof)-content"', r"\1"),
        (r'(<div class="proof admonition") id="proof">\s*<p>Proof\. ', r"\1>\n<p><em>Proof.</em> "),
        # What touches a formula stays on its line; Safari would part them.
        (rf"[(\[“‘]+{FORMULA}[^\s<>]*|{FORMULA}[^\s<>]+", r'<span class="whole">\g<0></span>'),
        # A signature breaks after its parameters, so what follows one belongs to it.
        (r'</em>, (?=<em class="sig-param">)', ",</em> "),
        (r'</em>(<span class="sig-paren">\)</span>)', r"\1</em>"),
        (r'<p class="sidebar-title"></p>\s*', ""),
        # The parts of a list are its items; what a bibliography's entry is said to be is deprecated.
        (r'role="doc-biblioentry"', 'role="listitem"'),
        # A figure's module would wait for the whole page, and the text below the figure would move.
        (r'<script type="module">\n(// What the hero figures share.*?)</script>', at_once),
    )
]


def repair(page: str) -> str:
    """Return a page's HTML without the faults."""
    for pattern, replacement in REPAIRS:
        page = pattern.sub(replacement, page)
    return page


def repair_pages(app: Sphinx, exception: Exception | None) -> None:
    """Mend each page of a finished build."""
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for path in site.rglob("*.html"):
        if "_static" in path.parts:
            continue
        path.write_text(repair(path.read_text("utf-8")), "utf-8")
    for name in KEEPING:
        path = site / "_static" / name
        path.write_text(STORAGE.sub(r"kept.\1", path.read_text("utf-8").replace("kept.", "")), "utf-8")
    for name in ("fontawesome", *UNUSED):
        for path in (site / "_static").rglob(f"{name}.js*"):
            path.unlink()
