"""Wrong answers to the exercises of the project that reads heads."""

import math

import torch
from scipy import stats
from scipy.stats import t

from d2lpos.check import heads as check

from . import wrong

# All weights of a layer


def attend(q, k, repeat=torch.repeat_interleave, root=True, diagonal=1, axis=-1):
    size = q.shape[2]
    k = repeat(k, q.shape[0] // k.shape[0], 0)
    scores = torch.einsum("hqd,hkd->hqk", q, k) / (math.sqrt(size) if root else 1)
    behind = torch.ones(scores.shape[1:]).triu(diagonal).bool()
    return torch.softmax(scores.masked_fill(behind, float("-inf")), dim=axis)


@wrong(check.all_weights, "the root of the number of features")
def no_root(q, k):
    return attend(q, k, root=False)


@wrong(check.all_weights, "the root of the number of features")
def divided_by_all(q, k):
    return attend(q / math.sqrt(q.shape[2]), k)


@wrong(check.all_weights, "`repeat` gives these to 0, 3, 6.")
def dealt_in_turn(q, k):
    return attend(q, k, repeat=lambda k, times, _: torch.cat([k] * times))


@wrong(check.all_weights, "A token sees itself, too")
def strictly_before(q, k):
    return attend(q, k, diagonal=0)


@wrong(check.all_weights, "softmax runs over the last axis")
def each_key_sums_to_one(q, k):
    return attend(q, k, axis=1)


@wrong(check.all_weights, "No key is hidden.")
def sees_all(q, k):
    return attend(q, k, diagonal=k.shape[1])


@wrong(check.all_weights, "shows the future")
def sees_the_future(q, k):
    scores = q @ k.repeat_interleave(len(q) // len(k), 0).transpose(1, 2) / math.sqrt(q.shape[2])
    before = torch.ones(scores.shape[1:]).tril(-1).bool()
    return scores.masked_fill(before, float("-inf")).softmax(-1)


@wrong(check.all_weights, "rows do not sum to 1")
def cut_afterwards(q, k):
    return attend(q, k, diagonal=k.shape[1]).tril()


@wrong(check.all_weights, "heads with keys of their own")
def three_share_always(q, k):
    return attend(q, k, repeat=lambda k, *_: k.repeat_interleave(3, 0))


@wrong(check.all_weights, "heads with keys of their own")
def first_keys_for_all(q, k):
    return attend(q, k[:1])


# The weight at an offset


def down(weights, offset):
    return torch.diagonal(weights, -offset, -2, -1)


@wrong(check.score, "As zeros they dilute the mean.")
def over_all_queries(weights, seen, offset):
    return down(weights, offset).sum(-1) / weights.shape[-1]


@wrong(check.score, "Leave it out of the mean.")
def mask_forgotten(weights, seen, offset):
    return down(weights, offset).mean(-1)


@wrong(check.score, "This is a sum.")
def added(weights, seen, offset):
    return down(weights * seen, offset).sum(-1)


@wrong(check.score, "A positive diagonal has the keys to come.")
def ahead(weights, seen, offset):
    return down(weights, -offset)[..., down(seen, offset)].mean(-1)


@wrong(check.score, "A habit is a mean.")
def strongest(weights, seen, offset):
    return down(weights, offset).max(-1).values


@wrong(check.score, "any number of layers and heads")
def one_layer(weights, seen, offset):
    if weights.dim() != 3:
        return weights.new_zeros(weights.shape[:-2])
    return down(weights, offset)[:, down(seen, offset)].mean(-1)


# The weight of what followed


@wrong(check.induction, "has not come before")
def first_copy_too(weights, period):
    return down(weights, period - 1).mean(-1)


@wrong(check.induction, "This is the same word earlier.")
def same_word(weights, period):
    return down(weights, period).mean(-1)


@wrong(check.induction, "the token before the same word")
def one_too_far(weights, period):
    n = weights.shape[-1]
    return torch.stack([weights[..., i, i - period - 1] for i in range(period + 1, n)]).mean(0)


@wrong(check.induction, "Queries of the first copy")
def diluted(weights, period):
    n = weights.shape[-1]
    return sum(weights[..., i, i - period + 1] for i in range(period, n)) / n


@wrong(check.induction, "All that repeat count.")
def second_copy_alone(weights, period):
    n = min(2 * period, weights.shape[-1])
    return sum(weights[..., i, i - period + 1] for i in range(period, n)) / (n - period)


@wrong(check.induction, "Only the last time is asked for.")
def each_time(weights, period):
    n, found = weights.shape[-1], 0
    for i in range(period, n):
        found = found + sum(weights[..., i, j] for j in range(i - period + 1, 0, -period))
    return found / (n - period)


@wrong(check.induction, "the token that followed the last time")
def whole_copies_alone(weights, period):
    n = weights.shape[-1] // period * period
    return down(weights[..., :n, :n], period - 1)[..., 1:].mean(-1)


@wrong(check.induction, "any number of layers and heads")
def of_heads_alone(weights, period):
    if weights.dim() != 3:
        return weights.new_zeros(weights.shape[:-2])
    return down(weights, period - 1)[:, 1:].mean(-1)


# A fair null


def listed(share, least):
    layers, heads = share.shape
    found = [(share[i, j].item(), i, j) for i in range(layers) for j in range(heads)]
    found = sorted((one for one in found if one[0] >= least), reverse=True)
    return torch.tensor([one[1:] for one in found], dtype=torch.int64).reshape(-1, 2)


def told(null, scores, least):
    return listed((scores - null) / (1 - null), least)


def fair(queries):
    return sum(1 / (i + 1) for i in queries.tolist()) / len(queries)


@wrong(check.standing_out, "The largest comes first.")
def smallest_first(scores, queries, least):
    return torch.flip(told(fair(queries), scores, least), [0])


@wrong(check.standing_out, "The layer comes first.")
def head_and_layer(scores, queries, least):
    return told(fair(queries), scores, least)[:, [1, 0]]


@wrong(check.standing_out, "Query i sees i + 1 tokens")
def itself_forgotten(scores, queries, least):
    return told((1 / queries.double()).mean().item(), scores, least)


@wrong(check.standing_out, "One over the mean is less.")
def one_over_the_mean(scores, queries, least):
    return told(1 / (queries + 1).double().mean().item(), scores, least)


@wrong(check.standing_out, "Under a causal mask nobody sees all tokens.")
def one_over_all(scores, queries, least):
    return told(1 / (int(queries[-1]) + 1), scores, least)


@wrong(check.standing_out, "Divide it by the distance from the null to 1.")
def distance(scores, queries, least):
    return listed(scores - fair(queries), least)


@wrong(check.standing_out, "What would a head get that has no habit?")
def as_they_are(scores, queries, least):
    return listed(scores, least)


@wrong(check.standing_out, "how many times the null")
def times_the_null(scores, queries, least):
    return listed(scores / fair(queries), least)


@wrong(check.standing_out, "nobody, where nobody stands out")
def at_least_one(scores, queries, least):
    null = fair(queries)
    share = (scores - null) / (1 - null)
    return listed(share, min(least, share.max().item()))


# What a head is worth


def student(each):
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / math.sqrt(n)


@wrong(check.worth, "The first token of a copy cannot be known.")
def one_early(before, after, period):
    return student((after - before)[:, period - 1 :].mean(1))


@wrong(check.worth, "One column is missing")
def one_late(before, after, period):
    return student((after - before)[:, period + 1 :].mean(1))


@wrong(check.worth, "In the first copy nothing repeats.")
def both_copies(before, after, period):
    return student((after - before).mean(1))


@wrong(check.worth, "This is a fall")
def a_fall(before, after, period):
    return student((before - after)[:, period:].mean(1))


@wrong(check.worth, "Tokens of one text are not independent")
def tokens_for_texts(before, after, period):
    return student((after - before)[:, period:].reshape(-1))


@wrong(check.worth, "Texts differ, and both readings share that.")
def two_samples(before, after, period):
    a, b = before[:, period:].mean(1), after[:, period:].mean(1)
    error = math.sqrt(a.var().item() / len(a) + b.var().item() / len(b))
    return (b.mean() - a.mean()).item(), t.ppf(0.975, len(a) - 1) * error


@wrong(check.worth, "take Student's t")
def normal(before, after, period):
    each = (after - before)[:, period:].mean(1)
    return each.mean().item(), stats.norm.ppf(0.975) * each.std().item() / math.sqrt(len(each))


@wrong(check.worth, "A mean over n texts varies less")
def spread(before, after, period):
    mean, half = student((after - before)[:, period:].mean(1))
    return mean, half * math.sqrt(len(before))


@wrong(check.worth, "divide by n − 1")
def by_n(before, after, period):
    each = (after - before)[:, period:].mean(1).numpy()
    n = len(each)
    return each.mean(), t.ppf(0.975, n - 1) * each.std() / math.sqrt(n)


@wrong(check.worth, "half its interval over texts")
def always_eight_texts(before, after, period):
    each = (after - before)[:, period:].mean(1)
    return each.mean().item(), 2.364624 * each.std().item() / math.sqrt(len(each))


@wrong(check.worth, "more than one repeat")
def second_alone(before, after, period):
    return student((after - before)[:, period : 2 * period - 1].mean(1))
