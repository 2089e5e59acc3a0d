"""What a reader of positions sees."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import read_as, several
from ..verdict import Answer, Case, Check, call


def seen(u: Tensor, rate: float, entire: bool) -> tuple[float, float]:
    squares = u.square().sum()
    spread = squares**2 if entire else u.pow(4).sum()
    return squares.item(), math.sqrt(rate / (1 - rate) * spread)


def scaled(by_mean: Callable, by_sd: Callable) -> Callable:
    """An answer whose mean and standard deviation are wrong by a factor that the rate decides."""

    def answer(u: Tensor, rate: float, entire: bool) -> tuple[float, float]:
        mean, sd = seen(u, rate, entire)
        return mean * by_mean(rate), sd * by_sd(rate)

    return answer


def reader_case(u: list, rate: float, entire: bool) -> Case:
    return read_as(
        call(f"u = {u}, rate = {rate:g}, entire = {entire}", u=torch.tensor(u), rate=rate, entire=entire),
        lambda outcome: torch.tensor(several(outcome, "mean", "standard deviation"), dtype=torch.float64),
    )


def one(rate: float) -> float:
    return 1.0


reader = Check(
    "reader",
    reference=seen,
    properties={
        "mean and standard deviation, a coin for each number": [
            reader_case([2.0, 1.0], 0.5, False),
            reader_case([1.5, -0.5, 1.0, 0.25], 0.2, False),
        ],
        "one coin for the whole vector": [
            reader_case([2.0, 1.0], 0.5, True),
            reader_case([1.5, -0.5, 1.0, 0.25], 0.2, True),
        ],
    },
    mistakes={
        "The second is a variance. Take its root.":
            lambda u, rate, entire: (seen(u, rate, entire)[0], seen(u, rate, entire)[1] ** 2),
        "The mean does not shrink: what survives has been divided by 1 − rate.":
            scaled(lambda rate: 1 - rate, one),
        "rate · (1 − rate) is the variance of a coin that is 0 or 1. These are 0 or 1/(1 − rate).":
            scaled(one, lambda rate: 1 - rate),
        "ν stands on its head: it is rate / (1 − rate).": scaled(one, lambda rate: (1 - rate) / rate),
        "With one coin for all, nothing averages out: the variance is ν times the square of the sum.":
            lambda u, rate, entire: seen(u, rate, False),
        "With a coin for each number, the variances of the numbers add up.":
            lambda u, rate, entire: seen(u, rate, True),
        "This is the ratio's other side: the mean comes first.":
            lambda u, rate, entire: seen(u, rate, entire)[::-1],
    },
    answers=(Answer(
        "ratios",
        (6.2, 19.3, 54.4),
        {
            "This is with one coin for the whole vector.": (3, 3, 3),
            "These are divided by the variance. Take its root.": (9.6, 11.6, 11.6),
            "These are the means. Divide them by the standard deviations.": (4, 32, 256),
            "Divide the mean by the standard deviation, not the other way around.": (0.16, 0.05, 0.02),
        },
        within=0.5,
    ),),
    as_good={
        "squares.item() → squares": "A number of torch is as welcome as one of Python.",
        "argument 0 sorted": "A sum of squares has no order.",
        "argument 0 without signs": "Squares have no signs.",
    },
)
