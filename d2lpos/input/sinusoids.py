"""Sinusoidal positions: a row of clocks, each slower than the one before.

Vaswani et al. 2017, section 3.5 (arXiv 1706.03762).
"""

import math

import torch
from torch import Tensor

from ..encoding import Encoding, check_embeddings
from ..positions.arguments import check_flag, check_floating, check_positive, check_real_number, check_values
from ..positions.checks import as_double

__all__ = ["Sinusoidal", "angles", "frequencies", "sinusoidal"]


def frequencies(dim: int, base: float = 10_000.0, endpoint: bool = False) -> Tensor:
    """ω_i = base^(−2i/dim) for i = 0 … dim/2 − 1, in radians per position; (dim/2,), float64.

    With endpoint=True the exponent is −i/(dim/2 − 1), so that the last frequency is 1/base itself: so do the
    tables of tensor2tensor, fairseq and Whisper. Raises TypeError where dim is no integer, base no number or endpoint
    no bool, ValueError where dim is odd or not positive (or 2 with
    endpoint=True), or base is not finite and above 1.

    >>> frequencies(8).tolist()
    [1.0, 0.1, 0.01, 0.001]
    >>> frequencies(8, base=8, endpoint=True).tolist()
    [1.0, 0.5, 0.25, 0.125]
    """
    check_positive(dim=dim)
    check_flag(endpoint=endpoint)
    if dim % 2:
        raise ValueError(f"dim must be even, because each frequency turns a pair; got {dim}")
    check_real_number(base=base)
    if not 1 < base < math.inf:
        raise ValueError(f"base must be finite and above 1; got {base}")
    if endpoint and dim == 2:
        raise ValueError("dim must be at least 4 with endpoint=True, to have a first and a last; got 2")
    steps = torch.arange(0, dim, 2, dtype=torch.float64)
    return base ** -(steps / (dim - 2 if endpoint else dim))


def angles(positions: Tensor, frequencies: Tensor) -> Tensor:
    """Position times frequency, in radians; (…,) and (dim/2,) give (…, dim/2), float64.

    Each rounding of an angle turns a pair by so much too far or too little. In float32 neighbors among the numbers near
    131,072 lie 1/64 of a radian apart, and near 2²⁴ a whole radian, though float32 still holds the position itself. In
    float64 an angle is right to 2⁻⁵³ of itself. A device without float64, such as Apple's, gets float32. Raises as
    `positions.as_float` does, and TypeError for frequencies that are not floating-point.

    >>> angles(torch.tensor([0, 1, 7]), frequencies(4))
    tensor([[0.0000, 0.0000],
            [1.0000, 0.0100],
            [7.0000, 0.0700]], dtype=torch.float64)
    """
    check_floating("frequencies", frequencies)
    positions = as_double(positions)
    check_values("frequencies", frequencies, positions.device)
    return positions[..., None] * frequencies.to(positions)


def wave_dtype(positions: Tensor) -> torch.dtype:
    """The dtype of sines and cosines of positions: float32, or float64 where the positions are."""
    return torch.float64 if positions.dtype == torch.float64 else torch.float32


def sinusoidal(
    positions: Tensor,
    dim: int,
    base: float = 10_000.0,
    layout: str = "interleaved",
    endpoint: bool = False,
) -> Tensor:
    """The sine and cosine of each angle; (…,) gives (…, dim), float32, or float64 where positions are.

    layout is "interleaved" (sin, cos, sin, cos, …: the paper's formula) or "concatenated" (all sines,
    then all cosines: the order of the paper's own code). endpoint is that of `frequencies`. Raises ValueError
    for another layout and as `frequencies` does.

    >>> sinusoidal(torch.arange(3), dim=4)
    tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
            [ 0.8415,  0.5403,  0.0100,  0.9999],
            [ 0.9093, -0.4161,  0.0200,  0.9998]])
    """
    angle = angles(positions, frequencies(dim, base, endpoint))
    sine, cosine = (wave.to(wave_dtype(positions)) for wave in (angle.sin(), angle.cos()))
    if layout == "interleaved":
        return torch.stack([sine, cosine], dim=-1).flatten(-2)
    if layout == "concatenated":
        return torch.cat([sine, cosine], dim=-1)
    raise ValueError(f'layout must be "interleaved" or "concatenated"; got {layout!r}')


class Sinusoidal(Encoding):
    """Door 1: adds `sinusoidal(positions, dim, base, layout, endpoint)` to the token embeddings. No parameters.

    >>> words, positions = torch.zeros(1, 3, 4), torch.arange(3)
    >>> placed = Sinusoidal(dim=4).embed(words, positions)
    >>> torch.equal(placed[0], sinusoidal(positions, dim=4))
    True
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: str = "interleaved", endpoint: bool = False):
        super().__init__()
        sinusoidal(torch.arange(1), dim, base, layout, endpoint)  # bad arguments fail here
        self.dim, self.base, self.layout, self.endpoint = dim, base, layout, endpoint

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_embeddings(x, self.dim, positions)
        return x + sinusoidal(positions, self.dim, self.base, self.layout, self.endpoint).to(x)
