import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lpos.positions.position_ids import (
    from_padding,
    from_segments,
    interpolate,
    next_positions,
    random_positions,
    shift,
)


def generator():
    return torch.Generator().manual_seed(0)


@given(tokens=st.lists(st.booleans(), max_size=8))
def test_padding_is_not_counted(tokens):
    got = from_padding(torch.tensor([tokens, [True] * len(tokens)], dtype=torch.bool)).tolist()
    assert got[1] == list(range(len(tokens)))
    counted = [position for position, real in zip(got[0], tokens, strict=True) if real]
    assert counted == list(range(sum(tokens)))
    assert all(0 <= position < max(1, sum(tokens)) for position in got[0])


@given(lengths=st.lists(st.integers(1, 5), max_size=5))
def test_each_segment_begins_at_zero(lengths):
    segments = [number for number, length in enumerate(lengths) for _ in range(length)]
    want = [place for length in lengths for place in range(length)]
    rows = torch.tensor([segments, segments[::-1]], dtype=torch.int32)
    got = from_segments(rows)
    assert got.dtype == torch.int64 and got[0].tolist() == want
    assert got[1].tolist() == [place for length in lengths[::-1] for place in range(length)]


def test_a_number_that_comes_again_begins_again():
    assert from_segments(torch.tensor([1, 1, 0, 1, 1, 1])).tolist() == [0, 1, 0, 0, 1, 2]


def test_decoding_counts_on_from_the_greatest_position():
    assert next_positions(torch.arange(3), 2).tolist() == [3, 4]
    assert next_positions(torch.tensor([[0, 0, 1], [4, 9, 2]]), 3).tolist() == [[2, 3, 4], [10, 11, 12]]
    assert next_positions(torch.tensor([0.5]), 2).tolist() == [1.5, 2.5]
    assert next_positions(torch.tensor([255], dtype=torch.uint8), 1).tolist() == [256]
    cells = torch.tensor([[[0, 5, 1], [3, 2, 0]], [[0, 1, 2], [1, 1, 9]]])
    assert next_positions(cells, 2, axes=3).tolist() == [[[6] * 3, [7] * 3], [[10] * 3, [11] * 3]]


def test_interpolated_positions():
    assert interpolate(torch.arange(5), 4).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert interpolate(torch.arange(3), 0.5).tolist() == [0, 2, 4]
    assert interpolate(torch.arange(3).double(), 3).dtype == torch.float64


def test_each_sequence_has_a_shift_of_its_own():
    positions = torch.tensor([0, 1, 5]).expand(400, 3)
    moved = shift(positions, 4, generator())
    offsets = moved - positions
    assert (offsets == offsets[:, :1]).all()
    counts = offsets[:, 0].bincount()
    assert len(counts) == 5 and counts.min() > 50
    assert torch.equal(shift(positions, 4, generator()), moved)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float32, torch.float64])
def test_a_shift_keeps_what_positions_are(dtype):
    moved = shift(torch.arange(3, dtype=dtype), 1000, generator())
    assert moved.dtype == (dtype if dtype.is_floating_point else torch.int64)
    assert (moved - moved[0]).tolist() == [0, 1, 2] and 0 <= moved[0] <= 1000


@given(length=st.integers(1, 8), more=st.integers(0, 20))
def test_random_positions_are_different_and_in_order(length, more):
    got = random_positions(3, length, length + more, generator())
    assert got.shape == (3, length) and got.dtype == torch.int64
    assert got.min() >= 0 and got.max() < length + more and (got.diff() > 0).all()


def test_random_positions_do_not_depend_on_the_default_dtype(default_dtype):
    want = random_positions(3, 10, 2000, generator())
    default_dtype(torch.bfloat16)
    assert torch.equal(random_positions(3, 10, 2000, generator()), want)


def test_every_set_of_random_positions_is_as_likely():
    got = random_positions(6000, 2, 4, generator())
    counts = (4 * got[:, 0] + got[:, 1]).bincount(minlength=16)
    pairs = [4 * a + b for a in range(4) for b in range(a + 1, 4)]
    assert counts[pairs].sum() == 6000
    assert (counts[pairs] - 1000).abs().max() < 150  # five standard deviations
