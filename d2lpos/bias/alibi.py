"""Attention with linear biases: a score falls with the distance, at another slope in each head.

Press et al. 2022, section 3 (arXiv 2108.12409).
"""

import math

import torch
from torch import Tensor, nn

from ..positions.arguments import check_floating, check_positive, check_scale, check_tensor, check_values
from ..positions.checks import offsets
from ..positions.looks import extent
from .base import Bias, distance

__all__ = ["ALiBi", "bias", "slopes"]


def slopes(heads: int, rule: str = "released", octaves: float = 8.0) -> Tensor:
    """The slope of each head, positive; (heads,), float32.

    rule="paper" is the geometric sequence 2^(−octaves·h/heads), h = 1 … heads. rule="released" is what the
    authors' code and the checkpoints use: the same where heads is a power of two, else the sequence for
    the power of two below, filled up with every other slope of the one above. octaves is 8 in the paper; MPT
    calls it alibi_bias_max. Raises TypeError where one of them is no number, ValueError where heads or octaves is not
    positive, for octaves above 126, whose slopes are too small for float32, and for another rule.

    >>> slopes(3)
    tensor([0.0625, 0.0039, 0.2500])
    >>> slopes(3, rule="paper")
    tensor([0.1575, 0.0248, 0.0039])
    """
    check_positive(heads=heads)
    check_rule(rule, octaves)
    return slope(torch.arange(heads), heads, rule, octaves)


def check_rule(rule: str, octaves: float) -> None:
    """Raise a TypeError or ValueError for a rule of slopes that is neither, or for octaves that make no slopes."""
    if rule not in ("paper", "released"):
        raise ValueError(f'rule must be "paper" or "released"; got {rule!r}')
    check_scale(octaves=octaves)
    if octaves > 126:
        raise ValueError(f"octaves must be at most 126, because float32 holds no smaller slope; got {octaves}")


def check_slopes(slopes: Tensor) -> None:
    """Raise a TypeError or ValueError where slopes are no numbers of at least 0."""
    check_floating("slopes", slopes)
    low, high = extent(slopes.detach())
    if not 0 <= low <= high < math.inf:
        worst = high if low >= 0 else low
        raise ValueError(f"slopes must be finite and not negative; got {worst}")


def slope(head: Tensor, heads: int, rule: str, octaves: float) -> Tensor:
    """The slope of each head, counted from 0; same shape, float32. Heads past a power of two take half steps.

    By arithmetic, because FlexAttention compiles no table that is made on the way.
    """
    below = heads if rule == "paper" else 2 ** int(math.log2(heads))
    number = head.double()
    step = torch.where(number < below, number + 1, number - below + 0.5)
    return torch.exp2(-octaves / below * step).float()


def bias(q_positions: Tensor, k_positions: Tensor, slopes: Tensor) -> Tensor:
    """−slope · |key − query|; positions (…, query) and (…, key) give (…, head, query, key).

    float32, or float64 where the positions are, and for integers that are 2²⁴ or more apart. Raises as
    `positions.offsets` does, TypeError where slopes are not floating-point, ValueError where they are not (heads,),
    finite and at least 0.

    >>> bias(torch.arange(3), torch.arange(3), torch.tensor([0.5]))
    tensor([[[-0.0000, -0.5000, -1.0000],
             [-0.5000, -0.0000, -0.5000],
             [-1.0000, -0.5000, -0.0000]]])
    """
    check_slopes(slopes)
    if slopes.dim() != 1:
        raise ValueError(f"slopes must be (heads,); got {tuple(slopes.shape)}")
    offset = offsets(q_positions, k_positions)[..., None, :, :]  # (…, 1, query, key)
    check_values("slopes", slopes, offset.device)
    return ramp(offset, slopes.to(offset.device)[:, None, None])  # slopes as (head, 1, 1)


def ramp(offset: Tensor, slope: Tensor) -> Tensor:
    """−slope · |offset|, for each offset (key minus query) and slope; both broadcast.

    float32, or float64 where offsets are, and for integers from 2²⁴ on. Raises as `distance` does.
    """
    check_tensor("slope", slope)
    far = distance(offset)
    return -slope.to(far) * far


class ALiBi(Bias):
    """Door 3: adds `bias(q_positions, k_positions, slopes(heads, rule, octaves))` to the scores. No parameters.

    The bias is symmetric: it tells how far, not which way. With a causal mask that is enough. slopes: your own,
    (heads,), in place of the rule's; a tensor is kept as a buffer, an nn.Parameter learns, and neither is rounded when
    a model is turned to half precision. Raises ValueError where they are not one for each head, and as `slopes` and
    `bias` do.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> ALiBi(heads=2).score(q, k, here, here)[..., -1, :]
    tensor([[-0.1250, -0.0625, -0.0000],
            [-0.0078, -0.0039, -0.0000]])
    """

    wide = ("slopes",)

    def __init__(
        self, heads: int, rule: str = "released", slopes: Tensor | None = None, octaves: float = 8.0
    ):
        super().__init__(heads)
        check_rule(rule, octaves)
        if slopes is not None:
            check_slopes(slopes)
            if slopes.shape != (heads,):
                raise ValueError(f"slopes must be (heads,) = ({heads},); got {tuple(slopes.shape)}")
        self.rule, self.octaves = rule, octaves
        if isinstance(slopes, nn.Parameter):
            self.slopes = slopes
        else:
            self.register_buffer("slopes", slopes)

    def at(self, offset: Tensor, head: Tensor) -> Tensor:
        if self.slopes is not None:
            return ramp(offset, self.slopes[head])
        return ramp(offset, slope(head, self.heads, self.rule, self.octaves))
