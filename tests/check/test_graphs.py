"""The checks of chapter 13B: their references against the package, and right answers written otherwise."""

import pytest
import torch

from d2lpos.check import graphs as check
from d2lpos.check.graphs.around import rounded
from d2lpos.input import laplacian_features
from tests.check.right import accepted, right


@pytest.mark.parametrize("period", [2, 5, 6, 11, 12])
def test_another_first_residue_changes_nothing(period):
    ids = torch.arange(period)
    matrix = check.around.reference(ids, period)
    for first in range(period):
        assert torch.equal(check.around.reference((ids + first) % period, period), matrix)


def test_rounding_breaks_even_rings_only():
    changed = [int((rounded(torch.arange(n), n) != rounded((torch.arange(n) + 1) % n, n)).sum()) for n in (10, 11)]
    assert changed == [right(check.around, "flipped"), 0]
    assert rounded(torch.arange(10), 10)[0].tolist() == [0, -1, -2, -3, -4, -5, 4, 3, 2, 1]


@pytest.mark.parametrize("period", [5, 6, 10, 11, 14])
def test_the_sign_of_a_line_breaks_every_ring(period):
    """As the first type of AfCycDesign's offsets does; its second gives the matrix of `rounded`."""
    ids = torch.arange(period)

    def on_a_line(ids):
        offset = ids[:, None] - ids
        return offset.sign() * torch.minimum(offset.abs(), period - offset.abs())

    assert int((on_a_line(ids) != on_a_line((ids + 1) % period)).sum()) == 2 * (period - 1)


def test_heat_on_a_ring_moves_with_the_nodes():
    ring = torch.eye(6, dtype=torch.float64).roll(1, 0)
    ring, order = ring + ring.mT, torch.tensor([3, 1, 5, 0, 2, 4])
    heats = []
    for graph in (ring, ring[order][:, order]):
        vectors = laplacian_features(graph, 4)
        values = torch.einsum("nk,nm,mk->k", vectors, torch.eye(6).double() - graph / 2, vectors)
        heats.append(check.heat.reference(vectors, values))
    assert torch.allclose(heats[0][order][:, order], heats[1])


def test_float32_steps_by_128_seconds():
    stamps = torch.tensor([1_700_000_000, 1_700_000_060])
    assert stamps.float().diff().item() in (0, 128) and check.time_ids.reference(stamps, 1)[1] == 60 / 3600


def pair_by_pair(ids, period):
    rows = [[(i - j) % period for j in ids.tolist()] for i in ids.tolist()]
    return torch.tensor([[d if d <= period / 2 else d - period for d in row] for row in rows])


def centered(ids, period):
    return period // 2 - (period // 2 - (ids[:, None] - ids)) % period


def space_by_space(vectors, values):
    return sum((-value).exp() * torch.outer(vector, vector) for value, vector in zip(values, vectors.T, strict=True))


def as_diagonal(vectors, values):
    return vectors @ torch.diag(torch.exp(-values)) @ vectors.T


def on_a_grid(stamps, variables):
    return ((stamps - stamps[0]) / 3600).expand(variables, -1).flatten()


def in_a_list(stamps, variables):
    return torch.tensor([(t - stamps.tolist()[0]) / 3600 for t in stamps.tolist()] * variables)


test_accepted = accepted({
    check.around: [pair_by_pair, centered],
    check.heat: [space_by_space, as_diagonal],
    check.time_ids: [on_a_grid, in_a_list],
})
