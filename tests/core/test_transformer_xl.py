import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from d2lpos.input.sinusoids import sinusoidal
from d2lpos.offset.transformer_xl import TransformerXL, offset_products

HERE, THERE = torch.tensor([[0, 7, 2], [40, 3, 3]]), torch.tensor([0, 1, 5, 9, 30])


def encoding(dim=8, heads=2):
    made = TransformerXL(dim, heads).double()
    for parameter in made.parameters():
        nn.init.normal_(parameter)
    return made


@given(i=st.floats(-1e4, 1e4), j=st.floats(-1e4, 1e4), p=st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_parted_sinusoids_are_those_of_the_offset(i, j, p):
    i, j, p = (torch.tensor(x, dtype=torch.float64) for x in ([i], [j], [p]))
    want = p @ sinusoidal(i - j, 6, layout="concatenated").mT
    assert_close(offset_products(p, i, j), want, atol=1e-8, rtol=0)


def test_score_pair_by_pair():
    """Terms (b), (c) and (d) of the paper, with a loop for every axis, in NumPy."""
    xl = encoding()
    q, k = torch.randn(2, 2, 3, 4, dtype=torch.float64), torch.randn(2, 2, 5, 4, dtype=torch.float64)
    u, v, w = (t.detach().numpy() for t in (xl.u, xl.v, xl.project.weight))
    got = xl.score(q, k, HERE, THERE).detach().numpy()
    for b, h, i, j in np.ndindex(2, 2, 3, 5):
        turns = (HERE[b, i] - THERE[j]).item() * 10_000.0 ** (-np.arange(4) / 4)
        r = w[4 * h : 4 * h + 4] @ np.concatenate([np.sin(turns), np.cos(turns)])
        query, key = q[b, h, i].numpy(), k[b, h, j].numpy()
        want = query @ r + u[h] @ key + v[h] @ r
        assert got[b, h, i, j] == pytest.approx(want / math.sqrt(4))
