"""Masks."""

import torch
from torch import Tensor

from ..cases import quarters
from ..verdict import Check, call
from .material import CYCLE, draw

MIXED = torch.tensor([2, 0, 3, 1])  # no rotation, no reversal, not its own inverse


def permute(mask: Tensor, order: Tensor) -> Tensor:
    return mask[..., order, :][..., order]


def first_dimensions(mask, order):
    return mask[order[:, None], order]


permute_mask = Check(
    "permute_mask",
    reference=permute,
    properties={
        "one mask (T, T)": [
            call(mask=draw(3, 3) > 0, order=CYCLE),
            call(mask=draw(4, 4) > 0, order=MIXED),
            call(mask=draw(1, 1) > 0, order=torch.tensor([0])),
            call(mask=draw(5, 5) > 0, order=torch.tensor([3, 0, 4, 1, 2])),
            call(mask=quarters(100, 100) > 0, order=torch.arange(100) * 37 % 100),
        ],
        "dimensions in front of (T, T)": [
            call(mask=draw(3, 3, 3) > 0, order=CYCLE),
            call(mask=draw(4, 4, 4, 4) > 0, order=MIXED),
            call(mask=draw(4, 3, 3) > 0, order=CYCLE),
        ],
    },
    mistakes={
        "The mask is unchanged, but the tokens have moved.": lambda mask, order: mask,
        "Only the keys are permuted. The queries have moved too.": lambda mask, order: mask[..., order],
        "Only the queries are permuted. The keys have moved too.": lambda mask, order: mask[..., order, :],
        "This is the inverse order. x[order] puts token order[t] at place t.":
            lambda mask, order: permute(mask, order.argsort()),
        "The order permutes the first two dimensions. Queries and keys are the last two.": first_dimensions,
        "The dimensions are counted from the front. A mask (T, T) has two: count from the end.":
            lambda mask, order: mask[:, :, order][:, :, :, order],
        "Two indices in one bracket pick pairs, here the diagonal. Index twice.":
            lambda mask, order: mask[..., order, order],
    },
    cards=(first_dimensions,),
)
