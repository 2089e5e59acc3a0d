"""Sandwich: the product of two sinusoidal positions, taken out of the sum and put into the scores.

Chi et al. 2023 (arXiv 2212.10356).
"""

import torch
from torch import Tensor

from ..input.sinusoids import sinusoidal
from ..positions.arguments import check_positive, check_tensor
from ..positions.checks import as_double, as_float
from .base import PositionBias

__all__ = ["Sandwich", "cosines"]


def cosines(q_positions: Tensor, k_positions: Tensor, dim: int) -> Tensor:
    """Σ_i (cos(ω_i · offset) − 1), with the dim/2 frequencies of `sinusoidal`; (…, query, key).

    0 for a query and itself, and below 0 at all other whole offsets. Computed in float64, because offsets are
    small where positions are large; float32, or float64 where the positions are. Raises as `sinusoidal` does.

    >>> cosines(torch.tensor([9]), torch.tensor([9, 8, 0]), dim=4)
    tensor([[ 0.0000, -0.4597, -1.9152]])
    """
    q, k = as_float(q_positions, "q_positions"), as_float(k_positions, "k_positions")
    check_tensor("k_positions", k, q.device)
    products = sinusoidal(as_double(q), dim) @ sinusoidal(as_double(k), dim).mT
    return (products - dim / 2).to(torch.promote_types(q.dtype, k.dtype))


class Sandwich(PositionBias):
    """Door 3: adds `cosines(…, dim)` · heads / (8h) to the scores of head h = 1 … heads. No parameters.

    The paper takes dim = 128, and does not subtract 1 from each cosine; softmax cannot tell. Raises
    ValueError where heads is not positive, or dim is odd.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> Sandwich(heads=2).score(q, k, here, here).shape
    torch.Size([2, 3, 3])
    """

    def __init__(self, heads: int, dim: int = 128):
        super().__init__()
        check_positive(heads=heads)
        sinusoidal(torch.arange(1), dim)  # bad arguments fail here
        self.heads, self.dim = heads, dim

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        products = cosines(q_positions, k_positions, self.dim)[..., None, :, :]  # (…, 1, query, key)
        head = torch.arange(1, self.heads + 1, device=products.device)[:, None, None]  # (head, 1, 1)
        return products * self.heads / (8 * head)
