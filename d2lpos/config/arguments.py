"""Errors that name the argument, what it must be, and what came instead; those of `d2lpos.positions`, without PyTorch."""

from collections.abc import Collection

from .schema import Reading
from .tables import Refused

LARGEST = 2**31 - 1  # tokens of a text


def check_tokens(**lengths: int | None) -> None:
    """Raise a TypeError for a length that is no integer, a ValueError for one below 1 or above any text's; None is no length."""
    for name, length in lengths.items():
        if length is None:
            continue
        if not isinstance(length, int) or isinstance(length, bool):
            raise TypeError(f"{name} must be an integer; got {length!r}")
        if length < 1:
            raise ValueError(f"{name} must be positive; got {length}")
        if length > LARGEST:
            raise ValueError(f"{name} must be at most {LARGEST}; got {length}")


def check_name(argument: str, name: str, names: Collection[str]) -> None:
    """Raise a ValueError where a name is none of names."""
    if name not in names:
        raise ValueError(f"{argument} must be one of {', '.join(names)}; got {name!r}")


def check_until(reading: Reading, tokens: int | None) -> None:
    """Raise Refused for a text beyond the length from which on a rule begins that no reading has."""
    until = reading["lengths"]["until"]
    if until is not None and tokens is not None and tokens > until:
        key = reading["lengths"]["until_key"]
        raise Refused("too_long", key=key, length=until, family=reading["family"], got=tokens)
