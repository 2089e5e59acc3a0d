"""KERPLE: a score falls with the distance along a curve that each head learns.

Chi et al. 2022, section 4 (arXiv 2205.09921).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..positions.arguments import check_broadcast, check_floating
from ..positions.checks import check_between
from .alibi import slopes
from .base import Bias, distance

__all__ = ["KERPLE", "logarithmic", "power"]

MOST = 2  # of r2 in the power form: the paper's theorem ends there
CURVES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "logarithmic": lambda far, r1, r2: -r1 * torch.log1p(r2 * far),
    "power": lambda far, r1, r2: -r1 * far**r2,
}


def logarithmic(offset: Tensor, r1: Tensor, r2: Tensor) -> Tensor:
    """−r1 · log(1 + r2 · |offset|), for positive r1 and r2; all broadcast.

    In at least float32. Raises as `distance` does, TypeError where r1 or r2 is not floating-point, ValueError where one
    is not positive and finite: scores would grow with the distance, or be NaN.

    >>> one = torch.tensor(1.0)
    >>> logarithmic(torch.tensor([0, -1, -9]), one, one)
    tensor([-0.0000, -0.6931, -2.3026])
    """
    far = distance(offset)
    check_factors(far, r1, r2, math.inf)
    return CURVES["logarithmic"](far, r1, r2)


def power(offset: Tensor, r1: Tensor, r2: Tensor) -> Tensor:
    """−r1 · |offset|^r2, for positive r1 and 0 < r2 ≤ 2; all broadcast. With r2 = 1, this is ALiBi.

    In at least float32. Raises as `logarithmic` does, and ValueError where r2 is above 2.

    >>> one, half = torch.tensor(1.0), torch.tensor(0.5)
    >>> power(torch.tensor([0, -1, -9]), one, half)
    tensor([-0., -1., -3.])
    """
    far = distance(offset)
    check_factors(far, r1, r2, MOST)
    return CURVES["power"](far, r1, r2)


def check_factors(far: Tensor, r1: Tensor, r2: Tensor, most: float) -> None:
    """Raise a TypeError or ValueError where r1 or r2 is not floating-point, lies elsewhere, or is out of its range."""
    for name, x, limit in ("r1", r1, math.inf), ("r2", r2, most):
        check_floating(name, x, far.device)
        check_broadcast(True, offset=far, **{name: x})
        check_between(name, x, limit)


class KERPLE(Bias):
    """Door 3: adds `logarithmic` or `power`, with its own r1 and r2 in each head, to the scores.

    Parameters: r1, which starts as ALiBi's slopes, and r2, which starts at 1; (heads,) each. Their
    magnitudes count, and those of r2 up to 2 in the power form: the paper's theorem ends there. The paper
    divides the bias by √d, too; here r1 holds that factor. Raises ValueError where heads is not positive,
    or for another form.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> KERPLE(heads=2).score(q, k, here, here).shape
    torch.Size([2, 3, 3])
    """

    wide = ("r1", "r2")

    def __init__(self, heads: int, form: str = "logarithmic"):
        super().__init__(heads)
        if not isinstance(form, str) or form not in CURVES:
            raise ValueError(f'form must be "logarithmic" or "power"; got {form!r}')
        self.form = form
        self.r1, self.r2 = nn.Parameter(slopes(heads)), nn.Parameter(torch.ones(heads))

    def at(self, offset: Tensor, head: Tensor) -> Tensor:
        r1, r2 = self.r1.abs()[head], self.r2.abs()[head]
        return CURVES[self.form](distance(offset), r1, r2 if self.form == "logarithmic" else r2.clamp(max=MOST))
