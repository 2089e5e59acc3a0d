"""The finished site without what no page of it uses: most rules of the theme's styles, most icons of its font."""

import logging
import re
from collections.abc import Iterable, Sequence
from html import unescape
from pathlib import Path
from shutil import rmtree
from string import printable

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from programs import terser
from sphinx.application import Sphinx

from .styles import in_em, join, matcher, prune
from .svg import shorten

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
INLINE = re.compile("<style>.*?</style>", re.DOTALL)
# What our sheet draws in another way wherever a page has it: colors of code, tables, boxes of exercises and theorems.
OVERRULED = re.compile(
    r"\.highlight \.(?:[km]|k[cn]|ow|m[fi]|s[12adei]|c1|n[cef]|fm|vm)$|table\.dataframe|^\.table t|^div\.(?:exercise|solution|theorem)|div\.cell:has\(> \*"
)
# Where a rule asks whether a button is there, all styles are computed anew when the buttons come.
BUTTON = ":has(button.copybtn)"
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
        # Our own names what our scripts put together.
        theirs = style.name != "book.css"
        pruned = prune(TRUETYPE.sub("", css).replace(BUTTON, ""), lambda one, theirs=theirs: not theirs or bool(meets(one)) and not OVERRULED.search(one))
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
    join(Path(app.outdir), meets)


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
