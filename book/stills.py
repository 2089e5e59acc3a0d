"""Draw what stands of each figure of the book where scripts do not run, as its script draws it for paper: `make cards`.

Chromium lays the figure out and tells where everything is, how it is painted, and where each line of its text stands
(DOMSnapshot of its protocol). From that a picture is written in which colors are still those of the page.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from html import escape
from itertools import groupby
from pathlib import Path

from d2lpos.figures.hero import STILLS, Hero, hero
from d2lpos.figures.show import COLORS, picture

ROOT = Path(__file__).parent.parent
WIDTH = 500  # stands in a column, and can be read on a phone
SIDES = ("x", "y", "width", "height")
# How a shape is painted unless it says so, and what its children take from it.
PAINT = {
    "fill": "rgb(0, 0, 0)",
    "stroke": "none",
    "stroke-width": "1px",
    "stroke-dasharray": "none",
    "stroke-linecap": "butt",
    "fill-opacity": "1",
    "stroke-opacity": "1",
    "font-size": "16px",
    "font-weight": "400",
    "text-anchor": "start",
}
OWN = {"opacity": "1", "transform": "none", "vector-effect": "none"}
ASKED = [*PAINT, *OWN, "visibility", "color", "background-color"]
PLACE = re.compile("[xyr][12xy]?|c[xy]|d|points|width|height")


def figures() -> Iterator[Hero]:
    """The figures that stand in the book, in its notebooks and on its first page."""
    yield hero("clocks", p=20, plain=True)
    for path in sorted([*ROOT.glob("chapters/**/*.ipynb"), *ROOT.glob("book/*.ipynb")]):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code" and "hero(" in source:
                for call in ast.walk(ast.parse(source)):
                    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "hero":
                        options = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
                        yield hero(ast.literal_eval(call.args[0]), **options)


class Snapshot:
    """What a page shows, as Chromium tells it: nodes by number, with their layout where they have one."""

    def __init__(self, page):
        protocol = page.context.new_cdp_session(page)
        snapshot = protocol.send("DOMSnapshot.captureSnapshot", {"computedStyles": ASKED})
        document, self.strings = snapshot["documents"][0], [*snapshot["strings"], ""]  # −1 stands for no text
        self.nodes, layout, boxes = document["nodes"], document["layout"], document["textBoxes"]
        self.children, self.bounds, self.styles, self.lines = defaultdict(list), {}, {}, defaultdict(list)
        for node, parent in enumerate(self.nodes["parentIndex"]):
            self.children[parent].append(node)
        for node, bounds, styles in zip(layout["nodeIndex"], layout["bounds"], layout["styles"], strict=True):
            self.bounds[node] = bounds
            self.styles[node] = dict(zip(ASKED, (self.strings[style] for style in styles), strict=False))
        for box, bounds, start, length in zip(*boxes.values(), strict=True):
            text = self.strings[layout["text"][box]]
            self.lines[layout["nodeIndex"][box]].append((bounds, text[start : start + length]))

    def name(self, node: int) -> str:
        return self.strings[self.nodes["nodeName"][node]]

    def attributes(self, node: int) -> dict[str, str]:
        words = [self.strings[word] for word in self.nodes["attributes"][node]]
        return dict(zip(words[::2], words[1::2], strict=True))

    def html(self, node: int, opacity: float = 1.0) -> Iterator[str]:
        """The SVG of an element of HTML: its ground, its lines of text, the pictures in it."""
        style, name = self.styles.get(node, {}), self.name(node)
        spoken = self.bounds.get(node, (0, 0, WIDTH, 0))[2] <= 1  # and shown to nobody
        if style.get("visibility") == "hidden" or name == "INPUT" or spoken:
            return
        for (left, top, _, high), line in self.lines[node]:
            if line.strip():
                size = float(style["font-size"][:-2])
                place = {"x": left, "y": top + high / 2 + 0.35 * size, "font-size": style["font-size"]}
                look = {"font-weight": style["font-weight"], "fill": style["color"], "opacity": opacity}
                kept = line.rstrip().replace(" ", "\u00a0", len(line) - len(line.lstrip()))  # SVG drops leading blanks
                yield f"<text{written(place | look)}>{escape(kept)}</text>"
        if name == "svg":
            yield self.svg(node, PAINT, opacity)
        elif name != "#text":
            opacity *= float(style.get("opacity", 1))
            ground = style.get("background-color", " 0)")
            if opacity and not ground.endswith(" 0)"):
                look = {"fill": ground, "opacity": opacity}
                yield f"<rect{written(dict(zip(SIDES, self.bounds[node], strict=True)) | look)}/>"
            for child in self.children[node]:
                yield from self.html(child, opacity)

    def svg(self, node: int, above: dict[str, str], opacity: float = 1.0) -> str:
        """An element of SVG, with what differs from the paint of the one above it."""
        style, name = self.styles.get(node), self.name(node)
        if name == "#text":
            return escape(self.strings[self.nodes["nodeValue"][node]])
        if style is None or style["visibility"] == "hidden" or style["opacity"] == "0":
            return ""
        at = {key: value for key, value in self.attributes(node).items() if PLACE.fullmatch(key)}
        look = self.look(node, above)
        if opacity != 1:
            look["opacity"] = opacity * float(style["opacity"])
        if name == "svg":
            name, at = "g", {"transform": self.place(node)}
        kids = [child for child in self.children[node] if child in self.styles]
        inside = ""
        for sharp, run in groupby(kids, self.sharp):
            draw = self.rectangles if sharp else self.each
            inside += "".join(draw(run, style))
        if name in ("g", "text") and not inside:
            return ""
        head = f"<{name}{written(at | look)}"
        return f"{head}>{inside}</{name}>" if inside else f"{head}/>"

    def place(self, node: int) -> str:
        """Where a picture stands in the figure, and how large."""
        (x, y, width, height), own = self.bounds[node], self.attributes(node)
        wide, high = map(float, own["viewBox"].split()[2:]) if "viewBox" in own else (width, height)
        across, down = width / wide, height / high
        if own.get("preserveAspectRatio") != "none":
            across = down = min(across, down)
            x, y = x + (width - across * wide) / 2, y + (height - down * high) / 2
        return f"translate({x:g} {y:g})" + f" scale({across:.5g} {down:.5g})" * ((across, down) != (1, 1))

    def look(self, node: int, above: dict[str, str]) -> dict[str, str]:
        return {
            key: self.styles[node][key]
            for key in (*PAINT, *OWN)
            if self.styles[node][key] != (above | OWN)[key]
        }

    def sharp(self, node: int) -> bool:
        return self.name(node) == "rect" and "rx" not in self.attributes(node)

    def each(self, nodes: Iterable[int], above: dict[str, str]) -> Iterator[str]:
        return (self.svg(node, above) for node in nodes)

    def rectangles(self, nodes: Iterable[int], above: dict[str, str]) -> Iterator[str]:
        """Rectangles as one path for each paint."""
        paths: dict[str, str] = defaultdict(str)
        for node in nodes:
            x, y, width, height = (self.attributes(node).get(side, "0") for side in SIDES)
            if "0" not in (width, height, self.styles[node]["opacity"]):
                paths[written(self.look(node, above))] += short(f"M{x} {y}h{width}v{height}h-{width}z")
        for look, path in paths.items():
            yield f'<path d="{path}"{look}/>'


def written(attributes: dict) -> str:
    """Attributes in the shortest way, without what is so anyway."""
    usual = {("opacity", "1"), ("font-weight", "400"), ("fill", "currentColor")}
    shown = [(name, short(str(value))) for name, value in attributes.items()]
    return "".join(f' {name}="{value}"' for name, value in shown if (name, value) not in usual)


def short(value: str) -> str:
    """A color of the page by its name, a length to a hundredth, and a path's line without the points that it passes anyway.

    Other lists of numbers, as of the places of letters, keep them all.

    >>> short("10.333333"), short("2px"), short("rgb(0, 114, 178)")
    ('10.33', '2', 'var(--enc-sinusoidal, #0072b2)')
    """
    if rgb := re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", value):
        color = "#{:02x}{:02x}{:02x}".format(*map(int, rgb.groups()))
        return COLORS.get(color, color)
    places = 4 if value.startswith(("matrix", "translate")) else 2
    value = re.sub(
        r"\d+\.\d+", lambda number: f"{float(number[0]):.{places}f}".rstrip("0").rstrip("."), value
    )
    value = re.sub(r"(?<=\d)px", "", value)
    line = re.fullmatch(r"M((?:-?[\d.]+[ ,]-?[\d.]+[ L,]?){9,})(.*)", value)
    if not line:
        return value
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", line[1])]
    points = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    written = (f"{point.real:.1f} {point.imag:.1f}".replace(".0", "") for point in straight(points))
    return "M" + "L".join(written) + line[2]


def straight(points: list[complex]) -> list[complex]:
    """The points that a line needs to stay within a fifth of a pixel (Douglas and Peucker 1973).

    >>> straight([0, 1 + 0.01j, 2, 3 + 1j])
    [0, 2, (3+1j)]
    """
    first, *between, last = points
    if not between:
        return points
    way = last - first
    off = [abs(((p - first) / way).imag * way if way else p - first) for p in between]
    far = max(range(len(off)), key=off.__getitem__)
    if off[far] < 0.2:
        return [first, last]
    return straight(points[: far + 2])[:-1] + straight(points[far + 1 :])


def still(page, figure: Hero) -> str:
    """The picture of a figure in its first state, before it plays, as it stands on paper."""
    page.set_content(
        f'<body style="margin:0;font-family:sans-serif">{hero(figure.name, **figure.state).html}'
    )
    page.wait_for_timeout(500)
    dom = Snapshot(page)
    [box] = [node for node in dom.bounds if dom.attributes(node).get("class", "").split()[:1] == ["fig"]]
    body = "\n".join(part for part in dom.html(box) if part).replace(
        "; pick one<", "<"
    )  # paper lets nobody pick
    size = (WIDTH, round(dom.bounds[box][1] + dom.bounds[box][3]))
    return picture(body, figure.description, size, size).svg


def draw(browser) -> None:
    """Draw the pictures of figures whose script, state or words are new, and remove those that no figure has."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 700}, reduced_motion="reduce")
    page.emulate_media(media="print")
    pictures = {figure.still: figure for figure in figures()}
    STILLS.mkdir(exist_ok=True)
    for file in set(STILLS.glob("*.svg")) - pictures.keys():
        file.unlink()
    for file, figure in pictures.items():
        if not file.exists():
            file.write_text(still(page, figure), "utf-8")
    page.close()
