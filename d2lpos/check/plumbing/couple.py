"""Couple the digits."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check, call

PLUS, EQUALS, PAD = 10, 11, 12  # as `d2lpos.lab.synthetic` has them


def coupled(tokens: Tensor) -> Tensor:
    digit = tokens < PLUS
    digits = digit.cumsum(dim=1)
    return digits - digits.masked_fill(digit, 0).cummax(dim=1).values


def sum_apart(tokens: Tensor) -> Tensor:
    """Goes on in the sum behind the ids of the first number."""
    digits, of_sum = (tokens < PLUS), (tokens == EQUALS).cumsum(dim=1)
    return coupled(tokens) + digits * of_sum * (tokens == PLUS).int().argmax(dim=1, keepdim=True)


def row(*numbers: str, length: int = 0) -> list[int]:
    """The tokens of three numbers, written as they are to be read, each lowest digit first."""
    a, b, total = ([int(digit) for digit in number] for number in numbers)
    tokens = [*a, PLUS, *b, EQUALS, *total]
    return tokens + [PAD] * (length - len(tokens))


SUMS = [
    [row("49", "30", "790"), row("81", "83", "650")],
    [row("741", "352", "0040", length=14), row("5", "12345", "62345", length=14), row("9", "9", "81", length=14)],
    [row("12345678901234567", "9", "03345678901234567", length=40)],
    [row("0001", "1234", "12350", length=16), row("12", "5", "620", length=16)],
]


def couple_cases(of_digits: bool) -> list[Case]:
    """What is compared: the ids of digits, or those of all other tokens."""
    cases = []
    for rows in SUMS:
        tokens = torch.tensor(rows)
        here = (tokens < PLUS) == of_digits
        cases.append(looked_at(call(tokens=tokens), here))
    return cases


def looked_at(case: Case, here: Tensor) -> Case:
    """The case, in which only ids here are compared."""

    def ask(answer: Callable) -> object:
        ids = case.ask(answer)
        fits = isinstance(ids, Tensor) and ids.shape == here.shape and not ids.is_floating_point()
        return torch.where(here, ids, 0) if fits else ids

    return Case(case.text, ask)


couple = Check(
    "couple",
    reference=coupled,
    properties={
        "digits of one place have one id, in all three numbers": couple_cases(of_digits=True),
        "plus, equals and pads have 0": couple_cases(of_digits=False),
    },
    mistakes={
        "These are places in the row, as in any text. A digit's id is its place in its number.": (
            lambda tokens: torch.arange(tokens.shape[1]).expand_as(tokens),
            lambda tokens: torch.arange(tokens.shape[1]).expand_as(tokens) + 1,
        ),
        "The ones have the id 1. 0 is for signs and pads.": lambda tokens: (coupled(tokens) - 1).clamp(min=0),
        "The lowest digit comes first here, so ids rise from the left to the right.":
            lambda tokens: coupled(tokens.flip(1)).flip(1),
        "The sum has ids of its own. It is to share those of the terms.": sum_apart,
        "This counts digits through the whole row. Begin again with each number.":
            "digits - digits.masked_fill(digit, 0).cummax(dim=1).values → digits * digit",
        "A sign has 0. Here it gets the id that another digit would have.": (
            lambda tokens: coupled(tokens) + ((tokens == PLUS) | (tokens == EQUALS)) * (coupled(tokens).roll(1, 1) + 1)
        ),
        "A pad has 0. Here the count goes on behind the sum.":
            lambda tokens: coupled(tokens.masked_fill(tokens == PAD, 0)),
    },
    as_good={
        "digit.cumsum(dim=1) → digit.cumsum(dim=-1)": "Of two axes, 1 is the last.",
        "digits.masked_fill(digit, 0).cummax(dim=1) → digits.masked_fill(digit, 0).cummax(dim=-1)": "Of two axes, 1 is the last.",
    },
)
