import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos.bias.sandwich import Sandwich, cosines


@given(i=st.floats(-1e4, 1e4), j=st.floats(-1e4, 1e4), half=st.integers(1, 8))
def test_formula(i, j, half):
    i, j = (torch.tensor([x], dtype=torch.float64) for x in (i, j))
    got = cosines(i, j, 2 * half).item()
    want = sum(math.cos((i - j).item() / 10_000 ** (n / half)) - 1 for n in range(half))
    assert got == pytest.approx(want, abs=1e-8)
    assert got <= 1e-9


@pytest.mark.parametrize("heads", [2, 8, 12])
def test_each_head_has_its_own_ratio(heads):
    q, p = torch.zeros(1, heads, 9, 4), torch.arange(9)
    score = Sandwich(heads, dim=16).score(q, q, p, p)
    assert score.shape == (heads, 9, 9)
    for h in range(heads):
        assert_close(score[h] * (8 * (h + 1) / heads), cosines(p, p, 16))
