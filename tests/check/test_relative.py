"""The checks of chapter 5: what their references rest on, and right answers written otherwise."""

import math

import numpy as np
import pytest
import torch

from d2lpos.bias.t5 import bucket
from d2lpos.check import relative as check
from tests.check.right import accepted


@pytest.mark.parametrize(("length", "buckets"), [(8, 4), (64, 32), (100, 32), (256, 64)])
def test_widest_fills_all_buckets_and_one_more_does_not(length, buckets):
    far = check.widest.reference(length, buckets)
    for maximum, all_filled in ((far, True), (far + 1, False)):
        filled = bucket(-torch.arange(length), buckets, maximum, bidirectional=False).unique()
        assert (len(filled) == buckets) is all_filled


@pytest.mark.parametrize("seed", range(3))
def test_offsets_only_is_what_a_softmax_sees(seed):
    torch.manual_seed(seed)
    offset = torch.arange(6) - torch.arange(6)[:, None]
    numbers, rows = torch.randn(11), torch.randn(6, 1)
    assert check.offsets_only.reference(numbers[offset + 5] + rows)
    assert not check.offsets_only.reference(numbers[offset + 5] + rows.T)


def test_places():
    memory = torch.arange(8 * 16).reshape(8, 16)  # 15 products of each query, and a number of padding
    first = memory[0, 7], memory[1, 6]  # offset 0 of query 0, offset −1 of query 1
    assert check.skew_both.answers[0].right == (first[0], first[1] - first[0])


def test_unused():
    used = bucket(torch.arange(-1000, 1001), 32, 128).unique().tolist()
    assert {*range(32)} - {*used} == {check.to_bucket.answers[0].right}


def test_three():
    j = torch.arange(6.0)
    i = j[:, None]
    three = (0 * i + j, 0 * i + j**2, -(i - j).abs() / (i + 1))
    assert tuple(map(check.offsets_only.reference, three)) == check.offsets_only.answers[0].right


@pytest.mark.parametrize("name", ["Shaw", "Peter Shaw", "Shaw et al. (2018)", "SHAW "])
def test_whose(name):
    assert check.relative_scores.answers[0](name)


def pair_by_pair(q, k, vectors, q_positions, k_positions):
    clip = (len(vectors) - 1) // 2
    rows = [
        [
            query @ (key + vectors[max(-clip, min(clip, int(n - m))) + clip])
            for key, n in zip(k, k_positions, strict=True)
        ]
        for query, m in zip(q, q_positions, strict=True)
    ]
    return torch.tensor(rows) / q.shape[1] ** 0.5


def as_in_transformer_xl(products):
    T = products.shape[-2]
    lead = products.shape[:-2]
    folded = torch.cat([products.new_zeros(*lead, T, 1), products], dim=-1).reshape(*lead, 2 * T, T)
    return folded[..., 1:, :].reshape(*lead, T, 2 * T - 1)[..., :T]


def with_strides(products):
    T = products.shape[-2]
    x = products.contiguous()
    sizes, strides = (*x.shape[:-1], T), (*x.stride()[:-2], 2 * T - 2, 1)
    return x.as_strided(sizes, strides, T - 1)


def in_numpy(products):
    x = np.asarray(products)
    T = x.shape[-2]
    rows = np.concatenate([x, np.zeros_like(x[..., :1])], axis=-1).reshape(*x.shape[:-2], -1)
    later = rows[..., T - 1 : 2 * T * T - 1].reshape(*x.shape[:-2], T, 2 * T - 1)
    return torch.tensor(later[..., :T])


def as_in_libraries(offset, buckets, max_distance, bidirectional):
    """In float32, with natural logarithms and minus infinity for distance 0."""
    result = 0
    if bidirectional:
        buckets //= 2
        result = (offset > 0).to(torch.long) * buckets
        offset = offset.abs()
    else:
        offset = -torch.min(offset, torch.zeros_like(offset))
    exact = buckets // 2
    large = exact + (
        torch.log(offset.float() / exact) / math.log(max_distance / exact) * (buckets - exact)
    ).to(torch.long)
    return result + torch.where(offset < exact, offset, large.clamp(max=buckets - 1))


def by_thresholds(offset, buckets, max_distance, bidirectional):
    count = buckets // 2 if bidirectional else buckets
    half = count // 2
    first = [half * (max_distance / half) ** (m / half) for m in range(1, half)]
    starts = torch.tensor([*range(1, half + 1), *first], dtype=torch.float64)
    distance = offset.abs() if bidirectional else (-offset).clamp(min=0)
    buckets_found = torch.bucketize(distance.double(), starts, right=True)
    return buckets_found + (offset > 0) * count if bidirectional else buckets_found


def by_formula(length, buckets):
    return int((length - 1) * (2 * (length - 1) / buckets) ** (2 / (buckets - 2)))


def by_weights(bias):
    """Weights of a query over shifted keys must be in the same proportions."""
    ratios = bias.double().log_softmax(-1).diff(dim=-1)
    return torch.allclose(ratios[1:, 1:], ratios[:-1, :-1], rtol=0, atol=1e-5)


def scores_in_numpy(q, k, vectors, q_positions, k_positions):
    q, k, vectors = q.numpy(), k.numpy(), vectors.numpy()
    clip = len(vectors) // 2
    rows = np.clip(k_positions.numpy() - q_positions.numpy()[:, None], -clip, clip) + clip
    return torch.from_numpy((q @ k.T + np.einsum("td,tnd->tn", q, vectors[rows])) / np.sqrt(q.shape[1]))


def spread_in_numpy(bias):
    change = bias.numpy()[1:, 1:] - bias.numpy()[:-1, :-1]
    return np.ptp(change, axis=1).max() < 1e-5


test_accepted = accepted({
    check.relative_scores: [pair_by_pair, scores_in_numpy],
    check.skew_both: [as_in_transformer_xl, with_strides, in_numpy],
    check.to_bucket: [as_in_libraries, by_thresholds],
    check.widest: [by_formula],
    check.offsets_only: [by_weights, spread_in_numpy],
})
