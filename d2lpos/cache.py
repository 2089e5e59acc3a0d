"""The memory of decoding: what a layer keeps of the tokens it has seen."""

from dataclasses import dataclass

import torch
from torch import Tensor

from .arguments import check_tensor

__all__ = ["Cache"]


@dataclass
class Cache:
    """Keys and values of earlier tokens, with their positions; one for each layer, empty at first.

    Keys are kept as they were before door 2, and turn anew whenever a query meets them. So the cache serves
    every encoding, and no position's angle is frozen into it. keys and values are
    (batch, head, sequence, feature), positions (sequence,) or (batch, sequence).

    What comes in is copied, so that a caller may count its positions up in place. So is what was kept, at
    each step, and n steps copy of the order of n² numbers: as many as attention reads. Room kept free ahead
    would save that, but writing into it would spoil the gradients of earlier steps.

    >>> cache, one = Cache(), torch.zeros(1, 2, 1, 8)
    >>> for position in torch.arange(3).split(1):
    ...     cache = Cache(*cache.joined(one, one, position))
    >>> cache.keys.shape, cache.positions
    (torch.Size([1, 2, 3, 8]), tensor([0, 1, 2]))
    """

    keys: Tensor | None = None
    values: Tensor | None = None
    positions: Tensor | None = None

    def joined(self, keys: Tensor, values: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All keys, values and positions, with the newest tokens last; the cache stays as it is.

        Raises ValueError where an argument differs from what is kept in another axis than the sequence.
        """
        together = []
        for name, tensor, axis in ("keys", keys, -2), ("values", values, -2), ("positions", positions, -1):
            check_tensor(name, tensor)
            kept = getattr(self, name)
            if kept is not None and others(kept, axis) != others(tensor, axis):
                raise ValueError(
                    f"{name} must fit those in the cache, {tuple(kept.shape)}, "
                    f"in all axes but the sequence; got {tuple(tensor.shape)}"
                )
            together.append(torch.cat([tensor] if kept is None else [kept, tensor], dim=axis))
        return tuple(together)


def others(x: Tensor, axis: int) -> list[int | None]:
    """The shape of x with a blank for one axis, counted from the end."""
    return [None if i == x.dim() + axis else size for i, size in enumerate(x.shape)]
