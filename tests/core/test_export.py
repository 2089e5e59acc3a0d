"""One exported program serves every length."""

import pytest
import torch
from torch.testing import assert_close

from d2lpos import Transformer
from d2lpos.positions.checks import as_float

ALSO = ("fox",)  # CoPE sums by the same function; PaTH's walk is a loop over the keys, for one length


@pytest.mark.parametrize("batch", [None, 2], ids=["one line of positions", "positions by sequence"])
def test_one_program_serves_every_length(encoding, place, batch):
    net = Transformer(7, 3, dim=16, heads=2, layers=1, encoding=encoding, causal=True).double()

    def inputs(length):
        positions = place(range(length))
        return torch.randint(7, (2, length)), positions if batch is None else positions.expand(batch, -1)

    length = torch.export.Dim("length", min=2, max=64)
    dynamic = {1: length}, {0 if batch is None else 1: length}
    program = torch.export.export(net, inputs(5), dynamic_shapes=dynamic).module()
    for other in 2, 9, 64:
        tensors = inputs(other)
        assert_close(program(*tensors), net(*tensors))


def test_an_exported_program_looks_at_no_values():
    """A graph has no errors that depend on values: what eager code refuses, it computes."""

    class Real(torch.nn.Module):
        def forward(self, positions):
            return as_float(positions)

    program = torch.export.export(Real(), (torch.arange(3.0),)).module()
    assert program(torch.tensor([0, torch.nan, 2])).isnan().tolist() == [False, True, False]
