"""The tables of the page on speed, for chapters that quote them."""

from importlib.resources import files
from typing import TYPE_CHECKING

from ..arguments import check_name
from .summary import RESULTS

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["speeds"]

TABLES = RESULTS.parent / "benchmarks"  # a wheel has them as d2lpos.benchmarks


def speeds(contest: str, device: str = "cpu") -> "DataFrame":
    """Return a published table of the page on speed, with a row for each contender.

    contest: what was measured: "rope-forward", "alibi", …

    Raises ValueError for a contest that is not published for this device, and where none is.

    >>> speeds("t5")["Contender"].tolist()
    ['Hugging Face T5', '`T5Bias`']
    """
    from pandas import read_csv

    folder = TABLES if TABLES.is_dir() else files("d2lpos.benchmarks")
    end = f"-{device}.csv"
    published = [path.name.removesuffix(end) for path in folder.iterdir() if path.name.endswith(end)]
    if not published:
        raise ValueError(f"device must be one that something is published for; got {device!r}")
    check_name("contest", contest, sorted(published))
    with (folder / f"{contest}{end}").open() as file:
        return read_csv(file)
