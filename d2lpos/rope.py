"""Rotary position embedding: queries and keys turn by an angle that grows with their position.

Su et al. 2021, section 3.2 (arXiv 2104.09864).
"""

import torch
from torch import Tensor

from .encoding import Encoding
from .sinusoidal import angles, frequencies


def rotate(x: Tensor, angles: Tensor, layout: str = "half") -> Tensor:
    """Turn each pair of features of x by its angle; x (…, d) and angles (…, d/2) give (…, d).

    layout is "half" (feature i pairs with i + d/2, as in NeoX and Llama) or "interleaved" (2i pairs with
    2i + 1, as in the paper). Computed in at least float32, returned in the dtype of x. Raises ValueError
    for an odd d, another layout, or angles that do not number d/2.
    """
    dim = x.shape[-1]
    if dim % 2:
        raise ValueError(f"dim must be even for layout={layout!r}; got {dim}")
    if angles.shape[-1] != dim // 2:
        raise ValueError(f"angles must end in {dim // 2}, half of x's {dim} features; got {angles.shape[-1]}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    cos, sin = angles.cos(), angles.sin()
    if layout == "half":
        a, b = wide.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x)
    if layout == "interleaved":
        a, b = wide[..., 0::2], wide[..., 1::2]
        return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2).to(x)
    raise ValueError(f'layout must be "half" or "interleaved"; got {layout!r}')


class RoPE(Encoding):
    """Door 2: turns queries and keys of `dim` features a head, so that scores see offsets only.

    No parameters. Raises ValueError for an odd dim, another layout, a base not above 1.
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: str = "half"):
        super().__init__()
        rotate(torch.zeros(dim), frequencies(dim, base), layout)  # bad arguments fail here
        self.dim, self.base, self.layout = dim, base, layout

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        omega = frequencies(self.dim, self.base)

        def turn(x: Tensor, positions: Tensor) -> Tensor:
            return rotate(x, angles(positions, omega)[..., None, :, :], self.layout)  # one angle, all heads

        return turn(q, q_positions), turn(k, k_positions)
