"""What else the records of dropout say, looked at when the verdicts were known.

The rules of `verdict` were fixed before the first run that counts, and they decide. Student's interval asks for
differences that scatter alike: one seed that is far from the others widens it, even where all have the same sign.
Here the signs and the ranks are counted, which one seed cannot stretch. That was chosen after the results had been
seen, so it is called post hoc: a hint, without correction for how often it is asked.
"""

from typing import TYPE_CHECKING

from .verdict import FAMILY, chosen

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["signs"]


def signs(moments: "DataFrame", value: str = "test", against: str = "none") -> "DataFrame":
    """Return for each placement, at the rate chosen for it, in how many seeds it is better and worse than `against`.

    Columns: task, encoding, moment, dropout; drop, the chosen rate; mean difference; better and worse, counts of
    seeds, where smaller values count as better; sign and rank, the exact p values of the two-sided sign test and of
    Wilcoxon's signed-rank test (1945). Both tests leave out seeds without a difference.

    Raises ValueError if no run has `against`, and if the seeds of two placements do not match.

    >>> none = [Run("lookup", "learned", s, 16, steps=1) for s in (0, 1)]
    >>> arm = {"dropout": "sum", "drop": 0.5}
    >>> some = [Run.from_fields(run.fields() | arm) for run in none]
    >>> signs(moments(map(execute, none + some))).sign.tolist()
    [0.5, 0.5]
    """
    from pandas import DataFrame
    from scipy.stats import binomtest, wilcoxon

    rows = []
    for where, family in moments.merge(chosen(moments)).groupby(FAMILY, sort=False):
        wide = family.pivot(index="seed", columns="dropout", values=value)
        if against not in wide:
            raise ValueError(f"against must be one of {', '.join(wide)}; got {against!r}")
        if wide.isna().any(axis=None):
            raise ValueError(f"the seeds of all placements must match where {FAMILY} is {where}")
        rates = family.groupby("dropout")["drop"].first()
        for name in dict.fromkeys(family["dropout"]):
            differences = wide[name] - wide[against]
            apart = differences[differences != 0]
            better, worse = int((apart < 0).sum()), int((apart > 0).sum())
            sign = binomtest(worse, len(apart)).pvalue if len(apart) else 1.0
            rank = wilcoxon(apart, method="exact").pvalue if len(apart) else 1.0
            if name != against:
                rows.append([*where, name, rates[name], differences.mean(), better, worse, sign, rank])
    return DataFrame(rows, columns=[*FAMILY, "dropout", "drop", "mean", "better", "worse", "sign", "rank"])
