"""The wavelengths of a model's pairs as a drawing, as the page that reads a configuration draws them."""

import math
from collections.abc import Callable, Mapping
from html import escape

from ..bias.alibi import ALiBi
from .layer import Layer, Reading
from .sentence import sentence
from .serving import frequencies, fresh_pairs, rope_of, rows_of, slopes_of

WIDTH, HEIGHT, LEFT, RIGHT = 720, 150, 20, 700  # of a panel, and where its axis begins and ends, in units of the drawing
OLD, NEW = ("#595d63", 1), ("#b34700", 1.8)  # the color of a line and how wide it is
Mark = tuple[float, float, bool]
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
        panels.insert(0, panel(f"a table of {rows:,} rows", [(rows, rows, False)]))
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


def marks(layer: Layer, tokens: int, known: int | None) -> list[Mark]:
    """Of each pair the wavelength before a stretch, the one in force, and whether it meets new angles; of each slope
    twice its reach, and whether the text goes beyond it. In tokens."""
    if rope_of(layer) is not None:
        omega, plain = (one.tolist() for one in frequencies(layer))
        fresh = fresh_pairs(layer, known, tokens).tolist() if known else [False] * len(omega)
        found = zip(plain, omega, fresh, strict=True)
        return [(2 * math.pi / first, 2 * math.pi / now, new) for first, now, new in found if now]
    if not isinstance(layer.encoding, ALiBi):
        return []
    reach = [math.log(NEGLIGIBLE) / slope for slope in slopes_of(layer.encoding).tolist()]
    return [(one, one, one < tokens) for one in reach]


def panel(title: str, found: list[Mark]) -> Callable[[list[tuple[int, str]]], str]:
    """A function that draws a panel with the lengths that it is given: (tokens, words)."""

    def draw(lengths: list[tuple[int, str]]) -> str:
        lines = [f'<text x="{LEFT}" y="12">{escape(title[:110])}{"…" * (len(title) > 110)}</text>']
        if not found:
            return lines[0]
        ends = [value for one in found for value in one[:2]] + [tokens for tokens, _ in lengths]
        low, high = math.log10(min([*ends, 4])), math.log10(max(ends)) + 0.1
        x = lambda value: LEFT + (RIGHT - LEFT) * (math.log10(value) - low) / (high - low)
        for first, now, new in found:
            color, wide = NEW if new else OLD
            lines.append(
                f'<path d="M{x(first):.1f} 40L{x(first):.1f} 50L{x(now):.1f} 92L{x(now):.1f} 100" fill="none" '
                f'stroke="{color}" stroke-width="{wide}"/>'
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
