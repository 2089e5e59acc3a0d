"""A rule of one's own."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import number
from ..verdict import Case, Check, call
from .material import TURN


def keeps(omega: Tensor, length: int, low: float, high: float) -> Tensor:
    """1 for a pair that stays, 0 for one that is divided; linear in its turns between."""
    return ((length * omega / TURN - low) / (high - low)).clamp(0, 1)


def grown(factor: float, length: int) -> float:
    """By what scores are to grow."""
    return math.log(factor * length) / math.log(length)


def ramped(omega: Tensor, factor: float, length: int, low: float, high: float) -> tuple[Tensor, float]:
    stays = keeps(omega, length, low, high)
    return omega * (stays + (1 - stays) / factor), grown(factor, length) ** 0.5


def by_index(omega: Tensor, factor: float, length: int, low: float, high: float) -> tuple[Tensor, float]:
    """Linear in the index of the pair: the ramp goes from the last kept to the first divided."""
    turns = length * omega / TURN
    last, first = int((turns >= high).sum()) - 1, int((turns > low).sum())
    stays = ((first - torch.arange(len(omega))) / (first - last)).clamp(0, 1).to(omega)
    return omega * (stays + (1 - stays) / factor), grown(factor, length) ** 0.5


def rule_case(part: int, omega: list[float], factor: float, length: int, low: float, high: float) -> Case:
    arguments = {"factor": factor, "length": length, "low": low, "high": high}
    case = call(omega=torch.tensor(omega), **arguments)

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        if not isinstance(outcome, tuple | list) or len(outcome) != 2:
            return outcome
        return torch.tensor(number(outcome[1], "sharper"), dtype=torch.float64) if part else outcome[0]

    return Case(case.text, ask)


own_rule = Check(
    "own_rule",
    reference=ramped,
    properties={
        "fast pairs stay, and slow ones are divided": [
            rule_case(0, [1.0, 0.125], 4.0, 32, 1.0, 4.0),
            rule_case(0, [1.0, 0.5, 0.0625, 0.03125], 8.0, 64, 1.0, 4.0),
            rule_case(0, [1.0, 0.25, 0.125], 2.0, 128, 3.0, 5.0),
        ],
        "between them, a ramp in the number of turns": [
            rule_case(0, [0.375, 0.25], 4.0, 64, 1.0, 4.0),
            rule_case(0, [0.9375, 0.6875], 4.0, 32, 1.0, 8.0),
            rule_case(0, [1.0, 0.75, 0.5, 0.25, 0.125], 4.0, 64, 1.0, 8.0),
            rule_case(0, [0.25, 0.5, 0.375], 8.5, 128, 2.5, 15.5),
        ],
        "scores grow with the logarithm of the row": [
            rule_case(1, [1.0, 0.125], 4.0, 64, 1.0, 4.0),
            rule_case(1, [1.0, 0.125], 8.0, 32, 1.0, 4.0),
            rule_case(1, [1.0, 0.125], 2.0, 4096, 1.0, 4.0),
        ],
    },
    mistakes={
        "Clamp the ramp: a fast pair must not turn faster, and a slow one not backward.":
            "(high - low)).clamp(0, 1) → (high - low))",
        "The fast pairs are divided here, and the slow ones stay.": "stays = keeps → stays = 1 - keeps",
        "To slow a pair down, divide its frequency.": "(1 - stays) / factor → (1 - stays) * factor",
        "There is no ramp: a pair between low and high turns is kept in part.": (
            "((length * omega / TURN - low) / (high - low)).clamp(0, 1) → (length * omega / TURN > low).to(omega)",
            "((length * omega / TURN - low) / (high - low)).clamp(0, 1) → (length * omega / TURN >= high).to(omega)",
        ),
        "The ramp is linear in the number of turns, not in the index of the pair.": by_index,
        "A turn is 2π radians: length · omega is an angle.": "length * omega / TURN → length * omega",
        "Queries and keys are both multiplied, so scores grow by the square. Take the root.":
            "grown(factor, length) ** 0.5 → grown(factor, length)",
        "The longer row has factor · length tokens: its logarithm is ln factor + ln length.":
            "math.log(factor * length) → math.log(factor)",
    },
    as_good={
        "keeps(omega, length, low, high) → keeps(length, omega, low, high)": "Only the product of the two is used.",
    },
)
