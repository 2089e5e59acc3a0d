"""Positions are data: what may be a position, and how two of them are compared."""

import torch
from torch import Tensor


def real(positions: Tensor, name: str = "positions") -> Tensor:
    """Positions as float32, or float64 where they came so.

    Raises TypeError for Boolean, complex and half-precision tensors (bfloat16 has no integer between
    256 and 258), ValueError where a position is not finite.
    """
    if positions.dtype in (torch.bool, torch.float16, torch.bfloat16) or positions.is_complex():
        raise TypeError(f"{name} must be integers, float32 or float64; got {positions.dtype}")
    if not positions.is_floating_point():
        return positions.float()
    if not torch.compiler.is_compiling() and not torch.isfinite(positions).all():
        raise ValueError(f"{name} must be finite; got {positions[~torch.isfinite(positions)][0].item()}")
    return positions


def whole(positions: Tensor, name: str = "positions", length: int | None = None) -> Tensor:
    """Positions as int64, fit to index a table of `length` rows.

    Raises TypeError where they are no integers, ValueError where one lies outside 0 … length − 1.
    """
    if positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool:
        raise TypeError(f"{name} must be integers, because they index a table; got {positions.dtype}")
    if length is not None and positions.numel() and not torch.compiler.is_compiling():
        low, high = positions.min().item(), positions.max().item()
        if low < 0 or high >= length:
            worst = low if low < 0 else high
            raise ValueError(f"{name} must lie in 0 … {length - 1}, the rows of the table; got {worst}")
    return positions.long()


def offsets(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Key position minus query position for each pair; (…, query) and (…, key) give (…, query, key)."""
    return k_positions[..., None, :] - q_positions[..., :, None]
