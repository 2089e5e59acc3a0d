"""Wrong answers to the exercises of the project that settles a claim."""

import math

import torch
from scipy.stats import norm, t

from d2lpos.check import decision as check

from . import wrong

# The interval of paired differences


def around(mean, half):
    return torch.stack([mean - half, mean + half])


@wrong(check.interval, "The sign is turned")
def turned(ours, theirs):
    d = theirs - ours
    return around(d.mean(), t.ppf(0.975, len(d) - 1) * d.std() / math.sqrt(len(d)))


@wrong(check.interval, "Take differences first")
def unpaired(ours, theirs):
    error = torch.sqrt(ours.var() / len(ours) + theirs.var() / len(theirs))
    return around(ours.mean() - theirs.mean(), t.ppf(0.975, len(ours) - 1) * error)


@wrong(check.interval, "1.96 is for many seeds.")
def two_sigma(ours, theirs):
    d = ours - theirs
    return around(d.mean(), 1.96 * d.std() / math.sqrt(len(d)))


@wrong(check.interval, "by the root of n")
def no_root(ours, theirs):
    d = ours - theirs
    return around(d.mean(), t.ppf(0.975, len(d) - 1) * d.std())


@wrong(check.interval, "ask t for 0.975")
def one_sided(ours, theirs):
    d = ours - theirs
    return around(d.mean(), t.ppf(0.95, len(d) - 1) * d.std() / math.sqrt(len(d)))


@wrong(check.interval, "divide squares by n − 1")
def by_n(ours, theirs):
    d = ours - theirs
    return around(d.mean(), t.ppf(0.975, len(d) - 1) * d.std(correction=0) / math.sqrt(len(d)))


# The verdict


@wrong(check.decide, "what is smaller is better")
def higher_is_better(low, high, least):
    if low > least:
        return "better"
    if high < -least:
        return "worse"
    return "no difference" if low > -least and high < least else "undecided"


@wrong(check.decide, "a finding")
def only_a_difference_counts(low, high, least):
    if high < -least:
        return "better"
    return "worse" if low > least else "undecided"


@wrong(check.decide, "has not shown that there is no difference")
def not_found_is_not_there(low, high, least):
    if high < -least:
        return "better"
    return "worse" if low > least else "no difference"


@wrong(check.decide, "To miss zero is not enough")
def misses_zero(low, high, least):
    if low > -least and high < least:
        return "no difference"
    if high < 0:
        return "better"
    return "worse" if low > 0 else "undecided"


@wrong(check.decide, "by the mean alone")
def the_mean_decides(low, high, least):
    mean = (low + high) / 2
    if mean < -least:
        return "better"
    return "worse" if mean > least else "no difference" if abs(mean) < least else "undecided"


@wrong(check.decide, "wholly below or above the band")
def only_the_band(low, high, least):
    return "no difference" if -least < low and high < least else "undecided"


# How many seeds


def search(spread, gap, first=2, factor=lambda n: t.ppf(0.975, n - 1) + t.ppf(0.8, n - 1)):
    n = first
    while factor(n) * spread / math.sqrt(n) > gap:
        n += 1
    return n


@wrong(check.seeds, "half of all studies miss the gap")
def half_the_studies(spread, gap):
    return search(spread, gap, factor=lambda n: t.ppf(0.975, n - 1))


@wrong(check.seeds, "ask t for 0.975")
def one_side(spread, gap):
    return search(spread, gap, factor=lambda n: t.ppf(0.95, n - 1) + t.ppf(0.8, n - 1))


@wrong(check.seeds, "n − 1 degrees of freedom")
def normal_curve(spread, gap):
    return max(2, math.ceil(((norm.ppf(0.975) + norm.ppf(0.8)) * spread / gap) ** 2))


@wrong(check.seeds, "one too many")
def one_more(spread, gap):
    return search(spread, gap) + 1


@wrong(check.seeds, "Begin with two.")
def one_seed(spread, gap):
    n = search(spread, gap)
    return n if n > 2 else 1


# Several questions at once


@wrong(check.holm, "Bonferroni's")
def bonferroni(p):
    return torch.clamp(p * len(p), max=1)


@wrong(check.holm, "the order of size")
def as_listed(p):
    factors = torch.arange(len(p), 0, -1)
    return (p * factors).cummax(0).values.clamp(max=1)


@wrong(check.holm, "to the place where its p stood")
def comes_sorted(p):
    found, _ = torch.sort(p)
    return (found * torch.arange(len(p), 0, -1)).cummax(0).values.clamp(max=1)


@wrong(check.holm, "raise it to the one before")
def falls(p):
    rank = p.argsort().argsort()
    return (p * (len(p) - rank)).clamp(max=1)


@wrong(check.holm, "1 at most")
def beyond_one(p):
    order = p.argsort()
    return (p[order] * torch.arange(len(p), 0, -1)).cummax(0).values[order.argsort()]


@wrong(check.holm, "Nothing has been corrected.")
def as_they_are(p):
    return p.clone()


# Looking after each seed


def wins(d, n):
    half = t.ppf(0.975, n - 1) * d[:, :n].std(1) / math.sqrt(n)
    return d[:, :n].mean(1).abs() > half


@wrong(check.peeking, "once, at the end")
def the_end(differences, first):
    return wins(differences, differences.shape[1]).float().mean().item()


@wrong(check.peeking, "once, at the first time")
def the_first(differences, first):
    return wins(differences, first).float().mean().item()


@wrong(check.peeking, "counts once")
def mean_of_looks(differences, first):
    each = [wins(differences, n).float().mean().item() for n in range(first, differences.shape[1] + 1)]
    return sum(each) / len(each)


@wrong(check.peeking, "at every look")
def always(differences, first):
    found = torch.ones(len(differences)) > 0
    for n in range(first, differences.shape[1] + 1):
        found &= wins(differences, n)
    return found.float().mean().item()


@wrong(check.peeking, "The last look")
def not_the_last(differences, first):
    found = torch.zeros(len(differences)) > 0
    for n in range(first, differences.shape[1]):
        found |= wins(differences, n)
    return found.float().mean().item()


@wrong(check.peeking, "comes after `first` seeds")
def a_seed_later(differences, first):
    found = torch.zeros(len(differences)) > 0
    for n in range(first + 1, differences.shape[1] + 1):
        found |= wins(differences, n)
    return found.float().mean().item()
