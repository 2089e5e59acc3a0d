"""Turn a matplotlib figure into a picture that takes the colors of the page around it."""

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from .image import image
from .style import PAGE, SANS, STYLE

# Each color of the book as a custom property of the page, with the light color as the fallback.
COLORS = {"#000000": "currentColor", "#ffffff": f"var(--paper, {PAGE['paper']})"}
COLORS |= {color: f"var(--{name}, {color})" for name, color in PAGE.items()}
COLORS |= {style.color: style.css for style in STYLE.values()}

# Outside the book's pages a picture brings its own light paper, so it can be read on any theme.
INK = f"color:var(--ink, {PAGE['ink']})"
BACKGROUND = f";background:var(--paper, {PAGE['paper']})"


@dataclass(frozen=True)
class Picture:
    """An SVG image and the words that stand for it."""

    svg: str
    alt: str

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": image(self.svg, self.alt), "text/plain": self.alt}


def picture(body: str, alt: str, size: tuple[Any, ...], view: tuple[Any, ...]) -> Picture:
    """Put the root element around the `body` of an SVG.

    `size` is its width and height on the page, `view` those of its own coordinates. `alt` says in words what
    the picture shows; an empty one raises ValueError.
    """
    if not alt.strip():
        raise ValueError("alt is empty: say in words what the figure shows, for readers who cannot see it")
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {view[0]} {view[1]}" role="img" aria-label="{escape(alt)}" fill="currentColor" '
        f'font-family="{SANS}" stroke-linejoin="round" style="{INK}{BACKGROUND}">\n{body}\n</svg>\n'
    )
    return Picture(svg, alt)


def show(fig: Figure, alt: str) -> Picture:
    """Return `fig` as a `Picture` and close it.

    Write `show(fig, alt="…")` as the last line of a cell. Black and the book's colors follow the page's
    theme, and every other color stays as drawn. The same figure gives the same bytes on every run. Text in `$…$`
    is placed letter by letter for another face: write Unicode (`n − m`, `θ`) instead. Raises ValueError for
    an empty alt.

    >>> fig, ax = figure()
    >>> curve = ax.plot([1, 2, 4])
    >>> picture = show(fig, alt="A curve that doubles.")
    >>> picture.svg[:4]
    '<svg'
    """
    file = io.StringIO()
    with plt.rc_context({"svg.fonttype": "none"}):
        fig.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    plt.close(fig)
    source, names = _named(file.getvalue(), alt)
    root = ET.fromstring(source)
    body = "\n".join(ET.tostring(child, "unicode") for child in _children(root, names))
    return picture(body, alt, (root.get("width"), root.get("height")), root.get("viewBox").split()[2:])


def _named(source: str, alt: str) -> tuple[str, set[str]]:
    """An SVG whose parts that are referred to have new names, and these names.

    They come from the words of the picture, so that the figures of a page differ, and from the parts' order:
    matplotlib's come from coordinates, whose last digit is another one on another processor.
    """
    words = [alt, *re.findall(r"<text[^>]*>([^<]*)<", source)]
    key = sha256("\n".join(words).encode()).hexdigest()[:8]
    parts = [name for name in re.findall(r' id="([^"]+)"', source) if re.search(rf'#{name}[")]', source)]
    new = {name: f"part-{key}-{number}" for number, name in enumerate(dict.fromkeys(parts))}
    renamed = re.sub(r'(?<=[#"])[\w-]+(?=[")])', lambda name: new.get(name[0], name[0]), source)
    return renamed, set(new.values())


def _children(parent: ET.Element, used: set[str]) -> list[ET.Element]:
    """The children without what only matplotlib needs, with the page's colors and faces."""
    children = []
    for child in parent:
        child.tag = child.tag.rpartition("}")[2]
        if child.tag in ("metadata", "style"):
            continue
        child.attrib = {
            name.rpartition("}")[2]: _attribute(name, value)
            for name, value in child.attrib.items()
            if not (
                name == "id" and value not in used or name == "transform" and value.startswith("rotate(-0 ")
            )
        }
        child[:] = _children(child, used)
        child.tail = None
        if child.tag not in ("text", "tspan"):
            child.text = None
        if child.tag == "g" and not child.attrib:
            children += child
        elif child.tag != "defs" or len(child):
            children.append(child)
    return children


def _attribute(name: str, value: str) -> str:
    if name in ("d", "x", "y", "width", "height") or value.startswith("rotate"):
        # Two decimals are finer than a screen. Processors seldom differ in them, and then by one in the last.
        value = re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value)
        return re.sub(r"\s*([A-Za-z])\s*", r"\1", value).strip()
    if value.startswith("data:"):
        return value.replace(" ", "")  # XML makes spaces of line ends
    if name == "style":
        value = re.sub(r"font: (?:\w+ )*([\d.]+px) [^;]*", r"font-size: \1", value)  # matplotlib before 3.10
        value = re.sub(r"font-family: [^;]*(; |$)", "", value)
        return re.sub("#[0-9a-f]{6}", lambda color: COLORS.get(color[0], color[0]), value)
    return value
