import pytest
import torch
from torch.testing import assert_close

from d2lpos import Transformer

ABSOLUTE = ["sinusoidal", "learned", "mlp", "fourier"]
RELATIVE = ["t5", "alibi", "values", "shaw", "transformer-xl", "kerple, power", "fire", "sandwich"]


@pytest.mark.parametrize("encoding", ["none", *ABSOLUTE, "rope, half", *RELATIVE], indirect=True)
def test_one_graph_serves_every_length(encoding, graphs):
    net = Transformer(7, 3, dim=16, heads=2, layers=1, encoding=encoding, causal=True).double()
    compiled = torch.compile(net, fullgraph=True, dynamic=True, backend=graphs.count)
    for length in (5, 6, 17, 32, 61):
        tokens, positions = torch.randint(7, (2, length)), torch.arange(length)
        assert_close(compiled(tokens, positions), net(tokens, positions))
    assert len(graphs) == 1
