"""Features of a graph's nodes, in place of positions: a node has none, for nobody has put the nodes into an order.

Dwivedi et al. 2020 (arXiv 2003.00982) for the Laplacian, Dwivedi et al. 2022 (arXiv 2110.07875) for the random walk.
"""

import torch
from torch import Tensor

from ..positions.arguments import check_positive, check_tensor, check_values

__all__ = ["laplacian_features", "random_walk_features"]


def laplacian_features(adjacency: Tensor, k: int) -> Tensor:
    """The k eigenvectors of I − D^(−½) A D^(−½) with the smallest eigenvalues, without the trivial one; (…, nodes, k).

    adjacency, (…, nodes, nodes), has the weight of each edge twice and 0 where there is none. Columns are orthonormal, in
    the order of their eigenvalues. The trivial vector D^½ 1 is left out by itself, not as the first column, which in a
    graph of several parts would be some mixture. A node without edges has the eigenvalue 1, as in PyTorch Geometric.
    Signs are arbitrary, and so is the basis among equal eigenvalues: a model must be taught to ignore both. Computed in
    float64 where the device has it; in the dtype of adjacency, or float32 if that is not floating-point. Raises TypeError
    or ValueError where adjacency is not square, finite, symmetric and at least 0, or k not from 1 to nodes − 1.

    >>> path = torch.tensor([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> laplacian_features(path, k=1).abs().round(decimals=4)
    tensor([[0.7071],
            [0.0000],
            [0.7071]])
    """
    weights = checked(adjacency)
    check_positive(k=k)
    nodes = weights.shape[-1]
    if k > nodes - 1:
        raise ValueError(f"k must be at most {nodes - 1}, because {nodes} nodes have so many nontrivial vectors; got {k}")
    if not torch.equal(weights, weights.mT):
        raise ValueError("adjacency must be symmetric, or the eigenvectors are not orthogonal; got A[i, j] ≠ A[j, i]")
    root = weights.sum(-1).sqrt()
    inverse = torch.where(root > 0, 1 / root, 0)
    laplacian = torch.eye(nodes).to(weights) - inverse[..., :, None] * weights * inverse[..., None, :]
    trivial = torch.nn.functional.normalize(root, dim=-1)
    # Eigenvalues lie from 0 to 2. This moves the trivial one from 0 to 3, behind all others.
    _, vectors = torch.linalg.eigh(laplacian + 3 * trivial[..., :, None] * trivial[..., None, :])
    return vectors[..., :k].to(adjacency.dtype if adjacency.is_floating_point() else torch.float32)


def random_walk_features(adjacency: Tensor, steps: int) -> Tensor:
    """How likely a random walk is back at its node after 1, 2, …, steps steps: diag((D^(−1) A)^m); (…, nodes, steps).

    adjacency, (…, nodes, nodes), has the weight of the edge from row to column, or 0. A walk takes each edge of its node
    with a probability proportional to the weight. It does not leave a node without edges, and we say 0 for that node, as
    it has no step to take. No signs and no bases are chosen here, but nodes that look alike get the same features. dtypes
    are those of `laplacian_features`. Raises TypeError or ValueError where adjacency is not square, finite and at least 0,
    or steps is no positive integer.

    >>> two = torch.tensor([[0.0, 3.0], [3.0, 0.0]])
    >>> random_walk_features(two, steps=4)
    tensor([[0., 1., 0., 1.],
            [0., 1., 0., 1.]])
    """
    weights = checked(adjacency)
    check_positive(steps=steps)
    degree = weights.sum(-1, keepdim=True)
    step = walk = torch.where(degree > 0, weights / degree, 0)
    returns = [walk.diagonal(dim1=-2, dim2=-1)]
    for _ in range(steps - 1):
        walk = walk @ step
        returns.append(walk.diagonal(dim1=-2, dim2=-1))
    return torch.stack(returns, dim=-1).to(adjacency.dtype if adjacency.is_floating_point() else torch.float32)


def checked(adjacency: Tensor) -> Tensor:
    """Weights of edges in float64, or in float32 where the device has no float64; raises as the functions above do."""
    check_tensor("adjacency", adjacency)
    check_values("adjacency", adjacency, torch.device("cpu"))
    if adjacency.is_complex():
        raise TypeError(f"adjacency must be real numbers; got {adjacency.dtype}")
    if adjacency.dim() < 2 or adjacency.shape[-1] != adjacency.shape[-2] or not adjacency.numel():
        raise ValueError(f"adjacency must be (…, nodes, nodes), with at least one node; got {tuple(adjacency.shape)}")
    weights = adjacency.to(torch.float32 if adjacency.device.type == "mps" else torch.float64)
    wrong = weights[~(weights.isfinite() & (weights >= 0))]
    if len(wrong):
        raise ValueError(f"adjacency must be finite and at least 0; got {wrong[0].item()}")
    return weights
