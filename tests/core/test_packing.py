from itertools import pairwise

import pytest
import torch
from transformers.masking_utils import find_packed_sequence_indices

from d2lpos.positions import cu_seqlens, from_segments, segments_from_cu_seqlens, segments_from_positions

ROWS = [[7], [1, 1, 1, 0], [3, 3, 2, 2, 2, 9], [0, 1, 2, 3], [250, 250, 3]]


@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_there_and_back(row, dtype):
    segments = torch.tensor(row, dtype=dtype)
    ends = cu_seqlens(segments)
    assert ends.dtype == torch.int32 and ends[0] == 0 and ends[-1] == len(row)
    numbers = segments_from_cu_seqlens(ends)
    assert torch.equal(numbers, segments_from_positions(from_segments(segments)))
    assert torch.equal(numbers[:, None] == numbers, segments[:, None] == segments)
    assert torch.equal(from_segments(numbers), from_segments(segments))
    for begin, end in pairwise(ends):
        assert len(segments[begin:end].unique()) == 1


def test_sequences_of_a_batch_are_one_long_row():
    segments = torch.tensor([[0, 0, 1], [1, 1, 1]])
    assert cu_seqlens(segments).tolist() == [0, 2, 3, 6]
    assert cu_seqlens(segments[:, :0]).tolist() == [0]


def test_texts_in_positions_are_those_that_hugging_face_finds():
    positions = torch.tensor([[0, 1, 2, 0, 1, 0, 0, 1], [5, 6, 7, 9, 10, 0, 2, 4]])
    assert torch.equal(segments_from_positions(positions), find_packed_sequence_indices(positions))
