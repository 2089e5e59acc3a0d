"""Rotation by several coordinates: each pair of features is dealt one of them.

Wang et al. 2024, section 2.1 (arXiv 2409.12191), where a token has a time, a row and a column.
"""

from collections.abc import Callable, Sequence

from torch import Tensor

from ..input.sinusoids import frequencies
from ..positions.arguments import check_count, check_members, check_positive
from ..positions.checks import check_places
from .rope import Rotary, angles_by_axis, check_layout, check_rotary, check_scaling
from .scaling import unscaled

__all__ = ["MRoPE", "blocks", "in_turn"]


def blocks(sizes: Sequence[int]) -> list[int]:
    """A deal in blocks: the first sizes[0] pairs turn by coordinate 0, the next sizes[1] by 1, and so on.

    >>> blocks([1, 2, 2])
    [0, 1, 1, 2, 2]
    """
    check_members(check_positive, "sizes", sizes)
    return [axis for axis, size in enumerate(sizes) for _ in range(size)]


def in_turn(sizes: Sequence[int]) -> list[int]:
    """A deal like cards, as Qwen3-VL has it: 0, 1, 2, 0, 1, …; who has got enough is passed over for 0.

    Axis a takes the pairs a, a + n, a + 2n, … of n axes until it has sizes[a] of them; all others are axis 0's.
    Raises ValueError where it would need pairs that are not there.

    >>> in_turn([3, 2, 1])
    [0, 1, 2, 0, 1, 0]
    """
    check_members(check_positive, "sizes", sizes)
    deal, n = [0] * sum(sizes), len(sizes)
    for axis, size in enumerate(sizes[1:], 1):
        if axis + n * (size - 1) >= len(deal):
            raise ValueError(f"sizes must leave a turn for each pair; got {list(sizes)}")
        deal[axis : axis + n * size : n] = [axis] * size
    return deal


class MRoPE(Rotary):
    """Door 2: pair i turns by coordinate `deal[i]`, at the frequency that it has in RoPE.

    Positions are (…, sequence, axes), with as many axes as the deal names. A token whose coordinates are equal
    turns as RoPE turns it, so words keep their angles. The first 2 · len(deal) features of `dim` turn. base,
    layout and scaling are those of `RoPE`. No parameters. Raises ValueError for an empty deal, one that leaves an
    axis out or has more pairs than dim, and as `RoPE` does.

    >>> q = k = torch.ones(1, 1, 2, 8)
    >>> places = torch.tensor([[0, 0, 0], [0, 0, 5]])
    >>> m_rope = MRoPE(8, deal=blocks([1, 1, 2]))
    >>> m_rope.rotate(q, k, places, places)[0][0, 0, 1, :4]
    tensor([1.0000, 1.0000, 0.9488, 0.9950])
    """

    def __init__(
        self, dim: int, deal: Sequence[int], base: float = 10_000.0, layout: str = "half",
        scaling: Callable[[Tensor], tuple[Tensor, float]] = unscaled,
    ):
        super().__init__()
        check_positive(dim=dim)
        check_layout(layout)
        check_members(check_count, "deal", deal)
        self.dim, self.deal, self.base, self.layout = dim, list(deal), base, layout
        self.rotary, self.axes, self.scaling = 2 * len(self.deal), 1 + max(self.deal, default=0), scaling
        if sorted(set(self.deal)) != list(range(self.axes)):
            raise ValueError(f"deal must name each axis from 0 on; got {self.deal}")
        check_rotary(self.rotary, dim)
        check_scaling(scaling, self.rotary, base)

    def scaled(self) -> tuple[Tensor, float]:
        return self.scaling(frequencies(self.rotary, self.base))

    def turns(self, positions: Tensor, omega: Tensor) -> Tensor:
        check_places(positions, self.axes, "MRoPE")
        return angles_by_axis(positions, self.deal, omega)
