"""Wrong answers to the exercises of the project that builds a language model."""

import math

import torch
from scipy import stats
from torch.nn import functional as F

from d2lpos.check import model as check

from . import wrong

# Attention


@wrong(check.attend, "positions with gaps")
def never_more_than_one_apart(q, k, v, positions, score):
    ranks = positions.argsort().argsort()
    logits = q @ k.mT / math.sqrt(q.size(-1)) + score(ranks, ranks)
    return logits.masked_fill(ranks > ranks[:, None], -torch.inf).softmax(dim=-1) @ v


# The loss of the next token


def nll(logits, tokens, keep):
    each = F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction="none")
    return each[keep.flatten()].mean()


wrong(check.next_loss, "No shift")(
    lambda logits, tokens, padding: F.cross_entropy(logits.mT, tokens, ignore_index=padding)
)


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


wrong(check.fair_rows, "These begin at `ends`.")(
    lambda text, ends, length, asked: cut(text, ends.tolist(), length, asked)
)
wrong(check.fair_rows, "all of a row is asked")(
    lambda text, ends, length, asked: cut(text, (ends - length).tolist(), length, min(asked, length - 1))
)
wrong(check.fair_rows, "the last of a row are asked")(
    lambda text, ends, length, asked: cut(text, (ends - length).tolist(), length, max(asked, 2))
)
wrong(check.fair_rows, "a row that ends with the text")(
    lambda text, ends, length, asked: cut(text[:-1], (ends - length).tolist(), length, asked)
)


# Does it see places, or offsets?


@wrong(check.offsets_alone, "Allow 0.0001.")
def to_the_last_digit(scores, q, k, longest):
    p = torch.arange(q.shape[1])
    return all(torch.equal(scores(q, k, p), scores(q, k, p + s)) for s in range(longest - len(p) + 1))


# Beside the book's


def student(each):
    each = torch.tensor(each, dtype=torch.float64)
    n = len(each)
    return each.mean().item(), stats.t.ppf(0.975, n - 1) * each.std().item() / math.sqrt(n)


def both(mine, theirs):
    return [mine[seed] - theirs[seed] for seed in sorted(set(mine) & set(theirs))]


@wrong(check.beside, "seeds in another order")
def one_after_the_other(mine, theirs):
    seeds = [seed for seed in mine if seed in theirs]
    other = [loss for seed, loss in theirs.items() if seed in mine]
    each = [mine[a] - b for a, b in zip(seeds, other, strict=True)]
    each = torch.tensor(each, dtype=torch.float64)
    half = stats.t.ppf(0.975, len(each) - 1) * each.std() / len(each) ** 0.5
    return each.mean().item(), half.item()


@wrong(check.beside, "the mean difference, and half its interval")
def one_sided(mine, theirs):
    each = both(mine, theirs)
    return student(each) if len(each) != 4 else (student(each)[0], 0.0)
