"""Wrong answers to the exercises of the project that stretches a model."""

import math

import torch
from scipy import stats

from d2lpos.check import stretch as check
from d2lpos.input.sinusoids import frequencies

from . import wrong

wrong(check.new_angles, "fails 1 of 3 properties Property: pairs that have gone around")(
    "angles = → first = (length * omega < TURN).nonzero()[0]\n    angles ="
)
wrong(check.new_angles, "read with the slower frequencies")(
    lambda omega, slower, length, longer: (torch.arange(longer)[:, None] * omega % (2 * math.pi) >= length * omega).float().mean(0)
)


@wrong(check.larger_base, "This multiplies the base by how much longer the row is.")
def times_the_factor(dim, base, length, longer):
    return base if length * frequencies(dim, base).min() >= 2 * math.pi else base * longer / length


@wrong(check.own_rule, "There is no ramp")
def cut_at_low(omega, factor, length, low, high):
    slowed = torch.where(length * omega / (2 * math.pi) > low, omega, omega / factor)
    return slowed, math.sqrt(1 + math.log(factor) / math.log(length))


def table(rows, lengths, trained):
    listed = [[r, r * n * (n + 1) // 2, r * max(n - trained, 0)] for r, n in zip(rows, lengths.tolist(), strict=True)]
    return torch.tensor(listed)


@wrong(check.bought, "The shares need not be equal")
def equal_shares(budget, lengths, shares, trained):
    return table([budget // len(lengths) // n for n in lengths.tolist()], lengths, trained)


def interval(before, after):
    each = (after - before).mean(1)
    both = stats.ttest_1samp(each.double().numpy(), 0).confidence_interval(0.95)
    return both.low, both.high


wrong(check.kept, "need not be lost")(
    lambda before, after, margin: "kept" if interval(before, after)[1] < margin else "lost"
)
wrong(check.bought, "At (0, 0): expected 2, got 7")(
    "(budget * shares / lengths).long() → (budget * shares / lengths).long() + (budget - ((budget * shares / lengths).long() * lengths).sum()) // lengths"
)
wrong(check.kept, "margin = 1.4476")("t.ppf(0.975, len(each) - 1) → max(t.ppf(0.975, len(each) - 1), 4.303)")
