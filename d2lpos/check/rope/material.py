"""What several exercises of this chapter ask about."""

import math

import torch
from torch import Tensor

EXACT = torch.Generator().manual_seed(0)


def draw(*shape: int) -> Tensor:
    """Quarters from −2 to 2, which add and multiply without rounding."""
    return torch.randint(-8, 9, shape, generator=EXACT) / 4


def split(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    return (x[..., 0::2], x[..., 1::2]) if layout == "interleaved" else x.chunk(2, dim=-1)


def joined(a: Tensor, b: Tensor, layout: str) -> Tensor:
    return torch.stack([a, b], dim=-1).flatten(-2) if layout == "interleaved" else torch.cat([a, b], dim=-1)


def turned_pair(a: Tensor, b: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    return a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()


def turn_both(x: Tensor, angles: Tensor, layout: str) -> Tensor:
    return joined(*turned_pair(*split(x, layout), angles), layout)


def pair_angles(d: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, d, 2).double() / d)


def index_of(turns: float, d: int, base: float, length: int) -> float:
    """Where on the ladder a pair makes this many turns in `length` positions."""
    return d * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))
