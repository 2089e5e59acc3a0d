"""What a record must hold before anything is made of it, and the records that are published."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..positions.arguments import check_name
from ..runtime.published import published
from .lines import read
from .probe import Probe
from .probes import PROBES
from .run import Run
from .studies import STUDIES

__all__ = ["check_record", "records"]

EVERY = STUDIES | PROBES
ABOUT = ("processor", "system", "python", "torch", "commit")
# What tables, figures and pages read, and how each must be; more may be there.
PARTS: dict[str, Callable[[object], bool]] = {
    "run": lambda part: isinstance(part, dict),
    "started": lambda part: isinstance(part, str),
    "seconds": lambda part: isinstance(part, int | float),
    "machine": lambda part: isinstance(part, dict) and {"device", *ABOUT} <= part.keys(),
}
TRAINED = PARTS | {
    "metrics": lambda part: _rows(part, {"reading": str, "length": int, "split": str, "loss": float}),
    "curve": lambda part: _rows(part, {"step": int}),
}
PROBED = PARTS | {
    "rows": lambda part: _rows(part, {}),
    "weights": lambda part: isinstance(part, str),
}


def records(study: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return the published records of a study, or none if it has none yet.

    folder: the folder in which they are, as STUDY.jsonl; by default the book's own.

    Raises ValueError for a name that is neither in `STUDIES` nor in `PROBES`, and with file and line for a line that is
    no record, does not have the key of its run, or has the key of another record.

    >>> {record["run"]["task"] for record in records("order")}
    {'order'}
    """
    check_name("study", study, EVERY)
    path = (folder or published("results")) / f"{study}.jsonl"
    return read(path, check_record) if path.is_file() else []


def check_record(record: dict[str, Any]) -> None:
    """Raise a ValueError for what is no record, and where its key is not that of its run.

    >>> check_record({"key": "c244887cfbe39214"})
    Traceback (most recent call last):
    ValueError: run is missing
    """
    run = record.get("run")
    kind, parts = (Probe, PROBED) if isinstance(run, dict) and "study" in run else (Run, TRAINED)
    for name, holds in parts.items():
        if name not in record:
            raise ValueError(f"{name} is missing")
        if not holds(record[name]):
            raise ValueError(f"{name} cannot be read: {str(record[name])[:60]}")
    try:
        key = (Run.from_fields(run) if kind is Run else Probe(**run)).key
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
