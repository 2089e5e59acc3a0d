"""What several exercises of this chapter ask about."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Misconduct, is_empty


def both(case: Case, n: int, look: Callable) -> Case:
    """The case, of whose positions (n,) and mask (n, n) look(positions, mask) is compared."""

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        if is_empty(outcome):
            return outcome
        listed = outcome if isinstance(outcome, tuple | list) else []
        if len(listed) != 2 or not all(isinstance(part, Tensor) for part in listed):
            raise Misconduct("Two tensors are asked for: positions and mask")
        positions, mask = listed
        if positions.shape != (n,) or mask.shape != (n, n):
            shown = f"{tuple(positions.shape)} and {tuple(mask.shape)}"
            raise Misconduct(f"Returns shapes {shown}; positions are ({n},) here, the mask ({n}, {n})")
        if positions.is_floating_point() or positions.dtype == torch.bool:
            raise Misconduct(f"Positions are {positions.dtype}; whole numbers are asked for")
        if mask.dtype != torch.bool:
            raise Misconduct(f"The mask is {mask.dtype}; it is to be Boolean, True where a query sees a key")
        return look(positions.long(), mask)

    return Case(case.text, ask)


def the_positions(positions: Tensor, mask: Tensor) -> Tensor:
    return positions
