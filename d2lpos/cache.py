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

    >>> cache, one = Cache(), torch.zeros(1, 2, 1, 8)
    >>> for position in torch.arange(3).split(1):
    ...     keys, values, positions = cache.append(one, one, position)
    >>> keys.shape, positions
    (torch.Size([1, 2, 3, 8]), tensor([0, 1, 2]))
    """

    keys: Tensor | None = None
    values: Tensor | None = None
    positions: Tensor | None = None

    def append(self, keys: Tensor, values: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Add the newest tokens along the sequence; returns all keys, values and positions so far.

        Raises ValueError where an argument differs from what is kept in another axis.
        """
        new = {"keys": (keys, -2), "values": (values, -2), "positions": (positions, -1)}
        for name, (tensor, axis) in new.items():
            check_tensor(name, tensor)
            kept = getattr(self, name)
            if kept is not None and others(kept, axis) != others(tensor, axis):
                raise ValueError(
                    f"{name} must fit those in the cache, {tuple(kept.shape)}, "
                    f"in all axes but the sequence; got {tuple(tensor.shape)}"
                )
        for name, (tensor, axis) in new.items():
            kept = getattr(self, name)
            setattr(self, name, tensor if kept is None else torch.cat([kept, tensor], dim=axis))
        return self.keys, self.values, self.positions


def others(x: Tensor, axis: int) -> list[int | None]:
    """The shape of x with a blank for one axis, counted from the end."""
    return [None if i == x.dim() + axis else size for i, size in enumerate(x.shape)]
