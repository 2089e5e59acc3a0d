"""Comparisons of our numbers with those of another library, and the tables of the book that list them.

A comparison is a function without arguments under `@table.row(…)`. In a table of agreement it returns ours
and theirs; in a table of disputes ours, theirs and the truth, derived in float64 without either.
Small numbers are written as powers of ten, so that the tables are the same on every machine.
"""

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from d2lpos.runtime.threads import one_thread

FOLDER = Path(__file__).parents[2] / "book" / "parity"
SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
RAISE, LOWER = str.maketrans("-0123456789", SUPERSCRIPTS), str.maketrans(SUPERSCRIPTS, "-0123456789")


def shown(number: float) -> str:
    """Two digits of a large number, the power of ten above a small one: 7.6, 10⁻⁶ for 3e-7."""
    if number == 0 or number >= 0.01:
        return f"{number:.2g}"
    return "10" + str(math.ceil(math.log10(number) - 1e-9)).translate(RAISE)


def read(cell: str) -> float:
    """The inverse of `shown`."""
    return float(("1e" + cell[2:].translate(LOWER)) if cell[-1] in SUPERSCRIPTS else cell)


def distance(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference; of floats at least half a unit in the last place of 1.

    Thus a machine that rounds as the other library does writes the same table as one that does not.
    """
    assert a.shape == b.shape and a.numel()
    if not (a.is_floating_point() or b.is_floating_point()):
        return (a.long() - b.long()).abs().max().item()
    coarse = min(a.dtype, b.dtype, key=lambda dtype: torch.finfo(dtype).bits)
    return max((a.double() - b.double()).abs().max().item(), torch.finfo(coarse).eps / 2)


@dataclass(frozen=True)
class Comparison:
    """One row. `tolerance` is what rounding can explain; `why` says who is right in a dispute."""

    what: str
    package: str
    peer: str
    tolerance: float
    why: str
    run: Callable[[], tuple[Tensor, ...]]

    @cached_property
    def distances(self) -> tuple[float, ...]:
        """(from us to them), or (from them to the truth, from us to the truth)."""
        with one_thread(), torch.no_grad():
            torch.manual_seed(0)
            ours, theirs, *truth = self.run()
        return tuple(distance(it, truth[0]) for it in (theirs, ours)) if truth else (distance(ours, theirs),)

    @property
    def library(self) -> str:
        return f"{self.package} {version(self.package)}: {self.peer}"

    @property
    def cells(self) -> list[str]:
        """The row as the book shows it."""
        numbers = list(map(shown, self.distances))
        verdict = [self.why] if self.why else [shown(self.tolerance), "rounding only" if self.tolerance else "equal"]
        return [self.what, self.library, *numbers, *verdict]


class Table:
    """The rows of one file in book/parity, in the order of the source."""

    def __init__(self, name: str, columns: list[str]):
        self.file = FOLDER / f"{name}.csv"
        self.header = ["What", "Library", *columns, "Verdict"]
        self.rows: list[Comparison] = []

    def row(self, what: str, package: str, peer: str, tolerance: float = 0.0, why: str = ""):
        def add(run: Callable) -> Callable:
            self.rows.append(Comparison(what, package, peer, tolerance, why, run))
            return run

        return add

    def read(self) -> list[list[str]]:
        with self.file.open(encoding="utf-8", newline="") as lines:
            return list(csv.reader(lines))

    def write(self) -> None:
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("w", encoding="utf-8", newline="") as lines:
            csv.writer(lines, lineterminator="\n").writerows([self.header, *(row.cells for row in self.rows)])


def agreement(name: str) -> Table:
    return Table(name, ["Difference", "Tolerance"])


def disputes(name: str) -> Table:
    return Table(name, ["Theirs", "Ours"])
