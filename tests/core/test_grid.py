"""Positions of two axes: a Transformer over a grid of cells, row before column."""

import pytest
import torch
from torch.testing import assert_close

from d2lpos import Transformer
from tests.core.conftest import GRIDS

GRID = torch.cartesian_prod(torch.arange(4), torch.arange(4))
TOKENS = torch.randint(7, (2, 16), generator=torch.Generator().manual_seed(0))
SHUFFLE = torch.randperm(16, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=[name for name in GRIDS if name != "m-rope"])
def encoding(request, randomized):
    return randomized(GRIDS[request.param]())


@pytest.fixture
def net(encoding):
    return Transformer(7, 3, dim=16, heads=2, encoding=encoding).double()


def test_tokens_that_take_their_cells_with_them_change_nothing(net):
    assert_close(net(TOKENS[:, SHUFFLE], GRID[SHUFFLE]), net(TOKENS, GRID)[:, SHUFFLE])


@pytest.mark.parametrize("axis", [0, 1])
def test_each_axis_counts(net, axis):
    line = GRID.clone()
    line[:, axis] = 0
    assert (net(TOKENS, GRID) - net(TOKENS, line)).abs().max() > 1e-3
    assert (net(TOKENS, GRID) - net(TOKENS, GRID.flip(-1))).abs().max() > 1e-3


@pytest.mark.parametrize("by", [(0, 1), (1, 0), (1, 2)])
def test_a_shift_of_all_cells_changes_nothing(net, by):
    assert_close(net(TOKENS, GRID + torch.tensor(by)), net(TOKENS, GRID))


def test_each_sequence_may_have_its_own_cells(net):
    cells = torch.stack([GRID, GRID[SHUFFLE]])
    apart = torch.cat([net(TOKENS[i, None], cells[i]) for i in range(2)])
    assert_close(net(TOKENS, cells), apart)
    assert_close(net(TOKENS, GRID[None]), net(TOKENS, GRID))


@pytest.mark.parametrize("encoding", ["rope, two axes", "swin"], indirect=True)
def test_one_graph_serves_every_number_of_cells(net, graphs):
    compiled = torch.compile(net, fullgraph=True, dynamic=True, backend=graphs.count)
    for cells in (5, 6, 16):
        assert_close(compiled(TOKENS[:, :cells], GRID[:cells]), net(TOKENS[:, :cells], GRID[:cells]))
    assert len(graphs) == 1


@pytest.mark.parametrize("encoding", ["rope, two axes", "swin"], indirect=True)
def test_one_program_serves_every_number_of_cells(net):
    cells = torch.export.Dim("cells", min=2, max=64)
    program = torch.export.export(net, (TOKENS, GRID), dynamic_shapes=({1: cells}, {0: cells})).module()
    assert_close(program(TOKENS[:, :5], GRID[:5]), net(TOKENS[:, :5], GRID[:5]))
