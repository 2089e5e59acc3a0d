"""Knots."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import quarters
from ..verdict import Answer, Case, Check, Misconduct, call


def mix(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def trained_knots(answer: Callable) -> list[int]:
    """The knots that a token between two of them trains."""
    knots = quarters(5, 2).requires_grad_()
    answer(torch.tensor([2.5]), knots, 8.0).sum().backward()
    if knots.grad is None:
        raise Misconduct("No gradient reaches the knots")
    return knots.grad.any(dim=1).nonzero().flatten().tolist()


def knot_case(positions: float | list, K: int, last: float) -> Case:
    return call(positions=torch.tensor(positions), knots=quarters(K, 3, seed=K), last=last)


knots_at = Check(
    "knots_at",
    reference=mix,
    properties={
        "the knots, and straight lines between them": [
            knot_case([0.0, 4.0, 8.0], 3, 8.0),
            knot_case([0.0, 2.0], 2, 2.0),
            knot_case([1.0, 3.0, 5.0], 3, 8.0),
            knot_case([2.75, 0.5], 4, 6.0),
            knot_case([0.625, 2.5], 3, 2.5),
            knot_case([1234.5, 2077.0, 3001.0], 3, 4000.0), knot_case([5.0, 95.0], 21, 100.0),
        ],
        "the ends beyond the ends": [knot_case([-3.0, 9.0, 100.0], 3, 8.0)],
        "positions of any shape": [
            knot_case(4.0, 3, 8.0), knot_case([[0.0, 4.0], [8.0, 4.0]], 3, 8.0), knot_case([[3.0]], 3, 8.0),
        ],
        "whole positions": [knot_case([0, 4, 8], 3, 8.0)],
        "gradients for the two knots around": [Case("position 2.5, 5 knots from 0 to 8", trained_knots)],
    },
    mistakes={
        "There are K − 1 gaps between K knots, not K.": (
            "positions.clamp(0, last) * (len(knots) - 1) / last → "
            "(positions.clamp(0, last) * len(knots) / last).clamp(max=len(knots) - 1)"
        ),
        "Past the last knot there is none to mix it with: keep the left one at K − 2 or below.":
            "at.long().clamp(max=len(knots) - 2) → at.long()",
        "The nearest knot is taken. Mix the two.":
            "(1 - share) * knots[low] + share * knots[low + 1] → knots[at.round().long()]",
        "On a knot, floor and ceil are the same, and both shares are 0.": (
            "(1 - share) * knots[low] + share * knots[low + 1] → "
            "(at.ceil() - at)[..., None] * knots[low] + at.frac()[..., None] * knots[at.ceil().long()]"
        ),
        "The shares are exchanged: at a knot, that knot counts alone.":
            "(1 - share) * knots[low] + share → share * knots[low] + (1 - share)",
        "Past the ends the line goes on. It should stop at the first and at the last knot.":
            "positions.clamp(0, last) → positions",
        "Only one axis of positions is expected. The share needs share[..., None].":
            lambda positions, knots, last: mix(positions.reshape(-1), knots, last),
        "Knots that are detached, or copied into a new tensor, get no gradient.":
            lambda positions, knots, last: mix(positions, knots.detach(), last),
    },
    answers=(
        Answer("in_all", 128, {
            "That is a table, with a row for each position. Here only the knots are trained.": 8192,
            "Each knot has 16 numbers.": 8,
            "That is one knot.": 16,
        }),
        Answer("for_one_token", 32, {
            "Two knots, yes: how many numbers is that?": 2,
            "That is one knot. Between two, both take part.": 16,
            "A token between two knots trains these two, not all.": 128,
        }),
    ),
)
