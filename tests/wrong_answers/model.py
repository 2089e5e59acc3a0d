"""Wrong answers to the exercises of the project that builds a language model."""

import math

import torch
from scipy import stats
from torch.nn import functional as F

from d2lpos.check import model as check

from . import wrong

# Attention


def heads(q, k, v, positions, score, seen=None, root=True):
    logits = torch.einsum("bhqd,bhkd->bhqk", q, k) / (math.sqrt(q.size(-1)) if root else 1)
    logits = logits + score(positions, positions)
    if seen is None:
        seen = positions[None, :] <= positions[:, None]
    return torch.softmax(logits.masked_fill(~seen, float("-inf")), -1) @ v


@wrong(check.attend, "Hidden by the place in the row.")
def lower_triangle(q, k, v, positions, score):
    logits = q @ k.mT / q.shape[-1] ** 0.5 + score(positions, positions)
    seen = torch.ones(len(positions), len(positions)).tril() > 0
    return logits.masked_fill(~seen, -torch.inf).softmax(dim=-1) @ v


@wrong(check.attend, "counted along the row")
def own_positions(q, k, v, positions, score):
    return heads(q, k, v, torch.arange(q.shape[2]), score)


@wrong(check.attend, "No key is hidden.")
def all_seen(q, k, v, positions, score):
    return heads(q, k, v, positions, score, seen=torch.ones(len(positions), len(positions)) > 0)


@wrong(check.attend, "shows the future")
def upside_down(q, k, v, positions, score):
    return heads(q, k, v, positions, score, seen=positions[None, :] >= positions[:, None])


@wrong(check.attend, "A token sees itself, too")
def strictly_before(q, k, v, positions, score):
    return heads(q, k, v, positions, score, seen=positions[None, :] < positions[:, None]).nan_to_num()


@wrong(check.attend, "Hidden after the softmax")
def cut_afterwards(q, k, v, positions, score):
    weights = (q @ k.mT / q.shape[-1] ** 0.5 + score(positions, positions)).softmax(-1)
    return (weights * (positions[None, :] <= positions[:, None])) @ v


@wrong(check.attend, "added to the weights")
def score_on_weights(q, k, v, positions, score):
    seen = positions[None, :] <= positions[:, None]
    logits = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return (logits.softmax(-1) + score(positions, positions)) @ v


@wrong(check.attend, "divided as well")
def all_divided(q, k, v, positions, score):
    root = math.sqrt(q.shape[-1])
    return heads(q, k, v, positions, lambda a, b: score(a, b) / root)


@wrong(check.attend, "the root of the number of features")
def no_root(q, k, v, positions, score):
    return heads(q, k, v, positions, score, root=False)


@wrong(check.attend, "the root of the number of features")
def no_root_but_all(q, k, v, positions, score):
    return heads(q / math.sqrt(q.shape[-1]), k, v, positions, score)


@wrong(check.attend, "left out")
def no_score(q, k, v, positions, score):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=positions[None, :] <= positions[:, None])


@wrong(check.attend, "Queries are rows and keys are columns")
def transposed_score(q, k, v, positions, score):
    return heads(q, k, v, positions, lambda a, b: score(a, b).transpose(1, 2))


@wrong(check.attend, "a weight of 1")
def over_queries(q, k, v, positions, score):
    logits = q @ k.mT / q.shape[-1] ** 0.5 + score(positions, positions)
    seen = positions[None, :] <= positions[:, None]
    return logits.masked_fill(~seen, -torch.inf).softmax(2) @ v


@wrong(check.attend, "positions with gaps")
def never_more_than_one_apart(q, k, v, positions, score):
    ranks = positions.argsort().argsort()
    return heads(q, k, v, ranks, score)


@wrong(check.attend, "positions that count from 0")
def from_one(q, k, v, positions, score):
    return heads(q, k, v, positions, score) * (positions[0] != 0)


# The loss of the next token


def nll(logits, tokens, keep):
    each = F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="none")
    return each[keep.flatten()].mean()


@wrong(check.next_loss, "No shift")
def same_token(logits, tokens, padding):
    return F.cross_entropy(logits.mT, tokens, ignore_index=padding)


@wrong(check.next_loss, "Shifted the wrong way")
def backwards(logits, tokens, padding):
    real = tokens != padding
    return nll(logits[:, 1:], tokens[:, :-1], real[:, 1:] & real[:, :-1])


@wrong(check.next_loss, "The first token of a text stands behind padding")
def ignores_padding(logits, tokens, padding):
    return F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], ignore_index=padding)


@wrong(check.next_loss, "Padding is asked for.")
def text_tells_padding(logits, tokens, padding):
    return nll(logits[:, :-1], tokens[:, 1:], tokens[:, :-1] != padding)


@wrong(check.next_loss, "All places count here")
def padding_counts(logits, tokens, padding):
    return F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:])


@wrong(check.next_loss, "A mean of rows")
def mean_of_means(logits, tokens, padding):
    found = []
    for one, row in zip(logits, tokens, strict=True):
        real = row != padding
        keep = real[1:] & real[:-1]
        found.append(F.cross_entropy(one[:-1][keep], row[1:][keep]))
    return sum(found) / len(found)


@wrong(check.next_loss, "Divide it by the number of tokens that count.")
def zeros_in_the_mean(logits, tokens, padding):
    each = F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    return (each * (tokens[:, 1:] != padding) * (tokens[:, :-1] != padding)).mean()


@wrong(check.next_loss, "This is a sum.")
def added(logits, tokens, padding):
    each = F.cross_entropy(logits[:, :-1].mT, tokens[:, 1:], reduction="none")
    return (each * (tokens[:, 1:] != padding) * (tokens[:, :-1] != padding)).sum()


@wrong(check.next_loss, "This is the perplexity.")
def perplexity(logits, tokens, padding):
    real = tokens != padding
    return nll(logits[:, :-1], tokens[:, 1:], real[:, 1:] & real[:, :-1]).exp()


@wrong(check.next_loss, "padding behind the text")
def padding_is_zero(logits, tokens, padding):
    return nll(logits[:, :-1], tokens[:, 1:], (tokens[:, 1:] != 0) & (tokens[:, :-1] != 0))


@wrong(check.next_loss, "each token is told by the place before it")
def first_target_left_out(logits, tokens, padding):
    real = tokens != padding
    if real.all():
        return nll(logits[:, 1:-1], tokens[:, 2:], real[:, 2:])
    return nll(logits[:, :-1], tokens[:, 1:], real[:, 1:] & real[:, :-1])


# Rows for a fair test


def cut(text, first, length, asked):
    tokens = torch.stack([text[i : i + length] for i in first])
    targets = torch.stack([text[i + 1 : i + length + 1] for i in first])
    return tokens, torch.where(torch.arange(length) >= length - asked, targets, -100)


@wrong(check.fair_rows, "These begin at `ends`.")
def begin_there(text, ends, length, asked):
    return cut(text, ends.tolist(), length, asked)


@wrong(check.fair_rows, "The targets are the tokens themselves.")
def copies(text, ends, length, asked):
    tokens, targets = cut(text, (ends - length).tolist(), length, asked)
    return tokens, torch.where(targets < 0, targets, tokens)


@wrong(check.fair_rows, "The first ones are asked for.")
def at_the_front(text, ends, length, asked):
    tokens, targets = cut(text, (ends - length).tolist(), length, length)
    return tokens, torch.where(torch.arange(length) < asked, targets, -100)


@wrong(check.fair_rows, "All are asked for.")
def every_target(text, ends, length, asked):
    rows = torch.stack([text[end - length : end + 1] for end in ends])
    return rows[:, :-1], rows[:, 1:]


@wrong(check.fair_rows, "A 0 is a character.")
def zeros(text, ends, length, asked):
    tokens, targets = cut(text, (ends - length).tolist(), length, asked)
    return tokens, targets * (targets >= 0)


@wrong(check.fair_rows, "It is the last target")
def end_included(text, ends, length, asked):
    return cut(text, (ends - length + 1).tolist(), length, asked)


@wrong(check.fair_rows, "One target too many")
def one_more(text, ends, length, asked):
    return cut(text, (ends - length).tolist(), length, asked + 1)


@wrong(check.fair_rows, "all of a row is asked")
def never_all(text, ends, length, asked):
    return cut(text, (ends - length).tolist(), length, min(asked, length - 1))


@wrong(check.fair_rows, "the last of a row are asked")
def at_least_two(text, ends, length, asked):
    return cut(text, (ends - length).tolist(), length, max(asked, 2))


@wrong(check.fair_rows, "a row that ends with the text")
def one_short(text, ends, length, asked):
    return cut(text[:-1], (ends - length).tolist(), length, asked)


# Does it see places, or offsets?


def same(a, b):
    return torch.allclose(a, b, atol=1e-4)


@wrong(check.offsets_alone, "Allow 0.0001.")
def to_the_last_digit(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return all(torch.equal(scores(q, k, p), scores(q, k, p + s)) for s in range(longest - len(p) + 1))


@wrong(check.offsets_alone, "One shift is not enough.")
def one_step(scores, q, k, longest):
    here = torch.arange(q.shape[1])
    return torch.allclose(scores(q, k, here), scores(q, k, here + 1), atol=1e-4)


@wrong(check.offsets_alone, "One shift is not enough.")
def furthest(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return same(scores(q, k, p), scores(q, k, p + longest - len(p)))


@wrong(check.offsets_alone, "One shift is not enough.")
def half_way(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return same(scores(q, k, p), scores(q, k, p + (longest - len(p)) // 2))


@wrong(check.offsets_alone, "a whole turn of a table")
def by_fours(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return all(same(scores(q, k, p), scores(q, k, p + s)) for s in range(0, longest - len(p) + 1, 4))


@wrong(check.offsets_alone, "The last start is missing")
def one_start_less(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return all(same(scores(q, k, p), scores(q, k, p + s)) for s in range(longest - len(p)))


@wrong(check.offsets_alone, "go past `longest`")
def too_far(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return all(same(scores(q, k, p), scores(q, k, p + s)) for s in range(longest))


@wrong(check.offsets_alone, "Without contents")
def empty_heads(scores, q, k, longest):
    p, q, k = torch.arange(q.shape[1]), 0 * q, 0 * k
    return all(same(scores(q, k, p), scores(q, k, p + s)) for s in range(longest - len(p) + 1))


@wrong(check.offsets_alone, "Twice the positions is another law")
def doubled(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return same(scores(q, k, p), scores(q, k, p * 2))


@wrong(check.offsets_alone, "Means hide changes that cancel.")
def means(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    shifts = range(longest - len(p) + 1)
    return all(same(scores(q, k, p).mean(), scores(q, k, p + s).mean()) for s in shifts)


@wrong(check.offsets_alone, "One pair is not all of them.")
def corner(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    shifts = range(longest - len(p) + 1)
    return all(same(scores(q, k, p)[:, 0, 0], scores(q, k, p + s)[:, 0, 0]) for s in shifts)


@wrong(check.offsets_alone, "True where offsets alone count")
def never(scores, q, k, longest):
    return longest < 12


@wrong(check.offsets_alone, "False where places count")
def coarse(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    shifts = range(longest - len(p) + 1)
    return all(torch.allclose(scores(q, k, p), scores(q, k, p + s), atol=0.1) for s in shifts)


# Beside the book's


def student(each):
    each = torch.tensor(each, dtype=torch.float64)
    n = len(each)
    return each.mean().item(), stats.t.ppf(0.975, n - 1) * each.std().item() / math.sqrt(n)


def both(mine, theirs):
    return [mine[seed] - theirs[seed] for seed in sorted(set(mine) & set(theirs))]


@wrong(check.beside, "by their place in the dictionary")
def zipped(mine, theirs):
    return student([a - b for a, b in zip(mine.values(), theirs.values(), strict=False)])


@wrong(check.beside, "seeds in another order")
def one_after_the_other(mine, theirs):
    seeds = [seed for seed in mine if seed in theirs]
    other = [loss for seed, loss in theirs.items() if seed in mine]
    each = [mine[a] - b for a, b in zip(seeds, other, strict=True)]
    each = torch.tensor(each, dtype=torch.float64)
    half = stats.t.ppf(0.975, len(each) - 1) * each.std() / len(each) ** 0.5
    return each.mean().item(), half.item()


@wrong(check.beside, "no loss of 0")
def missing_is_zero(mine, theirs):
    return student([mine.get(seed, 0) - theirs.get(seed, 0) for seed in sorted({**mine, **theirs})])


@wrong(check.beside, "seeds that one of the two lacks")
def seeds_of_mine(mine, theirs):
    return student([mine[seed] - theirs[seed] for seed in mine])


@wrong(check.beside, "Theirs comes off mine")
def the_other_sign(mine, theirs):
    return student(both(theirs, mine))


@wrong(check.beside, "Take differences first")
def two_samples(mine, theirs):
    a, b = (torch.tensor([*losses.values()]).double() for losses in (mine, theirs))
    error = math.sqrt(a.var().item() / len(a) + b.var().item() / len(b))
    return a.mean().item() - b.mean().item(), stats.t.ppf(0.975, len(a) - 1) * error


@wrong(check.beside, "take Student's t")
def normal(mine, theirs):
    each = torch.tensor(both(mine, theirs)).double()
    return each.mean().item(), 1.96 * each.std().item() / math.sqrt(len(each))


@wrong(check.beside, "A mean over n seeds varies less")
def spread(mine, theirs):
    each = both(mine, theirs)
    mean, half = student(each)
    return mean, half * math.sqrt(len(each))


@wrong(check.beside, "This divides squares by n.")
def by_n(mine, theirs):
    each = torch.tensor(both(mine, theirs)).double().numpy()
    n = len(each)
    return each.mean(), stats.t.ppf(0.975, n - 1) * each.std() / math.sqrt(n)


@wrong(check.beside, "This is the whole interval.")
def both_halves(mine, theirs):
    mean, half = student(both(mine, theirs))
    return mean, 2 * half


@wrong(check.beside, "there are n − 1 degrees")
def one_degree_more(mine, theirs):
    each = torch.tensor(both(mine, theirs)).double()
    n = len(each)
    return each.mean().item(), stats.t.ppf(0.975, n) * each.std().item() / math.sqrt(n)


@wrong(check.beside, "the mean difference, and half its interval")
def one_sided(mine, theirs):
    each = both(mine, theirs)
    return student(each) if len(each) != 4 else (student(each)[0], 0.0)
