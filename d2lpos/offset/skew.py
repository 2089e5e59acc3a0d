"""Music Transformer's skew: Shaw's key term without a gather, where positions count 0, 1, 2, …

Huang et al. 2019, section 3.4 (arXiv 1809.04281). An algorithm, not another encoding: under a causal mask
its result is what `ShawKeys` computes with a clip that no offset reaches.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..positions.arguments import check_floating, check_tensor

__all__ = ["key_term", "skew"]


def skew(products: Tensor) -> Tensor:
    """Move row i of products to the left by T − 1 − i, so that column j holds the key at position j.

    products are (…, T, T): query i times the vector of offset c − (T − 1) in column c. Same shape, and
    right for keys up to the query; what lies above the diagonal means nothing and must be masked.
    Raises ValueError where the last two axes are not square.

    >>> skew(torch.tensor([[0, 0, 3], [0, 2, 3], [1, 2, 3]])).tril()
    tensor([[3, 0, 0],
            [2, 3, 0],
            [1, 2, 3]])
    """
    check_tensor("products", products)
    if products.dim() < 2 or products.shape[-1] != products.shape[-2]:
        raise ValueError(f"products must be (…, T, T); got {tuple(products.shape)}")
    length = products.shape[-1]
    # One number before each row makes rows T + 1 long; read in rows of T, each begins one place later.
    return pad(products, (1, 0)).flatten(-2).unflatten(-1, (length + 1, length))[..., 1:, :]


def key_term(q: Tensor, vectors: Tensor) -> Tensor:
    """q · vectors[key − query + length − 1] / √d for keys up to the query; q (…, T, d) gives (…, T, T).

    vectors are (length, d), one for each offset from −(length − 1) to 0. Needs T² numbers a head and no
    T² · d, in at least float32, unless autocast takes less. Raises ValueError where T exceeds length, or
    features differ.

    >>> key_term(torch.ones(2, 4), torch.randn(512, 4)).shape
    torch.Size([2, 2])
    """
    check_floating("q", q)
    check_floating("vectors", vectors, q.device)
    if q.dim() < 2 or vectors.dim() != 2 or q.shape[-1] != vectors.shape[-1]:
        raise ValueError(
            f"q and vectors must be (…, T, d) and (length, d); got {tuple(q.shape)} and {tuple(vectors.shape)}"
        )
    length = q.shape[-2]
    if length > len(vectors):
        raise ValueError(f"q must have at most {len(vectors)} tokens, one for each vector; got {length}")
    wide = torch.promote_types(q.dtype, torch.float32)
    recent = vectors[len(vectors) - length :].to(wide)
    return skew(q.to(wide) / math.sqrt(q.shape[-1]) @ recent.mT)  # (…, T, T)
