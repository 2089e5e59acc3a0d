"""Slopes for any head count."""

import torch
from torch import Tensor

from ...bias import alibi as package
from ..cases import by_hand, exact_dtype
from ..verdict import Case, Check, call


def geometric(count: int) -> list[float]:
    return [2 ** (-8 * h / count) for h in range(1, count + 1)]


def fill_up(heads: int) -> Tensor:
    below = 2 ** (heads.bit_length() - 1)
    return torch.tensor(geometric(below) + geometric(2 * below)[::2][: heads - below])


def heads_case(heads: int) -> Case:
    return exact_dtype(call(f"heads = {heads}", heads=heads))


def paper_for_all(heads):
    return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)


released = Check(
    "released",
    reference=fill_up,
    properties={
        "powers of two": [heads_case(2), heads_case(1), heads_case(8), heads_case(16)],
        "other head counts": [heads_case(3), heads_case(12), heads_case(6), heads_case(71), heads_case(112)],
        "written by hand": [by_hand("heads = 12", package, "check_positive", "slopes", (12,))],
    },
    mistakes={
        "This is the paper's rule (6.2) for every head count. The released one fills up a power of two.": paper_for_all,
        "The extra slopes begin with the second of the larger sequence, which are those that you have. Begin "
        "with the first.": "[::2] → [1::2]",
        "The extra slopes are consecutive. Take every other one: [0::2].": "[::2] → ",
        "This cuts off the sequence for the next larger power of two.":
            lambda heads: torch.tensor(geometric(2 ** (heads - 1).bit_length())[:heads]),
        "The slopes are right, but sorted. Head 1 keeps the first of the smaller sequence.":
            lambda heads: fill_up(heads).sort(descending=True).values,
        "A power of two is filled up here, too. It has a sequence of its own.":
            "heads.bit_length() - 1 → max(0, (heads - 1).bit_length() - 1)",
        "The sequence begins with 1. Heads count from 1: h = 1 … H.":
            lambda heads: fill_up(heads) * 2 ** (8 / 2 ** (heads.bit_length() - 1)),
        "The exponent lost its minus: slopes are below 1.": lambda heads: 1 / fill_up(heads),
    },
    cards=(paper_for_all,),
)
