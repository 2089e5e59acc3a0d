import math
from itertools import product

import pytest
import torch
from torch.testing import assert_close

from d2lpos.offset.deberta import DeBERTa, row


def test_every_offset_within_the_clip_has_a_row():
    offsets = torch.arange(-20, 21)
    assert row(offsets, clip=5).tolist() == [min(max(5 - d, 0), 9) for d in range(-20, 21)]


def test_far_offsets_share_rows_that_widen():
    """Written as in the formula of version 2, one number at a time."""
    clip, largest, half = 16, 128, 8
    for back in range(-200, 201):
        far = half + math.ceil(
            round(math.log(max(abs(back), 1) / half) / math.log(127 / half) * (half - 1), 9)
        )
        want = back if abs(back) <= half else math.copysign(far, back)
        assert row(torch.tensor(-back), clip, largest).item() == min(max(want + clip, 0), 2 * clip - 1)


@pytest.mark.parametrize("largest", [None, 64])
def test_both_terms_one_pair_at_a_time(largest):
    encoding = DeBERTa(2, 4, clip=4, largest=largest).double()
    q, k = torch.randn(2, 1, 2, 5, 4).double()
    here, there = torch.tensor([0, 3, 1, 90, 7]), torch.tensor([5, 2, 0, 1, 80])
    score = encoding.score(q, k, here, there)
    for h, i, j in product(range(2), range(5), range(5)):
        at = row(there[j] - here[i], 4, largest)
        want = (q[0, h, i] @ encoding.keys[h, at] + k[0, h, j] @ encoding.queries[h, at]) / 2
        assert_close(score[0, h, i, j], want)
