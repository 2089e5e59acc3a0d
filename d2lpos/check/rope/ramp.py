"""YaRN's ramp."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call
from .material import index_of, pair_angles


def ramp_between(low: float, high: float, d: int) -> Tensor:
    return ((torch.arange(d // 2).double() - low) / (high - low)).clamp(0, 1)


def ramp_of(low: Callable, high: Callable, least: float = 0) -> Callable:
    """The ramp whose ends are rounded by `low` and `high`, and that begins at `least` at the earliest."""

    def answer(d: int, base: float, length: int) -> Tensor:
        first, last = (index_of(turns, d, base, length) for turns in (32, 1))
        return ramp_between(max(low(first), least), high(last), d)

    return answer


def yarn_ramp(d: int, base: float, length: int) -> Tensor:
    low, high = (index_of(turns, d, base, length) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), math.ceil(high), d)


def unclipped(d: int, base: float, length: int) -> Tensor:
    low = max(math.floor(index_of(32, d, base, length)), 0)
    return (torch.arange(d // 2).double() - low) / (math.ceil(index_of(1, d, base, length)) - low)


def ramp_in_turns(d: int, base: float, length: int) -> Tensor:
    turns = length * pair_angles(d, base) / (2 * math.pi)
    return 1 - ((turns - 1) / 31).clamp(0, 1)


def ramp_without_pi(d: int, base: float, length: int) -> Tensor:
    low, high = (d * math.log(length / turns) / (2 * math.log(base)) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), math.ceil(high), d)


def ramp_of_features(d: int, base: float, length: int) -> Tensor:
    low, high = (2 * index_of(turns, d, base, length) for turns in (32, 1))
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
            ramp_case(128, 10_000.0, 8192), ramp_case(16, 10_000.0, 2048), ramp_case(16, 10_000.0, 100_000),
        ],
        "any base": [ramp_case(128, 35.6, 202)],
        "short training, where no pair turns 32 times": [ramp_case(16, 10_000.0, 120)],
    },
    mistakes={
        "The ramp is upside down: 0 keeps a pair, and the fast ones are kept.":
            lambda d, base, length: 1 - yarn_ramp(d, base, length),
        "lo and hi are whole: round lo down and hi up.": ramp_of(float, float),
        "The line goes on past 0 and 1. Clip it.": unclipped,
        "This ramp is linear in the number of turns. YaRN's is linear in the index.": ramp_in_turns,
        "2π is missing: a pair makes Lω/2π turns.": ramp_without_pi,
        "lo and hi count features here. They are indices of pairs.": ramp_of_features,
        "The base is always 10000 here. It is an argument.":
            lambda d, base, length: yarn_ramp(d, 10_000.0, length),
        "lo is below 0, where there is no pair. Begin at pair 0.":
            ramp_of(math.floor, math.ceil, least=-math.inf),
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
