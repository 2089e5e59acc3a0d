"""RMSNorm after the turn, as in HunYuan: the released code turns queries and keys, then norms them.

Other families norm first, and turn what is normed.
"""

import torch
from torch import Tensor, nn

from ..encoding import Encoding, may_share, twin
from ..positions.arguments import check_number
from .rope import RoPE

__all__ = ["Normed"]


class Normed(Encoding):
    """Door 2: turns as `rope` does, then divides by the root of the mean square and multiplies by learned weights.

    A turn keeps lengths, so the division may come before or after. The weights may not. Between two turns they leave
    R(−m) G R(n), where G has the products of both weights, and this is a function of n − m only if both features of
    each pair have the same product. So scores see absolute positions as soon as training tells the two apart.

    Parameters: q_weight and k_weight, (dim,) each, ones at first. Raises TypeError where rope is no `RoPE`,
    ValueError where eps is negative or not finite.

    >>> from d2lpos import RoPE
    >>> q, here = 3 * torch.ones(1, 1, 2, 8), torch.arange(2)
    >>> turned, _ = Normed(RoPE(8)).rotate(q, q, here, here)
    >>> torch.allclose(turned.square().mean(dim=-1), torch.ones(2))
    True
    """

    def __init__(self, rope: RoPE, eps: float = 1e-6):
        super().__init__()
        if not isinstance(rope, RoPE):
            raise TypeError(f"rope must be a RoPE; got {type(rope).__name__}")
        check_number(eps=eps)
        if eps < 0:
            raise ValueError(f"eps must not be negative; got {eps}")
        self.rope, self.eps, self.axes = rope, eps, rope.axes
        self.q_weight = nn.Parameter(torch.ones(rope.dim))
        self.k_weight = nn.Parameter(torch.ones(rope.dim))

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.normed(*self.rope.rotate(q, k, q_positions, k_positions))

    def precompute(self, q_positions: Tensor, k_positions: Tensor) -> Encoding:
        """This encoding with a `rope` that has its cosines and sines; see `Encoding.precompute`."""
        rope = self.rope.precompute(q_positions, k_positions)
        if rope is self.rope or not may_share(self, (q_positions, k_positions), Normed, "rotate", "normed"):
            return self
        return twin(self, rotate=lambda *arguments: self.normed(*rope.rotate(*arguments)))

    def normed(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys that have turned, each normed with its weights."""
        return self.norm(q, self.q_weight), self.norm(k, self.k_weight)

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        return (wide * (wide.square().mean(-1, keepdim=True) + self.eps).rsqrt() * weight).to(x)
