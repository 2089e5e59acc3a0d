import torch
from torch.testing import assert_close

from d2lpos import Learned


def test_adds_the_row_of_each_position():
    encoding = Learned(7, 4)
    x, positions = torch.randn(2, 3, 4), torch.tensor([[6, 0, 2], [1, 1, 5]])
    got = encoding.embed(x, positions)
    for i in range(2):
        for j in range(3):
            assert torch.equal(got[i, j], x[i, j] + encoding.table[positions[i, j]])


def test_std_scales_the_table():
    torch.manual_seed(0)
    wide = Learned(100, 100).table
    torch.manual_seed(0)
    narrow = Learned(100, 100, std=0.02).table
    assert_close(narrow, 0.02 * wide)
    assert 0.95 < wide.std() < 1.05
