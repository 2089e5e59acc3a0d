from functools import partial

import pytest
import torch
from torch.testing import assert_close

from d2lpos import Attention, Cache, Encoding, RoPE
from d2lpos.rotary.rope_values import RoPEValues
from d2lpos.rotary.scaling import yarn
from d2lpos.transformer import Mask, attend, attention_weights
from d2lpos.transformer.flex import attend_flex

N, D = 7, 8
HERE = torch.arange(N, dtype=torch.float64)


def qkv():
    return torch.randn(3, 2, 3, N, D, dtype=torch.float64).unbind()


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("rotary", [8, 4])
def test_each_value_arrives_turned_by_its_offset(layout, rotary):
    """y_i = Σ_j A_ij R(j − i) v_j, pair by pair."""
    rope, (q, k, v) = RoPEValues(D, layout=layout, rotary=rotary), qkv()
    got = attend(q, k, v, HERE, HERE, rope, Mask(HERE))
    weights = attention_weights(q, k, HERE, HERE, RoPE(D, layout=layout, rotary=rotary), Mask(HERE))
    for i in range(N):
        carried = rope.rotate_further(v, HERE - HERE[i])
        assert_close(got[:, :, i], (weights[:, :, i, :, None] * carried).sum(dim=2))


def test_an_attention_factor_leaves_values_as_long_as_they_were():
    rope = RoPEValues(D, scaling=partial(yarn, factor=4.0, length=16))
    _, _, v = qkv()
    assert rope.scaled()[1] > 1
    assert_close(rope.rotate_values(v, HERE).norm(dim=-1), v.norm(dim=-1))
    assert_close(rope.unrotate_output(rope.rotate_values(v, HERE), HERE), v)


def test_unsigned_positions_turn_back():
    _, _, v = qkv()
    rope, at = RoPEValues(D), torch.arange(N, dtype=torch.uint8)
    assert_close(rope.unrotate_output(v, at), rope.unrotate_output(v, at.long()))


@pytest.mark.parametrize("window", [None, 3])
def test_a_cache_keeps_values_as_they_are(window):
    x = torch.randn(2, N, 2 * D, dtype=torch.float64)
    layer, cache = Attention(2 * D, 2, RoPEValues(D), causal=True, window=window).double(), Cache()
    steps = [layer(x[:, part], HERE[part], cache=cache) for part in torch.arange(N).split([3, 1, 1, 2])]
    assert_close(torch.cat(steps, dim=1), layer(x, HERE))
    plain = Attention(2 * D, 2, Encoding(), causal=True).double()
    plain.load_state_dict(layer.state_dict())
    other = Cache()
    plain(x, HERE, cache=other)
    assert_close(cache.values, other.values)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_flex_attention_turns_values():
    (q, k, v), rope = (t.float() for t in qkv()), RoPEValues(D)
    at = torch.arange(N)
    assert_close(attend_flex(q, k, v, at, at, rope), attend(q, k, v, at, at, rope))
