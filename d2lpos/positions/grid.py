"""Where the cells of a picture stand, line by line: positions of two axes, row before column."""

import torch
from torch import Tensor

from .arguments import check_positive

__all__ = ["cells", "coordinates"]


def cells(height: int, width: int) -> Tensor:
    """Row and column of each cell; (height · width, 2), int64. Raises ValueError where a size is not positive.

    >>> cells(2, 3).tolist()
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    """
    check_positive(height=height, width=width)
    return torch.cartesian_prod(torch.arange(height), torch.arange(width))


def coordinates(height: int, width: int) -> Tensor:
    """The middle of each cell where the picture is a square from −1 to 1, however many cells it has.

    (height · width, 2), float32. DINOv3 turns by 2π times these with base 100, so a finer picture has smaller steps
    and no larger angles: `RoPE(64, base=100, axes=2)` at `2 * torch.pi * coordinates(14, 14)`. Its [CLS] and its
    registers stand in the middle, at 0. Raises as `cells` does.

    Source: Siméoni et al. 2025, section 3.2 (arXiv 2508.10104).

    >>> coordinates(2, 1).tolist()
    [[-0.5, 0.0], [0.5, 0.0]]
    """
    return (2 * cells(height, width) + 1) / torch.tensor([height, width]) - 1
