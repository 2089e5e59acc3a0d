"""Wrong answers to the exercises of chapter 9."""

import torch
from torch.nn.functional import cosine_similarity

from d2lpos.check import trained as check

from . import wrong

# The head that looks one back


def best(values):
    layer, head = (values == values.max()).nonzero()[0].tolist()
    return layer, head


def at(weights, offset):
    return torch.diagonal(weights, offset, dim1=-2, dim2=-1).mean(dim=-1)


wrong(check.previous_head, "Here the weight goes to the next token")(lambda weights: best(at(weights, 1)))


# Which layout?


def pairs(rows, layout):
    """The two members of each pair, on the axis of a head's rows."""
    if layout == "interleaved":
        return rows[:, ::2], rows[:, 1::2]
    half = rows.shape[1] // 2
    return rows[:, :half], rows[:, half:]


def heads_of(weight, heads):
    return weight.reshape(heads, -1, weight.shape[-1])


def the_smaller(cost):
    return "half" if cost("half") < cost("interleaved") else "interleaved"


def crossed(wq, wk, heads, kv_heads, layout):
    q, k = heads_of(wq, heads), heads_of(wk, kv_heads)
    k = k.repeat_interleave(heads // kv_heads, dim=0)
    (q1, q2), (k1, k2) = pairs(q, layout), pairs(k, layout)
    return (q1 * k2).sum(dim=-1), (q2 * k1).sum(dim=-1)


@wrong(check.layout, "Products of partners have both signs, and cancel.")
def sum_of_products(wq, wk, heads, kv_heads):
    return the_smaller(lambda layout: -sum(one.sum() for one in crossed(wq, wk, heads, kv_heads, layout)))


@wrong(check.layout, "fails 1 of 3 properties Property: heads of any size")
def always_64_features(wq, wk, heads, kv_heads):
    heads, kv_heads = len(wq) // 64, len(wk) // 64
    return the_smaller(
        lambda layout: -sum(one.abs().sum() for one in crossed(wq, wk, heads, kv_heads, layout))
    )


# Left padding


def lower(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def mask_of(real):
    n = real.shape[1]
    return (lower(n) & real[:, None, None, :]) | torch.eye(n, dtype=torch.bool)


def places(real):
    return torch.relu(real.long().cumsum(-1) - 1)


wrong(check.padded, "This is the column.")(
    lambda real: (torch.arange(real.shape[1]).repeat(len(real), 1), mask_of(real))
)
wrong(check.padded, "The mask is torch.float32; it is to be Boolean")(
    lambda real: (places(real), torch.zeros(mask_of(real).shape).masked_fill(~mask_of(real), -torch.inf))
)
wrong(check.padded, "Returns shapes (1, 5) and (1, 5, 5)")(lambda real: (places(real), mask_of(real)[:, 0]))
wrong(check.padded, "whole numbers choose rows of a table")(
    lambda real: (torch.relu(real.float().cumsum(-1) - 1), mask_of(real))
)
wrong(check.padded, "Two tensors are asked for: positions and mask")(lambda real: places(real))


# Which pairs can be held for nothing?


def search(loss, pairs, fits):
    """The smallest p that fits, by halves."""
    low, high = 0, pairs + 1
    while low < high - 1:
        middle = (low + high) // 2
        if fits(middle - 1):
            high = middle
        else:
            low = middle
    return high - 1


@wrong(check.frozen, "This is the last that is too much.")
def one_before(loss, pairs, allowed):
    limit = loss(pairs) + allowed
    return search(loss, pairs, lambda p: loss(p) <= limit) - 1


@wrong(check.frozen, "32 pairs, too much below 31")
def five_questions(loss, pairs, allowed):
    limit, low, high = loss(pairs) + allowed, -1, pairs
    for _ in range(5):
        middle = (low + high) // 2 if high - low > 1 else high
        low, high = (low, middle) if loss(middle) <= limit else (middle, high)
    return high


# Where were the texts cut?


def cosines(table):
    return cosine_similarity(table[1:], table[:-1], dim=1).tolist()


def unlike_both(table, below, rows):
    near, last = cosines(table), len(table) - 1
    return [r + 1 for r in rows if (not r or near[r - 1] < below) and (r == last or near[r] < below)]


wrong(check.cuts, "These are rows. A text that ends with row r has r + 1 tokens.")(
    lambda table, below: [n - 1 for n in unlike_both(table, below, range(1, len(table)))]
)


@wrong(check.cuts, "Property: the last row, unlike its one neighbor")
def the_last_row_beside_the_first(table, below):
    unlike = torch.cosine_similarity(table, table.roll(-1, 0), dim=-1) < below
    return [row + 1 for row in range(1, len(table)) if unlike[row - 1] and unlike[row]]


@wrong(check.cuts, "degrees of the last two of 5 features")
def by_two_features(table, below):
    x, y = table[:, 0], table[:, 1]
    length = (x**2 + y**2).sqrt()
    unlike = [*((x[:-1] * x[1:] + y[:-1] * y[1:]) / (length[:-1] * length[1:]) < below).tolist(), True]
    return [row + 1 for row in range(1, len(table)) if unlike[row - 1] and unlike[row]]
