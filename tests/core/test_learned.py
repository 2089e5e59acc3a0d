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


def test_only_rows_in_use_are_trained():
    encoding = Learned(5, 4)
    encoding.embed(torch.zeros(2, 2, 4), torch.tensor([3, 1])).sum().backward()
    assert encoding.table.grad.sum(dim=1).tolist() == [0, 8, 0, 8, 0]


def test_std_scales_the_table():
    torch.manual_seed(0)
    wide = Learned(100, 100).table
    torch.manual_seed(0)
    narrow = Learned(100, 100, std=0.02).table
    assert_close(narrow, 0.02 * wide)
    assert 0.95 < wide.std() < 1.05


def test_keeps_the_dtype_of_x():
    x = torch.zeros(1, 2, 4, dtype=torch.bfloat16)
    assert Learned(5, 4).embed(x, torch.arange(2)).dtype == torch.bfloat16


def test_no_token_is_no_error():
    assert Learned(5, 4).embed(torch.zeros(2, 0, 4), torch.arange(0)).shape == (2, 0, 4)
