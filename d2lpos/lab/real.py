"""What is asked of SmolLM2: functions of a probe, each giving rows that a record keeps.

All losses are in nats a token, means over the tokens of a passage that have one before them. What is changed is changed
in the trained model as it stands: nothing is trained again.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..encoding import Encoding
from ..input.sinusoids import angles, frequencies
from ..pretrained.smollm2 import SmolLM2, attend_in_window, losses
from ..rotary.rope import RoPE, convert, permute_qk_rows, rotate
from ..rotary.scaling import dynamic_ntk, freeze_pairs, linear, ntk, unscaled, yarn
from ..transformer.attention import attend, attention_weights
from ..transformer.masks import Mask, causal_mask
from ..transformer.temperature import multiply
from .models import log_n_scaling
from .passages import WHO
from .probe import Probe, encoder, loaded, tokenizer, tokens

__all__ = ["EVAL_MODES", "board", "heads", "layout", "length", "needles", "placed", "sentence", "sink"]

Rows = list[dict]

FOLLOWED = ((1, 2), (2, 1), (11, 1), (16, 0))  # layer and head: `heads` found them to look one back the most
HEADS = {"smollm2": FOLLOWED, "gemma3": ((2, 3), (4, 1), (10, 1), (8, 2)), "stand-in": ((0, 0), (1, 2))}
SLOW = (0, 20, 24, 28)  # the first of four pairs each: the fastest four, and the slowest three bands
TRAINED = 8192  # tokens
FEW = 1024  # tokens of which all pairs fit
BIN = 256  # tokens over which a loss at a place is a mean
SENTENCE = "The cat sat on the mat, and the dog sat on the"
WORDS = 8  # tokens with which it goes on


def rope(model: SmolLM2, **changed: object) -> RoPE:
    """The model's own encoding, with some arguments changed."""
    return remade(model.encoding, **changed)


def remade(own: RoPE, **changed: object) -> RoPE:
    """An encoding like this one, with some arguments changed."""
    return RoPE(**{"dim": own.dim, "base": own.base, "layout": own.layout} | changed)


def held(own: RoPE, pairs: Iterable[int]) -> RoPE:
    return remade(own, scaling=partial(freeze_pairs, pairs=[*pairs]))


def paced(own: RoPE, pace: float) -> RoPE:
    return remade(own, scaling=lambda omega: (pace * omega, 1.0))


def mean(values: Tensor) -> float:
    return round(values.double().mean().item(), 6)


def cases(model: SmolLM2, text: Tensor, ways: dict[str, dict[str, object]]) -> Rows:
    """A row for each way to read a text, arguments of `losses`: its name and the loss."""
    return [{"case": case, "loss": mean(losses(model, text, **how))} for case, how in ways.items()]


# Layout


@contextmanager
def rows_moved(model: SmolLM2, queries: bool, keys: bool) -> Iterator[None]:
    """Rows of neighbors moved to halves, of queries, of keys, or of both."""
    moved = [(b.q, b.heads) for b in model.blocks if queries]
    moved += [(b.k, b.kv_heads) for b in model.blocks if keys]
    before = [projection.weight for projection, _ in moved]
    for projection, count in moved:
        rows = permute_qk_rows(projection.weight, count, "half")
        projection.weight = torch.nn.Parameter(rows, requires_grad=False)
    try:
        yield
    finally:
        for (projection, _), weight in zip(moved, before, strict=True):
            projection.weight = weight


def layout(probe: Probe, device: str) -> Rows:
    """The loss with the file's rows, which are neighbors, turned as neighbors or as halves, moved or not."""
    model, text = loaded(probe.model, probe.dtype, device, "interleaved"), tokens(probe, device)
    rows, halves = cases(model, text, {"neighbors, turned so": {}}), {"encoding": rope(model, layout="half")}
    for case, queries, keys in (
        ("all moved to halves", True, True),
        ("nothing moved", False, False),
        ("queries alone moved", True, False),
        ("keys alone moved", False, True),
    ):
        with rows_moved(model, queries, keys):
            rows += cases(model, text, {case: halves})
    return rows + cases(model, text, {"no rotation": {"encoding": Encoding()}})


# Positions


class Apart(Encoding):
    """RoPE whose queries stand `ahead` places further on than their keys do."""

    def __init__(self, own: RoPE, ahead: int):
        super().__init__()
        self.own, self.ahead = own, ahead

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.own.rotate(q, k, q_positions + self.ahead, k_positions)


class Coarse(Encoding):
    """RoPE computed in few bits: its positions, the angles, or the tables of cosines and sines."""

    def __init__(self, own: RoPE, what: str, dtype: torch.dtype):
        super().__init__()
        self.own, self.what, self.dtype = own, what, dtype

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.turn(q, q_positions), self.turn(k, k_positions)

    def turn(self, x: Tensor, positions: Tensor) -> Tensor:
        omega, layout = frequencies(self.own.dim, self.own.base).to(x.device), self.own.layout
        turns = self.rounded(angles(self.rounded(positions.float(), "positions"), omega), "angles")
        if self.what != "tables":
            return rotate(x, turns, layout)
        cos, sin = self.rounded(turns.cos(), "tables"), self.rounded(turns.sin(), "tables")
        quarter = rotate(x.float(), torch.full_like(turns, torch.pi / 2), layout)
        both = (torch.cat([table, table], dim=-1) for table in (cos, sin))
        cos, sin = both if layout == "half" else (convert(table, "interleaved") for table in both)
        return (x.float() * cos + quarter * sin).to(x)

    def rounded(self, x: Tensor, what: str) -> Tensor:
        return x.to(self.dtype).float() if what == self.what else x


def placings(n: int, device: str, seed: int) -> dict[str, Tensor]:
    """Positions by name: each asks what one property of 0, 1, 2, … is worth."""
    here = torch.arange(n, device=device)
    shuffled = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).to(device)
    later = here >= n // 2
    cases = {"as trained": here}
    for shift in (1, 1000, 100_000, 1_000_000, 10_000_000):
        cases[f"shifted by {shift:,}"] = here + shift
    cases["shifted by 1,000,000 in float64"] = here.double() + 1_000_000
    for factor in (0.5, 0.9, 1.1, 2, 4):
        cases[f"times {factor:g}"] = here * factor
    cases |= {
        "all equal": torch.zeros_like(here),
        "reversed": here.flip(0),
        "shuffled": shuffled,
        "in pairs equal": here // 2,
        "gap of 1,000 in the middle": here + 1000 * later,
        "gap of 7,000 in the middle": here + 7000 * later,
        "second half at 0 again": here - n // 2 * later,
    }
    return cases


def placed(probe: Probe, device: str) -> Rows:
    """The loss when positions are moved; the mask stays that of the text, so angles alone change."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    changed: dict[str, Encoding] = {f"queries moved by {n:+d}": Apart(model.encoding, n) for n in (1, -1)}
    for what in ("positions", "angles", "tables"):
        for name, dtype in {"bfloat16": torch.bfloat16, "float16": torch.float16}.items():
            changed[f"{what} in {name}"] = Coarse(model.encoding, what, dtype)
    ways = {case: {"positions": at} for case, at in placings(text.shape[1], device, probe.seed).items()}
    return cases(model, text, ways | {case: {"encoding": one} for case, one in changed.items()})


# Heads


def looking(model: SmolLM2, q: Tensor, k: Tensor, encoding: Encoding) -> Tensor:
    """The weights of a layer's heads, (head, query, key)."""
    here = torch.arange(q.shape[2], device=q.device)
    return attention_weights(q, k, here, here, encoding, causal_mask(here, here))[0]


def heads(probe: Probe, device: str) -> Rows:
    """A row for each head: how much it weighs the previous token, the first, and its own, on average.

    still: the weight of the previous token with one pair held still in this layer alone, from the fastest to the
    slowest. nothing: with none turning; half and double: with positions so. q, k: the mean length of each pair of its
    queries and of the keys that it shares.
    """
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    pairs, rows = model.encoding.dim // 2, []
    ways = {
        "nothing": Encoding(),
        "half": rope(model, scaling=partial(linear, factor=2)),
        "double": rope(model, scaling=lambda omega: (2 * omega, 1.0)),
    }

    def previous(q: Tensor, k: Tensor, encoding: Encoding) -> list[float]:
        weights = looking(model, q, k, encoding).diagonal(-1, dim1=1, dim2=2).double().mean(dim=1)
        return [round(weight, 4) for weight in weights.tolist()]

    def lengths(x: Tensor) -> Tensor:
        split = (2, -1) if model.encoding.layout == "half" else (-1, 2)
        axis = -2 if model.encoding.layout == "half" else -1
        return x[0].float().unflatten(-1, split).norm(dim=axis).mean(dim=1)

    def watch(layer: int, q: Tensor, k: Tensor) -> None:
        weights = looking(model, q, k, model.encoding).double()[:, 1:]
        means = {
            "previous": weights.diagonal(0, dim1=1, dim2=2).mean(dim=1),
            "first": weights[:, :, 0].mean(dim=1),
            "own": weights.diagonal(1, dim1=1, dim2=2).mean(dim=1),
        }
        columns = {what: [round(v, 4) for v in values.tolist()] for what, values in means.items()}
        columns |= {what: previous(q, k, encoding) for what, encoding in ways.items()}
        one_still = [previous(q, k, held(model.encoding, [p])) for p in range(pairs)]
        columns["still"] = [list(column) for column in zip(*one_still, strict=True)]
        long_q, long_k = lengths(q), lengths(k).repeat_interleave(q.shape[1] // k.shape[1], dim=0)
        columns["q"], columns["k"] = (
            [[round(v, 2) for v in row] for row in x.tolist()] for x in (long_q, long_k)
        )
        for head in range(q.shape[1]):
            row = {"case": f"layer {layer}, head {head}", "layer": layer, "head": head}
            rows.append(row | {what: values[head] for what, values in columns.items()})

    with torch.no_grad():
        model.read(model.embed(text), watch=watch)
    return rows


# The board


@torch.no_grad()
def board(probe: Probe, device: str) -> Rows:
    """What becomes of the loss, and of the previous-token head, with parts of the rotation held still.

    The probe's part is "layer 7": each of its pairs alone, and all of them; or "layers": each layer, all its pairs;
    or "columns": each pair in all layers, and everything; or "bands": each four neighboring pairs in all layers; or
    "slow bands": a few of these, for long texts, where each costs a minute.
    layer and pair are None where all are held.
    previous: the weights that the heads of FOLLOWED give to the previous token; None below the layer, and where the text
    is long.
    """
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    layers, pairs = len(model.blocks), model.encoding.dim // 2
    followed = HEADS[probe.model]

    start, every = model.embed(text), range(pairs)

    def row(
        case: str, layer: int | None, pair: int | None, some: Sequence[int], x: Tensor, first: int = 0
    ) -> dict[str, object]:
        """The row with some pairs held still in a layer, or in all, of what enters layer `first`."""
        changed = held(model.encoding, some) if some else model.encoding
        changed = Encoding() if len(some) == pairs else changed
        encodings = [changed if layer in (None, at) else model.encoding for at in range(layers)]
        previous = {}

        def watch(layer: int, q: Tensor, k: Tensor) -> None:
            for at, head in followed:
                if layer == at and q.shape[2] <= FEW:
                    own = q[:, [head]], k[:, [head * k.shape[1] // q.shape[1]]]
                    weights = looking(model, *own, encodings[layer])
                    previous[at, head] = round(weights[0].diagonal(-1).mean().item(), 4)

        loss = mean(losses(model, text, model.read(x, encoding=encodings, watch=watch, first=first)))
        about = {"case": case, "layer": layer, "pair": pair, "loss": loss}
        return about | {"previous": [previous.get(one) for one in followed]}

    if probe.part.startswith("layer "):
        layer = int(probe.part.removeprefix("layer "))
        x = model.read(start, last=layer)
        parts = [(pair, [pair]) for pair in every] + [(None, every)]
        return [row(f"layer {layer}", layer, pair, some, x, layer) for pair, some in parts]
    rows = [row("as trained", None, None, [], start)]
    if probe.part == "layers":
        for layer in range(layers):
            rows.append(row(f"layer {layer}", layer, None, every, start, layer))
            start = model.read(start, first=layer, last=layer + 1)
        return rows
    width = 1 if probe.part == "columns" else 4
    for pair in SLOW if probe.part == "slow bands" else range(0, pairs, width):
        some = list(range(pair, pair + width))
        rows.append(row("held", None, pair, some, start))
    return rows if probe.part == "slow bands" else [*rows, row("no rotation", None, None, every, start)]


class EachStill(Encoding):
    """RoPE in which each text of a batch holds other pairs still; turns is (batch, pairs), 0 where one is held."""

    def __init__(self, own: RoPE, turns: Tensor):
        super().__init__()
        self.own, self.turns = own, turns

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        omega = frequencies(self.own.dim, self.own.base).to(q.device)
        by = angles(q_positions, omega) * self.turns[:, None, None, :]
        return rotate(q, by, self.own.layout), rotate(k, by, self.own.layout)


@torch.no_grad()
def sentence(probe: Probe, device: str) -> Rows:
    """How SENTENCE goes on, the likeliest token each time, with one pair, a layer, or a column held still.

    The part is as for `board`. All conditions of a part are read as one batch.
    """
    model = loaded(probe.model, probe.dtype, device)
    layers, pairs = len(model.blocks), model.encoding.dim // 2
    turns = torch.ones(pairs + 2, pairs, device=device)
    turns[1 : pairs + 1] -= torch.eye(pairs, device=device)  # the first row turns as trained
    turns[-1] = 0
    columns = probe.part == "columns"
    layer = 0 if columns else int(probe.part.removeprefix("layer "))
    text = torch.tensor([encoder(probe.model)(SENTENCE)], device=device).expand(pairs + 2, -1)
    start = text.shape[1]
    changed = EachStill(model.encoding, turns)
    encodings = [changed if columns or at == layer else model.encoding for at in range(layers)]
    for _ in range(WORDS):
        alike, of = text.unique(dim=0, return_inverse=True)  # below the layer, they are read once
        x = model.read(model.embed(alike), last=layer)[of]
        x = model.read(x, encoding=encodings, first=layer)
        text = torch.cat([text, model.logits(x[:, -1:]).argmax(dim=-1)], dim=1)
    goes_on = [decoded(probe.model, row[start:].tolist()) for row in text]
    cases = ["as trained", *["held"] * pairs, "no rotation"]
    named = [None, *range(pairs), None]
    return [
        {"case": case, "layer": None if columns else layer, "pair": pair, "goes on": words}
        for case, pair, words in zip(cases, named, goes_on, strict=True)
    ]


def decoded(model: str, ids: list[int]) -> str:
    if model == "stand-in":
        return bytes(ids).decode("latin-1")
    return tokenizer("smollm2").decode(ids)


# Needles


HIDDEN = 8  # needles in a passage
DIGITS = 5
GAPS = (0, 8000, 11_000, 14_000)  # tokens by which the first four are moved away


def hidden(
    probe: Probe, needles: int = HIDDEN, start: int = 0
) -> tuple[list[int], list[tuple[int, list[int], list[int]]]]:
    """A passage with needles in it, spread evenly: its tokens; and of each needle where it stands, the question and the answer.

    A needle says the secret number of somebody, "The secret number of the baker is 48213.", and a question says the
    same up to the number. Who, and the numbers, are drawn by the number of the passage. start: so many tokens of the
    passage are left out before it.
    """
    encode = encoder(probe.model)
    draw = random.Random(f"needles {probe.seed}")
    who = draw.sample(WHO, needles)
    answers = [encode("".join(draw.choice("0123456789") for _ in range(DIGITS))) for _ in who]
    questions = [encode(f"\nThe secret number of the {one} is") + encode(" ") for one in who]
    sentences = [ask + answer + encode(".\n") for ask, answer in zip(questions, answers, strict=True)]
    left = probe.length - sum(map(len, sentences))
    if left < needles:
        raise ValueError(f"length must leave room for {needles} needles; got {probe.length}")
    hay = tokens(replace(probe, length=start + left))[0, start:].tolist()
    text, asked = [], []
    for number, needle in enumerate(sentences):
        first, end = (left * part // (2 * needles) for part in (max(0, 2 * number - 1), 2 * number + 1))
        text += hay[first:end]
        asked.append((len(text), questions[number], answers[number]))
        text += needle
    return text + hay[end:], asked


@torch.no_grad()
def branches(
    model: SmolLM2,
    text: Tensor,
    asked: Tensor,
    encoding: Encoding | None = None,
    window: tuple[int, int] | None = None,
    temperature: Callable[[Tensor], Tensor] | None = None,
    gap: int = 0,
) -> Tensor:
    """Logits (question, token, vocabulary) of questions (question, token), each as if it alone followed a text (1, n).

    The text is read once: the questions stand at the same positions, and no one sees another. gap: so many tokens
    are missing behind the first four.
    """
    n, size = text.shape[1], asked.shape[1]
    everywhere = torch.arange(n + size, device=text.device)
    everywhere[4:] += gap
    here, after = everywhere.split([n, size])
    back = after[:, None] - everywhere
    mask = back >= 0
    if window is not None:
        mask &= (back < window[0]) | (everywhere < window[1])
    encoding = model.encoding if encoding is None else encoding
    x, y = model.embed(text), model.embed(asked)
    for block in model.blocks:
        (q, k, v), (ask, key, value) = block.projected(x), block.projected(y)
        if temperature is not None:
            q, ask = multiply(q, here, temperature), multiply(ask, after, temperature)
        keys, values = (
            torch.cat([a.expand(len(b), -1, -1, -1), b], dim=2) for a, b in ((k, key), (v, value))
        )
        y = block.close(y, attend(ask, keys, values, after, everywhere, encoding, mask))
        if window is None:
            x = block.close(x, attend(q, k, v, here, here, encoding, Mask(here)))
        else:
            x = block.close(x, attend_in_window(q, k, v, here, encoding, *window))
    return model.logits(y)


def needles(probe: Probe, device: str) -> Rows:
    """How many digits of the needles a model says rightly, each after those before it.

    The part names how it reads, with the settings for twice the length of training, however long the text is.
    """
    model = loaded(probe.model, probe.dtype, device)
    return digits_right(probe, probe.part, model, **eval_modes(model, max(probe.length, 2 * TRAINED))[probe.part])


def sink(probe: Probe, device: str) -> Rows:
    """As `needles`, as trained, with the first four tokens of the text farther and farther away from all others."""
    model = loaded(probe.model, probe.dtype, device)
    return [row for gap in GAPS for row in digits_right(probe, f"{gap:,} away", model, gap=gap)]


def digits_right(probe: Probe, case: str, model: SmolLM2, **how: object) -> Rows:
    """A row for each needle of a probe: where it stands, how many of its digits are said rightly, and their loss."""
    text, asked = hidden(probe)
    device = model.tokens.weight.device
    # Questions differ in length: what follows a shorter one is not looked at.
    longest = max(len(question) + len(answer) for _, question, answer in asked)
    padded = [(question + answer + [0] * longest)[:longest] for _, question, answer in asked]
    tensors = (torch.tensor(part, device=device) for part in ([text], padded))
    logits = branches(model, *tensors, **how).float()
    rows = []
    for (place, question, answer), one in zip(asked, logits, strict=True):
        logits_of_answer, wanted = one[len(question) - 1 :][: len(answer)], torch.tensor(answer, device=device)
        right = int((logits_of_answer.argmax(dim=-1) == wanted).sum())
        loss = cross_entropy(logits_of_answer, wanted)
        about = {"case": case, "at": place, "right": right, "of": len(answer)}
        rows.append(about | {"loss": round(loss.item(), 4)})
    return rows


# Length


EVAL_MODES = (
    "as trained", "yarn", "ntk", "linear", "window", "window and 4 first", "dynamic ntk", "yarn, scores as they were",
    "sharper",
)  # fmt: skip


def eval_modes(model: SmolLM2, n: int) -> dict[str, dict]:
    """How to read n tokens, by name: as trained, by rules that slow pairs down, and in windows of half the training length."""
    factor, trained, half = max(1.0, n / TRAINED), min(TRAINED, n), max(1, min(TRAINED, n) // 2)
    scaled = {
        "as trained": unscaled,
        "linear": partial(linear, factor=factor),
        "ntk": partial(ntk, factor=factor),
        "dynamic ntk": partial(dynamic_ntk, factor=factor, length=trained, current=n),
        "yarn": partial(yarn, factor=factor, length=trained),
        "yarn, scores as they were": partial(yarn, factor=factor, length=trained, attention_factor=1.0),
    }
    ways = {name: {"encoding": rope(model, scaling=rule)} for name, rule in scaled.items()}
    ways |= {"window": {"window": (half, 0)}, "window and 4 first": {"window": (half, 4)}}
    return ways | {"sharper": {"temperature": partial(log_n_scaling, length=trained)}}


def length(probe: Probe, device: str) -> Rows:
    """The loss over each 256 tokens of a long passage; the part names how it is read, as `eval_modes` does."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    loss = losses(model, text, **eval_modes(model, probe.length)[probe.part])[0]
    places = [round(part.mean().item(), 4) for part in loss.split(BIN)]
    return [{"case": probe.part, "loss": mean(loss), "places": places}]
