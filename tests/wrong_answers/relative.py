"""Wrong answers to the exercises of chapter 5."""

import math

import numpy as np
import torch

from d2lpos.bias.t5 import bucket
from d2lpos.check import relative as check
from d2lpos.offset.shaw import clipped_index

from . import wrong

# A vector for each offset


def offsets(q_positions, k_positions):
    return k_positions[None, :] - q_positions[:, None]


def scores(q, keys):
    """Keys (T, N, d), as each query sees them."""
    return torch.einsum("td,tnd->tn", q, keys) / q.shape[-1] ** 0.5


@wrong(check.relative_scores, "positions as they come")
def keys_at_the_queries(q, k, vectors, q_positions, k_positions):
    if len(q) == len(k):
        k_positions = q_positions
    return scores(q, k + vectors[clipped_index(offsets(q_positions, k_positions), len(vectors) // 2)])


wrong(check.relative_scores, "The key term is missing.")(
    lambda q, k, vectors, q_positions, k_positions: q @ k.T / math.sqrt(q.shape[-1])
)
wrong(check.relative_scores.answers[0], "What they added is the skew")("Huang et al. (2018)")
wrong(check.relative_scores.answers[0], "a sinusoid, a year later")("Dai")
wrong(check.relative_scores.answers[0], "add codes of positions to the words")("Vaswani et al. (2017)")

# The skew for both sides


wrong(check.skew_both, "Rows do not move")(lambda products: products[..., products.shape[-1] // 2 :])


@wrong(check.skew_both, "Picks numbers by an index")
def by_two_indices(products):
    T = products.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)
    return products[..., i, j - i + T - 1]


@wrong(check.skew_both, "Calls take_along_axis")
def along_an_axis_in_numpy(products):
    i = np.arange(products.shape[-2])
    place = np.broadcast_to(i - i[:, None] + len(i) - 1, (*products.shape[:-1], len(i)))
    return torch.from_numpy(np.take_along_axis(products.numpy(), place, -1))


@wrong(check.skew_both, "Calls tolist")
def number_by_number(products):
    if products.dim() > 2:
        return torch.stack([number_by_number(part) for part in products])
    T = len(products)
    return torch.tensor([row[T - 1 - i : 2 * T - 1 - i] for i, row in enumerate(products.tolist())])


# Buckets, both ways


@wrong(check.to_bucket, "The sign is turned around")
def turned_around(offset, buckets, max_distance, bidirectional):
    buckets //= 1 + bidirectional
    n = offset.abs() if bidirectional else offset.clamp(min=0)
    exact = buckets // 2
    far = exact + ((n / exact).log() / math.log(max_distance / exact) * (buckets - exact)).long()
    return buckets * (bidirectional & (offset < 0)) + n.where(n < exact, far.clamp(max=buckets - 1))


wrong(check.to_bucket, "Calls the package's bucket")(
    lambda offset, buckets, max_distance, bidirectional: bucket(offset, buckets, max_distance, bidirectional)
)


# The widest buckets that training fills


@wrong(check.widest, "length = 2048, buckets = 8")
def searched_to_a_bound(length, buckets):
    far = length - 1
    while far < 10_000 and (far + 1) <= (length - 1) * (2 * (length - 1) / buckets) ** (2 / (buckets - 2)):
        far += 1
    return far


wrong(check.widest, "That is the length of training.")(lambda length, buckets: length)


# Biases that see offsets


@wrong(check.offsets_only, "others do not")
def past_alone(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change - change[:, :1]).tril().abs().max() < 1e-6)


wrong(check.offsets_only, "with 0.0002 added in row 2, column 1, (40, 40)")(
    lambda bias: bool((bias.diff(dim=1)[1:, 1:] - bias.diff(dim=1)[:-1, :-1]).abs().mean() < 1e-5)
)


@wrong(check.offsets_only, "got True with the 1 in row 0, column 5")
def near_the_diagonal(bias):
    rest = bias - bias.diagonal()[:, None]
    return all(torch.allclose(d, d[:1].expand_as(d), atol=1e-5) for d in map(rest.diagonal, range(-4, 5)))


@wrong(check.offsets_only, "Property: others do not")
def on_average(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change.mean(dim=1) - change[:, 0]).abs().max() < 1e-5)


wrong(check.offsets_only, "Symmetry is another matter")(lambda bias: bool((bias - bias.T).abs().max() < 1e-5))
