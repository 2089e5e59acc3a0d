import math

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lpos.offset.shaw import Shaw, clipped_index
from d2lpos.transformer.attention import attend

HERE, THERE = torch.tensor([[0, 7, 2], [40, 3, 3]]), torch.tensor([0, 1, 5, 9, 30])


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
