"""Multi-head latent attention (MLA): keys are made from a short latent vector, and a clock ticks beside them.

DeepSeek-AI 2024, section 2.1 (arXiv 2405.04434). For each token a cache keeps a latent c of r numbers and one turned
key of d_r numbers, which all heads share: 512 and 64 a layer in DeepSeek-V2. The key of a head is W c. But q · W c is
(Wᵀ q) · c, so the matrix W, here `up`, can be multiplied into the query, and no key needs to be built. A turn between
Wᵀ and q would be another one for each offset. So RoPE turns d_r further features, and their products are added.

q is (…, head, query, d), c is (…, 1, key, r), up is (head, d, r), turned_q is (…, head, query, d_r), and turned_k is
(…, 1, key, d_r). Each function gives (…, head, query, key), in at least float32, and raises TypeError where an
argument is no floating-point tensor, ValueError where axes do not fit.
"""

import math
from functools import reduce

import torch
from torch import Tensor

from ..positions.arguments import check_axes, check_broadcast

__all__ = ["absorbed", "built", "scores"]

AXES = {
    "q": "head query d",
    "c": "1 key r",
    "up": "head d r",
    "turned_q": "head query d_r",
    "turned_k": "1 key d_r",
}


def built(q: Tensor, c: Tensor, up: Tensor) -> Tensor:
    """q · k with the keys of each head built: k = up c.

    >>> q, c = torch.ones(2, 3, 4), torch.ones(1, 5, 8)
    >>> built(q, c, up=torch.ones(2, 4, 8)).shape
    torch.Size([2, 3, 5])
    """
    q, c, up = wide(q=q, c=c, up=up)
    return q @ (c @ up.mT).mT  # c @ upᵀ is (head, key, d)


def absorbed(q: Tensor, c: Tensor, up: Tensor) -> Tensor:
    """The same numbers as (upᵀ q) · c: queries of r features meet the latents as they lie in the cache.

    >>> q, c = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0]]])
    >>> up = torch.tensor([[[5.0], [7.0]]])
    >>> absorbed(q, c, up), built(q, c, up)
    (tensor([[[57.]]]), tensor([[[57.]]]))
    """
    q, c, up = wide(q=q, c=c, up=up)
    return (q @ up) @ c.mT  # q @ up is (head, query, r)


def scores(q: Tensor, c: Tensor, up: Tensor, turned_q: Tensor, turned_k: Tensor) -> Tensor:
    """(`absorbed` + turned_q · turned_k) / √(d + d_r), before softmax; `RoPE(d_r).rotate` turns both.

    >>> q, c = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[3.0]]])
    >>> up, clock = torch.tensor([[[5.0], [7.0]]]), torch.ones(1, 1, 2)
    >>> scores(q, c, up, clock, clock)  # (57 + 2) / √4
    tensor([[[29.5000]]])
    """
    q, c, up, turned_q, turned_k = wide(q=q, c=c, up=up, turned_q=turned_q, turned_k=turned_k)
    both = q @ up @ c.mT + turned_q @ turned_k.mT  # (head, query, key)
    return both / math.sqrt(q.shape[-1] + turned_q.shape[-1])


def wide(**tensors: Tensor) -> list[Tensor]:
    """All in one dtype, at least float32; raises as the module says."""
    check_axes(AXES, **tensors)
    ahead = {name: x[..., :1, :1, :] for name, x in tensors.items()}  # of the axes that AXES names
    for name in ahead.keys() - {"q"}:
        check_broadcast(q=ahead["q"], **{name: ahead[name]})
    dtype = reduce(torch.promote_types, (x.dtype for x in tensors.values()), torch.float32)
    return [x.to(dtype) for x in tensors.values()]
