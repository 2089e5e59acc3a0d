"""Swin's bias in two dimensions: a learned number for each step between two cells of a window.

Liu et al. 2021, section 3.2 (arXiv 2103.14030).
"""

import torch
from torch import Tensor, nn

from ..positions.arguments import check_positive, check_tensor
from ..positions.checks import as_index, offsets
from ..positions.looks import recall, remember
from .base import PositionBias

__all__ = ["Swin", "relative_position_index"]


def relative_position_index(q_positions: Tensor, k_positions: Tensor, height: int, width: int) -> Tensor:
    """The row, in a table of (2·height − 1)(2·width − 1), of the step from key to query; (…, query, key).

    Positions are (…, sequence, 2): row before column of a cell in a height × width window. Raises TypeError
    where positions are no integers, ValueError where one lies outside the window or a size is not positive.

    >>> cells = torch.cartesian_prod(torch.arange(2), torch.arange(2))
    >>> relative_position_index(cells[:1], cells, height=2, width=2)
    tensor([[4, 3, 1, 0]])
    """
    check_positive(height=height, width=width)
    q_row, q_column = row_and_column("q_positions", q_positions, height, width)
    k_row, k_column = row_and_column("k_positions", k_positions, height, width)
    down, right = -offsets(q_row, k_row), -offsets(q_column, k_column)
    return (down + height - 1) * (2 * width - 1) + right + width - 1


def row_and_column(name: str, positions: Tensor, height: int, width: int) -> tuple[Tensor, Tensor]:
    """Both coordinates, (…, sequence) each; raises as `relative_position_index` does."""
    check_tensor(name, positions)
    if positions.dim() < 2 or positions.shape[-1] != 2:
        raise ValueError(f"{name} must be (…, sequence, 2), row and column; got {tuple(positions.shape)}")
    row, column = (remember(coordinate, recall(positions)) for coordinate in positions.unbind(-1))
    return as_index(row, name, height, "rows of the window"), as_index(column, name, width, "columns of the window")


class Swin(PositionBias):
    """Door 3: adds `table[step(…), head]` to the scores of the cells of a height × width window.

    Positions are those of `relative_position_index`. Parameters: a ((2·height − 1)(2·width − 1), heads) table, zero at first.
    Raises as `relative_position_index` does.

    >>> q = k = torch.ones(1, 2, 49, 4)
    >>> cells = torch.cartesian_prod(torch.arange(7), torch.arange(7))
    >>> bias = Swin(heads=2, height=7, width=7)
    >>> bias.score(q, k, cells, cells).shape
    torch.Size([2, 49, 49])
    """

    axes = 2

    def __init__(self, heads: int, height: int, width: int):
        super().__init__()
        check_positive(heads=heads, height=height, width=width)
        self.heads, self.height, self.width = heads, height, width
        self.table = nn.Parameter(torch.zeros((2 * height - 1) * (2 * width - 1), heads))

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        rows = relative_position_index(q_positions, k_positions, self.height, self.width)[..., None, :, :]
        head = torch.arange(self.table.shape[1], device=rows.device)[:, None, None]  # (head, 1, 1)
        return self.table[rows, head]  # (…, head, query, key)
