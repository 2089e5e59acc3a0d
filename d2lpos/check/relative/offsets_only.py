"""Biases that see offsets."""

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def diagonal_up_to_rows(bias: Tensor) -> bool:
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change - change[:, :1]).abs().lt(1e-5).all())


def grid(size: int) -> tuple[Tensor, Tensor]:
    places = torch.arange(size).float()
    return places[:, None], places


def free(size: int) -> Tensor:
    """Each offset has a number of its own."""
    i, j = grid(size)
    numbers = torch.randn(2 * size - 1, generator=torch.Generator().manual_seed(1))
    return numbers[(j - i + size - 1).long()]


def at(size: int, **changes: float) -> Tensor:
    """0 but in a few places: `r4c2=1.0` is 1 in row 4, column 2."""
    change = torch.zeros(size, size)
    for place, value in changes.items():
        row, column = place[1:].split("c")
        change[int(row), int(column)] = value
    return change


def bias_case(name: str, bias: Tensor) -> Case:
    size = f"({len(bias)}, {len(bias)})"
    return call(f"the bias {name}, {size}", bias=bias)


def everywhere(size: int) -> Case:
    """Whether a change in any one place is noticed; the two corners that are alone on their diagonal are free."""
    corners = {(0, size - 1), (size - 1, 0)}
    places = [place for place in product(range(size), repeat=2) if place not in corners]

    def ask(answer: Callable) -> str:
        for row, column in places:
            if answer(free(size) + at(size, **{f"r{row}c{column}": 1.0})):
                return f"True with the 1 in row {row}, column {column}"
        return "always False"

    return Case(f"the bias of {2 * size - 1} free numbers, with 1 added in one place, {(size, size)}", ask)


def biases() -> dict[str, list[Case]]:
    i, j = grid(5)
    tiny = torch.tensor([[0, 3e-7], [2e-7, 4e-7]]).repeat(3, 3)[:5, :5]
    return {
        "a function of the offset passes, whatever is added to a row": [
            bias_case("−|i − j|", -(i - j).abs()),
            bias_case("of 9 free numbers", free(5)),
            bias_case("j, whatever i", 0 * i + j),
            bias_case("i² − 1000 |i − j|", i**2 - 1000 * (i - j).abs()),
            bias_case("of 9 free numbers, plus sin(i)", free(5) + i.sin()),
            bias_case("of 9 free numbers, plus sin(i), rounded", free(5) + i.sin() + tiny),
            bias_case("of 15 free numbers, plus sin(i)", free(8) + grid(8)[0].sin()),
            bias_case("of 9 free numbers, with 1 added in row 4, column 0", free(5) + at(5, r4c0=1.0)),
        ],
        "others do not": [
            bias_case("j²", 0 * i + j**2),
            bias_case("1000 i − j² / 1000", 1000 * i - j**2 / 1000),
            bias_case("−|i − j| / (i + 1)", -(i - j).abs() / (i + 1)),
            bias_case("i · j", i * j),
            bias_case("−40 |i − j|, with 0.0002 added in row 4, column 2", at(5, r4c2=2e-4) - 40 * (i - j).abs()),
            bias_case("of 9 free numbers, with 1 added in row 4, column 2", free(5) + at(5, r4c2=1.0)),
            bias_case("of 9 free numbers, with 1 added in row 2, column 3", free(5) + at(5, r2c3=1.0)),
            bias_case("|j − 2|, whatever i", 0 * i + (j - 2).abs()),
            bias_case(
                "of 9 free numbers, with 1 added in row 4, column 2, and taken in column 3",
                free(5) + at(5, r4c2=1.0, r4c3=-1.0),
            ),
            bias_case(
                "of 79 free numbers, plus sin(i), with 0.0002 added in row 2, column 1",
                free(40) + grid(40)[0].sin() + at(40, r2c1=2e-4),
            ),
            everywhere(8),
        ],
    }


def has_equal_diagonals(bias: Tensor) -> bool:
    return bool((bias[1:, 1:] - bias[:-1, :-1]).abs().lt(1e-5).all())


def equal_weights_along_diagonals(bias):
    A = bias.softmax(dim=-1)
    return bool((A[1:, 1:] - A[:-1, :-1]).abs().max() < 1e-5)


def constant_in_both(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    inner = change[1:, 1:] - change[1:, :-1] - change[:-1, 1:] + change[:-1, :-1]
    return bool(inner.abs().max() < 1e-5)


offsets_only = Check(
    "offsets_only",
    reference=diagonal_up_to_rows,
    properties=biases(),
    mistakes={
        "Equal diagonals are asked for. A softmax also ignores what is added to a whole row.":
            has_equal_diagonals,
        "Softmax, mean and first entry depend on where a row is cut off. Take differences along diagonals.": (
            equal_weights_along_diagonals,
            lambda bias: has_equal_diagonals(bias - bias.mean(dim=-1, keepdim=True)),
            lambda bias: has_equal_diagonals(bias - bias[:, :1]),
        ),
        "Rows may have a constant of their own, columns may not: j² would pass.": constant_in_both,
        "Symmetry is another matter: f(j − i) need not be f(i − j).":
            lambda bias: torch.allclose(bias, bias.mT, atol=1e-5),
        "Only the first two rows are compared.": lambda bias: diagonal_up_to_rows(bias[:2]),
        "Rounding makes a difference here. Compare with a tolerance, of more than 0.000001.": lambda bias:
            bool(((bias[1:, 1:] - bias[:-1, :-1]) - (bias[1:, 1:] - bias[:-1, :-1])[:, :1] == 0).all()),
    },
    answers=(Answer("three", (True, False, False), {
        "The bias j is j − i plus i, and i is the same along a row: to a softmax it is the offset.": (
            False, False, False,
        ),
        "The bias j² is (j − i)² + 2ij − i², and 2ij is neither of the offset nor of the row alone.": (
            True, True, False,
        ),
        "The last has another slope in each row, and a slope is nothing that a row has in common.": (
            True, False, True,
        ),
    }),),
    cards=(equal_weights_along_diagonals, constant_in_both),
    as_good={
        "bool((change - change[:, :1]).abs().lt(1e-05).all()) → (change - change[:, :1]).abs().lt(1e-05).all()": "A tensor with one truth value is as good as a bool.",
        "bias[1:, 1:] - bias[:-1, :-1] → bias[:-1, :-1] - bias[1:, 1:]": "The sign of all differences does not matter.",
        "change - change[:, :1] → change[:, :1] - change": "The sign of all differences does not matter.",
    },
)
