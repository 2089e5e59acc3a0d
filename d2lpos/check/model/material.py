"""What several exercises of this chapter ask about."""

import torch
from torch import Tensor


def drawn(*shape: int, seed: int, low: int = -4, high: int = 5) -> Tensor:
    """Quarters, drawn by seed."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)) / 4


def logits_of(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / q.shape[-1] ** 0.5
