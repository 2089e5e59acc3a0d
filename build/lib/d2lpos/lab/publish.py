"""The records of a store as a file that can be published."""

from collections.abc import Iterable
from pathlib import Path

from .lines import write
from .run import Run
from .store import Store

__all__ = ["export"]


def export(store: Store, path: str | Path, runs: Iterable[Run] | None = None) -> int:
    """Write the finished records of a store, or those of `runs` alone, and return how many they are.

    One record a line, sorted by what was run; the same records give the same bytes. The file is replaced as a
    whole or, where an OSError is raised, not at all.

    >>> from tempfile import mkdtemp
    >>> folder = mkdtemp()
    >>> export(Store(f"{folder}/lab.sqlite"), f"{folder}/none.jsonl")
    0
    """
    records = store.records(None if runs is None else {run.key for run in runs})
    write(records, Path(path))
    return len(records)
