"""A table of rows for the cells of a picture, brought to another grid.

Dosovitskiy et al. 2021, section 3.2 (arXiv 2010.11929), resize the table of a Vision Transformer.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from ..positions.arguments import (
    check_count,
    check_flag,
    check_floating,
    check_members,
    check_name,
    check_positive,
)
from ..positions.looks import extent

__all__ = ["resize_table"]

MODES = "bilinear", "bicubic"


def resize_table(
    table: Tensor,
    old: Sequence[int],
    new: Sequence[int],
    prefix: int = 0,
    mode: str = "bicubic",
    antialias: bool = False,
) -> Tensor:
    """The rows of an old grid for a new one; (prefix + old cells, dim) gives (prefix + new cells, dim).

    old and new are height and width; cells come line by line. The first `prefix` rows, those of [CLS] and registers,
    stay. Rows are spread over the picture's whole square, so corners of cells meet and not their middles
    (align_corners=False). antialias averages where a grid gets smaller. A bias for steps between cells, as Swin's, is
    a table for a grid of 2·height − 1 by 2·width − 1.

    Released code differs. Google's own for ViT is bilinear, and there the middles of the outermost cells meet. In
    transformers 5.23 ViT and DINOv2 are bicubic, DINOv2 with registers is bicubic with antialias, SigLIP 2 bilinear
    with antialias; timm 1.0.31 is bicubic with antialias. Computed in at least float32, returned in the dtype of
    table. Raises TypeError for a table that is not floating-point and sizes that are no integers, ValueError where the
    rows are not prefix + old cells, a size is not positive, and for another mode.

    >>> table = torch.tensor([[9.0], [0], [1], [2], [3]])  # [CLS], 2 × 2
    >>> wide = resize_table(table, (2, 2), (1, 4), 1, "bilinear")
    >>> wide.flatten().tolist()
    [9.0, 1.0, 1.25, 1.75, 2.0]
    """
    check_floating("table", table)
    check_count(prefix=prefix)
    check_flag(antialias=antialias)
    for name, grid in ("old", old), ("new", new):
        check_members(check_positive, name, grid)
        if len(grid) != 2:
            raise ValueError(f"{name} must be height and width; got {tuple(grid)}")
    if table.dim() != 2 or len(table) != prefix + old[0] * old[1] or not table.shape[1]:
        raise ValueError(
            f"table must be ({prefix} + {old[0]} · {old[1]}, dim), a row for each cell; got {tuple(table.shape)}"
        )
    if not all(map(math.isfinite, extent(table.detach()))):
        raise ValueError("table must be finite; got a number that is not")
    check_name("mode", mode, MODES)
    picture = table[prefix:].to(torch.promote_types(table.dtype, torch.float32)).T.unflatten(1, tuple(old))
    resized = resize_picture(picture[None], tuple(new), mode, antialias)
    return torch.cat([table[:prefix], resized[0].flatten(1).T.to(table)])


def resize_picture(picture: Tensor, new: tuple[int, int], mode: str, antialias: bool) -> Tensor:
    """The picture (1, dim, height, width) on the new grid, (1, dim, *new).

    With antialias PyTorch 2.13 writes the first row into all rows where the new width is 1 and the height grows. Height
    and width are resized one after the other, so the transposed picture gives the same numbers, and its width is not 1.
    """
    height, width = new
    if antialias and width == 1:
        return interpolate(picture.mT, size=(width, height), mode=mode, align_corners=False, antialias=True).mT
    return interpolate(picture, size=new, mode=mode, align_corners=False, antialias=antialias)
