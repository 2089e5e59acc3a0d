"""The records of a store as files that can be published."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .lines import write
from .observed import texts
from .probe import Probe
from .probes import PROBES
from .record import EVERY, records
from .report import pages
from .run import Run
from .store import Store

__all__ = ["export"]


def export(store: Store, path: str | Path, runs: Iterable[Run] | None = None) -> int:
    """Write the finished records of a store, or only the records of `runs`, and return how many there are.

    Each line has one record, and lines are sorted by what was run, so the same records give the same bytes. The file is
    replaced as a whole or, if an OSError is raised, not at all.

    >>> from tempfile import mkdtemp
    >>> folder = mkdtemp()
    >>> export(Store(f"{folder}/lab.sqlite"), f"{folder}/none.jsonl")
    0
    """
    records = store.records(None if runs is None else {run.key for run in runs})
    write(records, Path(path))
    return len(records)


def publish(study: str, store: Store, runs: Iterable[Run] | Iterable[Probe], folder: Path) -> int:
    """Add the finished records among `runs` to what is published of a study; return how many are published now.

    A record replaces one of the same run. The files of the page are written anew. Records in the folder "again" are
    of runs that were repeated, on another machine or after a change of rounding, and stand beside the others.

    Raises ValueError where something is published that the study does not run any more.
    """
    by_key = {record["key"]: record for record in (*records(study, folder), *finished(runs, store))}
    seeds = sorted({record["run"]["seed"] for record in by_key.values()})
    ordered = [by_key.pop(run.key) for run in EVERY[study].runs(seeds) if run.key in by_key]
    if by_key:
        raise ValueError(
            f"{folder / study}.jsonl has records of runs that are not in the study, as {next(iter(by_key))}; "
            "take them out first"
        )
    files = texts(study, ordered) if study in PROBES else pages(study, ordered, records(study, folder / "again"))
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    write(ordered, folder / f"{study}.jsonl")
    return len(ordered)


def finished(runs: Iterable[Run] | Iterable[Probe], store: Store) -> list[dict[str, Any]]:
    """Return the finished records of runs, in their order."""
    keys = [run.key for run in runs]
    by_key = {record["key"]: record for record in store.records(keys)}
    return [by_key[key] for key in keys if key in by_key]
