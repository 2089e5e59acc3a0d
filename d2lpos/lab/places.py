"""Who hands out the positions of a run: where each token of a batch stands.

Counted along the row, begun anywhere, drawn, or shared by digits of one place; of pictures, counted in
squares, or these drawn together or apart; of events, their times. Each is a function of the tokens and a generator.
"""

from collections.abc import Callable
from math import isqrt

import torch
from torch import Tensor

from ..positions.grid import cells
from ..positions.position_ids import random_positions, shift
from .synthetic import EQUALS, PAD, PLUS
from .waves import timed

__all__ = [
    "LIMITED",
    "PLACES",
    "Places",
    "begun",
    "counted",
    "coupled",
    "drawn",
    "in_squares",
    "jittered",
    "side",
]

Places = Callable[[Tensor, torch.Generator], Tensor]


def counted(tokens: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """0, 1, 2, … for all rows; tokens (batch, length) give (length,).

    >>> counted(torch.zeros(2, 3))
    tensor([0, 1, 2])
    """
    return torch.arange(tokens.shape[1])


def side(length: int) -> int:
    """How many cells a square of so many has along a side. Raises ValueError where there is no such square.

    >>> side(64)
    8
    """
    if isqrt(length) ** 2 != length:
        raise ValueError(f"length must be a square, for as many rows as columns; got {length}")
    return isqrt(length)


def in_squares(tokens: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Row and column of each cell of a square picture, line by line; (length, 2).

    Raises ValueError for a length that is no square.

    >>> in_squares(torch.zeros(1, 4)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    edge = side(tokens.shape[1])
    return cells(edge, edge)


def jittered(tokens: Tensor, generator: torch.Generator) -> Tensor:
    """Cells of a square picture, drawn together or apart by a factor of its own, 1/2 … 2.

    (batch, length, 2), float32. The middle of the picture stays where it is. All logarithms of a factor have
    the same chance. Raises ValueError for a length that is no square.

    Source: Siméoni et al. 2025, section 3.2 (arXiv 2508.10104).

    >>> jittered(torch.zeros(2, 4), torch.Generator().manual_seed(0))[:, 0]
    tensor([[ 0.0026,  0.0026],
            [-0.2252, -0.2252]])
    """
    places = in_squares(tokens).float()
    middle = places.mean(dim=0)
    factor = 4 ** torch.rand(len(tokens), 1, 1, generator=generator) / 2
    return middle + factor * (places - middle)


def begun(tokens: Tensor, generator: torch.Generator, limit: int) -> Tensor:
    """Counted along the row from a start of its own, so that all stay below limit; (batch, length).

    Raises ValueError for a row longer than limit.

    >>> begun(torch.zeros(2, 3), torch.Generator().manual_seed(0), limit=100)
    tensor([[60, 61, 62],
            [87, 88, 89]])
    """
    return _begin(counted(tokens).expand(tokens.shape), generator, limit)


def drawn(tokens: Tensor, generator: torch.Generator, limit: int) -> Tensor:
    """As many different positions below limit as there are tokens, in order; (batch, length).

    Raises ValueError for a row longer than limit.

    >>> drawn(torch.zeros(1, 3), torch.Generator().manual_seed(0), limit=100)
    tensor([[26, 51, 69]])
    """
    return random_positions(*tokens.shape, limit, generator)


def coupled(tokens: Tensor, generator: torch.Generator, limit: int) -> Tensor:
    """Digits of one place share a position, in a, b and their sum; (batch, length).

    Of `addition`, lowest first: ones stand at 1, tens at 2, and so on, plus, equals and a pad at 0. Then each
    row is moved by a number of its own, so that all stay below limit. Raises ValueError where limit leaves no
    place for the last digit of a sum.

    Source: Cho et al. 2024, section 3 (arXiv 2405.20671).

    >>> tokens = torch.tensor([[4, 9, PLUS, 3, 0, EQUALS, 7, 9]])
    >>> coupled(tokens, torch.Generator(), limit=3)
    tensor([[1, 2, 0, 1, 2, 0, 1, 2]])
    """
    index, sign = counted(tokens), torch.isin(tokens, torch.tensor([PLUS, EQUALS, PAD]))
    before = torch.where(sign, index, -1).cummax(dim=1).values
    return _begin(index - before, generator, limit)


def _begin(positions: Tensor, generator: torch.Generator, limit: int) -> Tensor:
    """Each row moved by a number of its own, so that all stay below limit."""
    room = limit - 1 - int(positions.max())
    if room < 0:
        raise ValueError(f"limit must be above {int(positions.max())}, the last position; got {limit}")
    return shift(positions, room, generator) if room else positions


PLACES: dict[str, Callable[..., Tensor]] = {
    "counted": counted,
    "jittered": jittered,
    "begun": begun,
    "drawn": drawn,
    "coupled": coupled,
    "timed": timed,
}
"""The ways to hand out positions by name."""

LIMITED = ("begun", "drawn", "coupled")
"""Those that need a limit."""
