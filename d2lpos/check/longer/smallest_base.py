"""How large a base?"""

from collections.abc import Callable

import torch
from torch import Tensor

from ...input.sinusoids import frequencies
from ..cases import number
from ..verdict import Answer, Case, Check, call, is_empty


def least_sum(dim: int, length: int, base: float) -> Tensor:
    return (torch.arange(length)[:, None] * frequencies(dim, base)).cos().sum(dim=-1).min()


def first_fit(dim: int, length: int, bases: list[float]) -> float | None:
    return next((base for base in bases if least_sum(dim, length, base) >= 0), None)


def base_case(dim: int, length: int, bases: list[float], none: bool = False) -> Case:
    case = call(dim=dim, length=length, bases=bases)

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        if none:
            return f"{outcome}"
        return outcome if is_empty(outcome) else number(outcome, "the base")

    return Case(case.text, ask)


def fits(dim, length, base):
    return bool((sums(dim, length, base) >= 0).all())


def sums(dim, length, base):
    return torch.cos(torch.arange(length)[:, None] * frequencies(dim, base)).sum(dim=1)


def by_bisection(dim, length, bases):
    low, high = 0, len(bases)
    while low < high:
        middle = (low + high) // 2
        if fits(dim, length, bases[middle]):
            high = middle
        else:
            low = middle + 1
    return bases[low] if low < len(bases) else None


smallest_base = Check(
    "smallest_base",
    reference=first_fit,
    properties={
        "the first base without a negative sum": [
            base_case(6, 9, [20.0, 49.5, 100.0]),
            base_case(8, 32, [100.0, 1000.0, 10_000.0, 100_000.0]),
            base_case(16, 59, [1000.0, 2000.0, 5000.0, 10_000.0]),
            base_case(16, 60, [1000.0, 2000.0, 5000.0, 10_000.0]),
            base_case(16, 161, [100.0, 1000.0, 20_000.0]),
            base_case(64, 4096, [10_000.0, 100_000.0, 200_000.0, 500_000.0]),
            base_case(32, 4096, [10_000.0, 400_000.0, 2_000_000.0, 5_000_000.0]),
        ],
        "the first, even where a larger one fails": [
            base_case(16, 128, [2000.0, 3000.0, 10_000.0, 20_000.0, 50_000.0])
        ],
        "None where no base is large enough": [
            base_case(16, 128, [100.0, 1000.0], none=True),
            base_case(64, 2048, [10_000.0, 20_000.0], none=True),
        ],
    },
    mistakes={
        "Only the farthest distance is asked. Ask for all, from 0 on.": "sum(dim=-1).min() → sum(dim=-1)[-1]",
        "Only the slowest pair is asked. The sum is over all.": "sum(dim=-1).min() → select(-1, -1).min()",
        "Each cosine is asked to be at least 0. Their sum is.": "sum(dim=-1).min() → min()",
        "The farthest of length tokens are length − 1 apart.":
            "torch.arange(length) → torch.arange(length + 1)",
        "Of length tokens the farthest are length − 1 apart, and that distance counts.":
            "torch.arange(length) → torch.arange(length - 1)",
        "A larger base may fail where a smaller one does not. Ask for each, in order.": by_bisection,
        "Where no base is large enough, the answer is None.":
            lambda dim, length, bases: first_fit(dim, length, bases) or bases[-1],
    },
    answers=(Answer("large_enough", {630_000, 1_500_000, 2_000_000}, {
        "A larger base may fail where a smaller one does not. Ask for each of them.": {
            630_000, 640_000, 1_000_000, 1_200_000, 1_500_000, 2_000_000,
        },
        "A smaller one is enough, too, though larger ones are not.": {1_500_000, 2_000_000},
        "A smaller one is enough, too: ask for each of them.": {2_000_000},
        "That is the first of them. Which others are?": {630_000},
        "These are the bases that are too small.": {500_000, 640_000, 1_000_000, 1_200_000},
    }),),
    cards=(by_bisection,),
    as_good={
        "(torch.arange(length)[:, None] * frequencies(dim, base)).cos().sum(dim=-1) → (torch.arange(length)[:, None] * frequencies(dim, base)).cos().mean(dim=-1)": "A mean has the sign of the sum.",
        "(torch.arange(length)[:, None] * frequencies(dim, base)).cos().sum(dim=-1) → (torch.arange(length)[:, None] * frequencies(dim, base)).cos().sum(dim=1)": "Of two axes, 1 is the last.",
        "least_sum(dim, length, base) >= 0 → least_sum(dim, length, base) > 0": "No sum is exactly 0.",
    },
)
