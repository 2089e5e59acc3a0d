"""The pictures of the essay on the book's first page: `python -m book.essay` writes them.

Each is a story or a hero figure. What is measured comes from the records of a study, what is
computed from the package, and what models use from `book/models/`.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import yaml

from d2lpos.bias.alibi import bias
from d2lpos.figures.doors import DOORS, HEIGHT, MARKERS, WIDTH, draw_door, draw_house, draw_words
from d2lpos.figures.doors import doors as all_doors
from d2lpos.figures.hero import WORDS, hero
from d2lpos.figures.lengths import means
from d2lpos.figures.style import STYLE, tint
from d2lpos.input.sinusoids import frequencies, sinusoidal
from d2lpos.pretrained.census import families
from d2lpos.rotary.rope import rotate

from .story import GLIDE, REST, Story, part

BOOK = Path(__file__).parent
STORIES = yaml.safe_load((BOOK / "stories.yml").read_text("utf-8"))
PAPER = "var(--paper, #fffefb)"
CSS = {key: style.css for key, style in STYLE.items()}
PALE = 0.12  # the opacity of what a story has not come to yet, so that it does not begin with an empty picture


def text(
    x: object, y: object, words: str | list[str], size: float = 13, at: str = "middle", **more: object
) -> str:
    if words in ("fox", "dog"):
        more["style"] = f"fill:{tint(words)}"  # the page's rules outrank attributes
    return part("text", words, x=x, y=y, font_size=size, text_anchor=at, **more)


def line(x1: object, y1: object, x2: object, y2: object, color: str = "currentColor", **more: object) -> str:
    return part("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=color, **{"stroke_width": 1, **more})


def group(*inside: str, **attributes: object) -> str:
    return part("g", "".join(inside), **attributes)


def moved(*places: tuple[float, float]) -> list[str]:
    return [f"translate({x:g} {y:g})" for x, y in places]


def cells(
    word: str, side: float = 9, count: int = 5, color: str = "currentColor", across: bool = False
) -> str:
    """The vector of a word as shades, the same wherever the word stands, around the origin."""
    shade = random.Random(word)
    start = -count * (side + 1) / 2
    places = [(start + (side + 1) * at, -side / 2) for at in range(count)]
    squares = (
        f'<path d="M{x:g} {y:g}h{side:g}v{side:g}h-{side:g}z" fill-opacity="{shade.uniform(0.08, 0.9):.2f}"/>'
        for x, y in (place if across else place[::-1] for place in places)
    )
    return group(*squares, fill=color)


def story(
    name: str, size: tuple[int, int], parts: list[str], rhythm: tuple[float, float] = (REST, GLIDE),
    alt: str = "", says: Sequence[str] = (), times: int = 1, **values: str,
) -> Story:
    """The story whose words stories.yml has under a name, with values in place of the names in braces."""
    words = STORIES[name]
    says = [one.format(**values) for one in says or words["says"] * times]
    return Story(alt or words["alt"].format(**values), tuple(says), size, tuple(parts), rhythm)


def bag() -> Story:
    """Two sentences, and the one bag that both become."""
    sentences = [list(WORDS), ["the", "dog", "jumps", "over", "the", "fox"]]
    heap = [("the", 0, 0), ("fox", 1, 0), ("over", 2, 0), ("dog", 0, 1), ("jumps", 1, 1), ("the", 2, 1)]
    wide = {"the": 20, "fox": 18, "jumps": 35, "over": 26, "dog": 22}
    parts = []
    for side, words in enumerate(sentences):
        middle, opaque = 86 + 188 * side, 1 if side == 0 else [PALE, PALE, 1]
        halves = f"C{middle - 104} 182 {middle - 84} 290 {middle} 290S{middle + 104} 182 {middle + 46} 122"
        sack = f"M{middle - 46} 122{halves}"
        tie = "".join(
            f"M{middle} 130Q{middle + way * 30} 130 {middle + way * 46} 122L{middle + way * 58} 106"
            for way in (-1, 1)
        )
        fall = f"M{middle} 34V88M{middle - 6} 80L{middle} 88L{middle + 6} 80"
        done = [0, 1] if side == 0 else [0, 0, 0, 1]
        parts.append(part(
            "path", d=fall, fill="none", stroke="currentColor", stroke_opacity=0.5, stroke_width=1.5,
            opacity=done,
        ))
        parts.append(
            part("path", d=sack + tie, fill="none", stroke="currentColor", stroke_width=2, opacity=opaque)
        )
        free = heap.copy()
        for at, word in enumerate(words):
            spot = next(place for place in free if place[0] == word)
            free.remove(spot)
            x = middle - 83 + sum(wide[before] + 5 for before in words[:at]) + wide[word] / 2
            above, inside = (x, 46), (middle - 44 + 44 * spot[1], 166 + 66 * spot[2])
            falls, named = (moved(above, inside), [0, 1]) if side == 0 else (moved(above, above, above, inside), [0, 0, 0, 1])
            parts += [
                text(x, 16, word, 12.5, opacity=opaque),
                group(cells(word, 8, 4, tint(word)), transform=falls, opacity=opaque),
                text(inside[0], inside[1] + 31, word, 12, opacity=named),
            ]
    parts.append(text(180, 226, "=", 30, opacity=[0, 0, 0, 1]))
    return story("bag", (WIDTH, 294), parts)


GUESTS = {  # by the names of this page, and only who is on it
    1: {"sinusoidal": ("clocks",), "learned": ("a table",)},
    3: {"alibi": ("ALiBi",), "relative": ("T5, Shaw’s keys",)},
}


def doors() -> Story:
    """The plan of attention, with one door open at a time, and in the end the one that most models use."""
    opened = [1, 2, 3, 4, 2]
    parts = [part("g", draw_house()), draw_words(known=True)]
    for number, door in DOORS.items():
        plain = door._replace(hook="", guests=GUESTS.get(number, door.guests))
        for open in (False, True):
            shown = [int((number == at) == open) for at in opened]
            parts.append(group(draw_door(number, plain, open), opacity=shown))
    alt = all_doors({2}).alt.replace("sinusoidal, learned", "clocks, a table").replace(", Transformer-XL", "")
    return story("doors", (WIDTH, HEIGHT), parts, rhythm=(2.0, 0.8), alt=alt)


def numbers() -> Story:
    """Two neighbors as numbers, as bits and as wheels, the fastest first."""
    at, count, radius = (31, 32), 6, 22
    wheels = frequencies(2 * count, base=2**count)
    color, parts = CSS["sinusoidal"], []
    which = [0, 0, 1, 1]  # the neighbor that each step shows
    parts.append(text(2, 22, "as a number", at="start"))
    parts.append(text(186, 26, [str(at[one]) for one in which], 24, font_weight=600))
    parts.append(text(226, 24, "and so on, to 131,072", 12.5, at="start", opacity=0.75))
    parts.append(text(2, 76, "as bits", at="start", opacity=[PALE, 1]))
    parts.append(text(2, 140, "as wheels", at="start", opacity=[PALE, PALE, PALE, 1]))
    for i, speed in enumerate(wheels.tolist()):
        x, bits = 87 + 50 * i, [at[one] >> i & 1 for one in which]
        box = {"x": x - 14, "y": 57, "width": 28, "height": 28, "rx": 3}
        face = part(
            "rect", **box, fill=color, stroke=color, stroke_width=1.5,
            fill_opacity=[float(bit) for bit in bits],
        )
        digit = text(
            x, 76.5, [str(bit) for bit in bits], 15, fill=[PAPER if bit else "currentColor" for bit in bits]
        )
        parts.append(group(face, digit, opacity=[PALE, 1]))
        before, now = (math.degrees(speed * place) for place in at)
        hand = line(0, 0, 0, -radius, color, stroke_width=3, stroke_linecap="round")
        parts.append(group(
            part("circle", r=radius, fill="none", stroke="currentColor", stroke_opacity=0.4),
            group(hand, transform=f"rotate({before:.1f})", opacity=0.35),
            group(hand, transform=[f"rotate({before:.1f})"] * 3 + [f"rotate({now:.1f})"]),
            transform=f"translate({x} 135)", opacity=[PALE, PALE, PALE, 1],
        ))
    parts.append(text(87, 176, "fast", 12.5, opacity=0.75))
    parts.append(text(337, 176, "slow", 12.5, opacity=0.75))
    return story("numbers", (WIDTH, 182), parts, rhythm=(2.8, 0.8))


def rows() -> Story:
    """A learned table, and a text that is two words too long for it."""
    words = ["the", "fox", "jumps", "over", "the", "dog", "and", "then", "the", "fox"]
    high, top, steps = 29, 44, [5, 7, 9]
    color = CSS["learned"]
    parts = [text(78, 18, "the table", font_weight=600), text(258, 18, "the text", font_weight=600)]
    for at, word in enumerate(words):
        y = top + high * at
        if at < 8:
            parts.append(text(18, y + 5, str(at), opacity=0.75))
            parts.append(group(cells(f"row {at}", 15, 6, color, across=True), transform=f"translate(78 {y})"))
            there = [int(at <= last) for last in steps]
            places = moved(*((232, y) if visible else (78, y) for visible in there))
            parts.append(
                group(cells(f"row {at}", 15, 6, color, across=True), transform=places, opacity=there)
            )
        else:
            shown = [int(at <= last) for last in steps]
            frame_ = part(
                "rect", x=184, y=y - 9, width=96, height=18, fill="none", stroke="currentColor",
                stroke_dasharray="3 3",
            )
            parts.append(group(frame_, text(232, y + 4.5, "no row", 12.5), opacity=shown))
        parts.append(text(292, y + 5, word, at="start", opacity=[int(at <= last) for last in steps]))
    end = top + high * 7.5
    parts.append(line(4, end, 152, end, stroke_width=3))
    parts.append(text(78, end + 22, "the table ends here"))
    return story("rows", (WIDTH, 338), parts)


def turn() -> Story:
    """The parts of the score of two words while their sentence moves along the text: places added, and turned."""
    fox, dog = torch.tensor([[1.5, 0.8], [1.3, -0.3]], dtype=torch.float64)
    first = torch.arange(49)
    places = (first[:, None] + torch.tensor([1, 5])) / 4
    there, here = sinusoidal(places, 2)[..., [1, 0]].unbind(1)  # how far to the right and how far up
    turned = rotate(torch.stack([fox, dog]).expand(49, 2, 2), places[..., None], "interleaved")
    pieces = [(fox * dog).expand(49, 2), there * here, fox * here, there * dog]
    scores = [piece.sum(-1) for piece in pieces]
    unit, wide, steps, parts = 14, 128, range(6), []

    def strip(
        x: float, y: float, width: float, scores: torch.Tensor, color: str, step: int, **look: object
    ) -> None:
        """A score along the text, over its zero, which draws itself after a step."""
        scores = scores if width > wide else scores[::2]  # a narrow strip shows the same text by fewer points
        along = torch.linspace(x, x + width, len(scores)).tolist()
        ends = zip(along, (y - unit * scores).tolist(), strict=True)
        d = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in ends)
        later = [int(at < step) for at in steps]
        parts.append(line(x, y, x + width, y, stroke_opacity=0.4))
        look = {"fill": "none", "stroke": color, "stroke_width": 2.5} | look
        parts.append(part("path", d=d, **look | {"stroke_opacity": PALE}))
        parts.append(
            part("path", d=d, pathLength=1, stroke_dasharray="1 1.1", stroke_dashoffset=later, **look)
        )

    for word, x in (("dog", 150), ("dog’s clock", 296)):
        parts.append(text(x, 44, word, 13, font_weight=600))
    for word, y in (("fox", 78), ("fox’s", 146), ("clock", 162)):
        parts.append(text(2, y, word, 13, at="start", font_weight=600))
    parts.append(text(2, 16, "add the clock: four parts", 14, at="start", font_weight=600))
    gray, blue = CSS["none"], CSS["sinusoidal"]
    cells = (
        (86, 98, gray, "stays"),
        (232, 166, blue, "stays"),
        (232, 98, blue, "wobbles"),
        (86, 166, blue, "wobbles"),
    )
    for step, (score, (x, zero, color, verdict)) in enumerate(zip(scores, cells, strict=True)):
        strip(x, zero, wide, score, color, step)
        top = zero - 38
        parts.append(
            text(x + wide, top + 4, verdict, 12.5, at="end", opacity=[int(at >= step) for at in steps])
        )
    shown = [int(at >= 4) for at in steps]
    parts.append(text(2, 214, "their sum,", 13, at="start", font_weight=600, opacity=shown))
    parts.append(text(2, 230, "the score", 13, at="start", font_weight=600, opacity=shown))
    strip(86, 268, 274, sum(scores), "currentColor", 4)
    shown = [int(at >= 5) for at in steps]
    parts.append(text(2, 316, "turn instead: one part", 14, at="start", font_weight=600, opacity=shown))
    strip(86, 372, 274, turned.prod(1).sum(-1), CSS["rope"], 5)
    hands = [(f"{17 * v[0]:.1f}", f"{-17 * v[1]:.1f}") for v in (turned[0, 0], turned[0, 1])]
    look = {"stroke_width": 3, "stroke_linecap": "round"}
    arrows = group(
        *(line(0, 0, x, y, CSS["rope"], **look) for x, y in hands),
        transform=["rotate(0)"] * 5 + ["rotate(-300)"],
    )
    face = part("circle", r=30, fill="none", stroke="currentColor", stroke_opacity=0.3)
    parts.append(group(face, arrows, transform="translate(38 356)", opacity=shown))
    parts.append(text(360, 408, "the sentence moves along the text →", 12.5, at="end", opacity=0.75))
    return story("turn", (WIDTH, 412), parts, rhythm=(1.6, 1.2))


def pairs() -> Story:
    """A query and a key of eight numbers as four pairs of hands, each of which turns at its own speed."""
    speeds = frequencies(8, base=100).tolist()
    query, key = (0.3, 1.9, 0.9, 2.4), (1.2, 1.3, 2.3, 1.2)  # directions before any turn
    starts, apart, radius, parts = range(1, 10), 4, 38, []
    parts.append(text(
        180, 16, [f"fox is word {start}, dog is word {start + apart}" for start in starts],
        14, font_weight=600,
    ))
    total = 0.0
    for at, (speed, q, k) in enumerate(zip(speeds, query, key, strict=True)):
        middle, first, second = 46 + 89.5 * at, q, k + apart * speed
        hands = []
        for angle, ring in ((first, False), (second, True)):
            x, y = radius * math.cos(angle), -radius * math.sin(angle)
            hands.append(
                line(0, 0, round(x, 1), round(y, 1), CSS["rope"], stroke_width=3, stroke_linecap="round")
            )
            look = (
                {"fill": PAPER, "stroke": CSS["rope"], "stroke_width": 2.5} if ring else {"fill": CSS["rope"]}
            )
            hands.append(part("circle", cx=round(x, 1), cy=round(y, 1), r=6, **look))
        wide = (second - first) % (2 * math.pi)
        low, high = (first, second) if wide <= math.pi else (second, first)
        ends = [(18 * math.cos(angle), -18 * math.sin(angle)) for angle in (low, high)]
        slice_ = f"M0 0L{ends[0][0]:.1f} {ends[0][1]:.1f}A18 18 0 0 0 {ends[1][0]:.1f} {ends[1][1]:.1f}Z"
        wedge = part("path", d=slice_, fill=CSS["rope"], fill_opacity=0.25)
        turned = [f"rotate({-math.degrees(speed * start):.2f})" for start in starts]
        face = part("circle", r=radius, fill="none", stroke="currentColor", stroke_opacity=0.25)
        pale = group(*hands, transform=turned[0], opacity=0.2)
        now = group(wedge, *hands, transform=turned)
        parts.append(group(face, pale, now, transform=f"translate({middle} 92)"))
        parts.append(text(middle, 40, ("fast", "", "", "slow")[at]))
        own = round(math.cos(second - first), 1)
        total += own
        parts.append(text(middle, 160, f"{own:.1f}".replace("-", "−"), 14))
        if at:
            parts.append(text(middle - 45, 160, "+", 14))
    parts.append(line(4, 174, 356, 174, stroke_opacity=0.5))
    parts.append(text(90, 196, f"score at first: {total:.1f}", 14, opacity=0.75))
    parts.append(text(270, 196, f"score now: {total:.1f}", 14, font_weight=600))
    return story("pairs", (WIDTH, 208), parts, rhythm=(0.25, 0.45), times=len(starts), total=f"{total:.1f}")


def stripes() -> Story:
    """A number for each distance, in a square; the sentence moves to another page, and the square stays."""
    side, left, top = 40, 84, 104
    firsts = [0, 0, 300]
    before, after = CSS["sinusoidal"], CSS["relative"]
    parts = []
    for i, word in enumerate(WORDS):
        middle = (i + 0.5) * side
        parts.append(text(left + middle, 72, word, 12.5))
        parts.append(text(left + middle, 92, [f"{first + i}" for first in firsts], 12, opacity=0.75))
        parts.append(text(left - 36, top + middle + 4.5, word, 12.5, at="end"))
        parts.append(text(
            left - 4, top + middle + 4.5, [f"{first + i}" for first in firsts], 12, at="end", opacity=0.75,
        ))
        for j in range(6):
            x, y, far = left + side * j, top + side * i, abs(j - i)
            shade = (0.85, 0.62, 0.44, 0.3, 0.18, 0.1)[far]
            parts.append(part(
                "rect", x=x + 1, y=y + 1, width=side - 2, height=side - 2,
                fill=before if j < i else after, fill_opacity=shade,
            ))
            sign = (f"{far}→" if j > i else f"←{far}") if far else "0"
            strong = i == 2 and j in (1, 5)
            parts.append(
                text(x + side / 2, y + side / 2 + 4.5, sign, 12.5, font_weight=700 if strong else 400)
            )
    row = part(
        "rect", x=left, y=top + 2 * side, width=6 * side, height=side, fill="none", stroke="currentColor",
        stroke_width=2.5,
    )
    parts.append(group(row, opacity=[0, 1]))
    parts.append(
        text(left + 3 * side, 18, ["on page 1", "on page 1", "on page 2"], 14, font_weight=600)
    )
    parts.append(text(left + 3 * side, 48, "the word that is asked", 12, opacity=0.75))
    parts.append(text(left - 4, 84, "the word", 12, at="end", opacity=0.75))
    parts.append(text(left - 4, 98, "that asks", 12, at="end", opacity=0.75))
    end = top + 6 * side
    parts.append(text(52, end + 20, "arrow: how far, and to which side", 12.5, at="start"))
    parts.append(text(52, end + 38, "color: the number that is added to the score", 12.5, at="start"))
    return story("stripes", (WIDTH, 390), parts)


def toll() -> Story:
    """Scores of a head, the line of ALiBi, and the weights before and after."""
    words = ["a", "fox", "saw", "a", "cub", "and", "a", "fox", "ran"]
    scores = torch.tensor([0, 3, 1, 0, 2, 0, 0, 3, 1.0])
    places = torch.arange(9)
    paid = scores + bias(places[-1:], places, torch.tensor([0.25]))[0, 0]
    before, after = scores.softmax(0).tolist(), paid.softmax(0).tolist()
    unit, zero, ground, tall = 28, 138, 334, 140
    gray, color = CSS["none"], CSS["alibi"]
    parts = [text(4, 18, "how well each word fits: its score", 14, at="start", font_weight=600)]
    parts.append(text(4, 222, "what it gets: its weight", 14, at="start", font_weight=600))
    parts += [line(4, zero, 356, zero), line(4, ground, 356, ground)]
    for at, word in enumerate(words):
        x, was, now = 24 + 39 * at, scores[at].item(), paid[at].item()
        if was:
            parts.append(part(
                "rect", x=x - 12, y=zero - unit * was, width=24, height=unit * was, fill=gray,
                fill_opacity=[0.75, 0.75, 0.12],
            ))
        parts.append(part(
            "rect", x=x - 12, y=round(min(zero, zero - unit * now), 2), width=24,
            height=round(unit * abs(now), 2), fill=color, opacity=[0, 0, 1],
        ))
        high = [round(tall * weight, 2) for weight in (before[at], before[at], after[at])]
        parts.append(part(
            "rect", x=x - 12, y=[ground - v for v in high], width=24, height=high, fill=[gray, gray, color],
        ))
        if word == "fox":
            share = [f"{100 * weight:.0f} %" for weight in (before[at], before[at], after[at])]
            parts.append(text(x, [round(ground - v - 6, 1) for v in high], share, 13, font_weight=600))
        parts.append(text(x, ground + 18, word, 13, font_weight=700 if at == 8 else 400))
    parts.append(text(336, ground + 33, "asks", 12, opacity=0.75))
    level = zero - 3.4 * unit
    flat, falls = f"M336 {level:.1f}L24 {level:.1f}", f"M336 {level:.1f}L24 {level + 2 * unit:.1f}"
    look = {"fill": "none", "stroke": color, "stroke_width": 2.5, "stroke_dasharray": "8 3 2 3"}
    parts.append(part("path", d=[flat, falls], opacity=[0, 1], **look))
    parts.append(text(306, 35, "¼ less for each step back", 12.5, at="end", opacity=[0, 1]))
    return story("toll", (WIDTH, 376), parts, each=f"{100 * before[1]:.0f}", near=f"{100 * after[7]:.0f}", far=f"{100 * after[1]:.0f}")


LENGTHS = (64, 128, 256, 512)
CURVES = {  # names of the records: key of the style, and name in the picture
    "RoPE": ("rope", "RoPE"),
    "sinusoidal": ("sinusoidal", "clocks"),
    "T5": ("relative", "T5"),
    "none": ("none", "no positions"),
    "ALiBi": ("alibi", "ALiBi"),
}


def past() -> Story:
    """How well six kinds of models read texts that are longer than those of training."""
    left, right, bottom, unit = 34, 258, 262, 52
    curves = means()
    xs = [left + (right - left) * at / 3 for at in range(4)]

    def height(loss: float) -> float:
        return round(bottom - unit * (loss - 0.4), 1)

    parts = [line(left - 8, bottom, right + 8, bottom), line(left - 8, height(5), left - 8, bottom)]
    parts += [text(x, bottom + 19, str(length)) for x, length in zip(xs, LENGTHS, strict=True)]
    parts += [text(left - 14, height(loss) + 4.5, str(loss), at="end") for loss in (1, 2, 3, 4)]
    parts.append(text((left + right) / 2, bottom + 40, "characters that it may read", 13))
    parts.append(text(0, 14, "surprise (loss, in nats): lower is better", at="start"))
    parts.append(line(xs[0], height(0.5), xs[0], height(4.75), stroke_dasharray="2 4", stroke_opacity=0.6))
    parts.append(text(xs[0] + 6, height(4.6), "length in training", 12.5, at="start"))
    for name, (key, label) in CURVES.items():
        ys = [height(loss) for loss in curves[name]]
        drawn = []
        for last in range(4):
            points = [(xs[min(at, last)], ys[min(at, last)]) for at in range(4)]
            drawn.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points))
        dash = " ".join(f"{2 * v:g}" for v in STYLE[key].dash) or "none"
        parts.append(part(
            "path", d=drawn, fill="none", stroke=CSS[key], stroke_width=2.5, stroke_dasharray=dash,
            stroke_linejoin="round",
        ))
        parts.append(group(
            part(
                "path", d=MARKERS.get(STYLE[key].marker, "M-4 -4L4 4M4 -4L-4 4"),
                fill=CSS[key], stroke=CSS[key],
            ),
            transform=moved(*zip(xs, ys, strict=True)),
        ))
        parts.append(text(
            [round(x + 10, 1) for x in xs], [y + 4.5 for y in ys], label, at="start", opacity=[0, 0, 0, 1]
        ))
    [start, *_] = curves["learned"]
    parts.append(
        part("path", d=MARKERS["s"], fill=CSS["learned"], transform=f"translate({xs[0]} {height(start)})")
    )
    parts.append(text(xs[0] + 10, height(0.9), "table: no row 64", 12.5, at="start", opacity=[0, 1]))
    names = {"RoPE": "rope", "sinusoidal": "clocks", "T5": "t5", "none": "none", "ALiBi": "alibi"}
    ends = {key: f"{curves[name][-1]:.1f}" for name, key in names.items()}
    return story("past", (WIDTH, 306), parts, **ends)


def families_since() -> Story:
    """The hands of RoPE, turned by the largest distance in a text that grows, and then in a window."""
    trained, *_ = LENGTHS
    speeds = frequencies(16).tolist()  # of the models of the study: heads of 16 features
    far = [*(length - 1 for length in LENGTHS), trained - 1]
    losses = means()
    read = [*losses["RoPE"], losses["RoPE, window"][-1]]
    around, radius, parts = 2 * math.pi, 30, []
    titles = [f"{length} characters" for length in LENGTHS] + [
        f"{LENGTHS[-1]}, each looks back {trained - 1}"
    ]
    parts.append(text(4, 16, titles, 14, at="start", font_weight=600))
    parts.append(text(356, 16, [f"surprise {loss:.2f}" for loss in read], 14, at="end", font_weight=600))
    for x, color, wide, name in (
        (4, "currentColor", 5, "angles of training"),
        (172, CSS["rope"], 10, "new angles"),
    ):
        parts.append(line(x, 38, x + 24, 38, color, stroke_width=wide))
        parts.append(text(x + 31, 42.5, name, 13, at="start"))
    for at, speed in enumerate(speeds):
        x, y = 46 + 89.5 * (at % 4), 92 + 104 * (at // 4)
        known = min(around, speed * (trained - 1))
        new = [math.degrees(min(around, max(known, speed * each)) - known) for each in far]
        start = math.degrees(known) - 90
        arc = {"r": radius, "fill": "none", "pathLength": 360}
        # Hands that came around stand where they stand; the others show how far they have come.
        angles = [
            math.degrees(speed * each % around if known == around else min(speed * each, around))
            for each in far
        ]
        parts.append(group(
            part("circle", r=radius, fill="none", stroke="currentColor", stroke_opacity=0.3),
            part(
                "circle", **arc, stroke=CSS["rope"], stroke_width=10, transform=f"rotate({start:.1f})",
                stroke_dasharray=[f"{each:.1f} 361" for each in [*new[:-1], new[-2]]],
                stroke_opacity=[1] * (len(new) - 1) + [0.3],
            ),
            part(
                "circle", **arc, stroke="currentColor", stroke_width=5, transform="rotate(-90)",
                stroke_dasharray=f"{math.degrees(known):.1f} 361",
            ),
            group(
                line(0, 0, 0, 6 - radius, stroke_width=2, stroke_linecap="round"),
                transform=[f"rotate({angle:.1f})" for angle in angles],
            ),
            transform=f"translate({x} {y})",
        ))
        parts.append(text(x, y + 52, f"{around / speed:,.0f}", 12.5))
    parts.append(text(180, 270, "number: characters for one turn of the hand", 12.5, opacity=0.75))
    fresh = sum(
        angle > 0.05 for angle in (speed * far[-2] - min(around, speed * far[0]) for speed in speeds[3:])
    )
    assert fresh == 5  # as the words below say
    return story("seen", (WIDTH, 276), parts, rhythm=(1.8, 0.9), window=f"{read[-1]:.2f}", whole=f"{read[-2]:.2f}")


# Marks of about one area around the origin, so that color does not stand alone.
DISC, SQUARE = "m-3.7 0a3.7 3.7 0 1 0 7.4 0a3.7 3.7 0 1 0 -7.4 0", "m-3.3 -3.3h6.6v6.6h-6.6z"
TRIANGLE, DIAMOND = "m0 -4.2l4.3 7.6h-8.6z", "m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z"
KINDS = {  # of `d2lpos.pretrained.census`: its mark, how that looks, and what it means
    "turn": (DISC, {"fill": CSS["rope"]}, "turn in every attention layer (RoPE)"),
    "some": (
        DISC,
        {"fill": CSS["rope"], "fill_opacity": 0.3, "stroke": CSS["rope"], "stroke_width": 1.5},
        "turn in some layers, nothing in others",
    ),
    "none": (DISC, {"fill": "none", "stroke": "currentColor", "stroke_width": 1.5}, "nothing in any attention"),
    "bias": (TRIANGLE, {"fill": CSS["relative"]}, "a number added to the scores (door 3)"),
    "table": (SQUARE, {"fill": CSS["learned"]}, "a table"),
    "sinusoids": (DIAMOND, {"fill": CSS["sinusoidal"]}, "clocks, added"),
}


def counted() -> Counter:
    """How many families there are of each kind in each year."""
    return Counter((row["kind"], int(row["year"])) for row in families())


def years() -> Story:
    """A mark for each family of models, in its year."""
    known = counted()
    steps = [2020, 2022, 2023, 2024, 2025, 2026]
    parts, bottom, pitch = [], 232, 9.4
    for year in range(2018, 2027):
        left = 4 + 40 * (year - 2018)
        at, drawn = 0, []
        for kind, (mark, look, _) in KINDS.items():
            count = known[kind, year]
            spots = ((left + 2 + pitch * (n % 4), bottom - pitch * (n // 4)) for n in range(at, at + count))
            marks = "".join(f"M{x:.1f} {y:.1f}{mark}" for x, y in spots)
            drawn.append(part("path", d=marks, **look) if count else "")
            at += count
        shown = [1 if year <= step else PALE for step in steps]
        parts.append(group(*drawn, opacity=shown))
        parts.append(text(left + 16, bottom + 24, str(year), 12.5, opacity=shown))
    for at, (kind, (mark, look, words)) in enumerate(KINDS.items()):
        y = 14 + 20 * at
        total = sum(count for (counts, _), count in known.items() if counts == kind)
        parts += [
            part("path", d=f"M8 {y}{mark}", **look),
            text(20, y + 4.5, f"{words}: {total}", at="start"),
        ]
    parts.append(text(20, 138.5, "one mark: one family", 12.5, at="start", opacity=0.75))

    turned = {f"y{year}": f"{known['turn', year]} of {sum(known[kind, year] for kind in KINDS)}" for year in steps[2:]}
    return story("years", (WIDTH, 264), parts, rhythm=(1.1, 0.6), **turned)


def near() -> Story:
    """A word that asks in two layers: one turns what is near, one finds what is far."""
    names, window, gap = {0: "the", 1: "fox", 13: "it", 14: "jumps"}, 4, 24
    last, parts = max(names), []
    xs = [12 + gap * at for at in range(last + 1)]
    rope, gray = CSS["rope"], CSS["none"]

    def words(y: float, **look: object) -> str:
        squares = (
            part(
                "rect", x=x - 9, y=y, width=18, height=18, rx=3,
                fill=tint("fox") if at == 1 else "currentColor",
                fill_opacity=0.75 if at in names else 0.15,
            )
            for at, x in enumerate(xs)
        )
        return group(*squares, **look)

    def bow(x: float, y: float, color: str, **look: object) -> str:
        high = 14 + 0.22 * (xs[-1] - x)
        d = f"M{xs[-1]} {y}C{xs[-1]} {y - high:.1f} {x} {y - high:.1f} {x} {y}"
        return part("path", d=d, fill="none", stroke=color, **look)

    upper, lower = 118, 232
    marks = [
        bow(
            x, upper, tint("fox") if at == 1 else gray, stroke_width=5 if at == 1 else 1,
            stroke_opacity=1 if at == 1 else 0.6,
        )
        for at, x in enumerate(xs[:-1])
    ]
    parts.append(group(
        text(2, 16, "sees everything, turns nothing", 14, at="start", font_weight=600),
        *marks, words(upper), opacity=[PALE, PALE, 1],
    ))
    dials = [
        group(
            part("circle", r=10, fill=PAPER, stroke=rope),
            line(
                0, 0, round(9 * math.sin(0.9 * (last - at)), 1), round(-9 * math.cos(0.9 * (last - at)), 1),
                rope, stroke_width=2,
            ),
            transform=f"translate({xs[at]} {lower + 34})",
        )
        for at in range(last - window, last + 1)
    ]
    turned = [bow(xs[at], lower, rope, stroke_width=2.5) for at in range(last - window, last)]
    parts.append(group(
        text(2, 180, "turns, sees the last few words", 14, at="start", font_weight=600),
        *turned, *dials, opacity=[PALE, 1],
    ))
    parts.append(words(lower))
    parts += [text(xs[at], lower + 64, names[at]) for at in (0, 1)]
    parts.append(text(360, lower + 64, "it jumps", at="end"))
    parts.append(text(180, lower + 64, "… ten pages …", 13, opacity=0.75))
    return story("near", (WIDTH, 304), parts)


def layers() -> Story:
    """The layers of five families, from the first below to the last above."""
    known = yaml.safe_load((BOOK / "models" / "by-hand.yml").read_text("utf-8"))["layers"]
    parts, bottom, high = [], 380, 6
    looks = {
        "T": ({"fill": CSS["rope"], "width": 48}, "turns, sees all"),
        "t": ({"fill": CSS["rope"], "width": 22}, "turns, sees a part"),
        "N": (
            {"fill": "none", "stroke": "currentColor", "stroke_width": 1.2, "width": 47},
            "no turn, sees all",
        ),
        "-": ({"fill": CSS["none"], "fill_opacity": 0.3, "width": 22}, "no attention"),
    }
    for at, (look, words) in enumerate(looks.values()):
        x, y = 4 + 182 * (at % 2), 8 + 22 * (at // 2)
        parts += [
            part("rect", x=x + 24 - look["width"] / 2, y=y, height=high, **look),
            text(x + 56, y + 8, words, 12.5, at="start"),
        ]
    for at, words in enumerate(("one bar: one layer,", "the first at the bottom")):
        parts.append(text(4, 70 + 16 * at, words, 12.5, at="start", opacity=0.75))
    steps = len(known)
    for at, (name, model) in enumerate(known.items()):
        middle = 34 + 71 * at
        drawn = []
        for kind, (look, _) in looks.items():
            wide = look["width"]
            ys = [bottom - high * (i + 1) for i, one in enumerate(model["pattern"]) if one == kind]
            bars = "".join(f"M{middle - wide / 2:g} {y}h{wide}v{high - 1.6}h-{wide}z" for y in ys)
            drawn.append(
                part("path", d=bars, **{key: value for key, value in look.items() if key != "width"})
                if ys
                else ""
            )
        parts.append(group(
            *drawn,
            text(middle, bottom + 18, name, 12.5, font_weight=600),
            opacity=[1 if step >= at else PALE for step in range(steps)],
        ))
    says = [f"{name}: {model['says']}" for name, model in known.items()]
    return story("layers", (WIDTH, 404), parts, rhythm=(1.7, 0.6), says=says, families=" ".join(says))


PICTURES: dict[str, Callable] = {
    "bag": bag,
    "doors": doors,
    "numbers": numbers,
    "clocks": lambda: hero("clocks", p=20, plain=True, play=True),
    "rows": rows,
    "turn": turn,
    "pairs": pairs,
    "stripes": stripes,
    "toll": toll,
    "past": past,
    "seen": families_since,
    "years": years,
    "near": near,
    "layers": layers,
}


def drawn() -> dict[str, str]:
    """The HTML of each picture by its name. The first story brings the program of all."""
    pages, first = {}, True
    for name, draw in PICTURES.items():
        picture = draw()
        pages[name] = picture.html(first) if isinstance(picture, Story) else picture.html
        first = first and not isinstance(picture, Story)
    return pages


if __name__ == "__main__":
    for name, picture in drawn().items():
        (BOOK / "figures" / f"{name}.html").write_text(picture, "utf-8")
