"""What several exercises of this chapter ask about."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import read_as
from ..verdict import Case, Misconduct


def both(case: Case, n: int, look: Callable) -> Case:
    """The case, of whose positions (n,) and mask (n, n) look(positions, mask) is compared."""

    def read(outcome: object) -> object:
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

    return read_as(case, read)


def the_positions(positions: Tensor, mask: Tensor) -> Tensor:
    return positions
