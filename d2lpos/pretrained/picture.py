"""The wavelengths of a model's pairs as a drawing, as the page that reads a configuration draws them."""

import math
from collections.abc import Callable, Mapping
from html import escape

from .layer import Layer, Reading
from .sentence import sentence
from .serving import new_angles, rope_of, rows_of

WIDTH, HEIGHT, LEFT, RIGHT = 720, 150, 20, 700  # of a panel, and where its axis begins and ends, in units of the drawing
COLORS = {"came around": "#595d63", "seen far enough": "#595d63", "new angles": "#b34700"}
NEGLIGIBLE = 1000  # a head that takes off ln 1000 more gives a key a thousandth of the weight


def drawn(numbers: Mapping, reading: Reading, tokens: int, known: int | None, trained: bool) -> str:
    """An SVG drawing of a reading: a panel for each kind of layer, and what of it a text of `tokens` tokens meets.

    A line is a pair, from its wavelength before any stretch, above, to the one in force. It is orange where the pair
    meets angles that a text of the known length has not. A slope ends where a key weighs a thousandth, and a table
    where its rows end. numbers and reading are `as_numbers` and `encoding_of` of one configuration; known is the length
    of the training where `trained` says so, else what the file allows, None where it says nothing.
    """
    panels, told = [], sentence(numbers, known if trained else None)
    for layers in kinds(reading):
        panels.append(panel(f"{len(layers)} of {len(reading.layers)} layers: {layers[0]}", marks(layers[0], tokens, known)))
    if rows := rows_of(reading):
        panels.insert(0, panel(f"a table of {rows:,} rows", [(rows, rows, "came around")]))
    lengths = [(known, "trained" if trained else "file")] * bool(known) + [(tokens, f"{tokens:,} tokens")]
    body = "".join(f'<g transform="translate(0 {40 + HEIGHT * i})">{one(lengths)}</g>' for i, one in enumerate(panels))
    height = 50 + HEIGHT * len(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">'
        f"<title>{escape(told)}</title><rect width='100%' height='100%' fill='#fff'/>"
        f'<text x="{LEFT}" y="24" font-size="13">{escape(told[:110])}{"…" * (len(told) > 110)}</text>{body}</svg>\n'
    )


def kinds(reading: Reading) -> list[list[Layer]]:
    """The layers, those that do the same together."""
    found: dict[str, list[Layer]] = {}
    for layer in reading.layers:
        found.setdefault(str(layer), []).append(layer)
    return list(found.values())


def marks(layer: Layer, tokens: int, known: int | None) -> list[tuple[float, float, str]]:
    """Wavelength before a stretch and in force of each pair, or the reach of each slope, in tokens, and its state."""
    rope, slopes = rope_of(layer), getattr(layer.encoding, "slopes", None)
    if rope is not None:
        plain, omega = [rope.base ** (-2 * i / rope.rotary) for i in range(rope.rotary // 2)], rope.scaled()[0].abs().tolist()
        fresh = new_angles(layer, known, tokens)[0] if known else 0
        seen = min(filter(None, [known or tokens, layer.window, layer.chunk]))
        slow = sum(now * seen < 2 * math.pi for now in omega if now)
        turning = sum(now > 0 for now in omega)
        state = lambda i: "came around" if i < turning - slow else "new angles" if fresh else "seen far enough"
        return [(2 * math.pi / a, 2 * math.pi / b, state(i)) for i, (a, b) in enumerate(zip(plain, omega, strict=True)) if b]
    if slopes is None and hasattr(layer.encoding, "octaves"):
        slopes = [2 ** (-layer.encoding.octaves * (i + 1) / layer.encoding.heads) for i in range(layer.encoding.heads)]
    reach = [math.log(NEGLIGIBLE) / float(slope) for slope in slopes] if slopes is not None else []
    return [(one, one, "new angles" if one < tokens else "came around") for one in reach]


def panel(title: str, found: list[tuple[float, float, str]]) -> Callable[[list[tuple[int, str]]], str]:
    """A function that draws a panel with the lengths that it is given: (tokens, words)."""

    def draw(lengths: list[tuple[int, str]]) -> str:
        lines = [f'<text x="{LEFT}" y="12">{escape(title[:110])}{"…" * (len(title) > 110)}</text>']
        if not found:
            return lines[0]
        ends = [value for one in found for value in one[:2]] + [tokens for tokens, _ in lengths]
        low, high = math.log10(min([*ends, 4])), math.log10(max(ends)) + 0.1
        x = lambda value: LEFT + (RIGHT - LEFT) * (math.log10(value) - low) / (high - low)
        for first, now, state in found:
            wide = 1.8 if state == "new angles" else 1
            lines.append(
                f'<path d="M{x(first):.1f} 40L{x(first):.1f} 50L{x(now):.1f} 92L{x(now):.1f} 100" fill="none" '
                f'stroke="{COLORS[state]}" stroke-width="{wide}"/>'
            )
        for power in range(math.ceil(low), math.floor(high) + 1):
            lines.append(f'<text x="{x(10**power):.1f}" y="122" text-anchor="middle" fill="#595d63">{10**power:,}</text>')
        for number, (tokens, words) in enumerate(lengths, 3 - len(lengths)):
            side = "start" if number == 2 and x(tokens) < RIGHT - 90 else "end"
            lines.append(
                f'<path d="M{x(tokens):.1f} 22V106" stroke="#000" stroke-dasharray="{3 * (number == 1)}"/>'
                f'<text x="{x(tokens) + (4 if side == "start" else -4):.1f}" y="32" text-anchor="{side}">{words}</text>'
            )
        return "".join(lines)

    return draw
