"""Faults of the theme and of the extensions in use, mended in the finished pages."""

import re
from pathlib import Path

from sphinx.application import Sphinx

FIRST = '<figure class="first"'
STORAGE = re.compile(r"\b(?:window\.)?((?:local|session)Storage\b)")
KEEPING = ("scripts/pydata-sphinx-theme.js", "sphinx_highlight.js")
# The theme measures what scrolls and marks it. For each the browser would lay out the whole page anew, with all code that is
# folded. An observer is told when a box has its size, or another one, and what is folded waits until it is opened.
MARK = re.compile(r"\be\.tabIndex=([^?;{}]+\?0:-1)")
OBSERVER = "const scrolling=new ResizeObserver(all=>{for(const{target:e}of all){const to=CONDITION;if(e.tabIndex!==to)e.tabIndex=to}});"
UNUSED = ("fontawesome", "bootstrap", "design-tabs")
EXPECTED = re.compile(r'blocking="render" href="#([^"]+)"')
SECTION = re.compile(r"(?=<section [^>]*>\s*(?:<span[^>]*></span>\s*)*<h2)")
UNSEEN = re.compile(r"<(details|svg|script|style|annotation)\b.*?</\1>|<[^>]*>|\s+(?=\s)", re.DOTALL)
PICTURE = re.compile(r'<svg [^>]*viewBox="\S+ \S+ \S+ ([\d.]+)"')
FORMULA = '<span class="math">(?:(?!</math>).)*</math></span>'


# How lines of a module begin that a script does without: blanks, a comment that fills the line, and what is exported.
BEGINNING = re.compile(r"^\s*(?:(?://.*|/\*\*.*\*/)\n|export )?", re.MULTILINE)


def at_once(module: re.Match) -> str:
    """Return a module as a script that runs where it stands."""
    return f'<script>\n"use strict"; {{\n{BEGINNING.sub("", module[1])}}}\n</script>'


REPAIRS = [
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        # They name what Bootstrap does with them, which no page loads. A title says as much.
        (r' data-bs-(?:toggle|placement|title)="[^"]*"', ""),
        # The link that skips all else leads to what stands above the text.
        (r'<article class="bd-article', '<article id="page-text" class="bd-article'),
        # Each box has a section with the same id, which no rule below should meet.
        (r'(<section[^>]*?) id="(?:exercise|solution|proof)-content"', r"\1"),
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
        # All proofs of a page are called "proof".
        (r'(<div class="proof admonition") id="proof">\s*<p>Proof\. ', r"\1>\n<p><em>Proof.</em> "),
        # What touches a formula stays on its line; Safari would part them.
        (rf"[(\[“‘]+{FORMULA}[^\s<>]*|{FORMULA}[^\s<>]+", r'<span class="whole">\g<0></span>'),
        # A signature breaks after its parameters, so what follows one belongs to it.
        (r'</em>, (?=<em class="sig-param">)', ",</em> "),
        (r'</em>(<span class="sig-paren">\)</span>)', r"\1</em>"),
        (r'<p class="sidebar-title"></p>\s*', ""),
        # A remark in the margin is no part of the page that one would jump to.
        (r'<aside class="margin', '<aside role="note" class="margin'),
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
    return wait(page)


def wait(page: str) -> str:
    """Return a page whose sections wait below its first screen (book.js), each about as high as its words and pictures say.

    >>> wait('blocking="render" href="#b"><section id="a"><h2>A</h2></section><section id="b"><h2>Words</h2></section>').partition("><")[2]
    'section id="a"><h2>A</h2></section><section data-waits style="--h:4px" id="b"><h2>Words</h2></section>'
    """
    expected = EXPECTED.search(page)
    start = page.rfind("<", 0, page.find(f' id="{expected[1]}"')) if expected else len(page)
    shown, *waiting = SECTION.split(page[start:])
    for at, section in enumerate(waiting):
        high = 0.72 * len(UNSEEN.sub("", section)) + 1.35 * sum(map(float, PICTURE.findall(section)))
        waiting[at] = f'<section data-waits style="--h:{high:.0f}px"{section.removeprefix("<section")}'
    return page[:start] + shown + "".join(waiting)


def repair_pages(app: Sphinx) -> None:
    """Mend each page of a finished build."""
    site = Path(app.outdir)
    for path in site.rglob("*.html"):
        if "_static" in path.parts:
            continue
        path.write_text(repair(path.read_text("utf-8")), "utf-8")
    for name in KEEPING:
        path = site / "_static" / name
        script = STORAGE.sub(r"kept.\1", path.read_text("utf-8").replace("kept.", ""))
        if condition := MARK.search(script):
            script = OBSERVER.replace("CONDITION", condition[1]) + MARK.sub("scrolling.unobserve(e),scrolling.observe(e)", script)
        path.write_text(script, "utf-8")
    for name in UNUSED:
        for path in (site / "_static").rglob(f"{name}.js*"):
            path.unlink()
