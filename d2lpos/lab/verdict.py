"""What counts as a difference in the studies of dropout. The rules were fixed before the first run
that counts; a pilot with a seed of its own had chosen sizes and rates.

1. Loss is in nats on text or rows that training never draws, without dropout. Each run has two moments: the row of
   its curve where the validation loss is least ("best"), and its last row ("last").
2. Each placement may choose its rate, because equal rates are not equal noise: the one whose validation loss, as a
   mean over seeds, is least at that moment. The test has no part in either choice.
3. A difference is the test loss of a placement minus that of no dropout, seed by seed, with Student's 95 % interval.
   Special tokens protected are also compared with the sum, and with as many others protected. (This last arm came
   when the runs of a first seed were done and no verdict had been read.)
4. The placements of one task, encoding and moment are a family. Holm's correction goes over it: its p values keep
   the chance that any of the family is wrongly called better or worse below 5 %.
5. "no difference" is a finding, not a failure to find one: the interval lies within ± 0.01 nat. Else the placement is
   "better" or "worse" where p < 0.05, and "undecided" where not.
6. The generalization gap, the test loss minus that on the text of the training, is reported and decides nothing.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .summary import paired

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["moments", "verdicts"]

BAND = 0.01  # nats
FAMILY = ["task", "encoding", "moment"]


def moments(records: Iterable[dict[str, Any]]) -> "DataFrame":
    """Return a row for each run and moment: "best", where the validation loss is least, and "last".

    Columns: task, encoding, dropout, drop, seed, moment, step, validation, test and gap. Losses are in nats. The gap is
    the test loss minus the loss on the training text, and nan for a task that has no such split.

    Raises KeyError for records of a task without validation.

    >>> run = Run("lookup", "learned", length=8, steps=4, checks=2)
    >>> moments([execute(run)])[["moment", "step"]].values.tolist()[1]
    ['last', 4]
    """
    from pandas import DataFrame

    asked = ["task", "encoding", "dropout", "drop", "seed"]
    columns = [*asked, "moment", "step", "validation", "test", "gap"]
    rows = []
    for record in records:
        curve = record["curve"]
        best = min(curve, key=lambda row: row["validation"])
        for moment, row in ("best", best), ("last", curve[-1]):
            gap = row["test"] - row.get("seen", float("nan"))
            measured = [row["step"], row["validation"], row["test"], gap]
            rows.append([*(record["run"][name] for name in asked), moment, *measured])
    return DataFrame(rows, columns=columns)


def verdicts(moments: "DataFrame", value: str = "test", against: str = "none") -> "DataFrame":
    """Return a verdict on each placement, at the rate chosen for it: how its runs differ from the runs `against`.

    Columns: dropout, task, encoding, moment; mean, low, high and n as `paired` gives them; drop, the chosen rate; p, the p
    value after Holm's correction over the placements of one task, encoding and moment; and the verdict, "no difference",
    "better", "worse" or "undecided". Smaller values count as better.

    Raises ValueError as `paired` does.

    >>> none = [Run("lookup", "learned", s, 16, steps=1) for s in (0, 1)]
    >>> arm = {"dropout": "sum", "drop": 0.5}
    >>> some = [Run.from_fields(run.fields() | arm) for run in none]
    >>> verdicts(moments(map(execute, none + some))).verdict.tolist()
    ['undecided', 'undecided']
    """
    rates = chosen(moments)
    differences = paired(moments.merge(rates), value, "dropout", against, by=FAMILY).merge(rates)
    for family in differences.groupby(FAMILY).groups.values():
        differences.loc[family, "p"] = _holm(differences.loc[family])
    differences["verdict"] = [
        "no difference" if -BAND < row.low and row.high < BAND
        else "undecided" if not row.p < 0.05
        else "better" if row.mean < 0 else "worse"
        for row in differences.itertuples()
    ]  # fmt: skip
    return differences


def chosen(moments: "DataFrame") -> "DataFrame":
    """Return the rate that each placement chooses: task, encoding, moment, dropout and drop."""
    arm = [*FAMILY, "dropout"]
    tried = moments.groupby([*arm, "drop"], sort=False, as_index=False)["validation"].mean()
    return tried.loc[tried.groupby(arm, sort=False)["validation"].idxmin(), [*arm, "drop"]]


def _holm(rows: "DataFrame") -> "Series":
    """Return the p values of one family, each multiplied by how many are left as it is tested (Holm 1979)."""
    from scipy.stats import t

    freedom = rows["n"] - 1
    error = (rows["high"] - rows["mean"]) / t.ppf(0.975, freedom)
    p = rows["mean"].div(error).abs().combine(freedom, t.sf).mul(2).sort_values()
    return p.mul(list(range(len(p), 0, -1))).cummax().clip(upper=1).reindex(rows.index)
