"""What a reader of positions sees."""

import math

import torch
from torch import Tensor

from ..cases import read_as, several
from ..verdict import Answer, Case, Check, call


def moments(u: Tensor, rate: float, entire: bool) -> tuple[float, float]:
    squares = u.square().sum()
    spread = squares**2 if entire else u.pow(4).sum()
    return squares.item(), math.sqrt(rate / (1 - rate) * spread)


def reader_case(u: list, rate: float, entire: bool) -> Case:
    return read_as(
        call(f"u = {u}, rate = {rate:g}, entire = {entire}", u=torch.tensor(u), rate=rate, entire=entire),
        lambda outcome: torch.tensor(several(outcome, "mean", "standard deviation"), dtype=torch.float64),
    )


reader = Check(
    "reader",
    reference=moments,
    properties={
        "mean and standard deviation, a coin for each number": [
            reader_case([2.0, 1.0], 0.5, False),
            reader_case([1.1, -0.5, 1.0, 0.3], 0.2, False),
        ],
        "one coin for the whole vector": [
            reader_case([2.0, 1.0], 0.5, True),
            reader_case([1.1, -0.5, 1.0, 0.3], 0.2, True),
        ],
    },
    mistakes={
        "The second is a variance. Take its root.":
            lambda u, rate, entire: (moments(u, rate, entire)[0], moments(u, rate, entire)[1] ** 2),
        "The mean does not shrink: what survives has been divided by 1 − rate.":
            "squares.item(), → squares.item() * (1 - rate),",
        "rate · (1 − rate) is the variance of a coin that is 0 or 1. These are 0 or 1/(1 − rate).":
            "rate / (1 - rate) → rate * (1 - rate)",
        "ν stands on its head: it is rate / (1 − rate).": "rate / (1 - rate) → (1 - rate) / rate",
        "With one coin for all, nothing averages out: the variance is ν times the square of the sum.":
            lambda u, rate, entire: moments(u, rate, False),
        "With a coin for each number, the variances of the numbers add up.":
            lambda u, rate, entire: moments(u, rate, True),
        "This is the ratio's other side: the mean comes first.":
            lambda u, rate, entire: moments(u, rate, entire)[::-1],
    },
    answers=(Answer("ratios", (6.2, 19.3, 54.4), within=0.5, mistakes={
        "This is with one coin for the whole vector.": (3, 3, 3),
        "These are divided by the variance. Take its root.": (9.6, 11.6, 11.6),
        "These are the means. Divide them by the standard deviations.": (4, 32, 256),
        "Divide the mean by the standard deviation, not the other way around.": (0.16, 0.05, 0.02),
    }),),
    as_good={
        "squares.item() → squares": "A number of torch is as welcome as one of Python.",
        "argument 0 sorted": "A sum of squares has no order.",
        "argument 0 without signs": "Squares have no signs.",
    },
)
