"""What several exercises of this chapter ask about."""

import torch
from torch import Tensor


def drawn(*shape: int, seed: int, low: int = -8, high: int = 9) -> Tensor:
    """Quarters, drawn by seed."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)) / 4
