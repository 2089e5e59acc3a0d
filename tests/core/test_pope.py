"""Lengths and angles: what PoPE keeps apart, and what a norm after the turn mixes."""

import pytest
import torch
from torch.nn.functional import softplus
from torch.testing import assert_close

from d2lpos import RoPE
from d2lpos.rotary import Normed, PoPE

HERE = torch.arange(5)
Q, K = torch.randn(2, 1, 2, 5, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def scores(encoding, positions):
    """As attention scales them."""
    q, k = encoding.double().rotate(Q, K, positions.double(), positions.double())
    return q @ k.mT / q.shape[-1] ** 0.5


def test_pope_is_its_formula():
    encoding = PoPE(8, heads=2).double()
    torch.nn.init.uniform_(encoding.delta, -2, -1)
    omega, step = 10_000.0 ** -(torch.arange(8).double() / 8), (HERE[None] - HERE[:, None]).double()
    waves = (step[..., None] * omega + encoding.delta[:, None, None]).cos()
    want = (softplus(Q)[:, :, :, None] * softplus(K)[:, :, None] * waves).sum(-1) / 8**0.5
    assert_close(scores(encoding, HERE), want)


def test_the_angle_of_a_key_stays_within_a_turn():
    encoding = PoPE(8, heads=2)
    torch.nn.init.constant_(encoding.delta, 5.0)
    assert_close(scores(encoding, HERE), scores(PoPE(8, heads=2), HERE))


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_a_norm_after_the_turn_sees_offsets_only_where_pairs_share_their_weight(layout):
    encoding = Normed(RoPE(8, base=100.0, layout=layout)).double()
    weights = torch.tensor([1.0, 2, 0.5, 3]).double()

    def moved(by):
        with torch.no_grad():
            encoding.q_weight.copy_(by)
        return (scores(encoding, HERE + 10) - scores(encoding, HERE)).abs().max()

    pairs = weights.repeat(2) if layout == "half" else weights.repeat_interleave(2)
    others = weights.repeat_interleave(2) if layout == "half" else weights.repeat(2)
    assert moved(torch.ones(8)) < 1e-12 and moved(pairs) < 1e-12 and moved(others) > 0.1


def test_the_division_may_come_before_the_turn():
    encoding, rope = Normed(RoPE(8), eps=0.0).double(), RoPE(8)
    q = Q / Q.square().mean(-1, keepdim=True).sqrt()
    assert_close(encoding.rotate(Q, K, HERE, HERE)[0], rope.rotate(q, K, HERE, HERE)[0])
