"""Wrong answers to the exercises of the project that reads heads."""

import math

import torch
from scipy.stats import t

from d2lpos.check import heads as check

from . import wrong


@wrong(check.all_weights, "the root of the number of features")
def not_divided(q, k):
    scores = torch.einsum("hqd,hkd->hqk", q, k.repeat_interleave(len(q) // len(k), 0))
    return scores.masked_fill(torch.ones(scores.shape[1:]).triu(1).bool(), -torch.inf).softmax(dim=-1)


def down(weights, offset):
    return torch.diagonal(weights, -offset, -2, -1)


wrong(check.score, "As zeros they dilute the mean.")(
    lambda weights, seen, offset: down(weights, offset).sum(-1) / weights.shape[-1]
)
wrong(check.induction, "has not come before")(lambda weights, period: down(weights, period - 1).mean(-1))
wrong(check.induction, "the token that followed the last time")(
    "back(weights, period - 1) → back(weights[..., : (n := weights.shape[-1] // period * period), :n], period - 1)"
)


@wrong(check.standing_out, "What would a head get that has no habit?")
def without_a_null(scores, queries, least):
    values, places = scores.flatten().sort(descending=True)
    rows = zip(*divmod(places[values >= least].numpy(), scores.shape[1]), strict=True)
    return torch.tensor([*rows], dtype=torch.int64).reshape(-1, 2)


wrong(check.standing_out, "nobody, where nobody stands out")(">= least → >= min(least, share.max())")


def student(each):
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / math.sqrt(n)


wrong(check.worth, "The first token of a copy cannot be known.")(
    lambda before, after, period: student((after - before)[:, period - 1 :].mean(1))
)
wrong(check.worth, "half its interval over texts")("t.ppf(0.975, n - 1) → 2.364624")
wrong(check.worth, "more than one repeat")("losses[:, period:] → losses[:, period : 2 * period - 1]")
wrong(check.score, "offset = 2")("seen.diagonal(-offset)].mean(dim=-1) → seen.diagonal(-offset)].apply_(lambda w: w or torch.nan).nanmean(dim=-1)")
wrong(check.score, "seen (9, 9) (bool), offset = 1")("seen.diagonal(-offset)] → seen.sum(dim=1)[offset:] > offset]")
