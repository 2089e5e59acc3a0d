"""Wrong answers to the exercises of chapter 5."""

import math

import numpy as np
import torch
from torch.nn.functional import pad

from d2lpos.bias.t5 import bucket
from d2lpos.check import relative as check
from d2lpos.offset.shaw import row

from . import wrong

# A vector for each offset


def offsets(q_positions, k_positions):
    return k_positions[None, :] - q_positions[:, None]


def scores(q, keys):
    """Keys (T, N, d), as each query sees them."""
    return torch.einsum("td,tnd->tn", q, keys) / q.shape[-1] ** 0.5


@wrong(check.relative_scores, "content and the vector of the offset, over √d")
def half_of_four(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return torch.einsum("td,tnd->tn", q, k + vectors[rows]) / 2


@wrong(check.relative_scores, "content and the vector of the offset, over √d")
def three_features(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return torch.einsum("td,tnd->tn", q, k + vectors[rows]) / 3**0.5


@wrong(check.relative_scores, "positions as they come")
def keys_at_the_queries(q, k, vectors, q_positions, k_positions):
    if len(q) == len(k):
        k_positions = q_positions
    return scores(q, k + vectors[row(offsets(q_positions, k_positions), len(vectors) // 2)])


@wrong(check.relative_scores, "The sign is turned around")
def query_minus_key(q, k, vectors, q_positions, k_positions):
    rows = row(-offsets(q_positions, k_positions), len(vectors) // 2)
    return scores(q, k + vectors[rows])


@wrong(check.relative_scores, "Nothing is divided by √d.")
def unscaled(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return (q[:, None] * (k + vectors[rows])).sum(-1)


@wrong(check.relative_scores, "The key term is not divided by √d")
def key_term_unscaled(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return q @ k.T / math.sqrt(q.shape[-1]) + (q[:, None] * vectors[rows]).sum(-1)


@wrong(check.relative_scores, "This is divided by d.")
def over_d(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return (q[:, None] * (k + vectors[rows])).mean(-1)


@wrong(check.relative_scores, "The content is missing")
def key_term_alone(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return scores(q, vectors[rows])


@wrong(check.relative_scores, "The key term is missing.")
def content_alone(q, k, vectors, q_positions, k_positions):
    return q @ k.T / math.sqrt(q.shape[-1])


@wrong(check.relative_scores, "Here the key does.")
def vectors_meet_keys(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return ((q[:, None] + vectors[rows]) * k).sum(-1) / math.sqrt(q.shape[-1])


@wrong(check.relative_scores, "Left and right share a vector.")
def distances(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions).abs(), len(vectors) // 2)
    return scores(q, k + vectors[rows])


@wrong(check.relative_scores, "come in at its other end")
def not_clipped(q, k, vectors, q_positions, k_positions):
    rows = (offsets(q_positions, k_positions) + len(vectors) // 2) % len(vectors)
    return scores(q, k + vectors[rows])


@wrong(check.relative_scores, "are not clipped")
def clamp_forgotten(q, k, vectors, q_positions, k_positions):
    return scores(q, k + vectors[offsets(q_positions, k_positions) + len(vectors) // 2])


@wrong(check.relative_scores, "nothing to gather", card=True)
def clamp_forgotten_in_gather(q, k, vectors, q_positions, k_positions):
    rows = offsets(q_positions, k_positions) + (len(vectors) - 1) // 2
    return (q @ k.T + torch.gather(q @ vectors.T, 1, rows)) * q.shape[-1] ** -0.5


@wrong(check.relative_scores, "add C to the clipped offset")
def clip_not_added(q, k, vectors, q_positions, k_positions):
    clip = len(vectors) // 2
    return scores(q, k + vectors[offsets(q_positions, k_positions).clamp(-clip, clip)])


@wrong(check.relative_scores, "Beyond the table nothing is added.")
def zero_beyond(q, k, vectors, q_positions, k_positions):
    clip, offset = len(vectors) // 2, offsets(q_positions, k_positions)
    seen = vectors[row(offset, clip)]
    seen[offset.abs() > clip] = 0
    return scores(q, k + seen)


@wrong(check.relative_scores, "The clip is one too small")
def clip_without_zero(q, k, vectors, q_positions, k_positions):
    clip = (len(vectors) - 2) // 2
    offset = offsets(q_positions, k_positions).clamp(-clip, clip)
    return scores(q, k + vectors[offset + len(vectors) // 2])


@wrong(check.relative_scores, "Positions are taken to be 0, 1, 2, …")
def by_index(q, k, vectors, q_positions, k_positions):
    offset = torch.arange(len(k)) - torch.arange(len(q))[:, None]
    return scores(q, k + vectors[row(offset, len(vectors) // 2)])


@wrong(check.relative_scores, "This is (N, T).")
def transposed(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return scores(q, k + vectors[rows]).T


@wrong(check.relative_scores, "These are weights.")
def weights(q, k, vectors, q_positions, k_positions):
    rows = row(offsets(q_positions, k_positions), len(vectors) // 2)
    return scores(q, k + vectors[rows]).softmax(-1)


wrong(check.relative_scores.answers[0], "What they added is the skew")("Huang et al. (2018)")
wrong(check.relative_scores.answers[0], "What they added is the skew")("Music Transformer")
wrong(check.relative_scores.answers[0], "a sinusoid, a year later")("Dai")
wrong(check.relative_scores.answers[0], "add codes of positions to the words")("Vaswani et al. (2017)")
wrong(check.relative_scores.answers[0], "It is not 'raffel'")("Raffel")

# The skew for both sides


@wrong(check.skew_both, "It has no offsets above 0.")
def music_transformer(products):
    T = products.shape[-2]
    padded = pad(products[..., :T], (1, 0))
    return padded.reshape(*products.shape[:-2], T + 1, T)[..., 1:, :]


@wrong(check.skew_both, "The first numbers are not skipped")
def no_skip(products):
    T = products.shape[-2]
    flat = pad(products, (0, 1)).flatten(-2)
    return flat[..., : T * (2 * T - 1)].unflatten(-1, (T, 2 * T - 1))[..., :T]


@wrong(check.skew_both, "One number too many is skipped")
def skips_one_more(products):
    T = products.shape[-2]
    flat = pad(products, (0, 1)).flatten(-2)[..., T:]
    return flat[..., : T * (2 * T - 1)].unflatten(-1, (T, 2 * T - 1))[..., :T]


@wrong(check.skew_both, "One number too few is skipped")
def pads_in_front(products):
    T = products.shape[-2]
    flat = pad(products, (1, 0)).flatten(-2)[..., T - 1 :]
    return flat[..., : T * (2 * T - 1)].unflatten(-1, (T, 2 * T - 1))[..., :T]


@wrong(check.skew_both, "Rows do not move")
def second_half(products):
    return products[..., products.shape[-1] // 2 :]


@wrong(check.skew_both, "The result is mirrored")
def turned(products):
    return right_skew(products).transpose(-1, -2)


def right_skew(products):
    T = products.shape[-2]
    flat = pad(products, (0, 1)).flatten(-2)[..., T - 1 :]
    return flat[..., : T * (2 * T - 1)].unflatten(-1, (T, 2 * T - 1))[..., :T]


@wrong(check.skew_both, "The offsets are taken in reverse order.")
def from_the_right(products):
    return right_skew(products.flip(-1))


@wrong(check.skew_both, "Only the last two are: flatten(-2).")
def flat_altogether(products):
    T = products.shape[-2]
    flat = pad(products, (0, 1)).flatten()[T - 1 :]
    return flat[: T * (2 * T - 1)].unflatten(0, (T, 2 * T - 1))[:, :T]


@wrong(check.skew_both, "products may have axes in front.", card=True)
def length_of_first_axis(products):
    T = len(products)
    flat = pad(products, (0, 1)).reshape(-1)[T - 1 : 2 * T * T - 1]
    return flat.reshape(T, 2 * T - 1)[:, :T]


@wrong(check.skew_both, "With one token", card=True)
def without_padding(products):
    T = products.shape[-2]
    flat = products.flatten(-2)[..., T - 1 : -1 if T > 1 else 0]
    return flat.unflatten(-1, (T, 2 * T - 2))[..., :T]


@wrong(check.skew_both, "That is an index in disguise.")
def by_gather(products):
    T = products.shape[-2]
    place = torch.arange(T)[None] - torch.arange(T)[:, None] + T - 1
    return torch.gather(products, -1, place.expand(*products.shape[:-2], T, T))


@wrong(check.skew_both, "Picks numbers by an index")
def by_two_indices(products):
    T = products.shape[-2]
    i, j = torch.arange(T)[:, None], torch.arange(T)
    return products[..., i, j - i + T - 1]


@wrong(check.skew_both, "Picks numbers by an index")
def by_two_indices_in_numpy(products):
    x = np.asarray(products)
    i = np.arange(x.shape[-2])
    return torch.from_numpy(x[..., i[:, None], i - i[:, None] + len(i) - 1])


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


@wrong(check.skew_both, "Move numbers, compute none.")
def by_a_product(products):
    T = products.shape[-2]
    one_hot = torch.nn.functional.one_hot(torch.arange(T) - torch.arange(T)[:, None] + T - 1, 2 * T - 1)
    return torch.einsum("...tc,tjc->...tj", products, one_hot.float())


@wrong(check.skew_both, "Row by row is slow.")
def row_by_row(products):
    T = products.shape[-2]
    return torch.stack([products[..., i, T - 1 - i : 2 * T - 1 - i] for i in range(T)], dim=-2)


@wrong(check.skew_both, "Row by row is slow.")
def row_by_row_in_numpy(products):
    x = products.numpy()
    T = x.shape[-2]
    return torch.from_numpy(np.stack([x[..., i, T - 1 - i : 2 * T - 1 - i] for i in range(T)], -2))


# Buckets, both ways


def ported(offset, buckets, max_distance, bidirectional, cut=True, integer=torch.Tensor.long):
    """As many libraries write it."""
    result = torch.zeros_like(offset)
    if bidirectional:
        buckets //= 2
        result = result + (offset > 0).long() * buckets
        n = offset.abs()
    else:
        n = torch.max(-offset, torch.zeros_like(offset))
    exact = buckets // 2
    large = exact + integer(torch.log(n.float() / exact) / math.log(max_distance / exact) * (buckets - exact))
    if cut:
        large = large.clamp(max=buckets - 1)
    return result + torch.where(n < exact, n, large)


@wrong(check.to_bucket, "The sign is turned around")
def query_minus_key_bucket(offset, buckets, max_distance, bidirectional):
    return ported(-offset, buckets, max_distance, bidirectional)


@wrong(check.to_bucket, "The last bucket is missing its cut")
def forgot_the_minimum(offset, buckets, max_distance, bidirectional):
    return ported(offset, buckets, max_distance, bidirectional, cut=False)


@wrong(check.to_bucket, "two sides, each with half of the buckets")
def cut_after_the_upper_half(offset, buckets, max_distance, bidirectional):
    return ported(offset, buckets, max_distance, bidirectional, cut=False).clamp(max=buckets - 1)


@wrong(check.to_bucket, "Cut the bucket.")
def cut_the_distance(offset, buckets, max_distance, bidirectional):
    near = offset.clamp(-max_distance, max_distance)
    return ported(near, buckets, max_distance, bidirectional, cut=False)


@wrong(check.to_bucket, "rounded to the nearest")
def nearest(offset, buckets, max_distance, bidirectional):
    return ported(offset, buckets, max_distance, bidirectional, integer=lambda x: x.round().long())


@wrong(check.to_bucket, "rounded up")
def upward(offset, buckets, max_distance, bidirectional):
    return ported(offset, buckets, max_distance, bidirectional, integer=lambda x: x.ceil().long())


@wrong(check.to_bucket, "All buckets are logarithmic.")
def logarithms_only(offset, buckets, max_distance, bidirectional):
    upper = 0
    if bidirectional:
        buckets //= 2
        upper = buckets * (offset > 0)
        distance = offset.abs()
    else:
        distance = (-offset).clamp(min=0)
    found = distance.clamp(min=1).log() / math.log(max_distance) * buckets
    return upper + found.long().clamp(max=buckets - 1)


@wrong(check.to_bucket, "All buckets hold one distance.")
def no_logarithm(offset, buckets, max_distance, bidirectional):
    if bidirectional:
        buckets //= 2
        return offset.abs().clamp(max=buckets - 1) + buckets * (offset > 0)
    return (-offset).clamp(0, buckets - 1)


@wrong(check.to_bucket, "The logarithm is divided by ln D.")
def over_log_of_maximum(offset, buckets, max_distance, bidirectional):
    upper = 0
    if bidirectional:
        buckets //= 2
        upper = buckets * (offset > 0)
        distance = offset.abs()
    else:
        distance = (-offset).clamp(min=0)
    half = buckets // 2
    far = half + (torch.log(distance / half) / math.log(max_distance) * half).floor()
    return upper + torch.where(distance < half, distance, far.clamp(max=buckets - 1)).long()


@wrong(check.to_bucket, "are hidden, and get bucket 0.")
def absolute_value_always(offset, buckets, max_distance, bidirectional):
    return ported(offset if bidirectional else -offset.abs(), buckets, max_distance, bidirectional)


@wrong(check.to_bucket, "each has half of the buckets.")
def all_for_each_side(offset, buckets, max_distance, bidirectional):
    return ported(offset, 2 * buckets if bidirectional else buckets, max_distance, bidirectional)


@wrong(check.to_bucket, "in the logarithm, too.")
def half_added_only(offset, buckets, max_distance, bidirectional):
    if not bidirectional:
        return ported(offset, buckets, max_distance, False)
    return ported(-offset.abs(), buckets, max_distance, False) + buckets // 2 * (offset > 0)


@wrong(check.to_bucket, "Left and right share their buckets.")
def one_side_for_both(offset, buckets, max_distance, bidirectional):
    if bidirectional:
        return ported(-offset.abs(), buckets // 2, max_distance, False)
    return ported(offset, buckets, max_distance, False)


@wrong(check.to_bucket, "The sides are exchanged")
def past_above(offset, buckets, max_distance, bidirectional):
    if not bidirectional:
        return ported(offset, buckets, max_distance, False)
    return ported(-offset.abs(), buckets // 2, max_distance, False) + (offset < 0) * (buckets // 2)


@wrong(check.to_bucket, "Offset 0 belongs to the lower half.")
def zero_above(offset, buckets, max_distance, bidirectional):
    if not bidirectional:
        return ported(offset, buckets, max_distance, False)
    return ported(-offset.abs(), buckets // 2, max_distance, False) + (offset >= 0) * (buckets // 2)


@wrong(check.to_bucket, "These are not whole numbers")
def floats(offset, buckets, max_distance, bidirectional):
    return ported(offset, buckets, max_distance, bidirectional).double()


@wrong(check.to_bucket, "Calls the package's bucket")
def from_the_package(offset, buckets, max_distance, bidirectional):
    return bucket(offset, buckets, max_distance, bidirectional)


# The widest buckets that training fills


def touches(length, buckets, D, which=1):
    farthest = bucket(torch.tensor(-(length - 1)), buckets, D, bidirectional=False)
    return farthest >= buckets - which


def search(length, buckets, which=1):
    D = buckets
    while D < 2 * length or touches(length, buckets, D, which):
        D += 1
    return D - 1


@wrong(check.widest, "That is the length of training.")
def t5_short(length, buckets):
    return length


@wrong(check.widest, "That is the farthest distance.")
def last_distance(length, buckets):
    return length - 1


@wrong(check.widest, "Here it has one more.")
def one_more_distance(length, buckets):
    D = length
    while bucket(torch.tensor(-length), buckets, D + 1, bidirectional=False) == buckets - 1:
        D += 1
    return D


@wrong(check.widest, "One too large")
def first_that_fails(length, buckets):
    D = length
    while touches(length, buckets, D):
        D += 1
    return D


@wrong(check.widest, "One too small")
def stops_early(length, buckets):
    D = length
    while touches(length, buckets, D + 2):
        D += 1
    return D


@wrong(check.widest, "of a model that sees both sides")
def bidirectional_buckets(length, buckets):
    D = length
    while bucket(torch.tensor(1 - length), buckets, D + 1) == buckets // 2 - 1:
        D += 1
    return D


@wrong(check.widest, "the last bucket but one")
def last_but_one(length, buckets):
    D = length
    while touches(length, buckets, D + 1, which=2):
        D += 1
    return D


@wrong(check.widest, "Turn the formula around.")
def where_the_last_begins(length, buckets):
    distance = torch.arange(length + 1)
    found = bucket(-distance, buckets, length, bidirectional=False)
    return int((found == buckets - 1).nonzero()[0])


@wrong(check.widest, "the exponent is 2/(G − 2)")
def exponent_kept(length, buckets):
    return int((length - 1) * (2 * (length - 1) / buckets) ** (2 / buckets))


@wrong(check.widest, "This is a float.")
def not_rounded(length, buckets):
    return (length - 1) * (2 * (length - 1) / buckets) ** (2 / (buckets - 2))


# Biases that see offsets


@wrong(check.offsets_only, "Equal diagonals are asked for.")
def all_diagonals(bias):
    size = len(bias)
    return all(torch.allclose(d, d[:1], atol=1e-5) for d in (bias.diagonal(k) for k in range(1 - size, size)))


@wrong(check.offsets_only, "others do not")
def smaller_than_nothing(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool(((change - change[:, :1]) < 1e-6).all())


@wrong(check.offsets_only, "others do not")
def past_alone(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change - change[:, :1]).tril().abs().max() < 1e-6)


@wrong(check.offsets_only, "Property: others do not")
def a_thousandth_does_not_count(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return torch.allclose(change, change[:, :1].expand_as(change), rtol=0, atol=1e-3)


@wrong(check.offsets_only, "got True with the 1 in row 0, column 5")
def near_the_diagonal(bias):
    rest = bias - bias.diagonal()[:, None]
    return all(torch.allclose(d, d[:1].expand_as(d), atol=1e-5) for d in map(rest.diagonal, range(-4, 5)))


@wrong(check.offsets_only, "Property: others do not")
def on_average(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change.mean(dim=1) - change[:, 0]).abs().max() < 1e-5)


@wrong(check.offsets_only, "not each column.")
def constant_in_columns(bias):
    rest = bias - bias[:1]
    change = rest[1:, 1:] - rest[:-1, :-1]
    return bool((change - change[:1]).abs().max() < 1e-5)


@wrong(check.offsets_only, "where a row is cut off.")
def minus_the_mean(bias):
    rest = bias - bias.mean(dim=1, keepdim=True)
    return bool((rest[1:, 1:] - rest[:-1, :-1]).abs().max() < 1e-5)


@wrong(check.offsets_only, "where a row is cut off.")
def minus_the_first_entry(bias):
    rest = bias - bias[:, :1]
    return bool((rest[1:, 1:] - rest[:-1, :-1]).abs().max() < 1e-5)


@wrong(check.offsets_only, "where a row is cut off.", card=True)
def equal_weights_along_diagonals(bias):
    A = bias.softmax(dim=-1)
    return bool((A[1:, 1:] - A[:-1, :-1]).abs().max() < 1e-5)


@wrong(check.offsets_only, "columns may not", card=True)
def constant_in_both(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    inner = change[1:, 1:] - change[1:, :-1] - change[:-1, 1:] + change[:-1, :-1]
    return bool(inner.abs().max() < 1e-5)


@wrong(check.offsets_only, "Symmetry is another matter")
def symmetric(bias):
    return bool((bias - bias.T).abs().max() < 1e-5)


@wrong(check.offsets_only, "Every bias passes here.")
def all_of_them(bias):
    return True


@wrong(check.offsets_only, "No bias passes here.")
def none_of_them(bias):
    return False


@wrong(check.offsets_only, "Only the first two rows are compared.")
def two_rows(bias):
    change = bias[1, 1:] - bias[0, :-1]
    return bool((change - change[0]).abs().max() < 1e-5)


@wrong(check.offsets_only, "Compare with a tolerance, of more than 0.000001.")
def to_the_last_digit(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return torch.equal(change, change[:, :1].expand_as(change))


@wrong(check.offsets_only, "This is a tensor of one Boolean.")
def forgets_bool(bias):
    change = bias[1:, 1:] - bias[:-1, :-1]
    return ((change - change[:, :1]).abs() < 1e-5).all()
