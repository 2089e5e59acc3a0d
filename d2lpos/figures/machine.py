"""The machine that reads: small trained models read a text in the page, and surprise is ink behind it.

    machine("none", "rope", text="austen", state="longer")  # last expression of a cell

The output holds the engine and its preset. On the book's pages the models come as files of the site, when the
figure is in view. A notebook has no such files, so the function adds those that it names to its output, packed, in
an element that `book/execute.py` empties: what is stored stays small, and running a cell brings the models back.
"""

import json
import math
import re
import zlib
from base64 import b64decode
from collections.abc import Iterator
from copy import deepcopy
from functools import cache, partial
from hashlib import sha256
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..positions.arguments import check_name
from ..pretrained.char_models import LONGEST, load, parsed, path, surprise, tokens
from ..rotary.rope import RoPE
from ..rotary.scaling import linear, ntk
from .hero import PAGE, module
from .image import image
from .show import picture
from .style import MONO, STYLE

# The name of each passage, what the figure calls it, and its text.
PASSAGES: dict[str, list[str]] = json.loads(Path(__file__).with_name("passages.json").read_text("utf-8"))
NAMES = {
    "none": "none",
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "rope": "RoPE",
    "rope linear": "RoPE, interpolated",
    "rope ntk": "RoPE, NTK",
    "t5": "T5",
    "alibi": "ALiBi",
}
# What each state changes of a text that is as long as in training, in order, from position 0 on.
STATES: dict[str, dict[str, object]] = {
    "plain": {},
    "longer": {"length": LONGEST},
    "late": {"start": 600},
    "stopped": {"clock": "stands"},
    "doubled": {"clock": "double"},
    "scrambled": {"clock": "shuffled"},
    "shuffled": {"shuffle": True},
}


SIDES = ("left", "right")
EMPTY = "<script data-readers></script>\n"
# Puts models into the window, as the files of the site do, but as promises: `brought` packs what this unpacks.
BRING = """
{
  const whole = async (size, floats, text) => {
    const data = new Uint8Array(size), digit = i => (c => c - 35 - (c > 92))(text.charCodeAt(i));
    for (let i = 0, at = 0, bits = 0, held = 0; i < text.length; i += 2) {
      bits |= digit(i) + 91 * digit(i + 1) << held;
      for (held += 13; held > 7; held -= 8, bits >>= 8) data[at++] = bits;
    }
    const plain = new Blob([data]).stream().pipeThrough(new DecompressionStream('deflate'));
    const bytes = new Uint8Array(await new Response(plain).arrayBuffer()), end = bytes.indexOf(10) + 1, weights = bytes.slice(end);
    for (let i = 0; i < 4 * floats; i++) weights[i] = bytes[end + i % 4 * floats + (i >> 2)];
    return { ...JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), weights };
  };
  window.d2lposReaders ??= {};
"""
STEP, LINE, COLUMNS, WINDOW, FULL = 8, 22, 72, 32, 5  # px; px; characters; characters; nats of the darkest ink


class Machine:
    """What `machine` returns: the figure for a page, and a description of it for everything else."""

    def __init__(self, options: dict[str, Any]):
        self.options = options
        self.losses = [losses(options[side], options) for side in SIDES]
        self.description = describe(options, self.losses)
        self.picture = still(self.description, options, self.losses)

    @property
    def html(self) -> str:
        """The figure without its models, as a notebook stores it and a page of the book holds it."""
        source = module("machine")
        data = {"passages": dict(PASSAGES.values()), "trained": trained()}
        arguments = json.dumps(self.options | data, sort_keys=True, ensure_ascii=False)
        key = sha256((source + arguments).encode()).hexdigest()[:12]
        fallback = f"<p>{escape(self.description)}</p>{self.picture}"
        figure = PAGE.format(key=key, fallback=fallback, module=source, arguments=arguments)
        return f'{EMPTY}<div class="reads">\n{figure}</div>\n'

    def _repr_mimebundle_(self, include=None, exclude=None):
        names = dict.fromkeys(self.options[side].split()[0] for side in SIDES)
        full = self.html.replace("></", f">{BRING}{''.join(map(brought, names))}}}\n</", 1)
        return {"text/html": image(self.picture, self.description, full), "text/plain": self.description}


def machine(
    left: str = "none",
    right: str = "rope",
    text: str = "austen",
    state: str = "plain",
    play: bool = False,
    brief: bool = False,
) -> Machine:
    """Two small trained models that read a text side by side; the page computes what they show.

    left, right: "none", "sinusoidal", "learned", "rope", "t5" or "alibi"; or "rope linear" and "rope ntk",
    stretched by these rules of `d2lpos.rotary.scaling` from the length of training to 512 characters.
    text: "austen", "dickens", "today" or "refrain", or a text of your own, of 2 to 512 characters.
    state: "plain", as many characters as in training; "longer", all characters; "late", from position 600 on;
    "stopped", all at one position; "doubled", every second position; "scrambled", the positions shuffled;
    "shuffled", the words shuffled. Several may be joined by spaces, as in "longer late".
    play: whether the end of the text moves past the training length after the models have read the text.
    brief: whether to show only the two lines and a sentence, without the text and the heads.

    Raises ValueError for a name that is not known and for a text that is too short or too long, TypeError for
    a play or a brief that is not True or False.

    >>> machine("none", "alibi", state="longer").options["length"]
    512
    """
    for side, name in (("left", left), ("right", right)):
        check_name(side, name, NAMES)
    words = PASSAGES[text][1] if text in PASSAGES else text
    if not isinstance(words, str) or not 2 <= len(words) <= LONGEST:
        known = f"{', '.join(PASSAGES)}, or a text of 2 to {LONGEST} characters"
        raise ValueError(f"text must be {known}; got {words!r}")
    for name, switch in {"play": play, "brief": brief}.items():
        if type(switch) is not bool:
            raise TypeError(f"{name} must be True or False; got {switch!r}")
    options = {"length": trained(), "start": 0, "clock": "runs", "shuffle": False}
    for name in state.split():
        check_name("state", name, STATES)
        options |= STATES[name]
    options["length"] = min(options["length"], len(words))
    options |= {"left": left, "right": right, "words": words, "play": play, "brief": brief}
    return Machine(options)


@cache
def brought(name: str) -> str:
    """The statement of `BRING` that brings a model: all that is in its file, in seven tenths of the characters."""
    file = parsed(path(name).read_text("utf-8"))
    weights = b64decode(file.pop("weights"))
    floats = sum(rows if kind == "q8" else rows * columns for _, rows, columns, kind in file["shapes"])
    # What is alike stands together, with a code of its own: the first bytes of all floats, the second ones and so on.
    planes = np.frombuffer(weights, np.uint8, 4 * floats).reshape(-1, 4).T.tobytes()
    packer, data = zlib.compressobj(9), b""
    for part in (json.dumps(file).encode() + b"\n", planes, weights[4 * floats :]):
        data += packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)
    data += packer.flush()
    return f'  d2lposReaders["{name}"] = whole({len(data)}, {floats}, "{digits(data)}");\n'


def digits(data: bytes) -> str:
    """Bytes in characters that neither a script nor JSON has to escape: 13 bits are two of 91 (as in basE91)."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    values = np.pad(bits, (0, -len(bits) % 13)).reshape(-1, 13) @ (1 << np.arange(13))
    codes = 35 + np.stack([values % 91, values // 91], 1).ravel()
    return bytes((codes + (codes > 91)).tolist()).decode()  # without the backslash, 92


@cache
def model(name: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A reader in float64, so that its numbers are the same on every processor, as far as they are shown."""
    net, card = load(name)
    return net.double(), card


def trained() -> int:
    """The length of training, in characters."""
    return model("none")[1]["train_length"]


def uniform(seed: int) -> Iterator[float]:
    """The numbers in [0, 1) that `random(seed)` of the modules gives (mulberry32)."""
    word = 0xFFFFFFFF
    while True:
        seed = (seed + 0x6D2B79F5) & word
        t = (seed ^ seed >> 15) * (seed | 1) & word
        t = (t + (t ^ t >> 7) * (t | 61) & word) ^ t
        yield ((t ^ t >> 14) & word) / 2**32


def drawn(n: int, seed: int) -> list[int]:
    """An order of n things, as the figure draws it."""
    stream = uniform(seed)
    return [place for _, place in sorted((next(stream), place) for place in range(n))]


def shuffled(text: str) -> str:
    """The text with its words in the order that the figure draws."""
    parts = re.split(r"(\s+)", text)
    parts[::2] = [parts[2 * place] for place in drawn(len(parts[::2]), 7)]
    return "".join(parts)


def positions(n: int, clock: str, start: int) -> torch.Tensor:
    """The position that each of n characters is told, as the figure has it; (n,), int64."""
    plain, block = torch.arange(n), trained()
    if clock == "shuffled":
        plain = torch.tensor(
            [b + place for b in range(0, n, block) for place in drawn(min(block, n - b), b // block)]
        )
    return start + plain * {"stands": 0, "double": 2}.get(clock, 1)


def losses(name: str, options: dict[str, Any]) -> torch.Tensor:
    """The surprise of a model at each character of the figure's first state, in nats; (length,), float64."""
    name, _, rule = name.partition(" ")
    reads, card = model(name)
    if rule:
        reads = deepcopy(reads)
        scaling = partial({"linear": linear, "ntk": ntk}[rule], factor=LONGEST / card["train_length"])
        turning = RoPE(card["d_model"] // card["heads"], scaling=scaling)
        reads.encoding = turning
        for block in reads.blocks:
            block.attention.encoding = turning
    words = shuffled(options["words"]) if options["shuffle"] else options["words"]
    ids = tokens(card, words)[: options["length"]]
    return surprise(reads, ids, positions(len(ids), options["clock"], options["start"]))


def describe(options: dict[str, Any], losses: list[torch.Tensor]) -> str:
    """What the figure shows at first, in words."""
    words, n, edge = options["words"], options["length"], trained()
    clock = {
        "runs": "",
        "stands": " All characters are told the same position.",
        "double": " The positions that they are told run at double pace.",
        "shuffled": " The positions that they are told are shuffled.",
    }[options["clock"]]
    start = f" The text begins at position {options['start']}." if options["start"] else ""
    order = "with its words shuffled, " if options["shuffle"] else ""
    ink = "a line along the text" if options["brief"] else "ink behind each character"
    each = []
    for side, loss in zip(SIDES, losses, strict=True):
        within, beyond = loss[:edge].nanmean().item(), loss[edge:].nanmean().item()
        after = f", and {beyond:.2f} on those after them" if n > edge else ""
        each.append(
            f"{NAMES[options[side]]}: {within:.2f} nats a character on the first {min(n, edge)}{after}"
        )
    return (
        f"Two small models, trained on texts of {edge} characters, read {n} characters, {order}"
        f"“{words[:40].strip()} …”."
        f"{start}{clock} How surprised they are is {ink}. In the mean, {'; '.join(each)}."
    )


def rows(words: str) -> list[tuple[int, int]]:
    """Where each line of a text begins and ends, in characters; lines break after spaces."""
    spans, start = [], 0
    while start < len(words):
        end = min(len(words), start + COLUMNS)
        if end < len(words):
            end = words.rfind(" ", start, end) + 1 or end
        spans.append((start, end := max(end, start + 1)))
        start = end
    return spans


def still(alt: str, options: dict[str, Any], losses: list[torch.Tensor]) -> str:
    """The first state as a picture: both texts with their ink, and the mean surprise along them."""
    words = shuffled(options["words"]) if options["shuffle"] else options["words"]
    words, marks, top = words[: options["length"]].replace("\n", " "), [], 0
    hues = [STYLE[{"t5": "relative"}.get(key := options[side].split()[0], key)].css for side in SIDES]
    for hue, side, loss in zip(hues, SIDES, losses, strict=True) if not options["brief"] else ():
        name = NAMES[options[side]]
        marks.append(f'<text x="0" y="{top + 15}" font-size="15" font-weight="650">{name}</text>')
        top += 24
        shades = (8 * loss / FULL).clamp(max=8).nan_to_num().round().long().tolist()
        cells, ends = [""] * 9, [(0, 0)] * 9  # in steps and lines, each from where the one before it ends
        marks.append(f'<g font-size="12.5" style="font-family:{MONO}">')
        for row, (start, end) in enumerate(rows(words)):
            line, column = words[start:end], 0
            for shade, run in groupby(shades[start:end]):
                (x, y), many = ends[shade], len([*run])
                cells[shade] += f"m{column - x} {row - y}h{many}"
                column += many
                ends[shade] = column, row
            place = f'y="{top + row * LINE + 13}" textLength="{len(line) * STEP}" style="white-space:pre"'
            marks.append(f"<text {place}>{escape(line, False)}</text>")
        place = f"translate(0 {top + 8}) scale({STEP} {LINE})"
        marks.append(f'</g>\n<g transform="{place}" style="stroke:{hue}" stroke-width="{17 / LINE:.3g}">')
        for shade in range(1, 9):
            marks.append(
                f'<path d="{cells[shade]}" opacity="{0.62 * shade / 8:.3g}"/>' if cells[shade] else ""
            )
        marks.append("</g>")
        for row, (start, end) in enumerate(rows(words)):
            if start <= trained() < end:  # where training ended
                edge = f"M{STEP * (trained() - start)} {top + row * LINE - 2}v{LINE}"
                marks.append(
                    f'<path d="{edge}" stroke="currentColor" stroke-width="2" stroke-dasharray="3 3"/>'
                )
        top += len(rows(words)) * LINE + 14
    marks.append(lines(losses, hues, [NAMES[options[side]] for side in SIDES], top))
    size = (STEP * COLUMNS, top + 190)
    return picture("\n".join(filter(None, marks)), alt, size, size).svg


def lines(losses: list[torch.Tensor], hues: list[str], names: list[str], top: int) -> str:
    """The mean surprise of the last characters along the text, in an SVG, from `top` on."""
    means = [
        [(i, v) for i in range(9, len(loss) + 1) if (v := loss[max(0, i - WINDOW) : i].nanmean().item()) == v]
        for loss in losses
    ]
    n, high = max(64, len(losses[0])), math.ceil(max([3, *(v for line in means for _, v in line)]))

    def x(i: int) -> float:
        return 24 + i / n * (STEP * COLUMNS - 110)

    def y(nats: float) -> float:
        return top + 160 - 130 * nats / high

    def label(x: float, y: float, words: object, anchor: str = "end") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" font-size="13" text-anchor="{anchor}">{words}</text>'

    bottom, edge = y(0) + 17, x(trained())
    marks = [label(0, top + 14, f"surprise in nats, mean of the last {WINDOW} characters", "start")]
    for v in range(high + 1):
        marks.append(f'<path d="M24 {y(v):.1f}H{x(n):.1f}" stroke="currentColor" stroke-opacity=".3"/>')
        marks.append(label(14, y(v) + 4, v))
    if trained() < n:
        line = f"M{edge:.1f} {y(high):.1f}V{y(0):.1f}"
        marks.append(f'<path d="{line}" stroke="currentColor" stroke-dasharray="4 4"/>')
        marks.append(label(edge, bottom, trained(), "middle"))
    marks.append(label(x(n), bottom, f"character {len(losses[0])}"))
    heights = [y(line[-1][1]) if line else y(0) for line in means]
    if abs(heights[0] - heights[1]) < 15:  # names stand apart
        middle, up = sum(heights) / 2, heights[0] > heights[1]
        heights = [middle + 8 * (1 if up else -1), middle - 8 * (1 if up else -1)]
    dashes = "", ' stroke-dasharray="70 40"'
    for line, hue, name, height, dash in zip(means, hues, names, heights, dashes, strict=True):
        # In tenths of a pixel, each from the one before it.
        ends = [(round(10 * x(i)), round(10 * y(v))) for i, v in line[::-3][::-1]]
        steps = " ".join(f"{b - a} {d - c}" for (a, c), (b, d) in pairwise([(0, 0), *ends]))
        if ends:
            ink = f'fill="none" style="stroke:{hue}" stroke-width="22"{dash}'
            marks.append(f'<path transform="scale(.1)" d="m{steps}" {ink}/>')
        marks.append(label(x(len(losses[0])) + 6, height + 4, name, "start"))
    return "\n".join(marks)
