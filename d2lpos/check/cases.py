"""Cases that several chapters ask: is it written by hand, without a loop, and right in whichever precision?"""

from collections.abc import Callable
from types import ModuleType
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .verdict import Case, Misconduct


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
    """Counts what is asked of torch."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls += 1
        return function(*args, **(kwargs or {}))


def no_loop(label: str, few: str, small: tuple, large: tuple) -> Case:
    """Refuses an answer that asks more of torch for the large arguments than for the small, which are `few`."""

    def ask(answer: Callable) -> str:
        counts = []
        for arguments in (small, large):
            with Count() as count:
                answer(*arguments)
            counts.append(count.calls)
        return f"{'more than' if counts[0] < counts[1] else 'no more than'} the operations of {few}"

    return Case(label, ask)


def either(case: Case, kind: torch.dtype = torch.float64) -> Case:
    """The case, with floating-point tensors of any precision as good as `kind`, or integers for an integer."""

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        if not isinstance(outcome, Tensor) or outcome.dtype == torch.bool:
            return outcome
        return outcome.to(kind) if outcome.is_floating_point() == kind.is_floating_point else outcome

    return Case(case.text, ask)
