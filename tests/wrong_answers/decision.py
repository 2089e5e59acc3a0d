"""Wrong answers to the exercises of the project that settles a claim."""

import math

import torch
from scipy.stats import t

from d2lpos.check import decision as check

from . import wrong


def around(mean, half):
    return torch.stack([mean - half, mean + half])


@wrong(check.interval, "The sign is turned")
def turned(ours, theirs):
    d = theirs - ours
    return around(d.mean(), t.ppf(0.975, len(d) - 1) * d.std() / math.sqrt(len(d)))


@wrong(check.decide, "a finding")
def only_a_difference_counts(low, high, least):
    if high < -least:
        return "better"
    return "worse" if low > least else "undecided"


def search(spread, gap):
    n = 2
    while t.ppf(0.975, n - 1) * spread / math.sqrt(n) > gap:
        n += 1
    return n


wrong(check.seeds, "half of all studies miss the gap")(search)
wrong(check.holm, "Bonferroni's")(lambda p: torch.clamp(p * len(p), max=1))


def wins(d, n):
    half = t.ppf(0.975, n - 1) * d[:, :n].std(1) / math.sqrt(n)
    return d[:, :n].mean(1).abs() > half


wrong(check.peeking, "once, at the end")(
    lambda differences, first: wins(differences, differences.shape[1]).float().mean().item()
)
wrong(check.interval, "Expected dtype torch.float64, got torch.float32")(
    "student(ours - theirs) → student((ours - theirs).float())"
)
wrong(check.holm, "a larger p never ends smaller")(
    "cummax(dim=0).values → maximum((p[order] * left).roll(1).index_fill(0, torch.tensor(0), 0))"
)
wrong(check.interval, "theirs = [67108864")("student(ours - theirs) → student(ours.float() - theirs.float()).to(ours)")
wrong(check.seeds, "spread = 8.0")("while → while n < 500 and")
