"""Swin V2's bias: a small network of the step between two cells, in place of a table.

Liu et al. 2022, section 3.3 (arXiv 2111.09883). The released code, which the weights are for, measures steps in another
way than Equation 4, and ends in a sigmoid that the paper does not have.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ..input.mlp import perceptron
from ..positions.arguments import check_positive
from ..positions.checks import as_float
from .base import PositionBias
from .swin import relative_position_index

__all__ = ["SwinV2", "log_spaced"]

LARGEST = 16.0  # 16 · sigmoid(…) stays below it


def log_spaced(steps: Tensor, height: int, width: int) -> Tensor:
    """sign(s) log(1 + |s|) / log 8 of steps that are stretched until the longest of a window is 8; (…, 2).

    Steps are (…, 2), rows before columns, of any real size; height × width is the window. The longest step of it gets
    log 9 / log 8 = 1.06, not 1. Equation 4 of the paper has sign(Δ) log(1 + |Δ|) of cells, unstretched: for a window of
    9 × 9, where nothing stretches, the two are proportional, and for another they are not.

    float32, or float64 where the steps are. Raises as `positions.as_float` does, and ValueError where the last axis is not
    2 or a side is not positive.

    >>> log_spaced(torch.tensor([[0, 0], [1, -8]]), height=9, width=9)
    tensor([[ 0.0000,  0.0000],
            [ 0.3333, -1.0566]])
    """
    check_positive(height=height, width=width)
    steps = as_float(steps, "steps")
    if steps.shape[-1:] != (2,):
        raise ValueError(f"steps must be (…, 2), rows and columns; got {tuple(steps.shape)}")
    longest = torch.tensor([max(height - 1, 1), max(width - 1, 1)], device=steps.device)
    return steps.sign() * (8 * steps.abs() / longest).log1p() / math.log(8)


class SwinV2(PositionBias):
    """Door 3: adds 16 · sigmoid of a network of `log_spaced` steps to the scores of the cells of a window.

    A step is the query's cell minus the key's, and the window is height × width. Weights that were trained in a smaller
    one fit: give the side of that square window as `trained`, and steps are measured by it. Without it they are
    measured by height and width, so that they mean other distances in another window.

    Swin V2 has no product of queries and keys beside this bias, but the cosine between them times a number that each
    head learns. That is no matter of positions, and left to the attention.

    Positions are those of `swin.relative_position_index`. Parameters: a layer of 2 inputs, `hidden` outputs and biases, and one of an
    output for each head, without. Raises as `relative_position_index` does, and ValueError where trained is below 2.

    >>> q = k = torch.ones(1, 2, 64, 4)
    >>> cells = torch.cartesian_prod(torch.arange(8), torch.arange(8))
    >>> bias = SwinV2(heads=2, height=8, width=8, trained=4)
    >>> bias.score(q, k, cells, cells).shape
    torch.Size([2, 64, 64])
    """

    axes = 2

    def __init__(self, heads: int, height: int, width: int, trained: int | None = None, hidden: int = 512):
        super().__init__()
        check_positive(heads=heads, height=height, width=width, hidden=hidden)
        if trained is not None:
            check_positive(trained=trained)
            if trained < 2:
                raise ValueError(f"trained must be at least 2, or its window has no step; got {trained}")
        self.heads, self.height, self.width = heads, height, width
        self.measure = (height, width) if trained is None else (trained, trained)
        self.first, self.second = nn.Linear(2, hidden), nn.Linear(hidden, heads, bias=False)

    def bias(self, steps: Tensor) -> Tensor:
        """The bias of any steps, those between cells and beyond the window included; (…, 2) gives (…, heads)."""
        return LARGEST * perceptron(log_spaced(steps, *self.measure), self.first, self.second, relu).sigmoid()

    def between(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        rows = relative_position_index(q_positions, k_positions, self.height, self.width)[..., None, :, :]
        down, right = (torch.arange(1 - side, side, device=rows.device) for side in (self.height, self.width))
        steps = torch.cartesian_prod(down, right)  # in the order of `relative_position_index`
        table = self.bias(steps.to(torch.promote_types(self.second.weight.dtype, torch.float32)))
        head = torch.arange(self.heads, device=rows.device)[:, None, None]  # (head, 1, 1)
        return table[rows, head]  # (…, head, query, key)
