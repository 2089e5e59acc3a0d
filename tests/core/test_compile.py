import pytest
import torch
from torch.testing import assert_close

from d2lpos import ALiBi, Attention, RoPE, T5Bias, Transformer
from d2lpos.transformer.cache import Cache

ABSOLUTE = ["sinusoidal", "learned", "mlp", "fourier"]
RELATIVE = ["t5", "alibi", "values", "shaw", "transformer-xl", "kerple, power", "fire", "sandwich"]


@pytest.mark.parametrize("encoding", ["none", *ABSOLUTE, "rope, half", "rope, scaled", *RELATIVE], indirect=True)
def test_one_graph_serves_every_length(encoding, graphs):
    net = Transformer(7, 3, dim=16, heads=2, layers=1, encoding=encoding, causal=True).double()
    compiled = torch.compile(net, fullgraph=True, dynamic=True, backend=graphs.count)
    for length in (5, 6, 17, 32, 61):
        tokens, positions = torch.randint(7, (2, length)), torch.arange(length)
        assert_close(compiled(tokens, positions), net(tokens, positions))
    assert len(graphs) == 1


@pytest.mark.parametrize("capacity", [0, 16])
@pytest.mark.parametrize("make", [lambda: RoPE(8), lambda: ALiBi(2), lambda: T5Bias(2, bidirectional=False)], ids=["rope", "alibi", "t5"])
@torch.no_grad()
def test_decoding_takes_three_graphs_for_a_model_and_for_a_layer(make, capacity, graphs):
    """The first call, the second, and all others: what is kept is then of any length."""
    net = Transformer(7, 3, dim=16, heads=2, encoding=make(), causal=True)
    layer, tokens, x = Attention(16, 2, make(), causal=True), torch.randint(7, (2, 9)), torch.randn(2, 9, 16)
    for module, batch, new_caches in (
        (net, tokens, lambda: {"caches": net.new_caches(capacity=capacity)}),
        (layer, x, lambda: {"cache": Cache(capacity=capacity)}),
    ):
        torch.compiler.reset()
        before, compiled = len(graphs), torch.compile(module, backend=graphs.count)
        caches, others, rooms = new_caches(), new_caches(), set()
        for chunk in torch.arange(9).split([2] + [1] * 7):
            assert_close(compiled(batch[:, chunk], chunk, **caches), module(batch[:, chunk], chunk, **others))
            first = caches["cache"] if module is layer else caches["caches"][0]
            rooms.add(first.keys.data_ptr())
        assert len(graphs) - before == 3
        assert not capacity or len(rooms) == 1  # nothing was copied
