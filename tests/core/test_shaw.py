import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos.offset.shaw import Shaw, ShawKeys, clipped_index
from d2lpos.positions.checks import offsets
from d2lpos.transformer.attention import attend

HERE, THERE = torch.tensor([[0, 7, 2], [40, 3, 3]]), torch.tensor([0, 1, 5, 9, 30])


def test_reference_numbers():
    index = clipped_index(offsets(torch.arange(4), torch.arange(4)), 2)
    assert index.tolist() == [[2, 3, 4, 4], [1, 2, 3, 4], [0, 1, 2, 3], [0, 0, 1, 2]]


@given(offset=st.integers(-50, 50), clip=st.integers(1, 20))
def test_each_offset_has_its_row_up_to_the_clip(offset, clip):
    rows = [*range(-clip, clip + 1)]
    nearest = min(rows, key=lambda step: abs(step - offset))
    assert clipped_index(torch.tensor(offset), clip).item() == rows.index(nearest)


def test_keys_and_values_pair_by_pair():
    """The paper's equations 3 and 4, in NumPy and with a loop for every axis."""
    encoding = Shaw(8, clip=4).double()
    q, k, v = (torch.randn(2, 2, length, 8, dtype=torch.float64) for length in (3, 5, 5))
    keys, values = (table.detach().numpy() for table in (encoding.keys, encoding.values))
    got = attend(q, k, v, HERE, THERE, encoding)
    for b, h, i in np.ndindex(2, 2, 3):
        near = [int(np.clip(there - HERE[b, i].item(), -4, 4)) + 4 for there in THERE.tolist()]
        query = q[b, h, i].numpy()
        powers = np.exp([query @ (k[b, h, j].numpy() + keys[near[j]]) / math.sqrt(8) for j in range(5)])
        want = sum(powers[j] / powers.sum() * (v[b, h, j].numpy() + values[near[j]]) for j in range(5))
        np.testing.assert_allclose(got[b, h, i].detach().numpy(), want)


def test_value_door_averages_the_rows():
    encoding, weights = Shaw(3, clip=2), torch.tensor([[[[0.5, 0.25, 0.0, 0.25]]]])
    got = encoding.value(weights, torch.tensor([3]), torch.arange(4))
    table = encoding.values
    assert_close(got[0, 0, 0], 0.5 * table[0] + 0.25 * table[0] + 0.0 * table[1] + 0.25 * table[2])


def test_far_keys_share_the_outer_rows():
    encoding, q, k = ShawKeys(8, clip=2), torch.randn(1, 2, 1, 8), torch.randn(1, 2, 5, 8)
    score = encoding.score(q, k, torch.tensor([0]), torch.tensor([2, 3, 900, -2, -3]))
    assert_close(score[..., :3], score[..., :1].expand(-1, -1, -1, 3))
    assert_close(score[..., 3], score[..., 4])
    assert not torch.allclose(score[..., 0], score[..., 4])


def test_no_vector_is_made_for_each_pair(largest):
    length, features, clip = 64, 32, 4
    encoding = Shaw(features, clip)
    q, p = torch.randn(1, 1, length, features), torch.arange(length)
    weights = torch.rand(1, 1, length, length)
    limit = length * max(length, features)
    assert largest(lambda: encoding.score(q, q, p, p)) <= limit
    assert largest(lambda: encoding.value(weights, p, p)) <= limit


def test_gradients():
    encoding, p = Shaw(4, clip=1).double(), torch.arange(3)
    q = torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(1, 2, 3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda q, _: encoding.score(q, q, p, p), (q, encoding.keys))
    assert torch.autograd.gradcheck(lambda w, _: encoding.value(w, p, p), (weights, encoding.values))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_key_term_is_computed_wide(dtype):
    encoding = ShawKeys(8, clip=2).to(dtype)
    q, p = torch.randn(1, 2, 5, 8).to(dtype), torch.arange(5)
    got = encoding.score(q, q, p, p)
    assert got.dtype == torch.float32
    assert torch.equal(got, encoding.float().score(q.float(), q.float(), p, p))


def test_doors_and_parameters():
    assert ShawKeys(8, 3).doors == ("score",) and Shaw(8, 3).doors == ("score", "value")
    assert {name: tuple(t.shape) for name, t in Shaw(8, 3).state_dict().items()} == {
        "keys": (7, 8),
        "values": (7, 8),
    }
