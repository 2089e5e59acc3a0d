"""A learned logit of each head that joins its softmax; not a token that attracts weight."""

import pytest
import torch
from torch.testing import assert_close

from d2lpos import ALiBi, Attention, Cache, RoPE, Shaw, Transformer
from d2lpos.transformer import Mask, attend, attention_weights

N = 6
HERE = torch.arange(N)
SINKS = torch.tensor([-1.0, 0.5, 3.0], dtype=torch.float64)
MASKS = {
    "none": None,
    "causal": Mask(HERE),
    "hidden row": (HERE[:, None] != 2) & (HERE <= HERE[:, None]),
    "nothing": torch.zeros(N, N, dtype=torch.bool),
    "by head": torch.rand(2, 3, N, N, generator=torch.Generator().manual_seed(0)) > 0.5,
    "left padding": torch.tensor([[False, False, True, True, True, True], [True] * 6])[:, None, None],
}
each_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


def qkv():
    return torch.randn(3, 2, 3, N, 8, dtype=torch.float64).unbind()


@each_mask
@pytest.mark.parametrize(
    "make", [lambda: RoPE(8), lambda: ALiBi(3), lambda: Shaw(8, 2).double()], ids=["rope", "alibi", "shaw"]
)
def test_weights_are_shares_of_a_sum_that_the_sink_joins(make, mask):
    (q, k, v), encoding = qkv(), make()
    args = q, k, HERE, HERE, encoding, mask
    got, plain = attention_weights(*args, sinks=SINKS), attention_weights(*args)
    turned_q, turned_k = encoding.rotate(q, k, HERE, HERE)
    logits = turned_q @ turned_k.mT / 8**0.5
    bias = encoding.score(q, k, HERE, HERE)
    logits = logits if bias is None else logits + bias
    visible = mask.dense if isinstance(mask, Mask) else mask
    powers = logits.exp() if visible is None else logits.exp().where(visible, 0)
    assert_close(got, powers / (powers.sum(-1, keepdim=True) + SINKS.exp()[:, None, None]))
    left = powers.sum(-1) / (powers.sum(-1) + SINKS.exp()[:, None])
    assert_close(got, plain * left[..., None])  # the sink takes the same share of all
    extra = encoding.value(got, HERE, HERE)
    want = got @ v if extra is None else got @ v + extra
    assert_close(attend(q, k, v, HERE, HERE, encoding, mask, sinks=SINKS), want)


def test_in_half_precision_a_sink_is_as_wide_as_the_logits():
    q, k, _ = (t.bfloat16() for t in qkv())
    got = attention_weights(q, k, HERE, HERE, sinks=SINKS.float())
    assert got.dtype == torch.bfloat16
    assert_close(
        got.float(), attention_weights(q.float(), k.float(), HERE, HERE, sinks=SINKS.float()),
        atol=4e-3, rtol=0,
    )


def test_a_layer_learns_its_sinks_and_a_cache_changes_nothing():
    layer, x = Attention(24, 3, RoPE(8), causal=True, sinks=True).double(), torch.randn(2, N, 24).double()
    assert layer.sinks.tolist() == [0, 0, 0] and Attention(24, 3).sinks is None
    torch.nn.init.normal_(layer.sinks)
    cache = Cache()
    steps = [layer(x[:, part], HERE[part], cache=cache) for part in HERE.split([3, 1, 2])]
    assert_close(torch.cat(steps, dim=1), layer(x, HERE))
    layer(x, HERE).square().sum().backward()
    assert layer.sinks.grad.all()


def test_every_layer_has_its_own():
    net = Transformer(7, 3, dim=16, heads=2, layers=3, causal=True, sinks=True)
    names = [name for name in net.state_dict() if "sinks" in name]
    assert len(names) == 3 and not any("sinks" in name for name in Transformer(7, 3).state_dict())
