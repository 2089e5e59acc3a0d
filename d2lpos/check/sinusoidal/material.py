"""What several exercises of this chapter ask about."""

import torch
from torch import Tensor


def kernel(offsets: Tensor, d: int, base: float) -> Tensor:
    """PE(p) · PE(p + k) for each offset k, in float64."""
    return (offsets[:, None] * base ** -(torch.arange(0, d, 2).double() / d)).cos().sum(dim=-1)
