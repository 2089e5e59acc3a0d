"""Turns that commute."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def turned(places: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.matrix_exp(places[:, 0, None, None] * a + places[:, 1, None, None] * b)


def parts(places, a, b):
    x, y = places[:, 0, None, None], places[:, 1, None, None]
    return x * a, y * b


def made_of(make: Callable) -> Callable:
    """As the right answer, where make(xa, yb) is made of two matrices for each place."""
    return lambda *arguments: make(*parts(*arguments))


def series(terms: int) -> Callable:
    def exponential(xa: Tensor, yb: Tensor) -> Tensor:
        term = total = torch.eye(xa.shape[-1]).to(xa).expand_as(xa)
        for n in range(1, terms):
            term = term @ (xa + yb) / n
            total = total + term
        return total

    return exponential


exp = torch.linalg.matrix_exp


def generator(d: int, **speeds: float) -> Tensor:
    """Skew-symmetric (d, d); a speed of the plane of features 0 and 1 is called _01."""
    made = torch.zeros(d, d)
    for plane, speed in speeds.items():
        i, j = map(int, plane[1:])
        made[i, j], made[j, i] = -speed, speed
    return made


AXIAL = generator(4, _01=1.0), generator(4, _23=0.5)
MIXED = generator(4, _01=1.0, _23=0.25), generator(4, _01=-0.5, _23=0.75)
BALL = generator(3, _01=1.0), generator(3, _12=0.5)
TILTED = generator(3, _01=0.5, _02=1.0), generator(3, _01=0.25, _02=-0.5, _12=1.0)
NEAR = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 2.0], [-1.0, 1.5]]
FAR = [[40.0, 0.0], [24.0, 32.0], [-16.0, 40.0], *([2.5 * n, -3.0] for n in range(14))]


def turns_case(name: str, generators: tuple[Tensor, Tensor], places: list[list[float]]) -> Case:
    a, b = generators
    label = f"places = {places}, a, b {tuple(a.shape)}, {name}"
    return call(label, places=torch.tensor(places), a=a, b=b)


def x_then_y(places, a, b):
    xa, yb = parts(places, a, b)
    return torch.matrix_exp(xa) @ torch.matrix_exp(yb)


turns = Check(
    "turns",
    reference=turned,
    properties={
        "generators that commute": [
            turns_case("in two planes", AXIAL, [[1.0, 2.0], [2.0, 1.0]]),
            turns_case("in two planes", AXIAL, NEAR),
            turns_case("in the same planes", MIXED, NEAR),
        ],
        "generators that do not commute": [
            turns_case("in planes with a common feature", BALL, [[1.0, 2.0], [2.0, 1.0]]),
            turns_case("in planes with a common feature", BALL, NEAR),
            turns_case("in tilted planes", TILTED, NEAR),
        ],
        "turns by many radians": [
            turns_case("in one plane", (BALL[0], 0.5 * BALL[0]), FAR),
            turns_case("in one plane", (TILTED[1], -0.25 * TILTED[1]), FAR),
        ],
    },
    mistakes={
        "torch.exp takes each number by itself. Of a matrix it is torch.linalg.matrix_exp.":
            made_of(lambda xa, yb: torch.exp(xa + yb)),
        "Turns are multiplied one after the other. That is exp(xA + yB) only where AB = BA.": (
            x_then_y,
            made_of(lambda xa, yb: exp(yb) @ exp(xa)),
            made_of(lambda xa, yb: exp(xa / 2) @ exp(yb) @ exp(xa / 2)),
            made_of(lambda xa, yb: exp(yb / 2) @ exp(xa) @ exp(yb / 2)),
        ),
        "Two turns are added. Add their generators, then take the exponential.":
            (made_of(lambda xa, yb: exp(xa) + exp(yb)), made_of(lambda xa, yb: (exp(xa) + exp(yb)) / 2)),
        "These turn the other way: exp(−xA − yB).": made_of(lambda xa, yb: exp(-xa - yb)),
        "x belongs to a, y to b.": lambda places, a, b: turned(places, b, a),
        "A series of so few terms is too short for a large angle. There is torch.linalg.matrix_exp.": (
            *(made_of(series(terms)) for terms in (10, 15, 16, 20, 21, 24, 25, 30, 31, 32)),
        ),
    },
    answers=(Answer("relative", {"axial", "mixed"}, {
        "Two axes may share a plane. Then turns in it add up.": lambda names: names == ["axial"],
        "Where each axis has planes of its own, their turns commute, too.":
            lambda names: names == ["mixed"],
        "Turn a ball about one axis, then about another. The other order ends otherwise.":
            lambda names: "lie" in names,
    }),),
    cards=(x_then_y,),
    as_good={
        "places[:, 1, None, None] → places[:, -1, None, None]": "Of two coordinates, 1 is the last.",
    },
)
