import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos.offset.shaw import ShawKeys
from d2lpos.offset.skew import key_term, skew


@given(length=st.integers(0, 12))
def test_each_row_ends_at_the_diagonal(length):
    products = torch.randn(2, length, length)
    got = skew(products)
    assert got.shape == (2, length, length)
    for i in range(length):
        for j in range(i + 1):
            assert torch.equal(got[:, i, j], products[:, i, j - i + length - 1])


@pytest.mark.parametrize("spare", [0, 3])
@given(length=st.integers(1, 12))
def test_equals_shaws_keys_by_gather_up_to_the_diagonal(spare, length):
    encoding, q = ShawKeys(6, clip=length + spare).double(), torch.randn(2, 3, length, 6, dtype=torch.float64)
    by_gather = encoding.score(q, q, torch.arange(length), torch.arange(length))
    got = key_term(q, encoding.keys[: length + spare + 1][-(length + spare) :])
    assert_close(got.tril(), by_gather.tril())


def test_memory_grows_with_t_squared_and_not_with_t_squared_d(largest):
    length, features = 64, 96
    q, vectors = torch.randn(length, features), torch.randn(length, features)
    offset = torch.arange(length) - torch.arange(length)[:, None]
    rows = (offset + length - 1).clamp(max=length - 1)
    assert largest(lambda: key_term(q, vectors)) == max(length * (length + 1), length * features)
    assert largest(lambda: torch.einsum("id, ijd -> ij", q, vectors[rows])) == length * length * features


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_computed_wide(dtype):
    q, vectors = torch.randn(5, 8).to(dtype), torch.randn(5, 8).to(dtype)
    got = key_term(q, vectors)
    assert got.dtype == torch.float32 and torch.equal(got, key_term(q.float(), vectors.float()))
