"""The book's one big diagram: attention as the plan of a house, with four doors for position."""

import random
from collections.abc import Iterable
from typing import NamedTuple

from .show import Picture, picture
from .style import MONO, PAGE, STYLE, tint

WIDTH, HEIGHT = 360, 538  # text of 13 units is 13 pixels on a phone
WALL = 190  # the right wall of the house, where the doors are
WORDS = {17: "the", 43: "fox", 78: "jumps", 115: "over", 146: "the", 174: "dog"}  # by their middle
HALF = 18  # half the width of a doorway
INK2, GROUND, PAPER = (f"var(--{name}, {PAGE[name]})" for name in ("ink-2", "ground", "paper"))

PLUS = "M-5 0H5M0 -5V5"
TIMES = "M-3.8 -3.8L3.8 3.8M-3.8 3.8L3.8 -3.8"
TURN = "M4.6 -3.2A5.6 5.6 0 1 0 5.6 1M5.6 -6V-2.6H2"

# matplotlib's markers as paths around the origin
MARKERS = {
    "o": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "s": "M-3.5 -3.5h7v7h-7z",
    "D": "M0 -5L5 0L0 5L-5 0z",
    "^": "M0 -4.5L4.5 3.5H-4.5z",
    "v": "M0 4.5L4.5 -3.5H-4.5z",
}


class Door(NamedTuple):
    y: int
    title: str
    hook: str
    deed: str  # what comes in does this
    sign: str
    streams: tuple[int, ...]  # where it reaches the streams inside
    guests: dict[str, tuple[str, ...]]  # who comes in, by encoding, in lines of text


DOORS = {
    1: Door(
        y=104, title="the input", hook="embed(x, positions)",
        deed="is added to the word vectors, once, before the first layer",
        sign=PLUS, streams=(95,), guests={"sinusoidal": ("sinusoidal",), "learned": ("learned",)},
    ),
    2: Door(
        y=226, title="queries and keys", hook="rotate(q, k, …)", deed="turns the queries and the keys",
        sign=TURN, streams=(154, 95), guests={"rope": ("RoPE",)},
    ),
    3: Door(
        y=328, title="the scores", hook="score(q, k, …)", deed="is added to the scores, before the softmax",
        sign=PLUS, streams=(125,),
        guests={"alibi": ("ALiBi",), "relative": ("T5, Shaw’s keys,", "Transformer-XL")},
    ),
    4: Door(
        y=448, title="the values", hook="value(weights, …)",
        deed="is added to the weighted sum of the values",
        sign=PLUS, streams=(82,), guests={"relative": ("Shaw’s values",)},
    ),
}


class Guest(NamedTuple):
    """Someone who comes in where the text has a wire to the doors."""

    y: int
    key: str  # of its style
    name: str
    deed: str  # what it does with what the wire brings
    sign: str
    nodes: tuple[tuple[int, int], ...]  # where it reaches the streams inside


SCORES = (125, 335)
WIRE = 353  # right of all names
WIRED = {
    2: (Guest(226, "rope", "PaTH, RePo", "turn them", TURN, ((154, 226), (95, 226))),),
    3: (
        Guest(311, "alibi", "decay", "(of linear attention) multiplies them", TIMES, ((125, 313),)),
        Guest(328, "alibi", "FoX", "is added", PLUS, (SCORES,)),
        Guest(345, "relative", "CoPE, Inkling", "are added", PLUS, (SCORES,)),
    ),
}


def doors(open: Iterable[int] = tuple(DOORS), wire: bool = False) -> Picture:
    """Draw the four doors by which position can enter attention.

    `open` has the numbers of the open doors. All four are the map of the book, `{2}` is RoPE,
    and the empty set is a Transformer without positions. With `wire`, the hidden states of the text lead to doors 2
    and 3, which alone can stand open then, and those come in who read there how far one word is from another.

    >>> doors(open={2}).alt.count("open")
    1
    """
    open = set(open)
    if not open <= set(DOORS):
        raise ValueError(f"open is {open}; the doors have the numbers 1 to 4")
    parts = [draw_house(), draw_words(known=bool(open))]
    if wire:
        open &= set(WIRED)
        empty = {number: door._replace(guests={}, streams=(), hook="") for number, door in DOORS.items()}
        parts += [draw_door(number, door, number in open) for number, door in empty.items()]
        parts += [draw_wire(), *(draw_guests(guests, number in open) for number, guests in WIRED.items())]
    else:
        parts += [draw_door(number, door, number in open) for number, door in DOORS.items()]
    alt = _describe(open, wire)
    return picture("\n".join(parts), alt, (1.2 * WIDTH, 1.2 * HEIGHT), (WIDTH, HEIGHT))


def _line(path: str, color: str = "currentColor", width: float = 1.5, dash: str = "none") -> str:
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dash}"/>'


def _text(x: float, y: float, text: str, size: float = 13, **style: str) -> str:
    # As style, because the page's rules for text in figures outrank attributes.
    declared = ";".join(f"{name.replace('_', '-')}:{value}" for name, value in style.items())
    return f'<text x="{x}" y="{y}" font-size="{size}" style="{declared}">{text}</text>'


def _box(x: float, y: float, width: float, text: str) -> str:
    frame = f'<rect x="{x - width / 2}" y="{y}" width="{width}" height="22" rx="4"'
    return f'{frame} fill="{PAPER}" stroke="{INK2}"/>' + _text(x, y + 15.5, text, text_anchor="middle")


def _cells(x: float, y: float, columns: int, rows: int, width: float, seed: str) -> str:
    """A block of numbers, drawn as shades."""
    shade = random.Random(seed)
    return "".join(
        f'<path d="M{x + (width + 1) * column} {y + 7 * row}h{width}v6h-{width}z" '
        f'fill-opacity="{shade.uniform(0.1, 0.85):.2f}"/>'
        for row in range(rows)
        for column in range(columns)
    )


def draw_house() -> str:
    """The plan of the house, and the streams that run through it from the words down to the output."""
    doorways = "".join(f"V{door.y - HALF}M{WALL} {door.y + HALF}" for door in DOORS.values())
    streams = (
        "M17 66v2q0 5 5 5H169q5 0 5 -5v-2M95 73V174"  # the words come together
        "M95 161H41q-5 0 -5 5v8M95 161H149q5 0 5 5v8"  # and are read in three ways
        "M36 196V398M95 196V242q0 5 5 5h10q5 0 5 5v4M154 196V242q0 5 -5 5h-9q-5 0 -5 5v4"
        "M125 303V352M125 374V398M82 420V469"
        "M17 480v-2q0 -5 5 -5H169q5 0 5 5v2"
    )
    heads = {174: (36, 95, 154), 257: (115, 135), 352: (125,), 398: (36, 125), 471: (82,)}
    return "\n".join([
        f'<path d="M2 24H{WALL}V515H2z" fill="{GROUND}"/>',
        _line(streams, INK2),
        *(
            f'<path d="M{x - 4} {y - 6}L{x} {y}L{x + 4} {y - 6}z" fill="{INK2}"/>'
            for y in heads
            for x in heads[y]
        ),
        _line(f"M2 24V515M{WALL} 24{doorways}V515M2 140H77M113 140H{WALL}", width=3),
        _text(196, 15, "position can enter"),
        _text(196, 31, "by four doors"),
        _text(10, 132, "once", 12, fill=INK2),
        _text(10, 156, "each layer", 12, fill=INK2),
        _box(36, 174, 50, "values"),
        _box(95, 174, 50, "keys"),
        _box(154, 174, 54, "queries"),
        _cells(105, 260, columns=6, rows=6, width=6, seed="scores"),
        _text(97, 285, "scores", text_anchor="end"),
        _box(125, 352, 70, "softmax"),
        _text(133, 390, "weights"),
        _box(82, 398, 130, "weighted sum"),
    ])


def draw_words(known: bool) -> str:
    """The words and their vectors, before and after: both “the” leave alike unless position is `known`."""
    parts = []
    for x, word in WORDS.items():
        parts += [
            _text(x, 15, word, 12, text_anchor="middle", fill=tint(word)),
            _cells(x - 5, 34, columns=1, rows=4, width=10, seed=f"{word} enters"),
            _cells(x - 5, 485, columns=1, rows=4, width=10, seed=f"{word} leaves {x if known else ''}"),
        ]
    return "\n".join([*parts, _text(95, 531, "one vector for each word", 12, text_anchor="middle")])


def draw_door(number: int, door: Door, open: bool) -> str:
    """The doorway and its leaf, its names, and those who come in or stay outside."""
    top, ink = door.y - HALF, "currentColor" if open else INK2
    parts = [
        f'<circle cx="205" cy="{top - 27}" r="9" fill="{ink}"/>',
        _text(205, top - 22.5, str(number), text_anchor="middle", font_weight="700", fill=PAPER),
        _text(219, top - 22.5, door.title, 14, font_weight="700", fill=ink),
        _text(196, top - 6, door.hook, 12, font_family=f"{MONO} !important", fill=ink),
    ]
    if open:
        swing = f"M{WALL + 2 * HALF} {top}A{2 * HALF} {2 * HALF} 0 0 1 {WALL} {top + 2 * HALF}"
        parts += [_line(f"M{WALL} {top}h{2 * HALF}", width=3), _line(swing, INK2, 0.75)]
    else:
        leaf = f'<rect x="{WALL - 3.5}" y="{top}" width="7" height="{2 * HALF}" fill="{PAPER}" '
        parts.append(f'{leaf}stroke="currentColor" stroke-width="1.5"/>')
    first = door.y - 9 * (len(door.guests) - 1)
    for y, (key, lines) in zip((first, first + 18), door.guests.items(), strict=False):
        parts += _guest(y, key, lines, f"H{door.streams[-1] if open else WALL + 10}", ink)
    parts += [_node(x, door.y, door.sign) for x in door.streams if open]
    return "\n".join(parts)


def _guest(y: int, key: str, lines: tuple[str, ...], way: str, ink: str) -> list[str]:
    style = STYLE[key]
    dash = " ".join(str(2 * length) for length in style.dash) or "none"
    return [
        _line(f"M236 {y}{way}", style.css, 2, dash),
        f'<path d="{MARKERS[style.marker]}" fill="{style.css}" transform="translate(230 {y})"/>',
        *(_text(241, y + 4.5 + 16 * row, line, fill=ink) for row, line in enumerate(lines)),
    ]


def _node(x: int, y: int, sign: str, scale: str = "") -> str:
    node = f'<circle r="13" fill="{PAPER}" stroke="currentColor" stroke-width="1.5"/>{_line(sign)}'
    return f'<g transform="translate({x} {y}){scale}">{node}</g>'


def draw_wire() -> str:
    """The wire from the hidden states, at the entrance of a layer, to whoever reads them."""
    *rows, end = [guest.y for guests in WIRED.values() for guest in guests]
    branches = "".join(f"M{WIRE} {y}H332" for y in rows)
    return "\n".join([
        _line(f"M95 151H{WIRE - 5}q5 0 5 5V{end}H332{branches}", width=1.25),
        *(f'<path d="M332 {y - 4}L326 {y}L332 {y + 4}z"/>' for y in (*rows, end)),
        *(
            f'<circle cx="{x}" cy="{y}" r="3.5" fill="{fill}" stroke="currentColor" stroke-width="1.25"/>'
            for x, y, fill in ((95, 151, "currentColor"), (WALL, 151, PAPER))
        ),
        _text(200, 145, "a wire from the text:", 12),
        _text(200, 165, "the hidden states", 12),
    ])


def draw_guests(guests: tuple[Guest, ...], open: bool) -> str:
    """Those who come in at one door, or stay outside, where the text has a wire."""
    ink = "currentColor" if open else INK2
    parts = []
    for guest in guests:
        way = f"H{guest.nodes[-1][0] if open else WALL + 10}"
        parts += _guest(guest.y, guest.key, (guest.name,), way, ink)
    nodes = {place: guest.sign for guest in guests for place in guest.nodes if open}
    scale = " scale(.75)" if len({y for _, y in nodes}) > 1 else ""
    return "\n".join([*parts, *(_node(*place, sign, scale) for place, sign in nodes.items())])


def _describe(open: set[int], wire: bool) -> str:
    inside = (
        "Attention drawn as the plan of a house. The words “the fox jumps over the dog” come in at the top "
        "as one vector each. Values, keys and queries are made from them; queries and keys meet in a square "
        "of scores; a softmax turns scores into weights; the weighted sum of the values leaves below. "
        "Four doors in the right wall let position in."
    )
    if wire:
        inside += " A wire leads from the hidden states, at the entrance of a layer, to doors 2 and 3."
        comes = {
            number: "; ".join(f"{guest.name.replace(', ', ' and ')} {guest.deed}" for guest in guests)
            for number, guests in WIRED.items()
        }
    else:
        comes = {
            number: f"{', '.join(' '.join(lines) for lines in door.guests.values())}; what comes in {door.deed}"
            for number, door in DOORS.items()
        }
    each = (
        f"Door {number}, {door.title}, {'open' if number in open else 'closed'}: {comes.get(number, 'nobody')}."
        for number, door in DOORS.items()
    )
    alike = "" if open else "Without position, both “the” leave with the same vector."
    return " ".join([inside, *each, alike]).strip()
