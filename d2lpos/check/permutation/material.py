"""What several exercises of this chapter ask about."""

from collections.abc import Callable

import torch
from torch import Tensor

generator = torch.Generator().manual_seed(1)


def draw(*shape: int) -> Tensor:
    """Quarters from −2 to 2: sums and products are exact, so they are equal on every processor."""
    return torch.randint(-8, 9, shape, generator=generator) / 4


CYCLE = torch.tensor([1, 2, 0])  # not its own inverse, unlike a swap


def commutes(f: Callable, x: Tensor, order: Tensor) -> bool:
    return close(f(x[order]), f(x)[order])


def close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def feed_forward(x: Tensor) -> Tensor:
    """Each token by itself, from d features to d."""
    return x.relu() - x.cumsum(dim=-1)


def sort_by_first_feature(x: Tensor) -> Tensor:
    return x[x[:, 0].argsort()]
