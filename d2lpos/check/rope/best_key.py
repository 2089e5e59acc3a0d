"""The best key at an offset."""

import torch
from torch import Tensor

from ...input.sinusoids import frequencies
from ...rotary.rope import rotate
from ..verdict import Case, Check, call
from .material import draw, pair_angles, turn_both


def turn_back(q: Tensor, offset: float, base: float) -> Tensor:
    return turn_both(q, -offset * pair_angles(q.shape[-1], base), "interleaved")


def key_case(offset: float, base: float, *shape: int) -> Case:
    return call(q=draw(*shape).double(), offset=offset, base=base)


def one_query(q, offset, base):
    return rotate(q, -offset * frequencies(len(q), base), "interleaved")


best_key = Check(
    "best_key",
    reference=turn_back,
    properties={
        "the key of q's length that scores highest at this offset": [
            key_case(1, 1e4, 2), key_case(3, 1e4, 4), key_case(400, 1e4, 8), key_case(2, 99.5, 8),
        ],
        "keys to the left, where the offset is negative": [key_case(-5000, 1e4, 2)],
        "many queries at once": [key_case(2, 1e4, 3, 2), key_case(2, 1e4, 2, 3, 6)],
    },
    mistakes={
        "This key scores highest at the offset of the other sign. It is going to be turned by +offset.":
            lambda q, offset, base: turn_back(q, -offset, base),
        "This key scores highest at offset 0. Turn it, so that its own turn brings it back.":
            lambda q, offset, base: q,
        "All pairs turn by the same angle. Pair i turns by the offset times its own frequency.":
            lambda q, offset, base: turn_both(q, torch.tensor(-float(offset)), "interleaved"),
        "The pairs lie half a vector apart here. In this exercise they are neighbors.":
            lambda q, offset, base: turn_both(q, -offset * pair_angles(q.shape[-1], base), "half"),
        "The sign of the offset is lost.": lambda q, offset, base: turn_back(q, abs(offset), base),
        "The base is always 10000 here. It is an argument.":
            lambda q, offset, base: turn_back(q, offset, 10_000.0),
    },
    cards=(one_query,),
    as_good={
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2)": "float32 is exact enough for the cases.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2).float()": "float32 is exact enough for the cases.",
    },
)
