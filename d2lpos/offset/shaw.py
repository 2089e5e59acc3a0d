"""Relative position vectors: one for keys and one for values, for each offset up to a clip.

Shaw et al. 2018, section 3 (arXiv 1803.02155).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..bias.base import score_mod
from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_floating, check_positive, check_size, check_tensor
from ..positions.checks import as_index, check_positions, offsets

__all__ = ["Shaw", "ShawKeys", "clipped_index"]


def clipped_index(offset: Tensor, clip: int) -> Tensor:
    """The row of each offset (key minus query) in a table of 2·clip + 1; same shape, int64.

    Offsets beyond clip share the outer rows. Raises TypeError where offsets are no integers, ValueError
    where clip is not positive.

    >>> clipped_index(torch.tensor([-9, -1, 0, 1, 9]), clip=2)
    tensor([0, 1, 2, 3, 4])
    """
    check_positive(clip=clip)
    return as_index(offset, "offset").clamp(-clip, clip) + clip


class ShawKeys(Encoding):
    """Door 3: adds q · keys[row(offset)] / √d to the scores, the same vectors in all heads.

    Parameters: keys, a (2·clip + 1, features) table for heads of `features` features. Raises TypeError
    for positions that are no integers, ValueError where a size is not positive.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> keys = ShawKeys(features=4, clip=2)
    >>> keys.score(q, k, here, here).shape
    torch.Size([1, 2, 3, 3])
    """

    def __init__(self, features: int, clip: int):
        super().__init__()
        check_positive(features=features, clip=clip)
        self.features, self.clip = features, clip
        self.keys = nn.Parameter(torch.randn(2 * clip + 1, features))

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        check_pairs(self, q, k, q_positions, k_positions)
        return self.products(q).gather(-1, self.rows(q_positions, k_positions).expand(*q.shape[:-1], -1))

    def score_mod(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Callable[..., Tensor]:
        """The same term for `flex_attention(q, k, v, score_mod=…)`; arguments as for `score`."""
        as_index(q_positions, "q_positions")
        as_index(k_positions, "k_positions")
        products = self.products(q)

        def at(batch: Tensor, head: Tensor, query: Tensor, offset: Tensor) -> Tensor:
            return products[batch, head, query, clipped_index(offset, self.clip)]

        return score_mod(q, k, q_positions, k_positions, at)

    def products(self, q: Tensor) -> Tensor:
        """Each query with each row, scaled: T · (2·clip + 1) numbers a head instead of T² · d."""
        check_tensor("q", q)
        check_size("q", q.shape[-1], self.keys.shape[1], f"features a head, as {type(self).__name__} has")
        wide = torch.promote_types(q.dtype, torch.float32)
        return q.to(wide) @ self.keys.to(wide).mT / math.sqrt(q.shape[-1])  # (…, query, 2·clip + 1)

    def rows(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """The row of each pair, the same for all heads; (…, 1, query, key)."""
        offset = offsets(as_index(q_positions, "q_positions"), as_index(k_positions, "k_positions"))
        return clipped_index(offset, self.clip)[..., None, :, :]


class Shaw(ShawKeys):
    """Doors 3 and 4: as `ShawKeys`, and adds values[row(offset)] to each value before they are averaged.

    Parameters: keys and values, (2·clip + 1, features) each.

    >>> Shaw(features=4, clip=2).doors
    ('score', 'value')
    """

    def __init__(self, features: int, clip: int):
        super().__init__(features, clip)
        self.values = nn.Parameter(torch.randn(2 * clip + 1, features))

    def value(self, weights: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        check_floating("weights", weights)
        if weights.dim() != 4:
            raise ValueError(f"weights must be (batch, head, query, key); got {tuple(weights.shape)}")
        check_positions("q_positions", q_positions, (len(weights), weights.shape[2]), weights.device)
        check_positions("k_positions", k_positions, (len(weights), weights.shape[3]), weights.device)
        rows = self.rows(q_positions, k_positions).expand_as(weights)
        shares = weights.new_zeros(*weights.shape[:-1], len(self.values)).scatter_add(-1, rows, weights)
        return shares @ self.values.to(weights)
