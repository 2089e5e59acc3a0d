"""Sinusoidal positions: a row of clocks, each slower than the one before.

Vaswani et al. 2017, section 3.5 (arXiv 1706.03762).
"""

import math

import torch
from torch import Tensor

from .arguments import check_positive, check_tensor
from .encoding import Encoding, check_embeddings
from .positions import real

__all__ = ["Sinusoidal", "angles", "frequencies", "sinusoidal"]


def frequencies(dim: int, base: float = 10_000.0) -> Tensor:
    """ω_i = base^(−2i/dim) for i = 0 … dim/2 − 1, in radians per position; (dim/2,), float64.

    Raises ValueError where dim is odd or not positive, or base is not finite and above 1.

    >>> frequencies(8).tolist()
    [1.0, 0.1, 0.01, 0.001]
    """
    check_positive(dim=dim)
    if dim % 2:
        raise ValueError(f"dim must be even, because each frequency turns a pair; got {dim}")
    if not 1 < base < math.inf:
        raise ValueError(f"base must be finite and above 1; got {base}")
    return base ** -(torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def angles(positions: Tensor, frequencies: Tensor) -> Tensor:
    """Position times frequency, in radians; (…,) and (dim/2,) give (…, dim/2).

    float32, or float64 where the positions are. Raises as `positions.real` does.

    >>> angles(torch.tensor([0, 1, 7]), frequencies(4))
    tensor([[0.0000, 0.0000],
            [1.0000, 0.0100],
            [7.0000, 0.0700]])
    """
    check_tensor("frequencies", frequencies)
    positions = real(positions)
    return positions[..., None] * frequencies.to(positions)


def sinusoidal(positions: Tensor, dim: int, base: float = 10_000.0, layout: str = "interleaved") -> Tensor:
    """The sine and cosine of each angle; (…,) gives (…, dim).

    layout is "interleaved" (sin, cos, sin, cos, …: the paper's formula) or "concatenated" (all sines,
    then all cosines: the order of the paper's own code). Raises ValueError for another layout and for an odd
    dim.

    >>> sinusoidal(torch.arange(3), dim=4)
    tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
            [ 0.8415,  0.5403,  0.0100,  0.9999],
            [ 0.9093, -0.4161,  0.0200,  0.9998]])
    """
    angle = angles(positions, frequencies(dim, base))
    sine, cosine = angle.sin(), angle.cos()
    if layout == "interleaved":
        return torch.stack([sine, cosine], dim=-1).flatten(-2)
    if layout == "concatenated":
        return torch.cat([sine, cosine], dim=-1)
    raise ValueError(f'layout must be "interleaved" or "concatenated"; got {layout!r}')


class Sinusoidal(Encoding):
    """Door 1: adds `sinusoidal(positions, dim)` to the token embeddings. No parameters.

    >>> words, positions = torch.zeros(1, 3, 4), torch.arange(3)
    >>> placed = Sinusoidal(dim=4).embed(words, positions)
    >>> torch.equal(placed[0], sinusoidal(positions, dim=4))
    True
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: str = "interleaved"):
        super().__init__()
        sinusoidal(torch.arange(1), dim, base, layout)  # bad arguments fail here, not in the first forward
        self.dim, self.base, self.layout = dim, base, layout

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_embeddings(x, self.dim, positions)
        return x + sinusoidal(positions, self.dim, self.base, self.layout).to(x)
