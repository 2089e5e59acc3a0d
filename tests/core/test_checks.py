import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lpos.positions.checks import as_float, as_index, offsets

UNSIGNED = [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, *UNSIGNED]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_become_float32_or_int64(dtype):
    positions = torch.tensor([0, 3, 100], dtype=dtype)
    assert as_float(positions).dtype == torch.float32 and as_float(positions).tolist() == [0, 3, 100]
    assert as_index(positions).dtype == torch.int64 and as_index(positions, length=101).tolist() == [0, 3, 100]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_wide_floats_stay(dtype):
    positions = torch.tensor([-1.5, 0.25], dtype=dtype)
    assert as_float(positions) is positions


@given(
    q=st.lists(st.integers(-1000, 1000), max_size=5),
    k=st.lists(st.integers(-1000, 1000), max_size=5),
    dtype=st.sampled_from([torch.int64, torch.float64]),
)
def test_offsets_are_key_minus_query(q, k, dtype):
    got = offsets(torch.tensor(q, dtype=dtype), torch.tensor(k, dtype=dtype))
    assert got.dtype == dtype and got.shape == (len(q), len(k))
    assert got.tolist() == [[there - here for there in k] for here in q]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_offsets_of_narrow_integers_do_not_wrap(dtype):
    q, k = torch.tensor([0, 120], dtype=dtype), torch.tensor([3, 127], dtype=dtype)
    assert offsets(q, k).tolist() == [[3, 127], [-117, 7]]
