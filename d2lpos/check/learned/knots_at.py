"""Knots."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, Misconduct, call
from .material import quarters


def mix(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def beyond_the_ends(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions * (len(knots) - 1) / last
    low = at.long().clamp(0, len(knots) - 2)
    return torch.lerp(knots[low], knots[low + 1], (at - low)[..., None])


def floor_and_ceil(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low, high = at.floor(), at.ceil()
    return (high - at)[..., None] * knots[low.long()] + (at - low)[..., None] * knots[high.long()]


def no_last_gap(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long()
    share = (at - low)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def nearest(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    return knots[(positions.clamp(0, last) * (len(knots) - 1) / last).round().long()]


def one_knot_more(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    """Knots one position apart more: K gaps instead of K − 1."""
    at = positions.clamp(0, last) * len(knots) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low).clamp(max=1)[..., None]
    return (1 - share) * knots[low] + share * knots[low + 1]


def swapped(positions: Tensor, knots: Tensor, last: float) -> Tensor:
    at = positions.clamp(0, last) * (len(knots) - 1) / last
    low = at.long().clamp(max=len(knots) - 2)
    share = (at - low)[..., None]
    return share * knots[low] + (1 - share) * knots[low + 1]


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
            knot_case([1234.5, 2077.0, 3001.0], 3, 4000.0),
        ],
        "the ends beyond the ends": [knot_case([-3.0, 9.0, 100.0], 3, 8.0)],
        "positions of any shape": [
            knot_case(4.0, 3, 8.0), knot_case([[0.0, 4.0], [8.0, 4.0]], 3, 8.0), knot_case([[3.0]], 3, 8.0),
        ],
        "whole positions": [knot_case([0, 4, 8], 3, 8.0)],
        "gradients for the two knots around": [Case("position 2.5, 5 knots from 0 to 8", trained_knots)],
    },
    mistakes={
        "There are K − 1 gaps between K knots, not K.": one_knot_more,
        "Past the last knot there is none to mix it with: keep the left one at K − 2 or below.": no_last_gap,
        "The nearest knot is taken. Mix the two.": nearest,
        "On a knot, floor and ceil are the same, and both shares are 0.": floor_and_ceil,
        "The shares are exchanged: at a knot, that knot counts alone.": swapped,
        "Past the ends the line goes on. It should stop at the first and at the last knot.":
            beyond_the_ends,
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
