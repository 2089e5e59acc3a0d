"""The recorded studies as the numbers that the figure "grid" shows, and one view of them in words and as a table.

All is read from a file that is written where the records of a study are published.
"""

import json
from functools import cache

from ..runtime.published import published


@cache
def grid(study: str) -> dict:
    return json.loads((published("results") / f"{study}-grid.json").read_text("utf-8"))


def numbers(study: str) -> dict:
    """All that the figure shows of a study, as `d2lpos.lab.grid` says."""
    return grid(study)["numbers"]


def view(study: str, value: str | None, split: str, length: int | None) -> dict:
    """The words and the rows that are asked for. Raises ValueError where the study does not have them."""
    data, views = numbers(study), grid(study)["views"]
    value, length = value or data["value"], data["lengths"][-1] if length is None else length
    has = {"value": list(views), "split": list(data["cells"]), "length": data["lengths"]}
    for name, got in {"value": value, "split": split, "length": length}.items():
        if got not in has[name]:
            raise ValueError(
                f"{name} of {study} must be one of {', '.join(map(str, has[name]))}; got {got!r}"
            )
    return views[value][split][str(length)] | {"length": length}


def describe_view(study: str, value: str | None, split: str, length: int | None) -> str:
    return f"{numbers(study)['question']} {view(study, value, split, length)['words']}"


def table_of_view(study: str, value: str | None, split: str, length: int | None) -> str:
    """The same as HTML: the mean ± half of the 95 % interval, for pages that run no script."""
    from pandas import DataFrame

    shown = view(study, value, split, length)
    names, cells = zip(*shown["rows"], strict=True)
    return DataFrame({f"at {shown['length']}": cells}, index=names).to_html(border=0)
