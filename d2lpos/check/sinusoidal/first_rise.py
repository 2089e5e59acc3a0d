"""Where the kernel rises."""

import torch

from ..verdict import Answer, Case, Check, call
from .material import kernel


def find_rise(d: int, base: float) -> int:
    return rise_below(1000, d, base)


def rise_below(length: int, d: int, base: float) -> int:
    values = kernel(torch.arange(length), d, base)
    return int((values[1:] > values[:-1]).nonzero()[0]) + 1


def rise_case(d: int, base: float) -> Case:
    return call(f"d = {d}, base = {base:g}", d=d, base=base)


first_rise = Check(
    "first_rise",
    reference=find_rise,
    properties={
        "the first offset that is more alike than the one before": [
            rise_case(2, 10000.0), rise_case(64, 10000.0), rise_case(64, 100.0), rise_case(48, 10.0), rise_case(256, 1e6),
            rise_case(12, 3.5), rise_case(48, 11.5),
        ],
        "however far it is": [rise_case(4096, 10000.0), rise_case(8192, 10000.0)],
    },
    mistakes={
        "This is the last offset of the fall. The next one is larger: return that.":
            lambda d, base: find_rise(d, base) - 1,
        "One too large: the difference between offsets k − 1 and k belongs to k.":
            lambda d, base: find_rise(d, base) + 1,
        "This is where the kernel is lowest. It may rise before that.":
            lambda d, base: int(kernel(torch.arange(1000), d, base).argmin()),
        "Only the fastest hand is counted. Sum over all d/2 of them.": lambda d, base: find_rise(2, base),
        "The base is always 10000 here. It is an argument.": lambda d, base: find_rise(d, 10000.0),
        "The search ends early: with many hands the first rise is far away.":
            lambda d, base: rise_below(100, d, base),
    },
    answers=(Answer("rise", 245, {
        "That is for d = 64. Let d grow.": 6,
        "That is the last offset of the fall.": 244,
        "Count offsets from 0: κ(1) is the second value.": 246,
    }),),
    as_good={
        "returned as a float": "The text asks for a whole number, and 1.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
        "(offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().sum(dim=-1) → (offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().mean(dim=-1)": "A mean is a sum divided by a constant, so it is largest, and rises, where the sum does.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2)": "float32 is exact enough for the cases.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2).float()": "float32 is exact enough for the cases.",
        "(offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().sum(dim=-1) → (offsets[:, None] * base ** (-(torch.arange(0, d, 2).double() / d))).cos().sum(dim=1)": "There are two axes, so the last is axis 1.",
        "rise_below(1000, d, base) → rise_below(1001, d, base)": "The reference looks at so many offsets; the rise comes earlier in every case.",
        "rise_below(1000, d, base) → rise_below(999, d, base)": "The reference looks at so many offsets; the rise comes earlier in every case.",
        "values[1:] > values[:-1] → values[1:] >= values[:-1]": "Two neighbors are never exactly alike.",
    },
)
