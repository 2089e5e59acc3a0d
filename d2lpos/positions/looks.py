"""What is seen of a tensor's values, and remembered: on an accelerator each look waits for it.

A tensor remembers as long as nobody writes into it, which PyTorch counts. Memory written through numpy is not counted,
so what remembers is made by this package, and nobody else has its memory.
"""

from typing import NamedTuple

import torch
from torch import Tensor

BITS = {torch.float32: 24, torch.float64: 53}  # from 2^bits on, neighbors among the integers coincide


class Look(NamedTuple):
    """What was seen of a tensor: all its values lie in low … high."""

    low: float
    high: float
    rising: bool | None = None  # along the last axis; None where nobody looked
    private: bool = False  # whether nobody outside the package has the tensor


def is_integer(positions: Tensor) -> bool:
    return not (positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool)


def values(positions: Tensor) -> Tensor | None:
    """The values to look at, those of the whole batch under vmap; None where there are none yet."""
    hidden = positions.is_meta or torch.compiler.is_compiling()
    return None if hidden else torch.func.debug_unwrap(positions)


def known(positions: Tensor) -> Tensor | None:
    """The positions themselves, where their values can be looked at as they lie: not under vmap either."""
    eager = values(positions)
    return positions if eager is positions else None


def extent(positions: Tensor) -> tuple[float, float]:
    """The least and the greatest value; NaN where one is NaN, 0 where there is none to look at."""
    if (look := recall(positions)) is not None:
        return look[:2]
    eager = values(positions)
    if eager is None or not eager.numel():
        return 0, 0
    low, high = torch.stack((eager.long() if is_integer(eager) else eager).aminmax()).tolist()
    if eager.dtype == torch.uint64 and low < 0:  # wrapped
        return 0, low + 2**64
    return low, high


def look_at(positions: Tensor) -> Look | None:
    """What is to be seen of positions, in one look; None where they cannot be looked at, or are none."""
    if not (is_integer(positions) or positions.dtype in BITS) or positions.dtype == torch.uint64:
        return None
    if values(positions) is not positions or not positions.dim() or not positions.numel():
        return None
    numbers = positions.long() if is_integer(positions) else positions.detach()
    rising = (numbers.diff(dim=-1) > 0).all()
    low, high, rises = torch.stack((*numbers.aminmax(), rising.to(numbers))).tolist()
    return Look(low, high, bool(rises))


def remember(positions: Tensor, look: Look | None) -> Tensor:
    """The same new tensor, which knows what was seen of it as long as nobody writes into it."""
    if look is not None and not torch.compiler.is_compiling() and not positions.is_inference():
        positions.look = tuple(look)  # which `torch.load` takes
    return positions


def recall(positions: Tensor) -> Look | None:
    """What a tensor remembers; None where it does not, or somebody has written into it."""
    if torch.compiler.is_compiling() or not hasattr(positions, "look"):
        return None
    return None if positions.is_inference() or positions._version else Look(*positions.look)


def both(first: Look | None, second: Look | None) -> Look | None:
    """What a tensor remembers that is made of two."""
    if first is None or second is None:
        return None
    return Look(min(first.low, second.low), max(first.high, second.high), private=True)


def rises(positions: Tensor) -> bool:
    """Whether positions rise along the last axis."""
    look = recall(positions)
    return bool((positions.diff(dim=-1) > 0).all()) if look is None or look.rising is None else look.rising


def none_later(k: Tensor, q: Tensor) -> bool:
    """Whether in each row no key stands behind a query; (…, key) and (…, query)."""
    looks = recall(k), recall(q)
    if None not in looks:
        if looks[0].high <= looks[1].low:
            return True
        if k.numel() == k.shape[-1] and q.numel() == q.shape[-1]:
            return False
    return bool((k.amax(dim=-1) <= q.amin(dim=-1)).all())


def between(q: Look | None, k: Look | None) -> Look | None:
    """Between which numbers offsets lie, where float32 holds all of them; else they are looked at themselves."""
    if q is None or k is None or max(k.high - q.low, q.high - k.low) >= 2 ** BITS[torch.float32]:
        return None
    return Look(k.low - q.high, k.high - q.low)
