"""What several exercises of this chapter ask about."""

from collections.abc import Callable

from torch import Tensor

from ..cases import positions_and_mask, read_as
from ..verdict import Case


def both(case: Case, n: int, look: Callable) -> Case:
    """The case, of whose positions (n,) and mask (n, n) look(positions, mask) is compared."""

    return read_as(case, lambda outcome: look(*positions_and_mask(outcome, (n,), (n, n))))


def the_positions(positions: Tensor, mask: Tensor) -> Tensor:
    return positions
