"""Features of nodes: against known graphs, and what of them depends on the graph alone."""

import pytest
import torch
from torch.testing import assert_close

from d2lpos.input import laplacian_features, random_walk_features


def graph(nodes, *edges, weight=1.0):
    a = torch.zeros(nodes, nodes, dtype=torch.float64)
    for i, j in edges:
        a[i, j] = a[j, i] = weight
    return a


def ring(nodes):
    return graph(nodes, *((i, (i + 1) % nodes) for i in range(nodes)))


def projector(vectors):
    return vectors @ vectors.mT


RANDOM = torch.rand(2, 9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
RANDOM = torch.triu(RANDOM * (RANDOM > 0.4), diagonal=1)
RANDOM = RANDOM + RANDOM.mT


def test_columns_are_the_eigenvectors_of_the_normalized_laplacian():
    """Each with its eigenvalue, the smallest first, orthonormal, and orthogonal to the trivial one."""
    for one, vectors in zip(RANDOM, laplacian_features(RANDOM, 8), strict=True):
        degree = one.sum(-1)
        laplacian = torch.eye(9).double() - one / (degree[:, None] * degree).sqrt()
        values = torch.linalg.eigvalsh(laplacian)
        assert values[0].abs() < 1e-12
        assert_close(laplacian @ vectors, vectors * values[1:])
        assert_close(vectors.mT @ vectors, torch.eye(8).double())
        assert (vectors.mT @ degree.sqrt()).abs().max() < 1e-12


def test_eigenvectors_of_small_graphs():
    path = laplacian_features(graph(4, (0, 1), (1, 2), (2, 3)), 1)
    assert_close(path.abs().flatten(), torch.tensor([0.5773503, 0.4082483, 0.4082483, 0.5773503]).double())
    assert path[0] * path[3] < 0
    alone = laplacian_features(graph(3, (0, 1)), 2)
    assert_close(alone[:, 0].abs(), torch.tensor([0.0, 0, 1]).double())
    pair = laplacian_features(graph(5, (0, 1), (2, 3), (3, 4)), 1)  # two parts: one sign in each
    assert_close(pair.square().flatten(), torch.tensor([4, 4, 1, 2, 1]).double() / 12)
    assert pair[0] * pair[2] < 0
    none = laplacian_features(torch.zeros(3, 3), 2)
    assert_close(none.mT @ none, torch.eye(2))


@pytest.mark.parametrize("a, k", [(ring(6), 2), (ring(6), 4), (graph(6, (0, 1), (2, 3), (4, 5)), 2), (RANDOM[0], 3)])
def test_whole_eigenspaces_move_with_the_names_of_the_nodes(a, k):
    """Only the projector does: single columns differ by signs, and by turns among equal eigenvalues."""
    order = torch.randperm(len(a), generator=torch.Generator().manual_seed(k))
    renamed = projector(laplacian_features(a[order][:, order], k))
    assert_close(renamed, projector(laplacian_features(a, k))[order][:, order])


def test_walks_of_known_graphs():
    half, back = torch.tensor([[0, 1 / 2, 0, 3 / 8, 0, 11 / 32], [0, 3 / 4, 0, 11 / 16, 0, 43 / 64]]).double()
    assert_close(random_walk_features(ring(6), 6), half.expand(6, 6))
    path = random_walk_features(graph(4, (0, 1), (1, 2), (2, 3)), 6)
    assert_close(path, torch.stack([half, back, back, half]))
    assert_close(random_walk_features(graph(4, (0, 1), (1, 2), (2, 3), weight=0.25), 6), path)
    assert random_walk_features(graph(3, (0, 1), weight=3), 4).tolist() == [[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]
    a = torch.tensor([[0, 1, 3], [1, 0, 0], [3, 0, 0]])
    assert random_walk_features(a, 2)[:, 1].tolist() == [1.0, 0.25, 0.75]  # an edge of 3 is taken three times as often
    loop = torch.tensor([[1.0, 1], [0, 0]])  # directed, and its second node a dead end
    assert random_walk_features(loop, 3).tolist() == [[0.5, 0.25, 0.125], [0, 0, 0]]


def test_walks_move_with_the_names_and_with_the_batch():
    order = torch.randperm(9, generator=torch.Generator().manual_seed(1))
    features = random_walk_features(RANDOM, 5)
    assert_close(random_walk_features(RANDOM[:, order][:, :, order], 5), features[:, order])
    assert_close(random_walk_features(100 * RANDOM[1], 5), features[1])
    assert features.shape == (2, 9, 5)


def test_probabilities_on_the_graph_of_pyg_10098():
    """Edges repeat there, and their weights add. PyTorch Geometric 2.8.1 says 22,252."""
    generator = torch.Generator().manual_seed(42)
    rows, columns = torch.randint(0, 100, (2, 1000), generator=generator)
    weights = torch.rand(1000, generator=generator).double()
    a = torch.zeros(100, 100).double().index_put((rows, columns), weights, accumulate=True)
    assert f"{random_walk_features(a, 20).max():.3f}" == "0.287"


@pytest.mark.parametrize("given, gets", [(torch.bool, torch.float32), (torch.int64, torch.float32), (torch.bfloat16,) * 2])
def test_dtypes(given, gets):
    a = ring(6).to(given)
    assert laplacian_features(a, 2).dtype == random_walk_features(a, 2).dtype == gets
