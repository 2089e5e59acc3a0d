"""What several exercises of this chapter ask about."""

from collections.abc import Callable, Iterable

from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..verdict import Case, Misconduct


def memory(values: Iterable) -> set[int]:
    """Where the numbers of those that are tensors lie."""
    return {value.untyped_storage().data_ptr() for value in values if isinstance(value, Tensor)}


class Watch(TorchFunctionMode):
    """Refuses an answer that makes a tensor of `too_many` numbers or more, or tensors that have so many `in_all`."""

    def __init__(self, too_many: int, in_all: bool) -> None:
        super().__init__()
        self.too_many, self.in_all, self.made = too_many, in_all, 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        given = memory(args) if self.in_all else ()
        for tensor in made if isinstance(made, tuple | list) else [made]:
            new = isinstance(tensor, Tensor) and not (self.in_all and memory([tensor]) <= given)
            self.made = self.in_all * self.made + (tensor.numel() if new else 0)
            if self.made >= self.too_many:
                raise Misconduct(f"Builds {'tensors' if self.in_all else 'a tensor'} of {self.too_many:,} numbers or more")
        return made


def without(label: str, too_many: int, *arguments: Tensor, in_all: bool = False) -> Case:
    """Refuses an answer that builds so large a tensor on its way, or so many numbers piece by piece."""

    def ask(answer: Callable) -> str:
        with Watch(too_many, in_all):
            answer(*arguments)
        return f"no tensor of {too_many:,} numbers"

    return Case(label, ask)
