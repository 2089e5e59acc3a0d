"""One look for every figure of the book, and one color for every encoding."""

from dataclasses import dataclass
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation


@dataclass(frozen=True)
class EncodingStyle:
    """How one encoding looks wherever it appears.

    Some of the colors are too light for text, and some look alike to the color-blind: draw them with the dash
    pattern or the marker, and write the label in ink.
    """

    key: str
    label: str
    color: str  # of a mark on light paper; on the page `css` follows the theme
    dash: tuple[float, ...]  # lengths of strokes and gaps in line widths; () is a solid line
    marker: str  # matplotlib's name

    @property
    def css(self) -> str:
        """The color on the page, with the light one where there is no page around the figure."""
        return f"var(--enc-{self.key}, {self.color})"

    @property
    def line(self) -> dict[str, Any]:
        """Keyword arguments of `ax.plot`."""
        return {"color": self.color, "linestyle": (0, self.dash) if self.dash else "-"}

    @property
    def cmap(self) -> LinearSegmentedColormap:
        """From transparent to the color, so that a heatmap sits on dark paper as well as on light."""
        return LinearSegmentedColormap.from_list(self.key, [to_rgba(self.color, 0), to_rgba(self.color, 1)])


# Okabe and Ito's colors; their orange is darker here, because it hardly showed on light paper.
STYLE = {
    style.key: style
    for style in (
        EncodingStyle("none", "none", "#6f7378", (1, 2), "x"),
        EncodingStyle("sinusoidal", "sinusoidal", "#0072b2", (9, 2), "o"),
        EncodingStyle("learned", "learned", "#c98500", (4, 2), "s"),
        EncodingStyle("rope", "RoPE", "#d55e00", (), "D"),
        EncodingStyle("relative", "relative", "#009e73", (7, 2, 1.5, 2), "^"),
        EncodingStyle("alibi", "ALiBi", "#cc79a7", (4, 1.5, 1, 1.5, 1, 1.5), "v"),
    )
}
"""The look of each encoding by its key: "none", "sinusoidal", "learned", "rope", "relative", "alibi".

>>> STYLE["rope"].label, STYLE["rope"].color
('RoPE', '#d55e00')
"""

# The page's own colors: `book.css` holds the same, and their dark forms.
PAGE = {
    "ink": "#1d1f22",
    "ink-2": "#595d63",
    "rule": "#dcd8cf",
    "paper": "#fffefb",
    "ground": "#f5f3ed",
    "fox": "#6b7500",
    "dog": "#6a45b5",
}


def tint(word: str) -> str:
    """The color of a word on the page: fox and dog have their own, which no encoding has.

    >>> tint("fox"), tint("jumps")
    ('var(--fox, #6b7500)', 'currentColor')
    """
    return f"var(--{word}, {PAGE[word]})" if word in ("fox", "dog") else "currentColor"

SANS = "'Source Sans 3', sans-serif"
MONO = "'Source Code Pro', ui-monospace, monospace"

# A heatmap that is no encoding is gray.
matplotlib.colormaps.register(STYLE["none"].cmap, name="d2lpos", force=True)

RC = {
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.facecolor": "none",
    "axes.edgecolor": PAGE["ink-2"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "axes.titlelocation": "left",
    "axes.prop_cycle": plt.cycler(color=["black"]),  # a series that is no encoding is ink
    "grid.color": PAGE["rule"],
    # Layout is measured in the face that matplotlib brings along, so it is the same on every machine;
    # the page then sets the text in its own face, which is a little narrower.
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "xtick.color": PAGE["ink-2"],
    "xtick.labelcolor": "black",
    "ytick.color": PAGE["ink-2"],
    "ytick.labelcolor": "black",
    "image.cmap": "d2lpos",
    "image.interpolation": "none",  # one stored pixel for each entry of a matrix
    "svg.fonttype": "none",
}


def figure(width: float = 5.4, height: float = 3.0, **subplots: Any) -> tuple[Figure, Any]:
    """Return `(figure, axes)` in the book's style, like `plt.subplots(**subplots)`.

    `width` and `height` are in inches. More than 5.4 makes labels too small on a phone, and is refused.
    The style stays set for the session, because matplotlib reads some of it only when an artist is drawn.

    >>> fig, (left, right) = figure(ncols=2)
    >>> fig.get_size_inches()
    array([5.4, 3. ])
    """
    if not 0 < width <= 5.4:
        raise ValueError(f"width is {width} inches; it must be positive and at most 5.4")
    plt.rcParams.update(RC)
    return plt.subplots(figsize=(width, height), **subplots)


def label_line(line: Line2D, text: str | None = None) -> Annotation:
    """Write the label of a line at its right end, where it reads faster than in a legend; return the text.

    >>> fig, ax = figure()
    >>> [curve] = ax.plot([1, 2, 4], label="doubles")
    >>> label_line(curve).get_text()
    'doubles'
    """
    return line.axes.annotate(
        text or line.get_label(), xy=(line.get_xdata()[-1], line.get_ydata()[-1]),
        xytext=(5, 0), textcoords="offset points", verticalalignment="center", annotation_clip=False,
    )
