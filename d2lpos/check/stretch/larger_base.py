"""A larger base."""


import torch

from ...input.sinusoids import frequencies
from ..cases import number, read_as
from ..verdict import Answer, Case, Check, call
from .material import TURN


def first_open(dim: int, base: float, length: int) -> int:
    return int((length * frequencies(dim, base) >= TURN).sum())


def fitting_base(dim: int, base: float, length: int, longer: int) -> float:
    pair = first_open(dim, base, length)
    return base if pair == dim // 2 else base * (longer / length) ** (dim / (2 * pair))


def wanted_base(dim: int, base: float, length: int, longer: int) -> Case:
    return read_as(
        call(dim=dim, base=base, length=length, longer=longer),
        lambda outcome: torch.tensor(number(outcome, "the base"), dtype=torch.float64),
    )


larger_base = Check(
    "larger_base",
    reference=fitting_base,
    properties={
        "no pair that was open leaves its arc": [
            wanted_base(16, 10_000.0, 64, 256),
            wanted_base(8, 485.5, 30, 50),
            wanted_base(12, 10_000.0, 200, 1000),
            wanted_base(64, 10_000.0, 128, 1024),
            wanted_base(128, 500_000.0, 8192, 32_768),
            wanted_base(1024, 100.0, 1000, 2000),
        ],
        "nothing to do, where every pair has gone around": [
            wanted_base(4, 16.0, 64, 128),
            wanted_base(8, 100.0, 512, 1024),
        ],
    },
    mistakes={
        "So the slowest pair fits alone. The first open pair must slow down as much, and a base slows it less.":
            "dim / (2 * pair) → dim / (dim - 2)",
        "This multiplies the base by how much longer the row is. Which pair does that slow enough?":
            "(dim / (2 * pair)) → 1",
        "This pair has gone around already. The first open one comes after it.": "2 * pair → 2 * (pair - 1)",
        "An open pair before this one leaves its arc.": "2 * pair → 2 * (pair + 1)",
        "A pair is open if it has not gone around in training; the longer row does not count.":
            "2 * pair → 2 * first_open(dim, base, longer)",
        "The frequency of pair i is base^(−2i/dim): 2i, not i.": "2 * pair → pair",
        "Where every pair has gone around, the base may stay.": "base if pair == dim // 2 else base → base",
    },
    answers=(Answer("fitting", 10_000 * 4 ** (8 / 3), within=1000, mistakes={
        "This is NTK's, for the slowest pair alone.": 10_000 * 4 ** (8 / 7),
        "Four times the base slows no pair by four.": 40_000,
        "Pair 3 is the first open one: 6.4 radians are a full turn.": 640_000,
        "This is the base of the records, which is more than enough.": 500_000,
    }),),
    as_good={
        "int((length * frequencies(dim, base) >= TURN).sum()) → (length * frequencies(dim, base) >= TURN).sum()": "A tensor counts as well as a number.",
        "length * frequencies(dim, base) >= TURN → length * frequencies(dim, base) > TURN": "No pair makes one turn exactly, since π is irrational.",
        "dim // 2 → dim / 2": "The dimension is even.",
    },
)
