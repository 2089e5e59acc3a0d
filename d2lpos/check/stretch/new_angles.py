"""Angles that training has not shown."""


import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call
from .material import TURN


def past_the_arc(omega: Tensor, slower: Tensor, length: int, longer: int) -> Tensor:
    angles = torch.arange(longer)[:, None] * slower % TURN
    return (angles >= length * omega).double().mean(dim=0)


def angles_case(omega: list[float], length: int, longer: int, slower: list[float] | None = None) -> Case:
    arguments = {"omega": torch.tensor(omega), "slower": torch.tensor(slower or omega)}
    return call(**arguments, length=length, longer=longer)


new_angles = Check(
    "new_angles",
    reference=past_the_arc,
    properties={
        "pairs that have shown an arc": [
            angles_case([0.125], 8, 20),
            angles_case([0.25, 0.0625], 8, 32),
            angles_case([0.03125, 0.25], 8, 64),
            angles_case([0.75, 0.25, 0.125], 12, 100),
        ],
        "pairs that have gone around": [angles_case([1.0, 0.5], 16, 32), angles_case([1.0, 0.25], 64, 200)],
        "slower pairs, and the arc that training has shown": [
            angles_case([0.25, 0.125], 8, 32, [0.125, 0.03125]),
            angles_case([0.25, 0.0625], 16, 64, [0.0625, 0.03125]),
            angles_case([0.125], 32, 96, [0.0625]),
        ],
    },
    mistakes={
        "A hand that has left its arc comes round again: take the angle modulo a full turn, 2π radians.": (
            "slower % TURN\n    return (angles >= length * omega) → "
            "slower\n    return ((angles >= length * omega) & (length * omega < TURN))"
        ),
        "A pair that has gone around has shown every angle, and nothing is new to it.":
            "length * omega → length * omega % TURN",
        "Training has shown the arc length · omega. The pairs were slowed after it.":
            lambda omega, slower, *lengths: past_the_arc(slower, slower, *lengths),
        "The row is read with the slower frequencies.":
            lambda omega, slower, *lengths: past_the_arc(omega, omega, *lengths),
        "The last offset of training is length − 1. The angle at length is new.": "angles >= → angles >",
        "Of all offsets 0 … longer − 1 the share is asked for, not of those past length.":
            "mean(dim=0) → sum(dim=0) / (longer - length)",
        "This is the share of what training has shown.": lambda *lengths: 1 - past_the_arc(*lengths),
    },
    answers=(Answer("meet_new", 5, {
        "Those have gone around in training.": 3,
        "Pair 2 turns by 6.4 radians in 64 positions. A full turn is 6.28.": 6,
        "The slow pairs, too, leave the arc that they have shown.": 1,
        "A pair that has gone around has shown every angle.": 8,
    }),),
    fixed={"omega is at least slower": "The pairs are slowed."},
    as_good={
        "(angles >= length * omega).double() → (angles >= length * omega).float()": "Any floating-point type will do.",
    },
)
