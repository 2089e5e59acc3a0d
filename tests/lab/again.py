"""Short runs that are done again and compared.

python -m tests.lab.again --write          those that have no record yet, as this machine does them
"""

import sys
from collections import defaultdict
from pathlib import Path

from d2lpos.lab import STUDIES, Run, execute
from d2lpos.lab.encodings import ENCODINGS, SQUARE
from d2lpos.lab.lines import read, write
from d2lpos.lab.report import rounded_before

SHORT = Path(__file__).parent / "short.jsonl"


def tiny(encoding: str) -> Run:
    """A run of an encoding that takes no time: to copy or, on two axes, to read digits."""
    asked = {"task": "digits", "length": 16} if encoding in SQUARE else {"task": "copy", "length": 18}
    return Run(encoding=encoding, **asked, steps=8, batch_size=8, checks=2, dim=16, heads=2)


def short() -> list[Run]:
    """The smoke runs of all studies, and a run of each encoding."""
    return [*map(tiny, ENCODINGS), *dict.fromkeys(run for study in STUDIES.values() for run in study.smoke)]


def records_of(runs: list[Run]) -> list[dict]:
    """The records of each that still hold, of whichever machines, or else a new one."""
    valid = defaultdict(list)
    for record in read(SHORT):
        if not rounded_before(record):
            valid[record["key"]].append(record)
    return [record for run in runs for record in valid[run.key] or [execute(run)]]


def measured(record: dict) -> dict:
    return {name: record[name] for name in ("metrics", "curve")}


def apart(one: object, other: object) -> float:
    """The largest difference of two numbers that stand in the same place."""
    if isinstance(one, dict):
        return max(apart(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return max(apart(*pair) for pair in zip(one, other, strict=True))
    return abs(one - other) if isinstance(one, float) else 0.0


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    write(records_of(short()), SHORT)
