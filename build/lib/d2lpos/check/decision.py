"""The checks of the project that settles a claim: an interval, a verdict, seeds, Holm's correction, and peeking."""

import torch
from scipy.stats import t
from torch import Tensor

from .verdict import Case, Check, call


def drawn(*shape: int, seed: int, low: int = -8, high: int = 9) -> Tensor:
    """Quarters, drawn by seed."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)) / 4


# The interval of paired differences -------------------------------------------------------------------------


def student(each: Tensor, level: float = 0.975, correction: int = 1) -> Tensor:
    """Low and high of the mean of the differences."""
    n = len(each)
    half = t.ppf(level, n - 1) * each.std(correction=correction) / n**0.5
    return torch.stack([each.mean() - half, each.mean() + half])


def paired_interval(ours: Tensor, theirs: Tensor) -> Tensor:
    return student(ours - theirs)


def two_groups(ours: Tensor, theirs: Tensor) -> Tensor:
    half = t.ppf(0.975, len(ours) - 1) * ((ours.var() + theirs.var()) / len(ours)) ** 0.5
    mean = ours.mean() - theirs.mean()
    return torch.stack([mean - half, mean + half])


def normal(ours: Tensor, theirs: Tensor) -> Tensor:
    each = ours - theirs
    half = 1.96 * each.std() / len(each) ** 0.5
    return torch.stack([each.mean() - half, each.mean() + half])


def spread(ours: Tensor, theirs: Tensor) -> Tensor:
    each = ours - theirs
    half = t.ppf(0.975, len(each) - 1) * each.std()
    return torch.stack([each.mean() - half, each.mean() + half])


def pairs(n: int, seed: int) -> Case:
    theirs = drawn(n, seed=seed, low=0, high=33)
    return call(ours=theirs + drawn(n, seed=seed + 1, low=-6, high=3), theirs=theirs)


interval = Check(
    "interval",
    reference=paired_interval,
    properties={"the 95 % interval of the mean difference": [pairs(3, 0), pairs(4, 2), pairs(10, 4)]},
    mistakes={
        "The sign is turned: theirs come off ours.": lambda ours, theirs: paired_interval(theirs, ours),
        "Equal seeds share batches and first weights. Take differences first, and their spread.": two_groups,
        "1.96 is for many seeds. For a few, take Student's t with one degree less than seeds.": normal,
        "This is the spread of seeds. A mean over n seeds varies less, by the root of n.": spread,
        "A 95 % interval leaves 2.5 % on each side: ask t for 0.975.": lambda ours, theirs: student(
            ours - theirs, 0.95
        ),
        "For the spread of a sample, divide squares by n − 1.": lambda ours, theirs: student(
            ours - theirs, correction=0
        ),
    },
)


# The verdict ------------------------------------------------------------------------------------------------


def rule(low: float, high: float, least: float) -> str:
    if high < -least:
        return "better"
    if low > least:
        return "worse"
    return "no difference" if -least < low and high < least else "undecided"


def zero_missed(low: float, high: float, least: float) -> str:
    found = rule(low, high, 0)
    return found if rule(low, high, least) == "undecided" else rule(low, high, least)


def by_the_mean(low: float, high: float, least: float) -> str:
    middle = (low + high) / 2
    return rule(middle, middle, least)


def never_equal(low: float, high: float, least: float) -> str:
    return rule(low, high, least).replace("no difference", "undecided")


def always_equal(low: float, high: float, least: float) -> str:
    return rule(low, high, least).replace("undecided", "no difference")


def larger_wins(low: float, high: float, least: float) -> str:
    return rule(-high, -low, least)


def bounds(low: float, high: float, least: float = 0.5) -> Case:
    return call(low=low, high=high, least=least)


decide = Check(
    "decide",
    reference=rule,
    properties={
        "wholly below or above the band": [bounds(-2, -1), bounds(1, 2), bounds(-1, -0.5, 0.25)],
        "wholly inside the band": [bounds(-0.25, 0.25), bounds(0.125, 0.25), bounds(-0.25, -0.125)],
        "across an edge of the band": [
            bounds(-1, -0.25), bounds(0.25, 1), bounds(-2, 2), bounds(-0.25, 2), bounds(-2, 0.25),
            bounds(-1, -0.5), bounds(0.5, 1), bounds(-0.5, 0), bounds(0, 0.5),
        ],
    },
    mistakes={
        "This is a loss: what is smaller is better.": larger_wins,
        "An interval inside the band is a finding: no difference worth a name.": never_equal,
        "An interval across an edge has not shown that there is no difference. It is undecided.": always_equal,
        "To miss zero is not enough: the whole interval has to lie beyond the least difference.": zero_missed,
        "This decides by the mean alone. Where do the ends of the interval lie?": by_the_mean,
    },
)  # fmt: skip


# How many seeds ---------------------------------------------------------------------------------------------


def enough(spread: float, gap: float, power: float = 0.8, level: float = 0.975) -> int:
    n = 2
    while (t.ppf(level, n - 1) + t.ppf(power, n - 1)) * spread / n**0.5 > gap:
        n += 1
    return n


seeds = Check(
    "seeds",
    reference=enough,
    properties={
        "the fewest seeds that find the gap": [
            call(spread=s, gap=g) for s, g in ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (2.0, 0.5), (0.5, 4.9))
        ],
        "never fewer than two": [call(spread=0.0, gap=1.0), call(spread=0.0625, gap=4.0)],
    },
    mistakes={
        "One seed has no spread. Begin with two.": lambda spread, gap: (
            1 if enough(spread, gap) == 2 else enough(spread, gap)
        ),
        "With this many, half of all studies miss the gap. Add t of 0.8.": lambda spread, gap: enough(
            spread, gap, 0.5
        ),
        "A 95 % interval leaves 2.5 % on each side: ask t for 0.975.": lambda spread, gap: enough(
            spread, gap, level=0.95
        ),
        "t has n − 1 degrees of freedom, and more than the normal curve's 1.96 + 0.84 for few seeds.": (
            lambda spread, gap: max(2, -int(-((2.8 * spread / gap) ** 2) // 1))
        ),
        "This is one too many: the first that suffices is asked for.": lambda spread, gap: (
            enough(spread, gap) + 1
        ),
    },
)


# Several questions at once ----------------------------------------------------------------------------------


def corrected(p: Tensor) -> Tensor:
    order = p.argsort()
    left = torch.arange(len(p), 0, -1)
    found = (p[order] * left).cummax(dim=0).values.clamp(max=1)
    return found[order.argsort()]


def in_order(p: Tensor) -> Tensor:
    return (p * torch.arange(len(p), 0, -1)).cummax(dim=0).values.clamp(max=1)


def may_fall(p: Tensor) -> Tensor:
    order = p.argsort()
    return (p[order] * torch.arange(len(p), 0, -1)).clamp(max=1)[order.argsort()]


def left_sorted(p: Tensor) -> Tensor:
    return corrected(p.sort().values)


def above_one(p: Tensor) -> Tensor:
    order = p.argsort()
    return (p[order] * torch.arange(len(p), 0, -1)).cummax(dim=0).values[order.argsort()]


def family(*p: float) -> Case:
    return call(p=torch.tensor(p))


holm = Check(
    "holm",
    reference=corrected,
    properties={
        "each p times how many are left, in its place": [
            family(0.3, 0.7), family(0.0078125, 0.03125, 0.125, 0.25),
            family(0.125, 0.03125), family(0.03125, 0.25, 0.0078125),
        ],
        "a larger p never ends smaller": [family(0.0625, 0.09375, 0.125)],
        "none above 1": [family(0.0625, 0.75, 1.0)],
    },
    mistakes={
        "This multiplies all by their number, which is Bonferroni's. Holm's factor falls by one each time.": (
            lambda p: (p * len(p)).clamp(max=1)
        ),
        "Sort first: the factors belong to the order of size, not of the list.": in_order,
        "Bring each back to the place where its p stood.": left_sorted,
        "Where a larger p has ended smaller, raise it to the one before.": may_fall,
        "A probability is 1 at most.": above_one,
        "Nothing has been corrected.": lambda p: p,
    },
)  # fmt: skip


# Looking after each seed ------------------------------------------------------------------------------------


def apart(differences: Tensor, n: int, level: float = 0.975) -> Tensor:
    """Which studies have an interval without zero after n seeds."""
    part = differences[:, :n]
    return part.mean(dim=1).abs() > t.ppf(level, n - 1) * part.std(dim=1) / n**0.5


def looks(differences: Tensor, first: int) -> Tensor:
    return torch.stack([apart(differences, n) for n in range(first, differences.shape[1] + 1)])


def share(found: Tensor) -> float:
    return found.float().mean().item()


def ever_apart(differences: Tensor, first: int) -> float:
    return share(looks(differences, first).any(dim=0))


def one_later(differences: Tensor, first: int) -> float:
    return ever_apart(differences, first + 1) if first < differences.shape[1] else 0.0


def studies(number: int, seeds: int, first: int, seed: int) -> Case:
    """As many studies, and as many looks, as is a power of two: then shares are exact in any dtype."""
    return call(differences=drawn(number, seeds, seed=seed), first=first)


peeking = Check(
    "peeking",
    reference=ever_apart,
    properties={
        "the share that wins at any look": [
            studies(64, 6, 3, 0), studies(256, 8, 5, 1), studies(256, 9, 2, 7), studies(256, 5, 5, 3),
        ],
    },
    mistakes={
        "This looks once, at the end.": lambda differences, first: share(apart(differences, differences.shape[1])),
        "This looks once, at the first time.": lambda differences, first: share(apart(differences, first)),
        "A study that wins twice counts once: ask whether it ever wins.": lambda differences, first: share(
            looks(differences, first)
        ),
        "This asks for studies that win at every look.": lambda differences, first: share(
            looks(differences, first).all(dim=0)
        ),
        "The first look comes after `first` seeds.": one_later,
        "The last look, with all seeds, is missing.": lambda differences, first: ever_apart(
            differences[:, :-1], first
        ) if differences.shape[1] > first else 0.0,
    },
)  # fmt: skip
