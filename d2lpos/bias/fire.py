"""FIRE: a small network turns the distance, as a share of what the query can see, into a bias.

Li et al. 2024 (arXiv 2310.04418).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ..input.mlp import perceptron
from ..positions.arguments import check_floating, check_positive, check_scale, check_size
from ..positions.checks import as_float, check_between, offsets
from .base import PositionBias, distance

__all__ = ["FIRE", "normalized_log_distance"]

SMALLEST = 1e-6  # magnitude of what is learned: of 0, a share would be 0/0


def normalized_log_distance(q_positions: Tensor, k_positions: Tensor, c: Tensor, threshold: Tensor) -> Tensor:
    """ψ(|offset|) / ψ(max(query position, threshold)) with ψ(x) = log(1 + c·x); (…, query, key).

    In 0 … 1 for keys in the past of a query, whatever the length. c and threshold are positive and have
    no axes. In at least float32. Raises as `positions.as_float` does, and ValueError where c or threshold is not positive
    and finite: with 0 the share is 0/0.

    >>> c, threshold = torch.tensor(0.1), torch.tensor(4.0)
    >>> query, keys = torch.tensor([8]), torch.tensor([0, 4, 8])
    >>> normalized_log_distance(query, keys, c, threshold)
    tensor([[1.0000, 0.5724, 0.0000]])
    """
    for name, x in ("c", c), ("threshold", threshold):
        check_floating(name, x, getattr(q_positions, "device", None))
        check_size(name, x.dim(), 0, "axes")
        check_between(name, x)
    return shares(q_positions, k_positions, c, threshold)


def shares(q_positions: Tensor, k_positions: Tensor, c: Tensor, threshold: Tensor) -> Tensor:
    """`normalized_log_distance` for what is positive."""
    far = distance(offsets(q_positions, k_positions))
    here = as_float(q_positions, "q_positions")
    far = far.to(torch.promote_types(torch.promote_types(far.dtype, here.dtype), c.dtype))
    reach = torch.maximum(here.to(far), threshold.to(far))[..., :, None]
    return torch.log1p(c.to(far) * far) / torch.log1p(c.to(far) * reach)


class FIRE(PositionBias):
    """Door 3: adds a network of `normalized_log_distance`, with one hidden layer and an output for each head, to the scores.

    Below the threshold only offsets count; a query beyond it sees its whole past squeezed into 0 … 1.
    Parameters: c, threshold (their magnitudes count, from 10⁻⁶ on) and the network's. Raises ValueError where a size is
    not positive.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> FIRE(heads=2).score(q, k, here, here).shape
    torch.Size([2, 3, 3])
    """

    wide = ("c", "threshold")

    def __init__(self, heads: int, hidden: int = 32, c: float = 0.1, threshold: float = 512.0):
        super().__init__()
        check_positive(heads=heads, hidden=hidden)
        check_scale(c=c, threshold=threshold)
        self.heads = heads
        self.c = nn.Parameter(torch.tensor(float(c)))
        self.threshold = nn.Parameter(torch.tensor(float(threshold)))
        self.first, self.second = nn.Linear(1, hidden), nn.Linear(hidden, heads)

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        c, threshold = (x.abs().clamp(min=SMALLEST) for x in (self.c, self.threshold))
        x = shares(q_positions, k_positions, c, threshold)[..., None]  # (…, query, key, 1)
        x = x.to(torch.promote_types(x.dtype, self.first.weight.dtype))
        return perceptron(x, self.first, self.second, relu).movedim(-1, -3)  # (…, head, query, key)
