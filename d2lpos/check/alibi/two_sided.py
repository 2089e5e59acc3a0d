"""A slope for each side."""

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def sided(q_positions: Tensor, k_positions: Tensor, left: Tensor, right: Tensor) -> Tensor:
    offset = k_positions - q_positions[:, None]
    return left[:, None, None] * offset.clamp(max=0) - right[:, None, None] * offset.clamp(min=0)


def side_case(label: str, q: list, k: list, left: list, right: list) -> Case:
    return call(
        f"{label}left {left}, right {right}", q_positions=torch.tensor(q), k_positions=torch.tensor(k),
        left=torch.tensor(left), right=torch.tensor(right),
    )


HEAD, SLOPES = ([0.5], [0.25]), [0.5, 0.25, 0.125, 0.0625, 0.375]
two_sided = Check(
    "two_sided",
    reference=sided,
    properties={
        "each head loses left · distance before the query, right · distance after it": [
            side_case("positions 0, 1, 2; ", [0, 1, 2], [0, 1, 2], *HEAD),
            side_case("positions 0, 1, 2; ", [0, 1, 2], [0, 1, 2], [0.5, 0.25, 1.0], [0.25, 1.0, 0.125]),
            side_case("queries 0, 1; keys 0, 1, 2; ", [0, 1], [0, 1, 2], *HEAD),
            side_case("queries 0, 1, 2; keys 0, 1; ", [0, 1, 2], [0, 1], [0.375, 2.0], [1.0, 0.75]),
            side_case("positions 0 to 3; ", [0, 1, 2, 3], [0, 1, 2, 3], SLOPES, SLOPES[::-1]),
            side_case("positions 0 to 99; ", [*range(100)], [*range(100)], *HEAD),
        ],
        "positions as they come": [
            side_case("queries 5, 7; keys 6, 3, 9; ", [5, 7], [6, 3, 9], *HEAD),
            side_case("queries 2, 0, 1; keys 2, 0, 1; ", [2, 0, 1], [2, 0, 1], *HEAD),
            side_case("queries 1, 4, 4; keys 3, 0, 4; ", [1, 4, 4], [3, 0, 4], *HEAD),
            side_case("queries 5, 20000001; keys 6, 20000004, 3; ", [5, 20000001], [6, 20000004, 3], *HEAD),
        ],
    },
    mistakes={
        "Left and right are exchanged: left belongs to keys before the query.":
            lambda q, k, left, right: sided(q, k, right, left),
        "The sign is wrong: far keys must lose.": lambda q, k, left, right: -sided(q, k, left, right),
        "Keys after the query gain. Both sides must lose.":
            lambda q, k, left, right: sided(q, k, left, -right),
        "Only the left slope is used. That is the symmetric bias again.":
            lambda q, k, left, right: sided(q, k, left, left),
        "Rows are keys here. Rows are queries: (H, T, N).":
            lambda q, k, left, right: sided(q, k, left, right).mT,
        "Keys after the query get 0. Subtract right · distance there.":
            lambda q, k, left, right: sided(q, k, left, 0 * right),
        "Positions are taken to be 0, 1, 2, … They are data.":
            lambda q, k, left, right: sided(torch.arange(len(q)), torch.arange(len(k)), left, right),
    },
    answers=(Answer("enough", 1, {
        "With equal slopes on both sides of every head, the output turns around as before.": 0,
        "Heads whose sides are equal do no harm. What does one that knows the direction do?": 8,
        "Not half of them: what does one that knows the direction do?": 4,
    }),),
)
