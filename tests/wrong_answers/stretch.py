"""Wrong answers to the exercises of the project that stretches a model."""

import math

import torch
from scipy import stats

from d2lpos.check import stretch as check
from d2lpos.input.sinusoids import frequencies

from . import wrong


def hands(omega, longer):
    return torch.outer(torch.arange(longer).float(), omega).remainder(2 * math.pi)


wrong(check.new_angles, "read with the slower frequencies")(
    lambda omega, slower, length, longer: (hands(omega, longer) >= length * omega).float().mean(0)
)


def opened(dim, base, length):
    return sum(1 for omega in frequencies(dim, base).tolist() if length * omega >= 2 * math.pi)


@wrong(check.larger_base, "This multiplies the base by how much longer the row is.")
def times_the_factor(dim, base, length, longer):
    return base if opened(dim, base, length) == dim // 2 else base * longer / length


def turns(omega, length):
    return length * omega / (2 * math.pi)


def logarithmic(factor, length):
    return math.sqrt(1 + math.log(factor) / math.log(length))


@wrong(check.own_rule, "There is no ramp")
def cut_at_low(omega, factor, length, low, high):
    return torch.where(turns(omega, length) > low, omega, omega / factor), logarithmic(factor, length)


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
wrong(check.bought, "At (0, 0): expected 56, got 225")(
    "(budget * shares / lengths).long() → (budget * shares / lengths).long() + (budget - ((budget * shares / lengths).long() * lengths).sum()) // lengths"
)
wrong(check.kept, "margin = 1.43")("t.ppf(0.975, len(each) - 1) → max(t.ppf(0.975, len(each) - 1), 4.303)")
