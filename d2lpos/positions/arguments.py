"""Errors that name the argument, what it must be, and what came instead."""

import math
from collections.abc import Collection
from numbers import Integral

import torch
from torch import Tensor


def check_tensor(name: str, value: Tensor, device: torch.device | None = None) -> None:
    """Raise a TypeError where value is no tensor, a ValueError where it is not on `device`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor; got {type(value).__name__}")
    if device is not None and value.device != device:
        raise ValueError(f"{name} must be on {device}, as the other arguments are; got {value.device}")


def check_positive(**sizes: int) -> None:
    """Raise a TypeError for a size that is no integer, a ValueError for one below 1."""
    for name, size in sizes.items():
        if not isinstance(size, Integral):
            raise TypeError(f"{name} must be an integer; got {size!r}")
        if size < 1:
            raise ValueError(f"{name} must be positive; got {size}")


def check_count(**counts: int) -> None:
    """Raise a TypeError for a count that is no integer, a ValueError for one below 0."""
    for name, count in counts.items():
        if not isinstance(count, Integral):
            raise TypeError(f"{name} must be an integer; got {count!r}")
        if count < 0:
            raise ValueError(f"{name} must not be negative; got {count}")


def check_scale(**numbers: float) -> None:
    """Raise a ValueError for a number that is not finite and above 0."""
    for name, number in numbers.items():
        if not 0 < number < math.inf:
            raise ValueError(f"{name} must be finite and positive; got {number}")


def check_size(name: str, got: int, want: int, what: str) -> None:
    """Raise a ValueError where a size is not the one that the encoding or layer was made for."""
    if got != want:
        raise ValueError(f"{name} must have {want} {what}; got {got}")


def check_name(argument: str, name: str, known: Collection[str]) -> None:
    """Raise a ValueError that lists what is known, where a name is not."""
    if name not in known:
        raise ValueError(f"{argument} must be one of {', '.join(known)}; got {name!r}")


def check_broadcast(**tensors: Tensor) -> None:
    """Raise a ValueError where two tensors do not broadcast in all axes but the last."""
    (one, a), (other, b) = ((name, tuple(tensor.shape)) for name, tensor in tensors.items())
    if any(m != n and 1 not in (m, n) for m, n in zip(a[-2::-1], b[-2::-1], strict=False)):
        raise ValueError(f"{one} and {other} must broadcast in all axes but the last; got {a} and {b}")


def check_axes(axes: dict[str, str], **tensors: Tensor) -> None:
    """Raise a TypeError where one is no floating-point tensor, a ValueError where its last axes do not fit the others.

    axes are names for each tensor, such as "T d"; the same name means the same size, and 1 is a size.
    """
    sizes, device = {"1": 1}, None
    for name, tensor in tensors.items():
        check_tensor(name, tensor, device)
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must be floating-point; got {tensor.dtype}")
        device, names, shape = tensor.device, axes[name].split(), tuple(tensor.shape)
        form = f"(…, {', '.join(names)})"
        if len(shape) < len(names):
            raise ValueError(f"{name} must be {form}; got {shape}")
        for axis, size in zip(names, shape[-len(names) :], strict=True):
            if sizes.setdefault(axis, size) != size:
                known = "" if axis == "1" else f" with {axis} = {sizes[axis]}"
                raise ValueError(f"{name} must be {form}{known}; got {shape}")
