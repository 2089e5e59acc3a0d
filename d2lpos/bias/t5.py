"""Relative position biases: a learned number for each head and each bucket of offsets.

Raffel et al. 2020, section 2.1 (arXiv 1910.10683).
"""

import math

import torch
from torch import Tensor, nn

from ..positions.arguments import check_flag, check_positive
from ..positions.checks import as_index, offsets
from ..positions.looks import Look, remember
from .base import Bias

__all__ = ["T5Bias", "bucket"]


def bucket(offsets: Tensor, buckets: int = 32, max_distance: int = 128, bidirectional: bool = True) -> Tensor:
    """The bucket of each offset (key minus query): exact for near keys, logarithmic for far ones.

    Half of the buckets hold one distance each; the others grow, and the last holds everything beyond.
    With bidirectional=True, keys after the query use the upper half of the buckets; with False, they all
    fall into bucket 0, since a causal mask hides them. Same shape as offsets, int64.
    Raises TypeError where offsets are no integers, ValueError where buckets is not a multiple of 4 or
    max_distance not above half of it.

    >>> bucket(torch.tensor([-200, -9, -1, 0, 1, 9]))
    tensor([15,  8,  1,  0, 17, 24])
    """
    offsets = as_index(offsets, "offsets")
    check_positive(buckets=buckets, max_distance=max_distance)
    check_flag(bidirectional=bidirectional)
    if buckets % 4:
        raise ValueError(f"buckets must be a multiple of 4: two sides, half of each exact; got {buckets}")
    if not max_distance > buckets // 2:
        raise ValueError(f"max_distance must be above {buckets // 2}, half of buckets; got {max_distance}")
    upper = 0
    if bidirectional:
        buckets //= 2
        upper = buckets * (offsets > 0)
        distance = offsets.abs()
    else:
        distance = (-offsets).clamp(min=0)
    exact = buckets // 2
    octaves = torch.log2(distance.clamp(min=1).double() / exact) / math.log2(max_distance / exact)
    far = exact + (octaves * (buckets - exact)).long()
    return upper + torch.where(distance < exact, distance, far.clamp(max=buckets - 1))


class T5Bias(Bias):
    """Door 3: adds `table[bucket(offset), head]` to the score of each query and key.

    Parameters: a (buckets, heads) table, zero at first. Raises TypeError for positions that are no
    integers, ValueError as `bucket` does.

    >>> q = k = torch.ones(1, 8, 3, 4)
    >>> here = torch.arange(3)
    >>> bias = T5Bias(heads=8)
    >>> bias.score(q, k, here, here).shape
    torch.Size([8, 3, 3])
    """

    indexes = True

    def __init__(self, heads: int, buckets: int = 32, max_distance: int = 128, bidirectional: bool = True):
        super().__init__(heads)
        bucket(torch.tensor(0), buckets, max_distance, bidirectional)  # bad arguments fail here
        self.table = nn.Parameter(torch.zeros(buckets, heads))
        self.buckets, self.max_distance, self.bidirectional = buckets, max_distance, bidirectional

    def at(self, offset: Tensor, head: Tensor) -> Tensor:
        return self.table[bucket(offset, len(self.table), self.max_distance, self.bidirectional), head]

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """`at` for each pair. Beyond max_distance nothing changes, so it is asked for nearer offsets only."""
        self.check_indices(q_positions, k_positions)
        far, offset = self.max_distance, offsets(q_positions, k_positions)
        near = remember(torch.arange(-far, far + 1, device=offset.device), Look(-far, far))
        biases = self.at(near, torch.arange(self.heads, device=offset.device)[:, None])  # (head, 2 · far + 1)
        columns = offset.clamp_(-far, far).add_(far)  # (…, query, key)
        biases = biases.index_select(1, columns.flatten()).unflatten(1, columns.shape)  # (head, …, query, key)
        return biases.movedim(0, -3)  # (…, head, query, key)
