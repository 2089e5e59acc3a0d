"""The models of the lab: one Transformer, an encoding by name, and other ways to read what was trained."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import Module
from torch.nn.functional import interpolate

from .. import Encoding, Learned, RoPE, Transformer
from ..positions.checks import offsets
from ..rotary.scaling import linear, llama3, ntk, unscaled, yarn
from ..transformer.attention import Attention
from ..transformer.dropout import PLACEMENTS, Dropped
from ..transformer.temperature import multiply
from .encodings import ENCODINGS, SQUARE, Sizes, new
from .places import PLACES, Places, in_squares, jittered, side
from .regroup import InParts, dual_chunk, dual_chunk_for, self_extend, self_extend_for
from .tasks import TASKS

__all__ = [
    "DROPOUTS",
    "ENCODINGS",
    "EVAL_MODES",
    "LAYERS",
    "ONLY",
    "PAST",
    "SPARED",
    "build",
    "eval_mode",
    "log_n_scaling",
    "place",
    "places",
    "reads",
]


class Setting(Sizes, Protocol):
    """What a model is built from and read by: a `Run`, which also says how it is trained."""

    task: str
    encoding: str
    places: str
    seed: int
    stretch: float
    scale: float
    add_every_layer: bool
    dropout: str
    drop: float
    stack: tuple[str, ...]


class EncodingWrapper(Encoding):
    """Another encoding with its doors; an eval mode changes one of them."""

    def __init__(self, inner: Encoding):
        super().__init__()
        self.inner, self.needs_hidden, self.axes = inner, inner.needs_hidden, inner.axes

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, positions)

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.inner.rotate(q, k, q_positions, k_positions)

    def hidden_features(self, x: Tensor) -> Tensor | None:
        return self.inner.hidden_features(x)

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, *hidden_features: Tensor | None
    ) -> Tensor | None:
        return self.inner.score(q, k, q_positions, k_positions, *hidden_features)

    def value(self, weights: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        return self.inner.value(weights, q_positions, k_positions)

    def rotate_values(self, v: Tensor, k_positions: Tensor) -> Tensor:
        return self.inner.rotate_values(v, k_positions)

    def unrotate_output(self, y: Tensor, q_positions: Tensor) -> Tensor:
        return self.inner.unrotate_output(y, q_positions)

    @property
    def doors(self) -> tuple[str, ...]:
        return self.inner.doors


class Scaled(EncodingWrapper):
    """An encoding whose vectors are multiplied by `scale` before they are added."""

    def __init__(self, inner: Encoding, scale: float):
        super().__init__(inner)
        self.scale = scale

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.scale * self.inner.embed(torch.zeros_like(x), positions)


class Sparing(Dropped):
    """Dropout on the sum that spares some tokens: Boolean (batch, sequence), told before each call."""

    def __init__(self, encoding: Encoding, rate: float):
        super().__init__(encoding, "sum", rate)
        self.spared = None

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return super().embed(x, positions, self.spared)


def others(special: Tensor) -> Tensor:
    """As many tokens of each sequence as are special, drawn from those that are not."""
    drawn = torch.rand(special.shape, device=special.device).masked_fill(special, 1)
    return drawn.argsort(dim=-1).argsort(dim=-1) < special.sum(dim=-1, keepdim=True)


class LastRow(EncodingWrapper):
    """A learned table whose last row serves all positions past it."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, positions.clamp(max=len(self.inner.table) - 1))


class Wrapped(EncodingWrapper):
    """A learned table that starts again at its first row."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.inner.embed(x, positions % len(self.inner.table))


class Blocks(Wrapped):
    """Each table's length of tokens is read on its own: no query sees a key of another block."""

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        length = len(self.inner.table)
        apart = q_positions[..., :, None] // length != k_positions[..., None, :] // length
        return torch.where(apart[..., None, :, :], -torch.inf, q.new_zeros(()))


class Stretched(EncodingWrapper):
    """A learned table of as many rows as there are positions, interpolated along a line, first to last."""

    def __init__(self, inner: Encoding, length: int):
        super().__init__(inner)
        self.length = length

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        table = self.inner.table
        place = positions * (len(table) - 1) / max(1, self.length - 1)
        below = place.long().clamp(max=len(table) - 2)
        return x + torch.lerp(table[below], table[below + 1], (place - below).to(table)[..., None])


class Interpolated(EncodingWrapper):
    """A learned table of the cells of a square, interpolated to the cells of a finer one."""

    def __init__(self, inner: Encoding, length: int):
        super().__init__(inner)
        self.side = side(length)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        table = self.inner.table
        square = table.T.unflatten(1, (side(len(table)), -1))
        finer = interpolate(square[None], (self.side, self.side), mode="bilinear", align_corners=False)
        return x + finer[0].flatten(1).T[positions]


class ToScale(EncodingWrapper):
    """Cells of a finer square, each where its middle lies in the trained one, whose cells are 1 wide."""

    def __init__(self, inner: Encoding, length: int, trained: int):
        super().__init__(inner)
        self.width = side(trained) / side(length)

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.inner.rotate(q, k, self.there(q_positions), self.there(k_positions))

    def there(self, positions: Tensor) -> Tensor:
        return (positions + 0.5) * self.width - 0.5


class Window(EncodingWrapper):
    """Attention that sees no key at `window` positions from the query, or further."""

    def __init__(self, inner: Encoding, window: int):
        super().__init__(inner)
        self.window = window

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, *hidden_features: Tensor | None
    ) -> Tensor:
        hidden = offsets(q_positions, k_positions).abs() >= self.window
        score = self.inner.score(q, k, q_positions, k_positions, *hidden_features)
        score = q.new_zeros(()) if score is None else score
        return torch.where(hidden[..., None, :, :], -torch.inf, score)


def log_n_scaling(positions: Tensor, length: int) -> Tensor:
    """ln n / ln length for a query that sees n tokens, once n is above length."""
    return (positions + 1.0).clamp(min=length).log() / math.log(length)


class Sharper(EncodingWrapper):
    """All logits of a query that sees n tokens are multiplied by ln n / ln length, once n is above length."""

    def __init__(self, inner: Encoding, length: int):
        super().__init__(inner)
        self.factor = partial(log_n_scaling, length=length)

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        q, k = self.inner.rotate(q, k, q_positions, k_positions)
        return multiply(q, q_positions, self.factor), k

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, *hidden_features: Tensor | None
    ) -> Tensor | None:
        score = self.inner.score(q, k, q_positions, k_positions, *hidden_features)
        return None if score is None else score * self.factor(q_positions)[..., None, :, None]


def scaled(rule: Callable, encoding: RoPE, base: float | None = None) -> RoPE:
    """The same rotation under a scaling rule, or with another base."""
    return RoPE(encoding.dim, base or encoding.base, encoding.layout, encoding.rotary, rule, encoding.features)


def once_more(rule: Callable, omega: Tensor) -> tuple[Tensor, float]:
    """A rule whose divisors are applied twice."""
    slower, factor = rule(omega)
    return slower * slower / omega, factor**2


def both(first: Callable, second: Callable) -> Callable:
    return lambda encoding: second(first(encoding))


def yarned(run: Setting, **more: float) -> Callable[[Tensor], tuple[Tensor, float]]:
    """YaRN's rule for a run, with some arguments changed."""
    return partial(yarn, **{"factor": run.stretch, "length": run.length} | more)


# From a run and a tested length to a function of the encoding that was trained. Scaling rules stretch the
# training length to the longest length tested; the dynamic one, to the length at hand.
EVAL_MODES: dict[str, Callable[[Setting, int], Callable[[Encoding], Encoding]]] = {
    "as trained": lambda run, length: lambda encoding: encoding,
    "last row": lambda run, length: LastRow,
    "wrapped": lambda run, length: Wrapped,
    "blocks": lambda run, length: Blocks,
    "stretched": lambda run, length: partial(Stretched, length=length),
    "window": lambda run, length: partial(Window, window=run.length),
    "sharper": lambda run, length: partial(Sharper, length=run.length),
    "linear": lambda run, length: partial(scaled, partial(linear, factor=run.stretch)),
    "ntk": lambda run, length: partial(scaled, partial(ntk, factor=run.stretch)),
    "dynamic ntk": lambda run, length: partial(scaled, partial(ntk, factor=max(1.0, length / run.length))),
    "yarn": lambda run, length: partial(scaled, yarned(run)),
    "llama 3": lambda run, length: partial(scaled, partial(llama3, factor=run.stretch, length=run.length)),
    "larger base": lambda run, length: lambda encoding: scaled(unscaled, encoding, 50 * encoding.base),
    "no rotation": lambda run, length: lambda encoding: Encoding(),
}
# YaRN as a configuration may have it: with the new length for that of training, applied by two programs, and with
# another base than the model's.
EVAL_MODES |= {
    "yarn, length overwritten": lambda run, length: partial(
        scaled, yarned(run, length=round(run.length * run.stretch))
    ),
    "yarn, twice": lambda run, length: partial(scaled, partial(once_more, yarned(run))),
    "yarn, another base": lambda run, length: lambda one: scaled(yarned(run), one, 10 * one.base),
}
# What part of YaRN does it: its frequencies, or its factor on queries and keys.
EVAL_MODES |= {
    "yarn, scores as they were": lambda run, length: partial(scaled, yarned(run, attention_factor=1.0)),
    "yarn, factor alone": lambda run, length: partial(scaled, lambda omega: (omega, yarned(run)(omega)[1])),
}
HALVED = ("yarn, scores as they were", "yarn, factor alone")
MISREAD = ("yarn, length overwritten", "yarn, twice", "yarn, another base")
for rule in ("ntk", "yarn"):
    EVAL_MODES[f"{rule}, sharper"] = lambda run, length, rule=rule: both(
        EVAL_MODES[rule](run, length), EVAL_MODES["sharper"](run, length)
    )
# Positions handed out anew: frequencies stay, and no pair of tokens is further apart than in training.
EVAL_MODES |= {
    "self-extend": lambda run, length: partial(
        InParts, rule=partial(self_extend, **self_extend_for(run.length, round(run.length * run.stretch)))
    ),
    "dual chunk": lambda run, length: partial(InParts, rule=partial(dual_chunk, **dual_chunk_for(run.length))),
}
REGROUPED = ("self-extend", "dual chunk")
# Of pictures of finer cells than those of training: a table of more rows, and places between those trained.
EVAL_MODES |= {
    "interpolated": lambda run, length: partial(Interpolated, length=length),
    "to scale": lambda run, length: partial(ToScale, length=length, trained=run.length),
}
PAST = ("last row", "wrapped", "blocks", "stretched")  # the eval modes that go past a learned table
TURNED = ("linear", "ntk", "dynamic ntk", "yarn", "llama 3", "larger base", "no rotation")
TURNED += ("ntk, sharper", "yarn, sharper", *HALVED, *MISREAD, *REGROUPED)
ONLY = dict.fromkeys((*PAST, "interpolated"), ("learned",)) | dict.fromkeys(TURNED, ("rope",))
ONLY["to scale"] = SQUARE
# A layer of a stack: its encoding, in a window, or without position; or its encoding with a gate on what attention puts
# out, or with a learned logit in each softmax.
LAYERS = ("full", "window", "none", "gate", "logit")

SPARED = {"protected": lambda special: special, "others protected": others}  # on the sum; which tokens not
DROPOUTS = (*PLACEMENTS, *SPARED)


def build(run: Setting) -> Transformer:
    """The untrained model of a run. Models of the same seed and size share all weights but the encoding's."""
    task = TASKS[run.task]
    torch.manual_seed(run.seed)
    encoding = new(run, run.encoding)
    if isinstance(encoding, Learned):
        encoding.table.data *= run.scale
    elif run.scale != 1:
        encoding = Scaled(encoding, run.scale)
    if run.dropout in SPARED:
        encoding = Sparing(encoding, run.drop)
    elif run.dropout != "none":
        encoding = Dropped(encoding, run.dropout, run.drop)
    torch.manual_seed(run.seed)
    layers = [None if kind == "none" else encoding for kind in run.stack] or encoding
    windows = [run.length // 2 if kind == "window" else None for kind in run.stack] or None
    # Where positions do not rise along the row, they do not tell what may be seen, and the index must.
    by_position = run.causal and run.places != "coupled"
    model = Transformer(
        task.vocabulary, task.outputs, run.dim, run.heads, run.layers, layers, by_position, window=windows
    )
    for kind, block in zip(run.stack, model.blocks, strict=False):
        if kind == "gate":
            gate(block.attention)
        elif kind == "logit":
            block.attention.sinks = torch.nn.Parameter(torch.zeros(run.heads))
    if run.causal and not by_position:
        model.register_forward_pre_hook(by_index)

    def tell(embedding: Module, inputs: tuple) -> None:
        encoding.spared = SPARED[run.dropout](inputs[0] >= task.special)

    if run.dropout in SPARED:
        model.tokens.register_forward_pre_hook(tell)

    def add(block: Module, inputs: tuple) -> tuple:
        x, positions, *others = inputs
        return model.encoding.embed(x, positions), positions, *others

    for block in model.blocks[1:] if run.add_every_layer else ():
        block.register_forward_pre_hook(add)
    return model


def gate(attention: Attention) -> None:
    """Multiply what the heads put out by σ(Wx), a number for each feature, x being what attention reads.

    Source: Qiu et al. 2025 (arXiv 2505.06708); Qwen3-Next has it.
    """
    attention.gate = torch.nn.Linear(attention.out.in_features, attention.out.in_features, bias=False)

    def look(module: Attention, inputs: tuple) -> None:
        module.opened = module.gate(inputs[0]).sigmoid()

    attention.register_forward_pre_hook(look)
    attention.out.register_forward_pre_hook(lambda out, inputs: (inputs[0] * attention.opened,))


def by_index(model: Module, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Let each token see itself and those before it in the row, whatever their positions are."""
    n = inputs[0].shape[1]
    return *inputs, torch.ones(n, n, dtype=torch.bool, device=inputs[0].device).tril()


@contextmanager
def eval_mode(model: Transformer, run: Setting, name: str, length: int) -> Iterator[Transformer]:
    """Let the model read `length` tokens with other encodings for a while.

    A layer without position has nothing to stretch, and one with a window meets no larger crowd: there these modes
    change nothing.
    """
    trained = [block.attention.encoding for block in model.blocks]
    change, read = EVAL_MODES[name](run, length), []
    for block, encoding in zip(model.blocks, trained, strict=True):
        if isinstance(encoding, Dropped):  # without dropout it is the same, once it is trained
            encoding = encoding.encoding
        fixed = block.attention.window if name == "sharper" else name in ONLY and not encoding.doors
        read.append(encoding if fixed else change(encoding))
    place(model, read)
    try:
        yield model
    finally:
        place(model, trained)


def place(model: Transformer, encodings: list[Encoding]) -> None:
    model.encoding = encodings[0]
    for block, encoding in zip(model.blocks, encodings, strict=True):
        block.attention.encoding = encoding


def reads(run: Setting, name: str, length: int) -> bool:
    """Whether an eval mode reaches a length: past a learned table there is no row to read."""
    further = name in (*PAST, "interpolated") or run.limit > 0
    return run.encoding != "learned" or further or length <= run.length


def places(run: Setting, training: bool = False) -> Places:
    """Who hands out the positions of a run, of `PLACES`: in a test nobody jitters them.

    Of an encoding of two axes, the cells of a square are counted.
    """
    if run.encoding in SQUARE:
        return jittered if training and run.places == "jittered" else in_squares
    return partial(PLACES[run.places], limit=run.limit) if run.limit else PLACES[run.places]
