"""The offset that looks most like none."""

import math

import torch

from ...input.sinusoids import sinusoidal
from ..cases import exact_dtype
from ..verdict import Answer, Case, Check, call
from .material import kernel


def nearest_offset(d: int, base: float, length: int) -> int:
    return int(kernel(torch.arange(1, length), d, base).argmax()) + 1


def by_norm(d: int, base: float, length: int, p: float) -> int:
    """As nearest_offset, with another distance than the Euclidean."""
    table = sinusoidal(torch.arange(length).double(), d, base)
    return int((table[1:] - table[0]).norm(p, dim=-1).argmin()) + 1


def offset_case(d: int, base: float, length: int) -> Case:
    return exact_dtype(call(f"d = {d}, base = {base:g}, length = {length}", d=d, base=base, length=length))


def seconds_only(d, base, length):
    return max(range(1, length), key=math.cos)


collision = Check(
    "collision",
    reference=nearest_offset,
    properties={
        "the offset whose two codes are most alike": [
            offset_case(2, 10000.0, 20), offset_case(4, 2.0, 200), offset_case(8, 1.01, 100),
            offset_case(64, 10000.0, 500), offset_case(8, 3.0, 200),
        ],
        "offsets up to length − 1": [offset_case(2, 10000.0, 45), offset_case(2, 10000.0, 44)],
        "far ones, too": [offset_case(2, 10000.0, 1000)],
    },
    mistakes={
        "Offset 0 is counted. Every position is most like itself.":
            lambda d, base, length: int(kernel(torch.arange(length), d, base).argmax()),
        "Absolute differences are added up. The Euclidean distance adds their squares.":
            lambda d, base, length: by_norm(d, base, length, 1),
        "One too small: the first entry belongs to offset 1.":
            lambda d, base, length: nearest_offset(d, base, length) - 1,
        "Only the fastest hand is compared. All d/2 of them must agree.": seconds_only,
        "Offset length is counted, but positions end at length − 1.":
            lambda d, base, length: nearest_offset(d, base, length + 1),
        "The base is always 10000 here. It is an argument.":
            lambda d, base, length: nearest_offset(d, 10000.0, length),
        "The search ends early. Try every offset below length.":
            lambda d, base, length: nearest_offset(d, base, min(length, 500)),
    },
    answers=(Answer("nearest", 44, {
        "That is the answer for large bases. With 1.001 all hands keep nearly the same time.": 1,
        "After 6 the hands lack 0.28 of a turn's 2π. Some offset below 500 comes nearer to whole turns.": 6,
        "That is 56 turns and a half: the codes are nearly opposite.": 355,
        "That is beyond the length.": lambda k: k >= 500,
    }),),
    cards=(seconds_only,),
    as_good={
        "(offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().sum(dim=-1) → (offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().mean(dim=-1)": "A mean is a sum divided by a constant, so it is largest, and rises, where the sum does.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2)": "float32 is exact enough for the cases.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2).float()": "float32 is exact enough for the cases.",
        "(offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().sum(dim=-1) → (offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().sum(dim=1)": "There are two axes, so the last is axis 1.",
    },
)
