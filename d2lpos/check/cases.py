"""Cases that several chapters ask: is it by hand, without a loop, and in the dtype that the exercise names?"""

import math
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .code import Lines
from .verdict import Case, Misconduct, count, is_empty

BRANCH = 20  # lines that one input may run more than another without a loop


def by_hand(label: str, package: ModuleType, inside: str, name: str, *calls: tuple) -> Case:
    """Refuses an answer that calls the package's `name`, of which the function `inside` is a part."""

    def caught(*_: object, **__: object) -> None:
        raise Misconduct(f"Calls the package's {name}, which is what you are to write")

    def ask(answer: Callable) -> str:
        with patch.object(package, inside, caught):
            for arguments in calls:
                answer(*arguments)
        return "written by hand"

    return Case(label, ask)


class Count(TorchFunctionMode):
    """Counts what is asked of torch, and the lines of Python that run in code that is not a library's.

    The lines tell of a loop that asks nothing of torch, because it goes through NumPy or a list.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls = self.lines = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls += 1
        return function(*args, **(kwargs or {}))

    def ask(self, answer: Callable, *arguments: object) -> object:
        """Call the answer and count, as long as it runs."""
        lines = Lines(__file__)
        try:
            with self:
                return lines.ask(answer, *arguments)
        finally:
            self.lines += lines.lines

    def exceeds(self, other: "Count") -> bool:
        """Whether there is more work than in `other`; a branch more is no loop."""
        return self.calls > other.calls or self.lines - other.lines > BRANCH


def no_loop(label: str, few: str, small: tuple, large: tuple) -> Case:
    """Refuses an answer that takes more steps for the large arguments than for the small, which are `few`.

    `large` is to hold at least BRANCH + 5 more of what a loop would run over.
    """

    def ask(answer: Callable) -> str:
        counts = []
        for arguments in (small, large):
            counts.append(Count())
            counts[-1].ask(answer, *arguments)
        return f"{'more' if counts[1].exceeds(counts[0]) else 'no more'} operations than for {few}"

    return Case(label, ask)


def quarters(*shape: int, seed: int = 0, low: int = -8, high: int = 9) -> Tensor:
    """Whole numbers from low to high − 1 over 4, drawn by seed. Their sums and products are exact."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)) / 4


def exact_dtype(case: Case) -> Case:
    """The case, of an exercise that names a dtype: another one is refused, whatever the numbers are."""
    return replace(case, exact_dtype=True)


def read_as(case: Case, read: Callable) -> Case:
    """The case, of whose outcome read(outcome) is compared; what a stub returns stays as it is."""

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        return outcome if is_empty(outcome) else read(outcome)

    return replace(case, ask=ask)


def several(outcome: object, *names: str) -> list[int | float]:
    """The numbers of a tuple, a list, an array or a tensor, one for each name; those without a fraction are int."""
    asked = f"{len(names)} numbers are asked for: {', '.join(names)}"
    listed = isinstance(outcome, tuple | list) or (isinstance(outcome, np.ndarray | Tensor) and outcome.ndim)
    if not listed:
        raise Misconduct(f"Returns type {type(outcome).__name__}; {asked}")
    if len(outcome) != len(names):
        raise Misconduct(f"Returns {count(len(outcome), 'entry', 'entries')}; {asked}")
    return [number(part, name) for part, name in zip(outcome, names, strict=True)]


def two_tensors(outcome: object, names: str, *shapes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Two tensors of these shapes, called as in "u and w"; whole numbers as int64."""
    listed = outcome if isinstance(outcome, tuple | list) else []
    if len(listed) != 2 or not all(isinstance(part, Tensor) for part in listed):
        raise Misconduct(f"Two tensors are asked for: {names}")
    got = tuple(tuple(part.shape) for part in listed)
    if got != shapes:
        raise Misconduct(f"Returns shapes {got[0]} and {got[1]}; {names} are {shapes[0]} and {shapes[1]} here")
    return tuple(part.long() if is_whole_numbers(part) else part for part in listed)


def positions_and_mask(outcome: object, *shapes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Positions in whole numbers and a Boolean mask, of these shapes."""
    positions, mask = two_tensors(outcome, "positions and mask", *shapes)
    if not is_whole_numbers(positions):
        raise Misconduct(f"Positions are {positions.dtype}; whole numbers are asked for")
    return positions, boolean(mask)


def boolean(mask: Tensor) -> Tensor:
    """The mask, if it is Boolean."""
    if mask.dtype != torch.bool:
        raise Misconduct(f"The mask is {mask.dtype}; it is to be Boolean, True where a query sees a key")
    return mask


def is_whole_numbers(x: Tensor) -> bool:
    return not (x.is_floating_point() or x.dtype == torch.bool)


def number(value: object, name: str) -> int | float:
    """A number of Python's, NumPy's or torch's, as Python's; int where it has no fraction."""
    boxed = isinstance(value, np.ndarray | np.generic | Tensor) and not value.shape
    plain = value.item() if boxed else value
    if not isinstance(plain, int | float) or isinstance(plain, bool):
        raise Misconduct(f"Returns type {type(value).__name__} for {name}; a number is asked for")
    return int(plain) if math.isfinite(plain) and plain == int(plain) else float(plain)
