"""Positions are data: what may be a position, and how two of them are compared.

Values are looked at where they can be: not under torch.compile or torch.export, and not on the meta device.
"""

import torch
from torch import Tensor

from .arguments import check_broadcast, check_tensor

__all__ = ["as_float", "as_index", "offsets"]


def as_float(positions: Tensor, name: str = "positions") -> Tensor:
    """Positions as float32 (exact for integers up to 2²⁴), or float64 where they came so.

    Raises TypeError for Boolean, complex and half-precision tensors (bfloat16 has no integer between
    256 and 258), ValueError where a position is not finite.

    >>> as_float(torch.arange(3))
    tensor([0., 1., 2.])
    """
    check_real(name, positions)
    return positions if positions.is_floating_point() else positions.float()


def check_real(name: str, positions: Tensor) -> None:
    """Raise a TypeError or ValueError as `as_float` does."""
    check_tensor(name, positions)
    if is_integer(positions):
        return
    if positions.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"{name} must be integers, float32 or float64; got {positions.dtype}")
    seen = values(positions)
    if seen is not None and not (finite := seen.isfinite()).all():
        raise ValueError(f"{name} must be finite; got {seen[~finite][0].item()}")


def as_index(
    positions: Tensor, name: str = "positions", length: int | None = None, what: str = "rows of the table"
) -> Tensor:
    """Positions as int64, fit to index a table of `length` rows, which errors call `what`.

    Raises TypeError where they are no integers, ValueError where one lies outside 0 … length − 1.

    >>> as_index(torch.tensor([3, 5]), length=5)
    Traceback (most recent call last):
    ValueError: positions must lie in 0 … 4, the rows of the table; got 5
    """
    check_tensor(name, positions)
    if not is_integer(positions):
        raise TypeError(f"{name} must be integers, because they index a table; got {positions.dtype}")
    seen = values(positions.long())  # of unsigned ones PyTorch finds no maximum
    if length is not None and seen is not None and seen.numel():
        low, high = torch.stack(seen.aminmax()).tolist()  # a GPU is waited for once
        if low < 0 or high >= length:
            worst = low if low < 0 else high
            raise ValueError(f"{name} must lie in 0 … {length - 1}, the {what}; got {worst}")
    return positions.long()


def is_integer(positions: Tensor) -> bool:
    return not (positions.is_floating_point() or positions.is_complex() or positions.dtype == torch.bool)


def values(positions: Tensor) -> Tensor | None:
    """The values to look at, those of the whole batch under vmap; None where there are none yet."""
    hidden = positions.is_meta or torch.compiler.is_compiling()
    return None if hidden else torch.func.debug_unwrap(positions)


def signed(name: str, positions: Tensor) -> Tensor:
    """Positions that compare as numbers do; raises as `positions.as_float` does."""
    check_real(name, positions)
    return positions.long() if is_integer(positions) else positions


def known(positions: Tensor) -> Tensor | None:
    """The positions themselves, where their values can be looked at as they lie: not under vmap either."""
    seen = values(positions)
    return positions if seen is positions else None


def offsets(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Key position minus query position for each pair; (…, query) and (…, key) give (…, query, key).

    int64 where both are integers: unsigned ones would wrap. Raises as `as_float` does.

    >>> offsets(torch.tensor([5]), torch.tensor([3, 4, 5, 6]))
    tensor([[-2, -1,  0,  1]])
    """
    q, k = signed("q_positions", q_positions), signed("k_positions", k_positions)
    column, row = column_and_row(q, k, "positions")
    return row - column


def column_and_row(q: Tensor, k: Tensor, what: str) -> tuple[Tensor, Tensor]:
    """(…, query, 1) and (…, 1, key) from (…, query) and (…, key): what is done to them is done to each pair.

    Raises a ValueError where one has no axis, or they do not broadcast.
    """
    for name, x in (f"q_{what}", q), (f"k_{what}", k):
        check_tensor(name, x)
        if not x.dim():
            raise ValueError(f"{name} must be (…, sequence); got a tensor without axes")
    check_broadcast(**{f"q_{what}": q, f"k_{what}": k})
    return q[..., :, None], k[..., None, :]


def check_positions(
    name: str, positions: Tensor, tokens: tuple[int, int], device: torch.device, axes: int = 1
) -> None:
    """Raise a TypeError or ValueError where positions are not one for each token; tokens is (batch, length).

    Where a position has several axes, its coordinates stand last.
    """
    check_tensor(name, positions, device)
    check_real(name, positions)
    batch, length = tokens
    place = (axes,) if axes > 1 else ()
    one, shape = (length, *place), tuple(positions.shape)
    # Sizes are compared axis by axis, so that an exported graph does not tell a length from a batch size.
    if shape[-len(one) :] != one or shape[: -len(one)] not in ((), (1,), (batch,)):
        raise ValueError(f"{name} must have shape {one} or {(batch, *one)}; got {shape}")
