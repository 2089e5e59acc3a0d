"""The recorded studies as the numbers that the figure "grid" shows, and one view of them in words and as a table."""

from functools import cache
from math import isnan
from typing import TYPE_CHECKING

from ..lab.encodings import FAMILY
from ..lab.plot import UNITS, describe, named
from ..lab.report import table
from ..lab.studies import STUDIES
from ..lab.summary import frame, records, summary
from ..lab.tasks import TASKS

if TYPE_CHECKING:
    from pandas import DataFrame

VALUES = ("accuracy", "loss", "loss_last")


@cache
def rows(study: str) -> "DataFrame":
    """The records of a study with names, door by door."""
    found = named(frame(records(study)))
    found["door"] = found["encoding"].map(list(FAMILY).index)
    return found.sort_values(["door", *{"scale"}.intersection(found), "seed"], kind="stable")


def values(study: str) -> list[str]:
    """The columns to choose from. Where the last tokens are all that is asked, their loss is no other one."""
    found = rows(study).dropna(axis="columns", how="all")
    twice = "loss_last" in found and found["loss_last"].equals(found["loss"])
    return [value for value in VALUES if value in found and not (twice and value == "loss_last")]


def numbers(study: str) -> dict:
    """All that the figure shows of a study.

    A cell is mean, low, high, and the value of each seed, in thousandths; low and high of one seed are None. It
    is empty where nothing was measured. Cells are found by split, value, row and length.
    """
    found = rows(study)
    task, names = TASKS[found["task"].iloc[0]], found.drop_duplicates("name")
    lengths = sorted(found["length"].unique().tolist())

    def cells(part: "DataFrame", value: str) -> list[list[list]]:
        means = summary(part, ["name", "length"], value).set_index(["name", "length"])
        seeds = part.dropna(subset=value).groupby(["name", "length"])[value].agg(list)
        return [
            [
                thousandths(*means.loc[at, ["mean", "low", "high"]], *seeds[at]) if at in means.index else []
                for at in ((name, length) for length in lengths)
            ]
            for name in names["name"]
        ]

    return {
        "question": STUDIES[study].question,
        "value": STUDIES[study].value,
        "values": {value: UNITS[value] for value in values(study)},
        "trained": int(found["trained"].iloc[0]),
        "lengths": lengths,
        # Letters of a text are not equally frequent, and nobody guesses them so.
        "chance": None if task.windows else thousandths(1 / task.outputs)[0],
        "rows": [[name, FAMILY[encoding]] for name, encoding in names[["name", "encoding"]].values],
        "cells": {
            split: {value: cells(part, value) for value in values(study)}
            for split, part in found.groupby("split")
        },
    }


def thousandths(*numbers: float) -> list[int | None]:
    return [None if isnan(number) else round(1000 * round(number, 3)) for number in numbers]


def view(study: str, value: str | None, split: str, length: int | None) -> tuple["DataFrame", str]:
    """The rows and the value that are asked for. Raises ValueError where the study does not have them."""
    found = rows(study)
    has = {
        "value": values(study),
        "split": found["split"].unique(),
        "length": sorted(found["length"].unique()),
    }
    value, length = value or STUDIES[study].value, has["length"][-1] if length is None else length
    for name, got in {"value": value, "split": split, "length": length}.items():
        if got not in has[name]:
            raise ValueError(
                f"{name} of {study} must be one of {', '.join(map(str, has[name]))}; got {got!r}"
            )
    return found[(found["split"] == split) & (found["length"] == length)], value


def describe_view(study: str, value: str | None, split: str, length: int | None) -> str:
    shown, value = view(study, value, split, length)
    return f"{STUDIES[study].question} {describe(shown, value, split)}"


def table_of_view(study: str, value: str | None, split: str, length: int | None) -> str:
    """The same as HTML: the mean ± half of the 95 % interval, for pages that run no script."""
    shown, value = view(study, value, split, length)
    return table(shown, value).to_html(border=0)
