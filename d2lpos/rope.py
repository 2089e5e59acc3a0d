"""Rotary position embedding: queries and keys turn by an angle that grows with their position.

Su et al. 2021, section 3.2 (arXiv 2104.09864).
"""

import torch
from torch import Tensor

from .arguments import check_broadcast, check_size, check_tensor
from .encoding import Encoding
from .sinusoidal import angles, frequencies


def rotate(x: Tensor, angles: Tensor, layout: str = "half") -> Tensor:
    """Turn each pair of features of x by its angle; x (…, d) and angles (…, d/2) give (…, d).

    layout is "half" (feature i pairs with i + d/2, as in NeoX and Llama) or "interleaved" (2i pairs with
    2i + 1, as in the paper). Computed in at least float32, returned in the dtype of x. Raises TypeError
    for an x that is not floating-point and for half-precision angles, ValueError for an odd d, another
    layout, angles that do not number d/2, or leading axes that do not broadcast.
    """
    check_tensor("x", x)
    check_tensor("angles", angles, x.device)
    if not x.is_floating_point():
        raise TypeError(f"x must be floating-point; got {x.dtype}")
    if angles.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"angles must be float32 or float64; got {angles.dtype}")
    if not x.dim() or x.shape[-1] % 2:
        raise ValueError(f"x must be (…, d) with an even d, because it turns in pairs; got {tuple(x.shape)}")
    if angles.shape[-1:] != (x.shape[-1] // 2,):
        raise ValueError(
            f"angles must be (…, {x.shape[-1] // 2}), one for each pair of x; got {tuple(angles.shape)}"
        )
    check_broadcast(x=x, angles=angles)
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

    No parameters. Raises ValueError for an odd dim, another layout, a base that is not finite and above 1.
    """

    def __init__(self, dim: int, base: float = 10_000.0, layout: str = "half"):
        super().__init__()
        rotate(torch.zeros(dim), frequencies(dim, base), layout)  # bad arguments fail here
        self.dim, self.base, self.layout = dim, base, layout

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        check_size("q", q.shape[-1], self.dim, "features a head, as RoPE has")
        omega = frequencies(self.dim, self.base)

        def turn(x: Tensor, positions: Tensor) -> Tensor:
            return rotate(x, angles(positions, omega)[..., None, :, :], self.layout)  # one angle, all heads

        return turn(q, q_positions), turn(k, k_positions)
