"""Values that are measured at uneven times: sums of two sinusoids, whose next values are asked for.

A token holds the value and the time since the event before it, so every model is given all times. What differs between
runs is the position: the index of the event, or its time.

Decided before the runs, of which only size and rate were chosen, with seed 1000. The measure is the loss over the values
that are asked, and runs of one seed are compared, by the 95 % interval of the difference, Student's over five seeds:
1. RoPE by time against RoPE by index. Time helps if the interval of (time − index) lies below 0, harms if it lies above 0.
2. Sinusoids of the time at the input against RoPE by index, in the same way.
An interval that holds 0 leaves its question open.
"""

import torch
from torch import Tensor

from .synthetic import check_sizes

__all__ = ["BINS", "GAPS", "timed", "waves"]

BINS = 16  # of values from −1 to 1; a value that is asked for has the number behind them
GAPS = torch.tensor([1, 2, 4, 8, 16])  # ticks from one event to the next, all equally likely
SLOTS = BINS + 1
PERIODS = torch.tensor([6.0, 17.0], dtype=torch.float64)  # of the two sinusoids, in mean gaps


def waves(size: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Events of a sum of two sinusoids; the values of the last quarter are hidden, and asked for.

    The sinusoids of a row have the periods `PERIODS`, and phases and amplitudes of the row's own, these from ½ to 1; their
    sum is scaled to −1 … 1 and cut into 16 bins. Tokens are 17 times the number of the gap
    in `GAPS`, plus the bin, or plus 16 where it is asked for; targets have the bin there and −100 elsewhere; both are
    (size, length), int64. Raises ValueError or TypeError for a size that is not positive, and a length below 2.

    >>> tokens, targets = waves(1, 5, torch.Generator().manual_seed(0))
    >>> (tokens % 17).tolist(), targets.tolist()
    ([[11, 7, 9, 9, 16]], [[-100, -100, -100, -100, 7]])
    """
    check_sizes(size, length, 2, "to hold a value and a question")
    gap = torch.randint(len(GAPS), (size, length), generator=generator)
    phase, height = torch.rand(2, size, 1, 2, generator=generator, dtype=torch.float64)
    height = (1 + height) / 2
    times = timed(SLOTS * gap)[..., None].double()
    wave = (height * (2 * torch.pi * (times / PERIODS + phase)).sin()).sum(-1) / height.sum(-1)
    value = ((wave + 1) / 2 * BINS).long().clamp(0, BINS - 1)
    asked = torch.arange(length) >= length - max(1, length // 4)
    return SLOTS * gap + value.where(~asked, BINS), value.where(asked, -100)


def timed(tokens: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """The times of the events of `waves`, in mean gaps; tokens (batch, length) give (batch, length), float32.

    >>> timed(17 * torch.tensor([[0, 4, 1]]))  # gaps of 1, 16 and 2 ticks, 6.2 on average
    tensor([[0.1613, 2.7419, 3.0645]])
    """
    ticks = GAPS.to(tokens.device)[tokens // SLOTS].cumsum(dim=-1)
    return ticks / GAPS.double().mean().float().to(tokens.device)
