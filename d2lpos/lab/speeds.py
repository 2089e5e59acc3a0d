"""The tables of the page on speed, for chapters that quote them."""

from typing import TYPE_CHECKING

from ..positions.arguments import check_name
from ..runtime.published import published

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["speeds"]


def speeds(contest: str, device: str = "cpu") -> "DataFrame":
    """Return a published table of the page on speed, with a row for each contender.

    contest: the name of what was measured, such as "rope-forward" or "alibi".

    Raises ValueError for a contest that is not published for this device, and for a device without published contests.

    >>> speeds("t5")["Contender"].tolist()
    ['Hugging Face T5', '`T5Bias`']
    """
    from pandas import read_csv

    folder = published("benchmarks")
    end = f"-{device}.csv"
    known = [path.name.removesuffix(end) for path in folder.iterdir() if path.name.endswith(end)]
    if not known:
        raise ValueError(f"device must be one that something is published for; got {device!r}")
    check_name("contest", contest, sorted(known))
    with (folder / f"{contest}{end}").open() as file:
        return read_csv(file)
