"""Formulas become MathML while the book is built, so that a page shows them without a script, and nothing moves.

Temml translates them. Their font is STIX Two Math, of which the site gets the characters that formulas use.
"""

import re
from html import unescape
from pathlib import Path

from docutils import nodes
from fontTools.ttLib import TTFont
from py_mini_racer import JSEvalException, MiniRacer
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from .slim import cut

ROOT = 0x221A
# What browsers put in place of single letters, and the sign of roots.
ITALIC = [ROOT, 0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]
# Temml sets a space before "ln" or "max" after a letter, but not after an index, a fraction, a root or a parenthesis.
NARROW = re.compile(
    r'((?:</m(?:sub|sup|subsup|frac|style|sqrt|root|over)>|<mo [^>]*form="postfix"[^>]*>[^<]*</mo></mrow>)(?:<mrow>)?)'
    r"(?=(?:<msub>)?<mi>[A-Za-z]{2,}</mi>)"
)
REPAIRS = [
    (NARROW, r'\1<mspace width="0.1667em"></mspace>'),
    # Chromium keeps room around dots, as around a sign that it does not know.
    (re.compile("<mo>([…⋯⋮⋱])</mo>"), r'<mo lspace="0em" rspace="0em">\1</mo>'),
    # Firefox draws a thick bar, too far left; a border is where it should be.
    (re.compile('<menclose notation="top" class="tml-overline">(.*?)</menclose>'), r'<mrow class="tml-overline">\1</mrow>'),
]
VENDOR = Path(__file__).parents[2] / "_vendor"
FONT = VENDOR / "stix-two-math" / "stix-two-math-latin-400-normal.woff2"


class Temml:
    """A JavaScript engine that has read Temml; it starts with the first formula."""

    def __init__(self) -> None:
        self.engine = None

    def mathml(self, tex: str, display: bool) -> str:
        """Raises JSEvalException for a formula that is none."""
        if self.engine is None:
            self.engine = MiniRacer()
            self.engine.eval((VENDOR / "temml" / "temml.min.js").read_text("utf-8"))
        options = {"displayMode": display, "throwOnError": True, "strict": True}
        formula = self.engine.call("temml.renderToString", tex, options)
        for pattern, replacement in REPAIRS:
            formula = pattern.sub(replacement, formula)
        return formula

    def close(self, *_: object) -> None:
        """Without this its thread outlives the build."""
        if self.engine is not None:
            self.engine.close()
            self.engine = None


TEMML = Temml()


def inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(f'<span class="math">{translated(node, display=False)}</span>')
    raise nodes.SkipNode


def block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math") + translated(node, display=True) + "</div>\n")
    raise nodes.SkipNode


def translated(node: nodes.Element, display: bool) -> str:
    try:
        return TEMML.mathml(node.astext(), display)
    except JSEvalException as error:
        logging.getLogger(__name__).warning(f"formula: {error}", location=node)
        return ""


def write_font(app: Sphinx) -> None:
    """Write the font with the characters of all formulas of the site."""
    site = Path(app.outdir)
    pages = (path.read_text("utf-8") for path in site.rglob("*.html"))
    formulas = "".join(formula for page in pages for formula in re.findall(r"<math\b.*?</math>", page, re.DOTALL))
    text = unescape(re.sub(r"<[^>]*>", "", formulas))
    fonts = site / "_static" / "fonts"
    cut(FONT, fonts / "stix-two-math.woff2", ITALIC, text)
    cut(FONT, fonts / "stix-two-math-roots.woff2", [ROOT])
    drop_tall_roots(fonts / "stix-two-math.woff2")


def drop_tall_roots(font: Path) -> None:
    """Leave one sign of roots in a font: Chromium keeps room behind a root, however low, for the widest one there is."""
    with TTFont(font) as opened:
        variants = opened["MATH"].table.MathVariants
        root = variants.VertGlyphCoverage.glyphs.index(opened.getBestCmap()[ROOT])
        signs = variants.VertGlyphConstruction[root]
        signs.GlyphAssembly, signs.MathGlyphVariantRecord = None, signs.MathGlyphVariantRecord[:1]
        opened.save(font)


def setup_formulas(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("build-finished", TEMML.close)
