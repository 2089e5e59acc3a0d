"""Rotation by mixed frequencies: each pair of features turns by all coordinates of a position at once.

Heo et al. 2024, section 3.2 (arXiv 2403.13298), who call it RoPE-Mixed.
"""

import torch
from torch import Tensor, nn

from ..encoding import check_tokens
from ..input.sinusoids import frequencies
from ..positions.arguments import check_positive
from ..positions.checks import as_double, check_places
from .rope import Rotary, check_layout

__all__ = ["Mixed"]


class Mixed(Rotary):
    """Door 2: pair i of head h turns by x · ω[0, h, i] + y · ω[1, h, i] at row x and column y.

    Axial RoPE, `RoPE(dim, axes=2)`, is the case in which one of each two frequencies is 0. Its scores are a sum of a
    function of rows and one of columns; mixed frequencies see diagonals, too. Scores see the step between two places
    alone, whatever the frequencies are, because all turns are in the same planes.

    Parameters: ω, (2, heads, dim/2), learned. They begin as axial ones, each head's turned in the plane by an angle
    of its own; the authors have base 10. Positions are (…, sequence, 2). Raises ValueError for a dim that is no
    multiple of 4, another layout, a base that is not finite and above 1, and heads that are not positive.

    >>> q = k = torch.ones(1, 2, 3, 8)
    >>> places = torch.tensor([[0, 0], [0, 1], [2, 0]])
    >>> mixed = Mixed(dim=8, heads=2)
    >>> mixed.rotate(q, k, places, places)[0].shape
    torch.Size([1, 2, 3, 8])
    """

    axes = 2
    wide = ("omega",)

    def __init__(self, dim: int, heads: int, base: float = 10.0, layout: str = "interleaved"):
        super().__init__()
        check_positive(dim=dim, heads=heads)
        check_layout(layout)
        if dim % 4:
            raise ValueError(f"dim must be a multiple of 4, because pairs are dealt to two axes; got {dim}")
        self.dim, self.rotary, self.layout = dim, dim, layout
        axial = frequencies(dim // 2, base).float()
        heading = 2 * torch.pi * torch.rand(heads, 1)
        one, other = torch.stack([heading.cos(), heading.sin()]), torch.stack([-heading.sin(), heading.cos()])
        self.omega = nn.Parameter(torch.cat([one * axial, other * axial], dim=-1))

    def scaled(self) -> tuple[Tensor, float]:
        """The frequencies, (2, heads, dim/2), and 1: no rule stretches them."""
        return self.omega, 1.0

    def turns(self, positions: Tensor, omega: Tensor) -> Tensor:
        check_places(positions, self.axes, "Mixed")
        places = as_double(positions)[..., None, :, :]  # (…, 1, sequence, 2)
        down, right = omega.to(places)[:, :, None]  # (heads, 1, dim/2) each
        return places[..., :1] * down + places[..., 1:] * right  # (…, head, sequence, dim/2)

    def check_turned(self, name: str, x: Tensor, positions: Tensor, named: str = "") -> None:
        check_tokens(self, name, x, positions, named, heads=self.omega.shape[1], features=self.dim)
