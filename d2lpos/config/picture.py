"""The wavelengths of a model's pairs as a drawing, as the page that reads a configuration draws them."""

import math
from html import escape
from typing import NamedTuple

from .angles import fresh, in_force, plain, turns
from .report import kinds
from .schema import Layer, Reading
from .sentence import sentence
from .slopes import slopes

WIDTH, HEIGHT, LEFT, RIGHT = (
    720,
    150,
    20,
    700,
)  # of a panel, and where its axis begins and ends, in units of the drawing
OLD, NEW = ("#595d63", 1), ("#b34700", 1.8)  # the color of a line and how wide it is
NEGLIGIBLE = 1000  # a head that takes off ln 1000 more gives a key a thousandth of the weight
LONGEST = 110  # characters of a title


class Mark(NamedTuple):
    """A pair's wavelength before any stretch and in force, in tokens, and whether it meets new angles."""

    before: float
    now: float
    new: bool


class Length(NamedTuple):
    """A number of tokens that a panel marks, in words."""

    tokens: int
    words: str


def drawn(reading: Reading, tokens: int, trained: int | None = None) -> str:
    """An SVG drawing of a reading: a panel for each kind of layer, and what of it a text of `tokens` tokens meets.

    A line is a pair, from its wavelength before any stretch, above, to the one in force. It is orange where the pair
    meets angles that a text of the trained length has not, or one of the length that the file allows where trained is
    None. A slope ends where a key weighs a thousandth, and a table where its rows end.
    """
    allowed, rows = reading["lengths"]["allowed"], reading["lengths"]["rows"]
    known, title = trained or allowed, sentence(reading, trained, tokens=tokens)
    lengths = [Length(known, "trained" if trained else "file")] if known else []
    lengths.append(Length(tokens, f"{tokens:,} tokens"))
    panels = [panel(f"a table of {rows:,} rows", [Mark(rows, rows, False)], lengths)] if rows else []
    depth = len(reading["layers"])
    for text, places in kinds(reading, tokens, allowed).items():
        layer = reading["kinds"][reading["layers"][places[0]]]
        panels.append(panel(f"{len(places)} of {depth} layers: {text}", marks(layer, tokens, known), lengths))
    body = "".join(
        f'<g transform="translate(0 {40 + HEIGHT * number})">{one}</g>' for number, one in enumerate(panels)
    )
    height = 50 + HEIGHT * len(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">'
        f"<title>{escape(title)}</title><rect width='100%' height='100%' fill='#fff'/>"
        f'<text x="{LEFT}" y="24" font-size="13">{shortened(title)}</text>{body}</svg>\n'
    )


def shortened(title: str) -> str:
    return f"{escape(title[:LONGEST])}{'…' * (len(title) > LONGEST)}"


def marks(layer: Layer, tokens: int, known: int | None) -> list[Mark]:
    """The pairs of a layer; of slopes twice the reach, and whether the text goes beyond it."""
    encoding = layer["encoding"]
    if turns(layer):
        now = in_force(encoding, tokens)[0]
        new = fresh(layer, known, tokens) if known else [False] * len(now)
        return [
            Mark(2 * math.pi / before, 2 * math.pi / omega, one)
            for before, omega, one in zip(plain(encoding), now, new, strict=True)
            if omega
        ]
    if not encoding or encoding["kind"] != "ALiBi":
        return []
    reach = [math.log(NEGLIGIBLE) / slope for slope in slopes(encoding)]
    return [Mark(one, one, one < tokens) for one in reach]


def panel(title: str, pairs: list[Mark], lengths: list[Length]) -> str:
    """A line for each pair over a logarithmic axis of tokens, with the lengths that are known."""
    lines = [f'<text x="{LEFT}" y="12">{shortened(title)}</text>']
    if not pairs:
        return lines[0]
    ends = [value for one in pairs for value in (one.before, one.now)] + [length.tokens for length in lengths]
    low, high = math.log10(min([*ends, 4])), math.log10(max(ends)) + 0.1

    def x(tokens: float) -> float:
        return LEFT + (RIGHT - LEFT) * (math.log10(tokens) - low) / (high - low)

    for one in pairs:
        color, wide = NEW if one.new else OLD
        lines.append(
            f'<path d="M{x(one.before):.1f} 40L{x(one.before):.1f} 50L{x(one.now):.1f} 92L{x(one.now):.1f} 100" '
            f'fill="none" stroke="{color}" stroke-width="{wide}"/>'
        )
    for power in range(math.ceil(low), math.floor(high) + 1):
        lines.append(
            f'<text x="{x(10**power):.1f}" y="122" text-anchor="middle" fill="#595d63">{10**power:,}</text>'
        )
    for number, length in enumerate(lengths, 3 - len(lengths)):
        place = x(length.tokens)
        start = number == 2 and place < RIGHT - 90
        lines.append(
            f'<path d="M{place:.1f} 22V106" stroke="#000" stroke-dasharray="{3 * (number == 1)}"/>'
            f'<text x="{place + (4 if start else -4):.1f}" y="32" text-anchor="{"start" if start else "end"}">'
            f"{length.words}</text>"
        )
    return "".join(lines)
