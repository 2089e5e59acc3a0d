"""Records as JSON lines, which git compares line by line."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["line", "read", "write"]


def write(records: Iterable[dict], path: Path) -> None:
    """Replace a file by records, one a line, sorted by what was run; it stays as it was where an OSError is raised."""
    records = sorted(records, key=lambda record: (line(record["run"]), record["key"]))
    draft = path.with_name(path.name + ".draft")
    try:
        draft.write_text("".join(line(record) + "\n" for record in records), encoding="utf-8", newline="\n")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read(path: str | Path, check: Callable[[dict], None] | None = None) -> list[dict]:
    """Return the records in a file of JSON lines.

    check: raises ValueError for what is no record; by itself, `read` asks for a key and a run.

    Raises ValueError, with the file and the number of the line, for a line that is no record, and for a second
    record of one key.
    """
    records, lines = [], {}
    for number, text in enumerate(Path(path).read_bytes().splitlines(), start=1):
        try:
            record = json.loads(text, parse_constant=_refuse)
            records.append({"key": record["key"], "run": record["run"]} | record)
            if check is not None:
                check(record)
        except (ValueError, TypeError, KeyError) as error:
            reason = error if type(error) is ValueError else repr(error)
            raise ValueError(f"{path}, line {number}, is no record: {reason}") from error
        if (first := lines.setdefault(record["key"], number)) != number:
            raise ValueError(f"{path}, line {number}, has the key {record['key']} of line {first}")
    return records


def _refuse(constant: str) -> None:
    raise ValueError(f"JSON has no {constant}")


def line(value: object) -> str:
    """Return JSON with sorted keys and each float as Python's repr, which reads back to the same float.

    Raises ValueError for nan and inf, which JSON does not have, and TypeError for what it cannot hold.
    """
    return json.dumps(value, sort_keys=True, allow_nan=False)
