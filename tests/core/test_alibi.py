import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos import ALiBi
from d2lpos.bias.alibi import bias, slopes

EIGHT = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


def test_reference_numbers_of_twelve_heads():
    assert_close(slopes(12), torch.tensor([*EIGHT, 0.70710678, 0.35355339, 0.17677670, 0.08838835]))
    paper = slopes(12, "paper")
    assert_close(paper.log2(), torch.arange(1, 13) * -8 / 12)
    gap = (slopes(12).sort(descending=True).values - paper).abs().max().item()
    assert gap == pytest.approx(2**-1.5 - 0.25)


def test_fewer_octaves_fall_less():
    """MPT's alibi_bias_max."""
    assert slopes(4, octaves=2).tolist() == pytest.approx([2**-0.5, 2**-1, 2**-1.5, 2**-2])
    q = torch.zeros(1, 4, 3, 2)
    here = torch.arange(3)
    assert torch.equal(ALiBi(4, octaves=2).score(q, q, here, here), bias(here, here, slopes(4, octaves=2)))


@given(heads=st.integers(1, 200))
def test_released_rule_takes_every_other_slope_of_the_next_power(heads):
    got = slopes(heads)
    below = 1
    while 2 * below <= heads:
        below *= 2
    want = [0.5 ** (8 * h / below) for h in range(1, below + 1)]
    want += [0.5 ** (8 * h / (2 * below)) for h in range(1, 2 * below, 2)][: heads - below]
    assert got.dtype == torch.float32 and got.shape == (heads,)
    assert_close(got, torch.tensor(want))


def test_a_default_dtype_changes_nothing(default_dtype):
    default_dtype(torch.float64)
    assert slopes(12).dtype == slopes(12, "paper").dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.float32, torch.float64])
def test_bias_falls_with_the_distance_in_both_directions(dtype):
    here, there = torch.tensor([[0, 7], [40, 3]], dtype=dtype), torch.tensor([0, 1, 5, 9, 30], dtype=dtype)
    got = bias(here, there, slopes(3))
    assert got.shape == (2, 3, 2, 5)
    assert got.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    for i in range(2):
        for head, slope in enumerate(slopes(3).tolist()):
            for row in range(2):
                for column in range(5):
                    distance = abs(int(there[column]) - int(here[i, row]))
                    assert got[i, head, row, column].item() == pytest.approx(-slope * distance)


def test_bias_is_computed_wide():
    positions = torch.arange(300)
    for dtype in torch.bfloat16, torch.float64:
        got = bias(positions, positions, torch.ones(1, dtype=dtype))
        assert got.dtype == torch.float32 and got[0, 0].tolist() == [-p for p in range(300)]


@pytest.mark.parametrize("rule", ["released", "paper"])
def test_score_is_the_bias(rule):
    q, k = torch.zeros(2, 12, 3, 4), torch.zeros(2, 12, 5, 4)
    here, there = torch.tensor([4, 5, 6]), torch.arange(5)
    encoding = ALiBi(12, rule)
    assert torch.equal(encoding.score(q, k, here, there), bias(here, there, slopes(12, rule)))
    assert not encoding.state_dict()
