"""The verdict."""

from ..verdict import Case, Check, call


def rule(low: float, high: float, least: float) -> str:
    if high < -least:
        return "better"
    if low > least:
        return "worse"
    return "no difference" if -least < low and high < least else "undecided"


def zero_missed(low: float, high: float, least: float) -> str:
    decision = rule(low, high, 0)
    return decision if rule(low, high, least) == "undecided" else rule(low, high, least)


def bounds(low: float, high: float, least: float = 0.5) -> Case:
    return call(low=low, high=high, least=least)


decide = Check(
    "decide",
    reference=rule,
    properties={
        "wholly below or above the band": [bounds(-2, -1), bounds(1, 2), bounds(-1, -0.5, 0.25), bounds(0.2501, 1, 0.25)],
        "wholly inside the band": [bounds(-0.4999, 0.25), bounds(0.125, 0.25), bounds(-0.25, -0.125)],
        "across an edge of the band": [
            bounds(-0.625, -0.375), bounds(0.375, 0.625), bounds(-2, 2), bounds(-0.25, 2), bounds(-2, 0.25),
            bounds(-1, -0.5), bounds(0.5, 1), bounds(-0.5, 0), bounds(0, 0.5),
            bounds(-0.375, 0.125, 0.25), bounds(-0.125, 0.375, 0.25),
        ],
    },
    mistakes={
        "This is a loss: what is smaller is better.": lambda low, high, least: rule(-high, -low, least),
        "An interval inside the band is a finding: no difference worth a name.":
            lambda low, high, least: rule(low, high, least).replace("no difference", "undecided"),
        "An interval across an edge has not shown that there is no difference. It is undecided.":
            lambda low, high, least: rule(low, high, least).replace("undecided", "no difference"),
        "To miss zero is not enough: the whole interval has to lie beyond the least difference.": zero_missed,
        "This decides by the mean alone. Where do the ends of the interval lie?":
            lambda low, high, least: rule((low + high) / 2, (low + high) / 2, least),
    },
)  # fmt: skip
