import pytest
import torch
from torch.testing import assert_close

from d2lpos import RoPE
from d2lpos.rotary.mrope import MRoPE, blocks, in_turn
from d2lpos.rotary.scaling import linear

layouts = pytest.mark.parametrize("layout", ["half", "interleaved"])


def test_deals():
    assert blocks([16, 24, 24]) == [0] * 16 + [1] * 24 + [2] * 24
    assert in_turn([24, 20, 20]) == [0, 1, 2] * 20 + [0] * 4


@layouts
def test_a_word_turns_as_it_did(layout):
    """Equal coordinates: the angles of RoPE, scaled or partial ones, too."""
    q, k = torch.randn(2, 2, 3, 7, 16)
    positions = torch.randint(100, (2, 7))
    places = positions[..., None].expand(-1, -1, 3)

    def rule(omega):
        return linear(omega, 3)[0], 1.5

    for rotary in 12, 16:
        deal = in_turn([rotary // 2 - 2, 1, 1])
        ours = MRoPE(16, deal, 500.0, layout, rule).rotate(q, k, places, places)
        rope = RoPE(16, 500.0, layout, rotary, rule).rotate(q, k, positions, positions)
        assert_close(ours, rope)


@layouts
def test_a_pair_sees_its_own_coordinate_and_no_other(layout):
    encoding, x = MRoPE(12, [0, 1, 2, 1, 0, 2], layout=layout), torch.randn(1, 1, 1, 12)
    still = encoding.rotate_at(x, torch.zeros(1, 3))
    for axis in range(3):
        moved = encoding.rotate_at(x, torch.eye(3)[axis][None]) != still
        pairs = moved.view(2, 6).all(0) if layout == "half" else moved.view(6, 2).all(1)
        assert pairs.flatten().tolist() == [dealt == axis for dealt in encoding.deal]
