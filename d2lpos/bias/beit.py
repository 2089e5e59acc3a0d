"""Swin's table with three rows more, for a token that stands nowhere: [CLS].

Bao et al. 2022 (arXiv 2106.08254); the rows are in the released code of BEiT.
"""

import torch
from torch import Tensor, nn

from ..positions.checks import signed
from .swin import Swin, relative_position_index

__all__ = ["BEiT"]


class BEiT(Swin):
    """Door 3: as `Swin`; a token at (−1, −1) is [CLS], which has no place.

    Of the three last rows the first is for [CLS] that asks a cell, the second for a cell that asks [CLS], the third
    for [CLS] and itself. Parameters: a ((2·height − 1)(2·width − 1) + 3, heads) table, zero at first. Raises as
    `relative_position_index` does for all other places.

    >>> q = k = torch.ones(1, 2, 5, 4)
    >>> places = torch.tensor([[-1, -1], [0, 0], [0, 1], [1, 0], [1, 1]])
    >>> BEiT(heads=2, height=2, width=2).score(q, k, places, places).shape
    torch.Size([2, 5, 5])
    """

    def __init__(self, heads: int, height: int, width: int):
        super().__init__(heads, height, width)
        self.table = nn.Parameter(torch.zeros(len(self.table) + 3, heads))

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        asks, here = nowhere("q_positions", q_positions)
        asked, there = nowhere("k_positions", k_positions)
        rows, last = relative_position_index(here, there, self.height, self.width), len(self.table)
        asks, asked = asks[..., :, None], asked[..., None, :]  # (…, query, 1), (…, 1, key)
        rows = torch.where(asks, last - 3, rows).where(~asked, last - 2).where(~(asks & asked), last - 1)
        head = torch.arange(self.heads, device=rows.device)[:, None, None]  # (head, 1, 1)
        return self.table[rows[..., None, :, :], head]  # (…, head, query, key)


def nowhere(name: str, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Which tokens are [CLS], and the positions with some cell in its place."""
    positions = signed(name, positions)
    if positions.shape[-1:] != (2,):
        return positions[..., :0].bool(), positions  # `relative_position_index` tells what is wrong
    outside = (positions == -1).all(-1)
    return outside, positions.masked_fill(outside[..., None], 0)
