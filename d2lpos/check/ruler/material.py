"""What several exercises of this chapter ask about."""

from collections.abc import Callable

from torch import Tensor
from torch.overrides import TorchFunctionMode

from ..verdict import Case, Misconduct


class Watch(TorchFunctionMode):
    """Refuses an answer that makes a tensor of `too_many` numbers or more."""

    def __init__(self, too_many: int) -> None:
        super().__init__()
        self.too_many = too_many

    def __torch_function__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else [made]:
            if isinstance(tensor, Tensor) and tensor.numel() >= self.too_many:
                raise Misconduct(f"Builds a tensor of {self.too_many:,} numbers or more")
        return made


def without(label: str, too_many: int, *arguments: Tensor) -> Case:
    """Refuses an answer that builds so large a tensor on its way."""

    def ask(answer: Callable) -> str:
        with Watch(too_many):
            answer(*arguments)
        return f"no tensor of {too_many:,} numbers"

    return Case(label, ask)
