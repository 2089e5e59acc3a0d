"""Transformer-XL's relative attention: sinusoids of the offset, seen through a learned projection.

Dai et al. 2019, section 3.3 (arXiv 1901.02860).
"""

import math

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_pairs
from ..input.sinusoids import angles, frequencies, sinusoidal
from ..positions.arguments import check_floating, check_positive, check_size, check_tensor
from ..positions.checks import as_double
from ..positions.looks import recall, remember

__all__ = ["TransformerXL", "offset_products"]


def offset_products(p: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """p · sinusoidal(query − key, d, layout="concatenated") for each pair; (…, query, d) gives (…, query, key).

    The addition theorems, sin(a − b) = sin a · cos b − cos a · sin b and its sister, part each sinusoid
    into one of the query and one of the key: T² · d numbers are never built. Angles are in float64,
    because offsets are small where positions are large. Raises as `sinusoidal` does.

    >>> first = torch.tensor([[1.0, 0, 0, 0]])  # sin(query − key)
    >>> offset_products(first, torch.tensor([2]), torch.arange(3))
    tensor([[0.9093, 0.8415, 0.0000]])
    """
    check_floating("p", p)
    check_tensor("q_positions", q_positions, p.device)
    check_tensor("k_positions", k_positions, p.device)
    if p.dim() < 2 or p.shape[-1] % 2 or not p.shape[-1]:
        raise ValueError(f"p must be (…, query, d) with an even d, because each frequency turns a pair; got {tuple(p.shape)}")
    check_size("q_positions", q_positions.shape[-1], p.shape[-2], "members, one for each query")
    dim = p.shape[-1]
    angle = angles(as_double(q_positions, "q_positions"), frequencies(dim))
    sine, cosine = angle.sin().to(p), angle.cos().to(p)
    of_sine, of_cosine = p.chunk(2, dim=-1)
    turned = torch.cat([of_cosine * sine - of_sine * cosine, of_sine * sine + of_cosine * cosine], dim=-1)
    keys = sinusoidal(as_double(k_positions, "k_positions"), dim, layout="concatenated")
    return turned @ keys.to(p).mT  # (…, query, key)


class TransformerXL(Encoding):
    """Door 3: adds (u · k + (q + v) · W r) / √d, where r is the sinusoid of query minus key, to the scores.

    u is what every query asks of a key's content, v what it asks of an offset. Parameters: u and v,
    (heads, dim/heads) each and zero at first, and W, (dim, dim). Raises ValueError where heads does not
    divide dim, or dim is odd.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> encoding = TransformerXL(dim=8, heads=2)
    >>> encoding.score(q, k, here, here).shape
    torch.Size([1, 2, 3, 3])
    """

    def __init__(self, dim: int, heads: int):
        super().__init__()
        check_positive(heads=heads)
        frequencies(dim)  # an odd dim fails here
        if dim % heads:
            raise ValueError(f"dim must be a multiple of heads; got dim={dim}, heads={heads}")
        self.u = nn.Parameter(torch.zeros(heads, dim // heads))
        self.v = nn.Parameter(torch.zeros(heads, dim // heads))
        self.project = nn.Linear(dim, dim, bias=False)

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        heads, features = self.u.shape
        check_pairs(self, q, k, q_positions, k_positions, heads, features)
        wide = torch.promote_types(q.dtype, torch.float32)
        u, v, weight = (x.to(wide) for x in (self.u, self.v, self.project.weight))
        content = (k.to(wide) @ u[..., None]).mT  # (batch, head, 1, key)
        asked = (q.to(wide) + v[:, None]) @ weight.unflatten(0, (heads, features))  # (…, head, query, dim)
        here = remember(q_positions[..., None, :], recall(q_positions))  # the same in all heads
        there = remember(k_positions[..., None, :], recall(k_positions))
        products = offset_products(asked, here, there)
        return (content + products) / math.sqrt(features)
