"""Keys as servers pack them, in fp8 or in llama.cpp's blocks: what it costs SmolLM2 to store them, and to turn them again.

fp8 has a sign and 7 bits: 4 of exponent and 3 of fraction in e4m3, 5 and 2 in e5m2. One scale serves a layer. What is
larger than the largest number becomes that. A block of llama.cpp has 32 neighboring features of a token, one scale in
float16, and no zero point: levels from −127 to 127 in q8_0, from −8 to 7 in q4_0. Its files of Llamas keep the features
of a pair side by side, so that a block has 16 pairs. Where pairs are halves, it has one feature of 32 pairs. Since April
2026 llama.cpp multiplies a key by a Hadamard matrix before it packs it, and again when it reads it: "mixed" blocks.

Decided before the runs; 95 % intervals are Student's over passages.

real-packed stores keys once, on the passages of real-bits; the model computes in bfloat16. Each sentence falls by what
stands behind it, in any of the three texts. Keys are stored after the turn, and at scale 1, where nothing else is said:
1. Scale 1 is enough: refuted unless e4m3 at scale 1, less e4m3 at the layer's scale, has an interval within ± 0.02 nats.
2. e4m3 costs nothing: refuted unless what it adds to bfloat16 has an interval within ± 0.02.
3. e5m2 costs more: refuted unless e5m2 − e4m3 has an interval above 0.
4. Before or after the turn is the same: refuted unless after − before has an interval within ± 0.02, in e4m3.
5. 4 bits by token cost more than e4m3: refuted unless the difference has an interval above 0.
6. Blocks of pairs lose less in q4_0: refuted unless pairs as halves, less neighbors, has an interval above 0.
7. Mixed blocks lose less in q4_0: refuted unless neighbors, less mixed, has an interval above 0.

real-packed-shift is real-shift with packed keys, over the first two shifts: float32 elsewhere, pairs as neighbors, blocks
mixed, fp8 at scale 1. "At once" turns them by 64 places and packs them a second time; "by ones" turns and packs them 64
times. Both are compared with keys in the same format that never turn, whose positions count on. Over three texts
together, a sentence holds or fails where the interval lies on one side of its limit; else it is open:
8. q8_0, q4_0 and e4m3 at once each lose less than 0.02 nats by the turn; three sentences.
9. q8_0 by ones loses less than 0.02 nats.
10. q4_0 and e4m3 by ones each lose more than 0.1 nats; two sentences.
A longer form, over six shifts and with e5m2, took too long. It was stopped after a passage, which nobody had looked at.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from ..positions.arguments import check_name, check_scale
from ..pretrained.smollm2 import SmolLM2, losses
from .bits import StoredKeys, rounded
from .probe import Probe, loaded, tokens
from .real import mean
from .shift import BAND, HALF, MUCH, as_rows, shifting
from .summary import by_case, decisions

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["blocks", "decided", "fp8", "packed", "packed_shift"]

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
BLOCK = 32  # numbers that share a scale


def fp8(x: Tensor, dtype: torch.dtype = E4M3, scale: float | Tensor = 1.0) -> Tensor:
    """x as it is after x / scale has lain in fp8; what is larger than its largest number, 448 or 57,344, becomes that.

    Raises ValueError for another dtype, and a scale that is not positive.

    >>> fp8(torch.tensor([0.3, 17.0, 500.0])).tolist()
    [0.3125, 16.0, 448.0]
    """
    check_name("dtype", dtype, (E4M3, E5M2))
    check_scale(scale=float(scale))
    most = torch.finfo(dtype).max
    return ((x.float() / scale).clamp(-most, most).to(dtype).float() * scale).to(x)


def by_layer(x: Tensor, dtype: torch.dtype, past: float = 1.0) -> Tensor:
    """x in fp8 whose scale fits its largest number; with `past`, that number is so many times too large."""
    return fp8(x, dtype, x.float().abs().max() / torch.finfo(dtype).max / past)


def blocks(x: Tensor, bits: int) -> Tensor:
    """x (…, feature) as it is after it has lain in llama.cpp's q8_0 or q4_0; fewer than 32 features are one block.

    Raises ValueError for bits that are not 8 or 4, and features that are not full blocks.

    >>> blocks(torch.tensor([1.0, 4.0, -8.0, 8.0]), bits=4)
    tensor([ 1.,  4., -8.,  7.])
    """
    check_name("bits", bits, (8, 4))
    size = min(BLOCK, x.shape[-1])
    if x.shape[-1] % size:
        raise ValueError(f"x must have a multiple of {BLOCK} features; got {x.shape[-1]}")
    parts = x.float().unflatten(-1, (-1, size))
    most = parts.gather(-1, parts.abs().argmax(dim=-1, keepdim=True))
    scale = most.abs() / 127 if bits == 8 else most / -8
    level = (parts / scale.where(scale != 0, 1)).round().clamp(max=2 ** (bits - 1) - 1)
    return (level * scale.half()).flatten(-2).to(x)


@cache
def hadamard(size: int) -> Tensor:
    """Hadamard's matrix, orthogonal and its own inverse, float32."""
    from scipy.linalg import hadamard as signs

    return torch.from_numpy(signs(size) / size**0.5).float()


def mixed(x: Tensor, bits: int) -> Tensor:
    """x as `blocks` give it back where a Hadamard matrix has mixed all features, or as many as a power of two divides."""
    size = x.shape[-1] & -x.shape[-1]
    matrix = hadamard(size).to(x.device)
    stored = blocks((x.float().unflatten(-1, (-1, size)) @ matrix).flatten(-2), bits)
    return (stored.unflatten(-1, (-1, size)) @ matrix).flatten(-2).to(x)


def values_too(model: SmolLM2, text: Tensor, store: Callable[[Tensor], Tensor]) -> Tensor:
    """Losses where values are stored as well as turned keys."""
    hooks = [block.v.register_forward_hook(lambda *call: store(call[-1])) for block in model.blocks]
    try:
        return losses(model, text, encoding=StoredKeys(model.encoding, store))
    finally:
        for hook in hooks:
            hook.remove()


def packed(probe: Probe, device: str) -> list[dict]:
    """The loss with packed keys, a row for each way; `largest` has the largest number of each layer's turned keys."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    own, here, largest = model.encoding, torch.arange(text.shape[1], device=device), []

    def watch(layer: int, q: Tensor, k: Tensor) -> None:
        largest.append(round(own.rotate_at(k, here).abs().max().item(), 2))

    rows = [{"case": "as trained", "loss": losses(model, text, watch=watch)}]
    for name, dtype in {"e4m3": E4M3, "e5m2": E5M2}.items():
        for scale, store in {"scale 1": fp8, "layer's scale": by_layer}.items():
            for turn in ("before", "after"):
                one = StoredKeys(own, partial(store, dtype=dtype), turn == "before")
                loss = losses(model, text, encoding=one)
                rows.append({"case": f"{name}, {scale}, {turn} the turn", "loss": loss})
        loss = values_too(model, text, partial(fp8, dtype=dtype))
        rows.append({"case": f"{name}, scale 1, values too", "loss": loss})
    stores = {f"e4m3, {past} times too large": partial(by_layer, dtype=E4M3, past=past) for past in (2, 8)}
    stores |= {f"{count} bits by token": partial(rounded, bits=count, by="token") for count in (8, 4)}
    stores |= {f"q{count}_0, pairs as halves": partial(blocks, bits=count) for count in (8, 4)}
    for case, store in stores.items():
        rows.append({"case": case, "loss": losses(model, text, encoding=StoredKeys(own, store))})
    other = loaded(probe.model, probe.dtype, device, "interleaved")
    rows.append({"case": "as trained, pairs as neighbors", "loss": losses(other, text)})
    for how, store in {"pairs as neighbors": blocks, "mixed": mixed}.items():
        for count in (8, 4):
            one = StoredKeys(other.encoding, partial(store, bits=count))
            rows.append({"case": f"q{count}_0, {how}", "loss": losses(other, text, encoding=one)})
    rows = [row | {"loss": mean(row["loss"])} for row in rows]
    return [rows[0] | {"largest": largest}, *rows[1:]]


FORMATS = {"q8_0": partial(mixed, bits=8), "q4_0": partial(mixed, bits=4), "e4m3": fp8}
WAYS = {"positions count on": 0, "at once": HALF, "by ones": 1}
CASES = {"float32, positions count on": (torch.float32, True, 0)} | {
    f"{name}, {way}": (store, True, by) for name, store in FORMATS.items() for way, by in WAYS.items()
}


def packed_shift(probe: Probe, device: str) -> list[dict]:
    """Rows as those of `shift.shift`, with packed keys; nothing is read anew."""
    model, text = loaded(probe.model, probe.dtype, device, "interleaved"), tokens(probe, device)
    return as_rows(shifting(model, text, CASES))


def decided(records: Iterable[dict]) -> "DataFrame":
    """What is decided of sentences 8 to 10 of this module: holds, fails or open; columns as `shift.decided` has them.

    >>> from d2lpos.lab import run_probe
    >>> probe = Probe("real-packed-shift", "", "stand-in", "rule", length=192)
    >>> decided([run_probe(probe)])["verdict"].unique().tolist()
    ['open']
    """
    losses_by_case, sentences = by_case(records), {}
    for way in ("at once", "by ones"):
        for name in FORMATS:
            rise = losses_by_case[f"{name}, {way}"] - losses_by_case[f"{name}, positions count on"]
            little = way == "at once" or name == "q8_0"
            says = f"{name} {way}: {'less than 0.02' if little else 'more than 0.1'}"
            sentences[says] = rise - BAND if little else MUCH - rise
    return decisions(sentences)
