"""What a record must hold before anything is made of it."""

from collections.abc import Callable

from .run import Run

__all__ = ["check_record"]

# What tables, figures and pages read, and how each must be; more may be there.
PARTS: dict[str, Callable[[object], bool]] = {
    "run": lambda part: isinstance(part, dict),
    "metrics": lambda part: _rows(part, {"reading": str, "length": int, "split": str, "loss": float}),
    "curve": lambda part: _rows(part, {"step": int}),
    "started": lambda part: isinstance(part, str),
    "seconds": lambda part: isinstance(part, int | float),
    "machine": lambda part: isinstance(part, dict) and {"device", *ABOUT} <= part.keys(),
}
ABOUT = ("processor", "system", "python", "torch", "commit")


def check_record(record: dict) -> None:
    """Raise a ValueError for what is no record, and where its key is not that of its run.

    >>> check_record({"key": "c244887cfbe39214"})
    Traceback (most recent call last):
    ValueError: run is missing
    """
    for name, holds in PARTS.items():
        if name not in record:
            raise ValueError(f"{name} is missing")
        if not holds(record[name]):
            raise ValueError(f"{name} cannot be read: {str(record[name])[:60]}")
    check_key(record, Run)


def check_key(record: dict, kind: type) -> None:
    """Raise a ValueError where a record's run is none of that kind, or its key is not that of its run."""
    try:
        key = kind(**record["run"]).key
    except (TypeError, ValueError) as error:
        raise ValueError(f"run cannot be read: {error}") from error
    if record.get("key") != key:
        raise ValueError(f"the key of its run is {key}; got {record.get('key')!r}")


def _rows(part: object, columns: dict[str, type]) -> bool:
    """Whether there is a list of rows with numbers and names in all columns."""
    return isinstance(part, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(name), kind) for name, kind in columns.items())
        for row in part
    )
