"""Polar coordinates: what a feature says is a length, where it stands an angle, and neither changes the other.

Gopalakrishnan et al. 2025 (arXiv 2509.10534), who call it PoPE.
"""

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_tokens
from ..input.sinusoids import angles, frequencies
from ..positions.arguments import check_positive

__all__ = ["PoPE"]


class PoPE(Encoding):
    """Door 2: scores become Σ softplus(q_c) · softplus(k_c) · cos((n − m) ω_c + δ_c) / √d.

    In RoPE a pair of features has a phase of its own, which adds to that of its place. Here each feature is a length
    of at least 0, and the phase is that of its place alone. So there are dim frequencies, base^(−c/dim), and queries
    and keys come out with twice as many features, multiplied by 2^¼ so that attention's 1/√(2d) is 1/√d again.

    Parameters: delta, (heads, dim), zero at first and kept in −2π … 0, which turns keys. Raises ValueError for sizes
    that are not positive and a base that is not finite and above 1.

    >>> q = k = torch.zeros(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> PoPE(dim=4, heads=2).rotate(q, k, here, here)[0].shape
    torch.Size([1, 2, 3, 8])
    """

    def __init__(self, dim: int, heads: int, base: float = 10_000.0):
        super().__init__()
        check_positive(dim=dim, heads=heads)
        frequencies(2 * dim, base)  # a bad base fails here
        self.dim, self.base = dim, base
        self.delta = nn.Parameter(torch.zeros(heads, dim))

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        omega = frequencies(2 * self.dim, self.base)
        turned = []
        for name, x, positions in ("q", q, q_positions), ("k", k, k_positions):
            check_tokens(self, name, x, positions, heads=len(self.delta), features=self.dim)
            phase = angles(positions, omega)[..., None, :, :]  # (…, 1, sequence, dim)
            if name == "k":
                phase = phase + self.delta.clamp(-2 * torch.pi, 0)[:, None].to(phase)
            wide = torch.promote_types(x.dtype, torch.float32)
            length = 2**0.25 * nn.functional.softplus(x.to(wide))
            turned.append(torch.cat([length * phase.cos().to(wide), length * phase.sin().to(wide)], dim=-1).to(x))
        return turned[0], turned[1]
