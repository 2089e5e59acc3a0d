"""Records as a table: means over seeds with intervals, and differences paired by seed."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Any

from ..positions.arguments import check_name
from .run import RECORDED, Run

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["frame", "interval", "paired", "summary"]

VALUES = ("loss", "accuracy", "loss_last", "accuracy_last")
PROBED = ("error", "r2")
ABOUT = ("seconds", "device", "key")
PASSAGE = ("text", "seed")


def frame(records: Iterable[dict[str, Any]], of: str = "metrics") -> "DataFrame":
    """Return a table with a row for each metric of each record or, of="probes", for each probe.

    The first columns say what was run: task, encoding, causal, trained (the training length), other fields that
    differ between the runs, and seed. Then come the test (reading, length and split) and its results (loss,
    accuracy, loss_last and accuracy_last, nan if there is none), and seconds, device and key of the run.
    The row of a probe has layer, error and r2 instead of a test and its results. With of="probes", records without
    probes are left out.

    Raises ValueError for any other `of`.

    >>> table = frame([execute(Run("order", length=4, steps=1))])
    >>> table[["encoding", "seed", "length", "split"]].values.tolist()
    [['none', 0, 4, 'test']]
    """
    from pandas import DataFrame

    columns = {"metrics": ["reading", "length", "split", *VALUES], "probes": ["layer", *PROBED]}
    check_name("of", of, columns)
    rows = []
    for record in records:
        ran = {RECORDED.get(field.name, field.name): field.default for field in fields(Run)} | record["run"]
        ran |= {"trained": ran["length"], "shortest": ran["shortest"] or ran["length"]}
        ran["stack"] = ", ".join(
            f"{len(list(group))} {kind}" for kind, group in groupby(ran["stack"])
        )  # one value, so that rows can be told apart by it
        about = {"seconds": record["seconds"], "device": record["machine"]["device"], "key": record["key"]}
        rows += [ran | row | about for row in record.get(of, [])]
    always = ["task", "encoding", "causal", "trained"]
    asked = ["seed", *columns[of], *ABOUT]
    table = DataFrame(rows, columns=None if rows else always + asked)
    more = [
        c
        for c in table
        if c not in (*always, *asked, "length", "tested", "readings", "further") and table[c].nunique() > 1
    ]
    values = [column for column in (*VALUES, *PROBED) if column in asked]
    return table[always + more + asked].astype(dict.fromkeys(values, float))


def interval(values: "Series", drawn: str | Sequence[str] = "seed") -> tuple[float, float, float, int]:
    """Return the mean of values, its 95 % interval from low to high, and n, the number of independent draws.

    values: numbers with an index that says from which draw each number comes. drawn: the names in the index that tell draws
    apart, such as the seed of a training run or the number of a passage. Eight needles of one passage are one draw, so
    average them first. Passages of two texts are not draws of one kind, so compute an interval for each text.

    The interval is Student's. One draw has no interval, so low and high are nan.
    Raises ValueError for a name that is not in the index, for a nan, and if several values belong to one draw.

    >>> from pandas import Series
    >>> passages = Series([1.0, 3.0, 2.0]).rename_axis("seed")
    >>> mean, low, high, n = interval(passages)
    >>> mean, n
    (2.0, 3)
    """
    from scipy.stats import t

    names = [drawn] if isinstance(drawn, str) else list(drawn)
    for name in names:
        check_name("drawn", name, list(values.index.names))
    if values.isna().any():
        raise ValueError("values must be numbers; got nan")
    draws = values.groupby(names).ngroups
    if draws < len(values):
        raise ValueError(
            f"values must have one number for each draw, which {' and '.join(names)} tells apart; got {len(values)} "
            f"numbers of {draws} draws: average those of one draw, and give each text an interval of its own"
        )
    n, mean = len(values), values.mean()
    half = t.ppf(0.975, n - 1) * values.std() / n**0.5
    return float(mean), float(mean - half), float(mean + half), n


def summary(frame: "DataFrame", by: Sequence[str] | None = None, value: str = "loss") -> "DataFrame":
    """Return the mean of a column over seeds, its 95 % interval from low to high, and n, the number of seeds.

    by: the columns whose values are kept apart and not averaged; by default all columns that say what was run and tested.

    The interval is Student's. One seed has no interval, so low and high are nan. Rows without a value are left out.
    Raises ValueError for a column that does not exist, and if rows of one seed would be averaged.

    >>> runs = [Run("order", length=4, steps=1, seed=s) for s in (0, 1)]
    >>> summary(frame(map(execute, runs)), by=["encoding"]).n.tolist()
    [2]
    """
    from pandas import DataFrame

    by = _settings(frame, by)
    rows = [[*where, *interval(values)] for where, values in _groups(frame, by, value).items()]
    return DataFrame(rows, columns=[*by, "mean", "low", "high", "n"])


def paired(
    frame: "DataFrame",
    value: str = "loss",
    of: str = "encoding",
    against: str = "none",
    by: Sequence[str] | None = None,
) -> "DataFrame":
    """Return the mean of the differences between runs of the same seed, with its 95 % interval and n.

    Rows whose column `of` is `against` are subtracted from the other rows that have the same values in the columns `by`,
    by default in all columns that say what was run and tested. Runs of one seed share batches and first weights, so their
    differences may vary less than the runs themselves. To see what an eval mode changes, use of="reading" and
    against="as trained".

    Raises ValueError as `summary` does, if no row has `against`, and if two groups have different seeds.

    >>> few = {"length": 4, "steps": 1}
    >>> runs = [Run("order", e, **few) for e in ("none", "t5")]
    >>> paired(frame(map(execute, runs))).encoding.tolist()
    ['t5']
    """
    from pandas import DataFrame

    by = [column for column in _settings(frame, by) if column != of]
    groups = _groups(frame, [of, *by], value)
    check_name("against", against, list(dict.fromkeys(name for name, *_ in groups)))
    rows = []
    for (name, *where), ours in groups.items():
        if name == against:
            continue
        theirs = groups.get((against, *where), ours[:0])
        if set(ours.index) != set(theirs.index):
            seeds = [sorted(side.index.tolist()) for side in (ours, theirs)]
            raise ValueError(
                f"the seeds of {of} {name!r} are {seeds[0]}, those of {against!r} are {seeds[1]}"
                + _where(by, where)
            )
        rows.append([name, *where, *interval(ours - theirs)])
    return DataFrame(rows, columns=[of, *by, "mean", "low", "high", "n"])


def _settings(frame: "DataFrame", by: Sequence[str] | None) -> list[str]:
    measured = (*VALUES, *PROBED, *ABOUT, "seed")
    return list(by) if by is not None else [column for column in frame if column not in measured]


def _groups(frame: "DataFrame", by: list[str], value: str) -> dict[tuple[Any, ...], "Series"]:
    """Return the values by seed for each setting of the columns `by`."""
    for argument, column in (("value", value), *(("by", column) for column in (*by, "seed"))):
        check_name(argument, column, list(frame))
    if not by:
        raise ValueError("by must name at least one column; got none")
    groups = {}
    for where, rows in frame.dropna(subset=value).groupby(by, sort=False):
        groups[where] = values = rows.set_index("seed")[value]
        if not values.index.is_unique:
            raise ValueError("by must tell rows of one seed apart; there are several" + _where(by, where))
    return groups


def _where(by: list[str], where: Sequence[Any]) -> str:
    return " where " * bool(by) + ", ".join(f"{c} is {at!r}" for c, at in zip(by, where, strict=True))


def mean_cells(means: "DataFrame", signs: Iterable[str] = repeat("")) -> list[str]:
    """Rows of `summary` in words: the mean ± half of its interval, where it has one, and n where not all have as many.

    signs: "+" for each row whose mean is written with its sign.
    """
    uneven = means["n"].nunique() > 1
    return [
        f"{round(row.mean, 3) + 0.0:{sign}.3f}"  # adding 0.0 takes the sign from −0
        + f" ± {row.high - row.mean:.3f}" * (row.n > 1) + f", n = {row.n}" * uneven
        for row, sign in zip(means.itertuples(), signs, strict=False)
    ]


def below_zero(values: "Series") -> tuple[float, float, float, int, str]:
    """`interval`, and what it says of the sentence that values lie below 0: holds, fails or open.

    Passages of all texts are draws here, because rules that were fixed before their runs take them together.
    `observed.by_text` has the verdicts by text.
    """
    middle, low, high, n = interval(values, drawn=PASSAGE)
    return middle, low, high, n, "holds" if high < 0 else "fails" if low > 0 else "open"


def by_case(records: Iterable[dict[str, Any]]) -> "DataFrame":
    """A row for each record of a trained model, named by its passage: the fields of its run, and its loss in each case."""
    from pandas import DataFrame

    rows = [r["run"] | {row["case"]: row["loss"] for row in r["rows"]} for r in records]
    return DataFrame(rows).set_index(list(PASSAGE), drop=False).rename_axis(columns=None)


def decisions(sentences: dict[str, "Series"]) -> "DataFrame":
    """What is decided of sentences, each of which says that values lie below 0."""
    from pandas import DataFrame

    rows = [[sentence, *below_zero(values)] for sentence, values in sentences.items()]
    return DataFrame(rows, columns=["sentence", "mean", "low", "high", "n", "verdict"])


def rows(records: Iterable[dict[str, Any]]) -> "DataFrame":
    """A row for each row of each record, with the fields of its probe."""
    from pandas import DataFrame

    table = [record["run"] | row for record in records for row in record["rows"]]
    for row in table:
        if row["case"] == "held":
            row["case"] = (
                f"pair {row['pair']} held"
                if row["part"] == "columns"
                else f"pairs {row['pair']} to {row['pair'] + 3} held"
            )
    return DataFrame(table)
