"""What the figure "grid" shows of a study: numbers, words and tables, written down where its records are published."""

from math import isnan
from typing import TYPE_CHECKING

from .encodings import FAMILY
from .plot import UNITS, describe, named, table
from .studies import STUDIES
from .summary import frame, summary
from .tasks import TASKS

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["grid"]

VALUES = ("accuracy", "loss", "loss_last")


def grid(study: str, records: list[dict]) -> dict:
    """Return, fit for JSON, the numbers of a study, and each view of them in words and as rows of a table.

    A cell of the numbers is mean, low, high, and the value of each seed, in thousandths; low and high of one seed are
    None. It is empty where nothing was measured. Cells are found by split, value, row and length, views by value,
    split and length.

    >>> from d2lpos.lab import records
    >>> grid("order", records("order"))["views"]["accuracy"]["test"]["8"]["rows"][0]
    ['none', '0.499 ± 0.000']
    """
    rows = _rows(records)
    values, lengths = _values(rows), sorted(rows["length"].unique().tolist())
    splits = dict(tuple(rows.groupby("split")))
    task, names = TASKS[rows["task"].iloc[0]], rows.drop_duplicates("name")
    numbers = {
        "question": STUDIES[study].question,
        "value": STUDIES[study].value,
        "values": {value: UNITS[value] for value in values},
        "trained": int(rows["trained"].iloc[0]),
        "lengths": lengths,
        # Letters of a text are not equally frequent, and nobody guesses them so.
        "chance": None if task.windows else _thousandths(1 / task.outputs)[0],
        "rows": [[name, FAMILY[encoding]] for name, encoding in names[["name", "encoding"]].values],
        "cells": {
            split: {value: _cells(part, value, names["name"], lengths) for value in values}
            for split, part in splits.items()
        },
    }
    views = {
        value: {
            split: {str(n): _view(part[part["length"] == n], value, split) for n in lengths}
            for split, part in splits.items()
        }
        for value in values
    }
    return {"numbers": numbers, "views": views}


def _rows(records: list[dict]) -> "DataFrame":
    """The records with names, door by door."""
    rows = named(frame(records))
    rows["door"] = rows["encoding"].map(list(FAMILY).index)
    return rows.sort_values(["door", *{"scale"}.intersection(rows), "seed"], kind="stable")


def _values(rows: "DataFrame") -> list[str]:
    """The columns to choose from. Where the last tokens are all that is asked, their loss is no other one."""
    columns = rows.dropna(axis="columns", how="all")
    twice = "loss_last" in columns and columns["loss_last"].equals(columns["loss"])
    return [value for value in VALUES if value in columns and not (twice and value == "loss_last")]


def _cells(part: "DataFrame", value: str, names: list[str], lengths: list[int]) -> list[list[list]]:
    means = summary(part, ["name", "length"], value).set_index(["name", "length"])
    seeds = part.dropna(subset=value).groupby(["name", "length"])[value].agg(list)
    return [
        [
            _thousandths(*means.loc[at, ["mean", "low", "high"]], *seeds[at]) if at in means.index else []
            for at in ((name, length) for length in lengths)
        ]
        for name in names
    ]


def _thousandths(*numbers: float) -> list[int | None]:
    return [None if isnan(number) else round(1000 * round(number, 3)) for number in numbers]


def _view(shown: "DataFrame", value: str, split: str) -> dict:
    cells = table(shown, value)
    return {
        "words": describe(shown, value, split),
        "rows": [[name, *row] for name, row in zip(cells.index, cells.values.tolist(), strict=True)],
    }
