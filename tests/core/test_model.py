from copy import deepcopy

import torch
from torch.nn.functional import gelu, layer_norm
from torch.testing import assert_close

from d2lpos import Encoding, T5Bias, Transformer

ALSO = ("rope, values", "cope", "fox", "path", "inkling")
TOKENS = torch.tensor([[1, 5, 2, 0, 3, 6, 4], [0, 0, 6, 1, 2, 5, 5]])
POSITIONS = torch.arange(7)


def model(encoding, causal=False, **sizes):
    return Transformer(7, 3, dim=16, heads=2, encoding=encoding, causal=causal, **sizes).double()


def test_written_out(encoding):
    net = model(encoding, causal=True, layers=3)

    def norm(x, layer):
        return layer_norm(x, (16,), layer.weight, layer.bias)

    x = encoding.embed(net.tokens.weight[TOKENS], POSITIONS)
    for block in net.blocks:
        x = x + block.attention(norm(x, block.norm1), POSITIONS)
        first, _, second = block.feed_forward
        hidden = gelu(norm(x, block.norm2) @ first.weight.mT + first.bias)
        x = x + hidden @ second.weight.mT + second.bias
    want = norm(x, net.norm) @ net.head.weight.mT + net.head.bias
    assert want.shape == (2, 7, 3)
    assert_close(net(TOKENS, POSITIONS), want)


def test_mask_reaches_every_layer(encoding):
    net = model(encoding)
    eye = torch.eye(7, dtype=torch.bool)
    alone = torch.cat([net(TOKENS[:, [i]], POSITIONS[[i]]) for i in range(7)], dim=1)
    assert_close(net(TOKENS, POSITIONS, eye), alone)
    plain, last = Transformer(7, 3, dim=16, heads=2, encoding=encoding).double(), torch.cat([TOKENS[:, :-1], TOKENS[:, :1]], dim=1)
    assert (plain(TOKENS, POSITIONS) != plain(last, POSITIONS))[:, 0].any(), "unless causal, the first token sees the last"


def test_what_a_model_is_given_reaches_each_layer():
    net = model(Encoding(), kv_heads=1, sinks=True)
    for block, cache in zip(net.blocks, net.new_caches(capacity=9), strict=True):
        assert block.attention.project.weight.shape == (32, 16) and block.attention.sinks.shape == (2,)
        assert cache.capacity == 9


def test_one_encoding_serves_all_layers():
    encoding = T5Bias(2)
    net = model(encoding, layers=3)
    assert all(block.attention.encoding is encoding for block in net.blocks)
    plain = sum(p.numel() for p in model(Encoding(), layers=3).parameters())
    assert sum(p.numel() for p in net.parameters()) == plain + encoding.table.numel()


def test_rebuilt_from_the_meta_device(encoding):
    """Nothing is lost in to_empty, because no table is a buffer."""
    net = model(encoding)
    empty = deepcopy(net).to("meta")
    assert empty(TOKENS.to("meta"), POSITIONS.to("meta")).shape == (2, 7, 3)
    empty.to_empty(device="cpu").load_state_dict(net.state_dict())
    assert torch.equal(empty(TOKENS, POSITIONS), net(TOKENS, POSITIONS))
    assert not list(net.buffers())


def test_every_parameter_is_trained(encoding):
    net = model(encoding)
    net(TOKENS, POSITIONS).square().sum().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad.isfinite().all() and parameter.grad.any(), name
