"""Errors that name the argument, what it must be, and what came instead."""

import math
from collections.abc import Callable, Collection, Sequence
from numbers import Integral, Real

import torch
from torch import Tensor

LARGEST_SIZE = 2**31 - 1  # of a size: what is larger has no room in memory, and fails far from where it was given
LARGEST_FLOAT = torch.finfo(torch.float32).max


def check_tensor(name: str, value: Tensor, device: torch.device | None = None) -> None:
    """Raise a TypeError where value is no dense tensor, a ValueError where it is not on `device`."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a tensor; got {type(value).__name__}")
    if value.layout != torch.strided:
        raise TypeError(f"{name} must be dense; got {value.layout}")
    if device is not None and value.device != device:
        raise ValueError(f"{name} must be on {device}, as the other arguments are; got {value.device}")


def check_beside(name: str, value: Tensor, device: torch.device) -> None:
    """As `check_tensor`, but the value may lie on the CPU, too."""
    check_tensor(name, value)
    if value.device.type != "cpu":
        check_tensor(name, value, device)


def check_values(name: str, value: Tensor, device: torch.device) -> None:
    """Raise a ValueError where value is on the meta device, and `device`, where it will go, is another."""
    if value.is_meta and device.type != "meta":
        raise ValueError(f"{name} must have values, which the meta device has not; got {value.device}")


def check_floating(name: str, value: Tensor, device: torch.device | None = None) -> None:
    """As `check_tensor`; and raise a TypeError where value is not floating-point."""
    check_tensor(name, value, device)
    if not value.is_floating_point():
        raise TypeError(f"{name} must be floating-point; got {value.dtype}")


def check_boolean(name: str, value: Tensor, meaning: str = "", device: torch.device | None = None) -> None:
    """As `check_tensor`; and raise a TypeError where value is not Boolean; `meaning` says what True is."""
    check_tensor(name, value, device)
    if value.dtype != torch.bool:
        raise TypeError(f"{name} must be Boolean{meaning}; got {value.dtype}")


def check_layer_dtype(x: Tensor, weight: Tensor) -> None:
    """Raise a TypeError where x is not in the dtype of a layer's weights, and autocast will not see to it."""
    kind = x.device.type
    cast = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
    if x.dtype != weight.dtype and not cast:
        raise TypeError(f"x must be {weight.dtype}, as the weights are; got {x.dtype}")


def check_integer(**numbers: int) -> None:
    """Raise a TypeError for what is no integer; True is none."""
    for name, number in numbers.items():
        if not isinstance(number, Integral) or isinstance(number, bool):
            raise TypeError(f"{name} must be an integer; got {number!r}")


def check_positive(**sizes: int) -> None:
    """Raise a TypeError for a size that is no integer, a ValueError for one below 1 or beyond memory."""
    check_integer(**sizes)
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be positive; got {size}")
        if size > LARGEST_SIZE:
            raise ValueError(f"{name} must be at most {LARGEST_SIZE}; got {size}")


def check_count(**counts: int) -> None:
    """Raise a TypeError for a count that is no integer, a ValueError for one below 0 or beyond memory."""
    check_integer(**counts)
    for name, count in counts.items():
        if count < 0:
            raise ValueError(f"{name} must not be negative; got {count}")
    check_positive(**{name: count for name, count in counts.items() if count})


def check_real_number(**numbers: float) -> None:
    """Raise a TypeError for what is no real number, such as a word or True, a ValueError for one too large for float32."""
    for name, number in numbers.items():
        if not isinstance(number, Real) or isinstance(number, bool):
            raise TypeError(f"{name} must be a number; got {number!r}")
        if LARGEST_FLOAT < abs(number) < math.inf:
            raise ValueError(f"{name} must be a number that float32 holds; got {number}")


def check_number(**numbers: float) -> None:
    """Raise a TypeError for what is no real number, a ValueError for one that is not finite."""
    check_real_number(**numbers)
    for name, number in numbers.items():
        if not abs(number) < math.inf:
            raise ValueError(f"{name} must be finite; got {number}")


def check_scale(**numbers: float) -> None:
    """Raise a TypeError for what is no real number, a ValueError for one that is not finite and above 0."""
    check_real_number(**numbers)
    for name, number in numbers.items():
        if not 0 < number < math.inf:
            raise ValueError(f"{name} must be finite and positive; got {number}")


def check_flag(**flags: bool) -> None:
    """Raise a TypeError for what is neither True nor False: a word would count as True."""
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name} must be True or False; got {flag!r}")


def check_sequence(name: str, members: Sequence[object]) -> None:
    """Raise a TypeError for what is no sequence, such as a list; a word is none here."""
    if not isinstance(members, Sequence) or isinstance(members, str | bytes):
        raise TypeError(f"{name} must be a sequence, such as a list; got {members!r}")


def check_members(check: Callable[..., None], name: str, members: Sequence[object]) -> None:
    """As `check_sequence`; and as `check`, such as `check_positive`, for each member, which errors call name[0], name[1], …"""
    check_sequence(name, members)
    check(**{f"{name}[{number}]": member for number, member in enumerate(members)})


def check_function(name: str, function: Callable[..., object], what: str) -> None:
    """Raise a TypeError where function cannot be called; `what` says what it must be."""
    if not callable(function):
        raise TypeError(f"{name} must be {what}; got {function!r}")


def check_size(name: str, got: int, want: int, what: str) -> None:
    """Raise a ValueError where a size is not the one that the encoding or layer was made for."""
    if got != want:
        raise ValueError(f"{name} must have {want} {what}; got {got}")


def check_name(argument: str, name: str, known: Collection[str]) -> None:
    """Raise a ValueError that lists what is known, where a name is not."""
    try:
        is_known = name in list(known)
    except (TypeError, ValueError):  # an array, which equals nothing
        is_known = False
    if not is_known:
        raise ValueError(f"{argument} must be one of {', '.join(map(str, known))}; got {name!r}")


def check_broadcast(last: bool = False, **tensors: Tensor) -> None:
    """Raise a ValueError where two tensors do not broadcast in all axes, or, without the `last`, in all others."""
    (one, a), (other, b) = ((name, tuple(tensor.shape)) for name, tensor in tensors.items())
    start, axes = (-1, "") if last else (-2, " in all axes but the last")
    if any(m != n and 1 not in (m, n) for m, n in zip(a[start::-1], b[start::-1], strict=False)):
        raise ValueError(f"{one} and {other} must broadcast{axes}; got {a} and {b}")


def check_axes(axes: dict[str, str], **tensors: Tensor) -> None:
    """Raise a TypeError where one is no floating-point tensor, a ValueError where its last axes do not fit the others.

    axes are names for each tensor, such as "T d"; the same name means the same size, and 1 is a size.
    """
    sizes, device = {"1": 1}, None
    for name, tensor in tensors.items():
        check_floating(name, tensor, device)
        device, names, shape = tensor.device, axes[name].split(), tuple(tensor.shape)
        form = f"(…, {', '.join(names)})"
        if len(shape) < len(names):
            raise ValueError(f"{name} must be {form}; got {shape}")
        for axis, size in zip(names, shape[-len(names) :], strict=True):
            if sizes.setdefault(axis, size) != size:
                known = "" if axis == "1" else f" with {axis} = {sizes[axis]}"
                raise ValueError(f"{name} must be {form}{known}; got {shape}")
