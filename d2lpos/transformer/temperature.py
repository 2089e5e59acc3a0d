"""Temperature: queries grow with their position, so that attention over more keys stays as sharp.

A lead of g over n − 1 other keys has the weight e^g / (e^g + n − 1), which fades as n grows. A query multiplied by
a number that grows with its position holds the lead. What a score then sees is no longer the offset alone: text
after padding, and packed text, need the positions that they were trained with.

Each function takes positions (…,) and gives the multipliers, (…,), in the dtype of `positions.as_float`. Raises as
`positions.as_float` does, TypeError for what is no number, and ValueError where one is not in its range. `multiply` applies them to queries.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..positions.arguments import (
    check_flag,
    check_floating,
    check_function,
    check_number,
    check_scale,
    check_tensor,
)
from ..positions.checks import as_float

__all__ = ["logarithm", "multiply", "power", "steps"]


def logarithm(positions: Tensor, scale: float = 1.0, length: float | None = None) -> Tensor:
    """scale · ln(n) with n = position + 1, the keys that a causal query sees; or 1 + scale · ln(max(1, n/length)).

    The first form has n of at least 2, because ln 1 would hide the first query. Chiang and Cholak 2022, section 5
    (arXiv 2202.12172) have scale 1; in scalable softmax it is learned for each head: Nakanishi 2025, section 2
    (arXiv 2501.19399). The second is that of Inkling's released code, and waits for length tokens.

    >>> logarithm(torch.tensor([0, 1, 99]))
    tensor([0.6931, 0.6931, 4.6052])
    >>> logarithm(torch.tensor([0, 99, 9999]), scale=0.1, length=100)
    tensor([1.0000, 1.0000, 1.4605])
    """
    check_number(scale=scale)
    count = as_float(positions) + 1
    if length is None:
        return scale * count.clamp(min=2).log()
    check_scale(length=length)
    return 1 + scale * (count / length).clamp(min=1).log()


def steps(positions: Tensor, length: float, scale: float = 0.1, counted: bool = False) -> Tensor:
    """1 + scale · ln(1 + ⌊p/length⌋): 1 up to length tokens, below position 0 as well, then up a step at each multiple of it.

    counted=True counts tokens, p + 1, as Llama 4 does in its layers without positions; the released code of
    Ministral 3 takes p.

    >>> steps(torch.tensor([0, 8191, 8192, 1_000_000]), length=8192)
    tensor([1.0000, 1.0000, 1.0693, 1.4812])
    """
    check_scale(length=length)
    check_number(scale=scale)
    check_flag(counted=counted)
    return 1 + scale * torch.log1p(((as_float(positions) + counted) / length).floor().clamp(min=0))


def power(positions: Tensor, length: float, exponent: float = 0.1) -> Tensor:
    """(1 + (p + 1)/length)^exponent, as in the layers without positions of Beam's released code; below position 0 it is 1.

    >>> power(torch.tensor([0, 2047, 1_000_000]), length=2048)
    tensor([1.0000, 1.0718, 1.8576])
    """
    check_scale(length=length)
    check_number(exponent=exponent)
    return (1 + (as_float(positions) + 1).clamp(min=0) / length) ** exponent


def multiply(q: Tensor, positions: Tensor, temperature: Callable[[Tensor], Tensor]) -> Tensor:
    """Queries (batch, head, sequence, feature), each times `temperature` of its position; same shape and dtype.

    Raises TypeError or ValueError where temperature does not give a number for each position.

    >>> q, positions = torch.ones(1, 1, 2, 3), torch.tensor([1, 99])
    >>> multiply(q, positions, logarithm)[0, 0, :, 0]
    tensor([0.6931, 4.6052])
    """
    check_floating("q", q)
    check_tensor("positions", positions, q.device)
    check_function("temperature", temperature, "a function of positions")
    if positions.shape[-1:] not in (q.shape[-2:-1], (1,)):  # in this order, because export takes the length for no 1
        raise ValueError(f"positions must be (…, {q.shape[-2]}), one for each query; got {tuple(positions.shape)}")
    factors = temperature(positions)
    check_floating("what temperature gives", factors)
    if factors.shape != positions.shape:
        raise ValueError(f"temperature must give {tuple(positions.shape)} numbers; got {tuple(factors.shape)}")
    return (q * factors[..., None, :, None]).to(q)  # factors as (…, 1, query, 1)


def check_temperature(temperature: Callable[[Tensor], Tensor] | None) -> None:
    """Raise a TypeError where temperature is no function."""
    if temperature is not None:
        check_function("temperature", temperature, "a function of positions")
