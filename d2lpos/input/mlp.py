"""Learned functions of the position: a small network in place of a table.

Li et al. 2021 (arXiv 2106.02795). A network has a value between positions and beyond those of
the training; whether that value is any good is another matter.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from ..encoding import Encoding, check_embeddings
from ..positions.arguments import check_positive, check_scale, check_tensor
from ..positions.checks import as_double, as_float
from .sinusoids import angles, wave_dtype

__all__ = ["FourierFeatures", "PositionMLP", "fourier_features"]


def fourier_features(positions: Tensor, frequencies: Tensor) -> Tensor:
    """All cosines, then all sines, of position times frequency, over √(2n); (…,) and (n,) give (…, 2n).

    frequencies are in radians per position. Each row has length √(1/2). float32, or float64 where positions are; errors
    are those of `angles`.

    >>> frequencies = torch.tensor([1.0, 0.1])
    >>> fourier_features(torch.arange(3), frequencies).norm(dim=-1)
    tensor([0.7071, 0.7071, 0.7071])
    """
    angle = angles(positions, frequencies)
    waves = torch.cat([angle.cos(), angle.sin()], dim=-1).to(wave_dtype(positions))
    return waves / math.sqrt(2 * angle.shape[-1])


def perceptron(
    x: Tensor, first: nn.Linear, second: nn.Linear, activation: Callable[[Tensor], Tensor] = gelu
) -> Tensor:
    """second(activation(first(x))) in the dtype of x, whatever that of the layers; (…, in) gives (…, out).

    Half-precision layers thus see positions in full, and so do layers under autocast.
    """
    check_tensor("x", x)
    kind = x.device.type if torch.amp.is_autocast_available(x.device.type) else "cpu"  # "meta" has none
    with torch.autocast(kind, enabled=False):
        hidden = activation(linear(x, first.weight.to(x), first.bias.to(x)))
        return linear(hidden, second.weight.to(x), None if second.bias is None else second.bias.to(x))


class PositionMLP(Encoding):
    """Door 1: adds a network of position / length, with one hidden layer, to the token embeddings.

    Set length to that of the training, so that the network is trained on 0 … 1. Raises ValueError where
    a size is not positive.

    >>> words = torch.zeros(1, 3, 8)
    >>> encoding = PositionMLP(dim=8, length=512)
    >>> encoding.embed(words, torch.arange(3)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, dim: int, length: int, hidden: int = 64):
        super().__init__()
        check_positive(dim=dim, length=length, hidden=hidden)
        self.dim, self.length = dim, length
        self.first, self.second = nn.Linear(1, hidden), nn.Linear(hidden, dim)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_embeddings(x, self.dim, positions)
        return x + perceptron(widen(positions, x)[..., None] / self.length, self.first, self.second).to(x)


class FourierFeatures(Encoding):
    """Door 1: adds a network of `fourier_features(positions, frequencies)` to the token embeddings.

    Parameters: n frequencies, drawn with standard deviation 1/gamma (radians per position), and the
    network's. Raises ValueError where a size or gamma is not positive.

    >>> words = torch.zeros(1, 3, 8)
    >>> encoding = FourierFeatures(dim=8)
    >>> encoding.embed(words, torch.arange(3)).shape
    torch.Size([1, 3, 8])
    """

    wide = ("frequencies",)

    def __init__(self, dim: int, n: int = 32, hidden: int = 64, gamma: float = 10.0):
        super().__init__()
        check_positive(dim=dim, n=n, hidden=hidden)
        check_scale(gamma=gamma)
        self.dim = dim
        self.frequencies = nn.Parameter(torch.randn(n) / gamma)
        self.first, self.second = nn.Linear(2 * n, hidden), nn.Linear(hidden, dim)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_embeddings(x, self.dim, positions)
        features = fourier_features(widen(positions, x), self.frequencies)
        return x + perceptron(features, self.first, self.second).to(x)


def widen(positions: Tensor, x: Tensor) -> Tensor:
    """Positions in the wider of their own dtype and that of x."""
    return as_double(positions) if x.dtype == torch.float64 else as_float(positions)
