"""YaRN's ramp."""

import math

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call
from .material import index_of, pair_angles


def ramp_between(low: float, high: float, d: int) -> Tensor:
    return ((torch.arange(d // 2).double() - low) / (high - low)).clamp(0, 1)


def yarn_ramp(d: int, base: float, length: int) -> Tensor:
    low, high = (index_of(turns, d, base, length) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), math.ceil(high), d)


def ramp_case(d: int, base: float, length: int) -> Case:
    label = f"d = {d}, base = {base:g}, length = {length}"
    return call(label, d=d, base=base, length=length)


ramp = Check(
    "ramp",
    reference=yarn_ramp,
    properties={
        "0 for pairs that turn often, 1 for open ones, a line between": [
            ramp_case(16, 10_000.0, 4096), ramp_case(64, 10_000.0, 4096), ramp_case(128, 10_000.0, 4096),
            ramp_case(128, 500_000.0, 8192), ramp_case(16, 10_000.0, 2048), ramp_case(16, 10_000.0, 100_000),
        ],
        "any base": [ramp_case(128, 35.6, 202)],
        "short training, where no pair turns 32 times": [ramp_case(16, 10_000.0, 120), ramp_case(16, 10_000.0, 40)],
    },
    mistakes={
        "The ramp is upside down: 0 keeps a pair, and the fast ones are kept.":
            lambda d, base, length: 1 - yarn_ramp(d, base, length),
        "lo and hi are whole: round lo down and hi up.":
            "max(math.floor(low), 0), math.ceil(high) → max(low, 0), high",
        "The line goes on past 0 and 1. Clip it.": "(high - low)).clamp(0, 1) → (high - low))",
        "This ramp is linear in the number of turns. YaRN's is linear in the index.":
            lambda d, base, length: 1 - ((length * pair_angles(d, base) / (2 * math.pi) - 1) / 31).clamp(0, 1),
        "2π is missing: a pair makes Lω/2π turns.": "length / (2 * math.pi * turns) → length / turns",
        "lo and hi count features here. They are indices of pairs.":
            "index_of(turns, d, base, length) for → 2 * index_of(turns, d, base, length) for",
        "The base is always 10000 here. It is an argument.":
            lambda d, base, length: yarn_ramp(d, 10_000.0, length),
        "lo is below 0, where there is no pair. Begin at pair 0.":
            "max(math.floor(low), 0) → math.floor(low)",
    },
    answers=(Answer("changed", 0, {
        "The index of 4 turns is 0.8, which rounds down to the same lo as before.": 1,
        "Compare the two ramps number by number.": lambda n: n > 1,
    }),),
    as_good={
        "torch.arange(d // 2).double() → torch.arange(d // 2)": "Whole numbers become floating-point numbers in the division.",
        "torch.arange(d // 2).double() → torch.arange(d // 2).float()": "Whole numbers become floating-point numbers in the division.",
        "d // 2 → d / 2": "With a whole end, arange counts the same.",
        "max(math.floor(low), 0) → max(0, math.floor(low))": "The larger of two is the same in both orders.",
    },
)
