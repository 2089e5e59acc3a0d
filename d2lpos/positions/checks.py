"""Positions are data: what may be a position, and how two of them are compared.

Values are looked at where they can be: not under torch.compile or torch.export, and not on the meta device. On an
accelerator each look waits for it, so `own_copy` looks once, and what it makes of positions remembers what it saw: see
`looks`.
"""

import math

import torch
from torch import Tensor

from .arguments import check_beside, check_broadcast, check_floating, check_positive, check_size, check_tensor
from .looks import BITS, between, extent, is_integer, look_at, recall, remember, values

__all__ = ["as_float", "as_index", "offsets"]

WRAP = 2**62  # integers within it have a difference in int64


def as_float(positions: Tensor, name: str = "positions") -> Tensor:
    """Positions as float32, or float64 where they came so, or are integers that float32 does not hold.

    Raises TypeError for Boolean, complex and half-precision tensors (bfloat16 has no integer between
    256 and 258), ValueError where a position is not finite, and where it lies so far out that its neighbor would
    be rounded to it: from 2²⁴ on in float32, from 2⁵³ on in float64 and among integers.

    >>> as_float(torch.arange(3))
    tensor([0., 1., 2.])
    >>> as_float(torch.tensor([2**24 + 1]))
    tensor([16777217.], dtype=torch.float64)
    """
    check_real(name, positions)
    return positions if positions.is_floating_point() else exact_float(name, positions)


def as_double(positions: Tensor, name: str = "positions") -> Tensor:
    """Positions as float64, or as float32 where their device has no float64, as Apple's have none; raises as `as_float`."""
    check_real(name, positions)
    if is_integer(positions) and positions.dtype.itemsize > 4:
        check_exact(name, *extent(positions), torch.float64, "as integers")
    double = positions.to(torch.float32 if positions.device.type == "mps" else torch.float64)
    return double if double is positions else remember(double, recall(positions))


def exact_float(name: str, integers: Tensor) -> Tensor:
    """Integers as float32, or float64 where float32 would round; raises a ValueError where float64 would, too."""
    dtype = torch.float32
    if integers.dtype.itemsize > 2:  # others are small
        low, high = extent(integers)
        dtype = torch.float32 if max(-low, high) < 2 ** BITS[torch.float32] else torch.float64
        check_exact(name, low, high, dtype, "as integers")
    return remember(integers.to(dtype), recall(integers))


def check_real(name: str, positions: Tensor) -> None:
    """Raise a TypeError or ValueError as `as_float` does, but for integers that are far out."""
    check_tensor(name, positions)
    if is_integer(positions):
        return
    if positions.dtype not in BITS:
        raise TypeError(f"{name} must be integers, float32 or float64; got {positions.dtype}")
    low, high = extent(positions)
    for value in low, high:
        if not math.isfinite(value):
            raise ValueError(f"{name} must be finite; got {value}")
    kind = str(positions.dtype).removeprefix("torch.")
    check_exact(name, low, high, positions.dtype, f"in {kind}")


def check_exact(name: str, low: float, high: float, dtype: torch.dtype, unit: str) -> None:
    """Raise a ValueError where a dtype does not tell the least or the greatest from its neighbors."""
    bits, worst = BITS[dtype], low if -low > high else high
    if abs(worst) >= 2**bits:
        raise ValueError(f"{name} must be less than 2**{bits} away from 0 {unit}, or rounded; got {worst}")


def as_index(
    positions: Tensor, name: str = "positions", length: int | None = None, what: str = "rows of the table"
) -> Tensor:
    """Positions as int64, fit to index a table of `length` rows, which errors call `what`.

    Raises TypeError where they are no integers, ValueError where one lies outside 0 … length − 1, or, without a
    length, farther than 2⁶² from 0.

    >>> as_index(torch.tensor([3, 5]), length=5)
    Traceback (most recent call last):
    ValueError: positions must lie in 0 … 4, the rows of the table; got 5
    """
    check_tensor(name, positions)
    if not is_integer(positions):
        raise TypeError(f"{name} must be integers, because they index a table; got {positions.dtype}")
    if length is None:
        return signed(name, positions)
    check_positive(length=length)
    low, high = extent(positions)
    if low < 0 or high >= length:
        low, high = extent(positions.clone())  # what offsets and parts remember may be wider than they are
    if low < 0 or high >= length:
        worst = low if low < 0 else high
        raise ValueError(f"{name} must lie in 0 … {length - 1}, the {what}; got {worst}")
    return positions.long()


def own_copy(name: str, positions: Tensor, device: torch.device | None = None) -> Tensor:
    """A copy of positions, integers as int64, which remembers what was seen of them before they got to a device.

    Positions may lie on the CPU beside a model on another device, because there a look waits for nothing. A copy that
    this function has made comes back as it is. Raises as `signed` does, and ValueError for positions on a third device.
    """
    check_tensor(name, positions)
    device = positions.device if device is None else device
    check_beside(name, positions, device)
    look = recall(positions)
    if look is not None and look.private and positions.device == device:
        return positions
    if look is None:
        look = look_at(positions)
    if look is None:  # there is nothing to remember
        return signed(name, positions).to(device)
    with torch.inference_mode(False):  # what is made in that mode does not count who writes into it
        copy = positions.to(device, torch.int64 if is_integer(positions) else positions.dtype, copy=True)
    return signed(name, remember(copy, look._replace(private=True)))


def check_between(name: str, x: Tensor, most: float = math.inf) -> None:
    """Raise a ValueError where a number that can be looked at is not above 0, or is above `most`."""
    numbers = values(x.detach())
    if numbers is None or not numbers.numel():
        return
    low, high = torch.stack(numbers.aminmax()).tolist()
    if not (low > 0 and high <= most and high < math.inf):
        limit = "finite" if most == math.inf else f"at most {most}"
        raise ValueError(f"{name} must be above 0 and {limit}; got {low if not low > 0 else high}")


def signed(name: str, positions: Tensor) -> Tensor:
    """Positions that compare as numbers do, integers as int64.

    Raises as `positions.as_float` does for others, ValueError for integers so far out that a difference might wrap.
    """
    check_real(name, positions)
    if not is_integer(positions):
        return positions
    if positions.dtype.itemsize > 4:
        low, high = extent(positions)
        if max(-low, high) > WRAP:
            worst = low if -low > high else high
            raise ValueError(f"{name} must lie within 2**62 of 0, or offsets wrap; got {worst}")
    return positions if positions.dtype == torch.int64 else positions.long()


def comparable(q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
    """Both as integers or both as floats, because PyTorch takes float32 where an int64 meets one; raises as `as_float`."""
    q, k = signed("q_positions", q_positions), signed("k_positions", k_positions)
    if q.is_floating_point() == k.is_floating_point():
        return q, k
    return as_float(q, "q_positions"), as_float(k, "k_positions")


def offsets(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Key position minus query position for each pair; (…, query) and (…, key) give (…, query, key).

    int64 where both are integers: unsigned ones would wrap. Raises as `as_float` does, and ValueError for integers
    farther than 2⁶² from 0.

    >>> offsets(torch.tensor([5]), torch.tensor([3, 4, 5, 6]))
    tensor([[-2, -1,  0,  1]])
    """
    q, k = comparable(q_positions, k_positions)
    column, row = column_and_row(q, k, "positions")
    return remember(row - column, between(recall(q), recall(k)))


def column_and_row(q: Tensor, k: Tensor, what: str) -> tuple[Tensor, Tensor]:
    """(…, query, 1) and (…, 1, key) from (…, query) and (…, key): what is done to them is done to each pair.

    Raises a ValueError where one has no axis, or they do not broadcast.
    """
    for name, x in (f"q_{what}", q), (f"k_{what}", k):
        check_tensor(name, x, getattr(q, "device", None))
        if not x.dim():
            raise ValueError(f"{name} must be (…, sequence); got a tensor without axes")
    check_broadcast(**{f"q_{what}": q, f"k_{what}": k})
    return q[..., :, None], k[..., None, :]


def token_axis(axes: int) -> int:
    """The axis of positions that counts tokens: the last, or the one before the coordinates where there are several."""
    return -1 if axes == 1 else -2


def check_by_head(name: str, x: Tensor, positions: Tensor, axes: int = 1) -> None:
    """Raise a TypeError where x is not floating-point, a ValueError where it is not (batch, head, sequence, feature).

    That heads stand behind their tokens is noticed where there are not as many, and not by a compiler: it would make a
    program for each number of heads.
    """
    check_floating(name, x)
    if x.dim() < 3:
        raise ValueError(f"{name} must be (batch, head, sequence, feature); got {tuple(x.shape)}")
    place = min(axes, 2)
    if torch.compiler.is_compiling() or x.dim() != 4 or not isinstance(positions, Tensor) or positions.dim() < place:
        return  # other checks notice what is wrong with positions
    tokens, (_, second, third, _) = positions.shape[-place], x.shape
    if second == tokens and third not in (1, tokens) and (place == 1 or positions.shape[-1] == axes):
        raise ValueError(
            f"{name} must be (batch, head, sequence, feature), with a sequence of {tokens}, as positions has; "
            f"got {tuple(x.shape)}: of (batch, sequence, head, feature) take {name}.transpose(1, 2)"
        )


def check_places(positions: Tensor, axes: int, owner: str, name: str = "positions") -> None:
    """Raise a TypeError or ValueError where positions are not (…, sequence), or (…, sequence, axes) for several axes."""
    check_tensor(name, positions)
    if axes > 1:
        check_size(name, positions.shape[-1] if positions.dim() else 0, axes, f"coordinates, as {owner} has axes")
    if positions.dim() < min(axes, 2):
        raise ValueError(f"{name} must be (…, sequence{', axes' if axes > 1 else ''}); got {tuple(positions.shape)}")


def check_positions(name: str, positions: Tensor, tokens: tuple[int, int], device: torch.device, axes: int = 1) -> None:
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
