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


def listed(share, least):
    layers, heads = share.shape
    found = [(share[i, j].item(), i, j) for i in range(layers) for j in range(heads)]
    found = sorted((one for one in found if one[0] >= least), reverse=True)
    return torch.tensor([one[1:] for one in found], dtype=torch.int64).reshape(-1, 2)


def told(null, scores, least):
    return listed((scores - null) / (1 - null), least)


def fair(queries):
    return sum(1 / (i + 1) for i in queries.tolist()) / len(queries)


wrong(check.standing_out, "The largest comes first.")(
    lambda scores, queries, least: torch.flip(told(fair(queries), scores, least), [0])
)
wrong(check.standing_out, "nobody, where nobody stands out")(">= least → >= min(least, share.max())")


def student(each):
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / math.sqrt(n)


wrong(check.worth, "The first token of a copy cannot be known.")(
    lambda before, after, period: student((after - before)[:, period - 1 :].mean(1))
)
wrong(check.worth, "half its interval over texts")("t.ppf(0.975, n - 1) → 2.364624")
wrong(check.worth, "more than one repeat")("losses[:, period:] → losses[:, period : 2 * period - 1]")
