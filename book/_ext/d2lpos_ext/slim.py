"""The finished site without what no page of it uses, most rules of the theme's styles, most icons of its font; and with
one style sheet where there were eleven, each a question to the server before anything shows.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from html import unescape
from pathlib import Path
from shutil import rmtree
from string import printable

import tinycss2
from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from programs import terser
from sphinx.application import Sphinx

from .svg import shorten

# What a selector asks of one element: its name, ids and classes.
ASKED = re.compile(r"[.#]-?[A-Za-z_][\w-]*|^[A-Za-z][\w-]*")
ARGUMENTS = re.compile(r"\([^()]*\)")  # of :not(), :is() and the like, which may name what is not there
STATE = re.compile(r"::?[\w-]+|\[[^]]*]")
TAG = re.compile(r'<(/?)([a-z][\w-]*)((?:[^<>"]|"[^"]*")*)>')
HAS = re.compile(r'\b(class|id)="([^"]*)"')
# The classes that a script sets, and all short strings, among them names of elements that it makes.
SETS = re.compile(r"""\bclass(?:Name)?\s*[:=]\s*["'`]([^"'`]*)|\bclassList\.(?:add|toggle)\(["'`]([^"'`]*)|["'`]([a-z][a-z0-9]*)["'`]""")
STYLES = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SPACE = re.compile(r""""[^"]*"|'[^']*'|\s*([>;{}])\s*|([:,])\s+(?!;)|(?<![\w.])0(?=\.\d)""")
ICON = re.compile("[\ue000-\uf8ff]")
# What the styles ask of the fonts of texts, and what browsers do by themselves.
WEIGHTS = (400, 400, 700)
FEATURES = ["calt", "ccmp", "clig", "kern", "liga", "lnum", "locl", "mark", "mkmk", "tnum"]
# Highlighted code and signatures are full of names and dots; they look like the text around them. The name of a
# parameter does not.
WORD = re.compile(r'<span class="pre">([^<]*)</span>')
PLAIN = re.compile(
    r'(?<!"sig-param">)<span class="(?:bp|n|nb|nn|o|p|w|default_value|sig-return-\w+)">([^<]*)</span>'
)
# The pieces of a string, which have one color.
PIECE = r'<span class="(?:s1|s2|sa|se|si)">'
STRING = re.compile(rf"({PIECE}[^<]*)((?:</span>{PIECE}[^<]*)+)")
# What no style, script or reader asks for: classes that Sphinx gives each name, and hints that repeat where a link leads.
IDLE = [
    (re.compile(r'<span class="sig-paren">([()])</span>'), r"\1"),
    (re.compile(r'(<a class="reference internal" href="#([^"]*)") title="\2"'), r"\1"),
    (
        re.compile(r'<code class="(xref )?(?:[\w ]+ )?docutils literal notranslate">'),
        r'<code class="\1literal">',
    ),
    (re.compile(r' notranslate">'), '">'),
    (re.compile(r'<span class="std std-ref">([^<]*)</span>'), r"\1"),
    (re.compile("<pre><span></span>"), "<pre>"),
]

# The scripts of the button that copies code, for a page that has none.
COPY = re.compile(r'\s*<script defer src="[^"]*/(?:clipboard\.min|copybutton)\.js[^"]*"></script>')
SHEET = re.compile(r'\s*<link [^>]*href="([^"]*_static/)([^"?]+\.css)[^"]*"[^>]*>')
# A custom property: a name, and a value in which strings and brackets may hold what would end it.
VARIABLE = re.compile(
    r"""(?<=[{;\s])(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|\((?:[^()"']|"[^"]*"|'[^']*'|\([^()]*\))*\)|[^;}"'()])*(?:;|(?=}))"""
)
MEDIA, WIDTH, INLINE = re.compile("@media[^{]*{"), re.compile(r"(?<=width:)\s*([\d.]+)px"), re.compile("<style>.*?</style>", re.DOTALL)
ADDRESS = re.compile(r"""url\(["']?(?!data:)([^)"']+)["']?\)""")
TRUETYPE = re.compile(r""",\s*url\([^)]*\.ttf[^)]*\)\s*format\(["']truetype["']\)""")  # every browser takes the WOFF 2 before it

logging.getLogger("fontTools").setLevel(logging.WARNING)  # its notes bury the warnings of a failed build


def slim(app: Sphinx) -> None:
    """Shorten the pages, styles and icons of a finished build."""
    static = Path(app.outdir) / "_static"
    for page in Path(app.outdir).rglob("*.html"):
        text = PLAIN.sub(r"\1", WORD.sub(r"\1", page.read_text("utf-8")))
        text = STRING.sub(lambda match: match[1] + re.sub(f"</span>{PIECE}", "", match[2]), text)
        for pattern, short in IDLE:
            text = pattern.sub(short, text)
        text = INLINE.sub(lambda style: in_em(style[0]), text)
        if 'class="highlight' not in text:
            text = COPY.sub("", text)
        page.write_text(shorten(text), "utf-8")
    with terser() as light:
        for script in static.glob("*.js"):
            script.write_text(light(script.read_text("utf-8")), "utf-8")
    pages = [page.read_text("utf-8") for page in Path(app.outdir).rglob("*.html") if "_static" not in page.parts]
    scripts = "".join(script.read_text("utf-8") for script in static.rglob("*.js") if script.name != "search-index.js")
    styles = {style: style.read_text("utf-8") for style in static.rglob("*.css")}
    meets, icons = matcher(pages, scripts, "".join(styles.values())), set()
    for style, css in styles.items():
        pruned = prune(TRUETYPE.sub("", css), bool if style.name == "book.css" else meets)  # our own names what our scripts put together
        style.write_text(pruned, "utf-8")
        icons |= set(ICON.findall(pruned))
    for font in (static / "vendor" / "fontawesome" / "webfonts").glob("*.woff2"):
        cut(font, font, text="".join(icons))
    drawn = {ord(letter) for letter in unescape("".join([*pages, scripts])) + printable}
    for font in (static / "fonts").glob("*-wght-*.woff2"):
        cut(font, font, drawn, features=FEATURES, weights=WEIGHTS if "-latin-wght-" in font.name else None)
    for idle in [*static.rglob("*.map"), *static.rglob("*.ttf")]:
        idle.unlink()
    rmtree(static / "locales", ignore_errors=True)  # translations of the theme; the pages are in English
    join(Path(app.outdir))


def join(site: Path) -> None:
    """Put the style sheets that the pages load into one, in their order."""
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html") if "_static" not in path.parts}
    # A page of an earlier build has the one already.
    order = max(([name for _, name in SHEET.findall(page)] for page in pages.values()), key=len)
    css = "".join(moved((site / "_static" / name).read_text("utf-8"), Path(name).parent) for name in order)
    scripts = (path.read_text("utf-8") for path in (site / "_static").rglob("*.js"))
    css = SPACE.sub(lambda space: space[0] if space[0][0] in "\"'" else space[1] or space[2] or "", in_em(without_films(css)))
    css = without_idle(css, "".join([*pages.values(), *scripts])).replace(";}", "}")
    (site / "_static" / "all.css").write_text(css, "utf-8")
    version = sha256(css.encode()).hexdigest()[:8]
    for path, page in pages.items():
        if match := SHEET.search(page):
            one = f'\n<link rel="stylesheet" href="{match[1]}all.css?v={version}">'
            path.write_text(page[: match.start()] + one + SHEET.sub("", page[match.start() :]), "utf-8")


def in_em(css: str) -> str:
    """Return a style sheet whose queries ask how many letters are as wide as the window, and not how many pixels.

    So a reader whose browser shows larger letters gets the layout that has room for them.

    >>> in_em("@media (min-width:1200px) and (max-height:40px) {a {width: 16px}}")
    '@media (min-width:75em) and (max-height:40px) {a {width: 16px}}'
    """
    return MEDIA.sub(lambda query: WIDTH.sub(lambda width: f"{float(width[1]) / 16:.6g}em", query[0]), css)


def without_films(css: str) -> str:
    """Return a style sheet without the @keyframes that nothing names.

    >>> without_films("@keyframes a {to {top: 0}} @keyframes b {to {top: 0}} p {animation: b 1s}")
    '@keyframes b {to {top: 0}} p {animation: b 1s}'
    """
    for film in tinycss2.parse_stylesheet(css):
        if film.type == "at-rule" and film.lower_at_keyword.endswith("keyframes"):
            name = tinycss2.serialize(film.prelude).strip()
            if not re.search(rf"animation[\w-]*:[^;}}]*(?<![\w-]){re.escape(name)}(?![\w-])", css):
                css = css.replace(film.serialize(), "")
    return css.strip()


def without_idle(css: str, elsewhere: str) -> str:
    """Return a style sheet without the custom properties that nothing reads, nor what is written `elsewhere`.

    >>> without_idle("a {--x: 1; --y: var(--x); color: var(--z); --z: red}", "")
    'a {  color: var(--z); --z: red}'
    """
    read = set(re.findall(r"--[\w-]+", elsewhere))
    while True:
        asked = read | set(re.findall(r"var\(\s*(--[\w-]+)", css))
        shorter = VARIABLE.sub(lambda one, asked=asked: one[0] * (one[1] in asked), css)
        if shorter == css:
            return css
        css = shorter


def moved(css: str, folder: Path) -> str:
    """Return a style sheet of `folder` with the addresses that hold outside of it.

    >>> moved("a {src: url(../x.svg)}", Path("styles"))
    'a {src: url(x.svg)}'
    """
    return ADDRESS.sub(lambda url: f"url({os.path.normpath(folder / url[1])})", css)


def matcher(pages: Iterable[str], scripts: str, css: str) -> Callable[[str], bool]:
    """Return what says of a selector whether an element of a page, or one that a script makes or marks, may meet it.

    >>> meets = matcher(['<nav class="a"><p class="b">'], 'p.classList.add("c")', ".a .b .c .d #e nav p q")
    >>> [meets(one) for one in ("nav .b:hover", ".b .a", "nav.b", "nav.c > p", ".d", "p.b.c")]
    [True, False, False, True, False, True]
    """
    asked = set(re.findall(r"[.#]?-?[A-Za-z_][\w-]*", css))
    elements = set()
    for page in pages:
        around = []
        scripts += "".join(script[0] for script in STYLES.finditer(page))
        for ends, name, attributes in TAG.findall(STYLES.sub("", page)):
            if ends:
                while name in (one for one, _ in around) and around.pop()[0] != name:
                    pass
                continue
            told = (f"{'.' if kind == 'class' else '#'}{word}" for kind, value in HAS.findall(attributes) for word in value.split())
            element, above = asked.intersection([name, *told]), around[-1][1] if around else frozenset()
            elements.add((frozenset(element), above))
            if name not in EMPTY and not attributes.endswith("/"):
                around.append((name, above | element))
    marks = {f".{name}" for one, other, _ in SETS.findall(scripts) for name in f"{one} {other}".split()}
    marks |= {name for _, _, name in SETS.findall(scripts)}
    inside = {(one, other) for element, above in elements for one in above for other in element}
    shapes = {element for element, _ in elements}
    single = frozenset().union(*shapes)

    def meets(selector: str) -> bool:
        parts = [set(ASKED.findall(part)) for part in re.split(r"[>+~\s]+", STATE.sub("", bare(selector)).strip())]
        kept = [{one for one in part if one not in marks} for part in parts]
        if kept != parts:
            return all(part <= single for part in kept)
        near = "+" in selector or "~" in selector
        return all(any(part <= shape for shape in shapes) for part in parts) and (
            near or all((one, other) in inside for part in parts[:-1] for one in part for other in parts[-1])
        )

    return meets


def prune(css: str, meets: Callable[[str], bool]) -> str:
    """Return a style sheet with the selectors alone of which `meets` is true.

    >>> prune(".a,.b:not(.c) {top: 0} @media print {.b {top: 1px}}", lambda selector: ".b" in selector)
    '.b:not(.c){top: 0}@media print {.b{top: 1px}}'
    """
    rules_left = []
    for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule":
            if selectors := list(filter(meets, split(tinycss2.serialize(rule.prelude)))):
                rules_left.append(f"{','.join(selectors)}{{{tinycss2.serialize(rule.content)}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports", "layer", "container"):
            if rule.content is None:
                rules_left.append(rule.serialize())
            elif inner := prune(tinycss2.serialize(rule.content), meets):
                rules_left.append(f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{inner}}}")
        else:
            rules_left.append(rule.serialize())
    return "".join(rules_left)


def split(selectors: str) -> list[str]:
    """Return the parts of a list of selectors; commas inside parentheses do not part them."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", selectors)]


def bare(selector: str) -> str:
    while ARGUMENTS.search(selector):
        selector = ARGUMENTS.sub("", selector)
    return selector


def cut(font: Path, out: Path, unicodes: Iterable[int] = (), text: str = "", features: Sequence[str] = ("*",), weights: tuple | None = None) -> None:
    """Write a font with some of its characters, and some of its weights (the least, the usual, the most), for the web."""
    options = subset.Options(flavor="woff2", layout_features=list(features), hinting=False)  # for coarse screens
    loaded = subset.load_font(font, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=list(unicodes), text=text)
    subsetter.subset(loaded)
    if weights:
        subset.save_font(loaded, out, subset.Options())  # else its lists are those of before
        loaded = instancer.instantiateVariableFont(TTFont(out), {"wght": weights})
    subset.save_font(loaded, out, options)
