"""Runs that are done again and compared: a few short ones in the tests, published ones by hand.

python -m tests.lab.again needle order     the quickest published record of each encoding in these studies, or in all
python -m tests.lab.again --write          the tests' short runs that have no record yet, as this machine does them
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from d2lpos.lab import STUDIES, Run, execute, records
from d2lpos.lab.encodings import ENCODINGS, SQUARE
from d2lpos.lab.lines import read, write
from d2lpos.lab.machine import alike
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


def again(record: dict) -> str:
    """Do the run of a record once more, and say how what comes out compares."""
    run = Run.from_fields(record["run"])
    new = execute(run)
    name = f"{run.task}, {run.encoding}, seed {run.seed}"
    if measured(record) == measured(new):
        return f"{name}: the same to the last digit"
    reasons = ["on another kind of machine"] * (not alike(record["machine"], new["machine"]))
    reasons += ["rounded as before"] * (rounded_before(record) is not None)
    far = f"numbers differ by up to {apart(measured(record), measured(new)):.2g}"
    return (
        f"{name}: {far}; the record was made {' and '.join(reasons)}" if reasons else f"WRONG: {name}: {far}"
    )


def quickest(study: str) -> Iterator[dict]:
    """The published record of each encoding that took least time."""
    slowest_first = sorted(records(study), key=lambda record: record["seconds"], reverse=True)
    yield from {record["run"]["encoding"]: record for record in slowest_first}.values()


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        write(records_of(short()), SHORT)
        return 0
    wrong = 0
    for study in arguments or STUDIES:
        for record in quickest(study):
            print(line := again(record), flush=True)
            wrong += line.startswith("WRONG")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
