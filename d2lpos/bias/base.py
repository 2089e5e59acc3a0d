"""One formula, two forms: a bias as a tensor, and as a `score_mod` for FlexAttention.

`scaled_dot_product_attention` wants the bias of all pairs at once. PyTorch's FlexAttention
(`torch.nn.attention.flex_attention`) asks for it pair by pair, and, compiled, never stores it.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..encoding import BLOCK, Encoding, check_pairs
from ..positions.arguments import check_function, check_positive, check_size, check_tensor
from ..positions.checks import (
    as_index,
    check_by_head,
    check_places,
    check_positions,
    comparable,
    exact_float,
    offsets,
    token_axis,
)
from ..positions.looks import is_integer, recall, remember

__all__ = ["Bias", "score_mod"]

LARGEST = 2**22  # numbers of a bias that is kept for all layers: 16 MiB in float32


def distance(offset: Tensor) -> Tensor:
    """|offset|, in at least float32, and in float64 for integers from 2²⁴ on; same shape.

    Raises TypeError for Boolean and complex offsets, ValueError for integers from 2⁵³ on.
    """
    check_tensor("offset", offset)
    if offset.dtype == torch.bool or offset.is_complex():
        raise TypeError(f"offset must be real numbers; got {offset.dtype}")
    if is_integer(offset):
        return exact_float("offset", offset).abs()
    return offset.to(torch.promote_types(offset.dtype, torch.float32)).abs()


def score_mod(
    q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, at: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """A score_mod that adds `at(batch, head, query, offset)` to the score of each pair.

    q and k are (batch, head, sequence, feature) and give the sizes; at takes four tensors without axes,
    three indices and key position minus query position. Scores are float32 as a rule, so a bias is rounded there where
    it is large. Raises as `attend` does where positions do not fit, TypeError where at is no function.

    >>> q = k = torch.zeros(1, 1, 3, 4)
    >>> here = torch.arange(3)
    >>> add = score_mod(q, k, here, here, lambda *at: -at[3].abs())
    >>> add(torch.tensor(1.0), 0, 0, 2, 0)
    tensor(-1.)
    """
    check_by_head("q", q, q_positions)
    check_by_head("k", k, k_positions)
    check_tensor("k", k, q.device)
    check_function("at", at, "a function of batch, head, query and offset")
    check_positions("q_positions", q_positions, (q.shape[0], q.shape[-2]), q.device)
    check_positions("k_positions", k_positions, (k.shape[0], k.shape[-2]), q.device)
    here, there = (p.expand(len(q), -1) for p in comparable(q_positions, k_positions))

    def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        offset = there[batch, key] - here[batch, query]
        return score + at(batch, head, query, offset).to(score.dtype)

    return add


class PositionBias(Encoding):
    """Door 3 for what depends on positions and head alone, not on queries and keys; a subclass has heads and `between`."""

    shared = "between"
    heads: int

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """The bias of each pair; (…, head, query, key)."""
        raise NotImplementedError

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        check_pairs(self, q, k, q_positions, k_positions, heads=self.heads)
        return self.between(q_positions, k_positions)

    def precompute(self, q_positions: Tensor, k_positions: Tensor) -> Encoding:
        """This encoding with the bias of these positions, where it has at most 2²² numbers; see `Encoding.precompute`.

        Larger ones are not kept, nor those of more than 1,024 queries, for which attention asks piece by piece.
        """
        for name, positions in ("q_positions", q_positions), ("k_positions", k_positions):
            check_places(positions, self.axes, type(self).__name__, name)
        along = token_axis(self.axes)
        queries, keys = q_positions.shape[along], k_positions.shape[along]
        rows = max(q_positions.shape[:along].numel(), k_positions.shape[:along].numel())
        if queries > BLOCK or self.heads * rows * queries * keys > LARGEST:
            return self
        return super().precompute(q_positions, k_positions)


class Bias(PositionBias):
    """Door 3 for what depends on offset and head alone; a subclass defines `at`, and has both forms.

    Raises ValueError where heads is not positive.

    >>> class Previous(Bias):
    ...     def at(self, offset, head):
    ...         return (offset == -1).float()
    >>> Previous(heads=1).doors
    ('score',)
    """

    indexes = False  # whether offsets index a table, so that positions must be integers

    def __init__(self, heads: int):
        super().__init__()
        check_positive(heads=heads)
        self.heads = heads

    def at(self, offset: Tensor, head: Tensor) -> Tensor:
        """The bias at each offset (key minus query) in each head; both broadcast."""
        raise NotImplementedError

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        self.check_indices(q_positions, k_positions)
        offset = offsets(q_positions, k_positions)
        offset = remember(offset[..., None, :, :], recall(offset))  # (…, 1, query, key)
        return self.at(offset, torch.arange(self.heads, device=offset.device)[:, None, None])

    def score_mod(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> Callable[..., Tensor]:
        """The same bias for `flex_attention(q, k, v, score_mod=…)`; arguments as for `score`."""
        check_by_head("q", q, q_positions)
        check_size("q", q.shape[-3], self.heads, f"heads, as {type(self).__name__} has")
        self.check_indices(q_positions, k_positions)
        return score_mod(
            q, k, q_positions, k_positions, lambda batch, head, query, offset: self.at(offset, head)
        )

    def check_indices(self, q_positions: Tensor, k_positions: Tensor) -> None:
        """Raise a TypeError or ValueError where positions cannot index a table and have to."""
        if self.indexes:
            as_index(q_positions, "q_positions")
            as_index(k_positions, "k_positions")
