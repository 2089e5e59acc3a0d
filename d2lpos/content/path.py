"""PaTH: on the way from a key to a query, each word reflects what is carried past it.

Yang et al. 2025 (arXiv 2505.16381).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_axes, check_boolean, check_broadcast, check_positive, check_size
from ..positions.checks import signed
from .distance import between, check_hidden, check_hidden_features

__all__ = ["PaTH", "householder_scores"]


def householder_scores(q: Tensor, k: Tensor, w: Tensor, beta: Tensor, counted: Tensor) -> Tensor:
    """k_j · H_(j+1) ⋯ H_i q_i for each query i and key j, with H = I − β w wᵀ; (batch, head, query, key).

    Keys stand in the order of the text; w is (batch, head, key, feature), β (batch, head, key, 1). The query walks
    back from the last key to the first, and H changes it at each that counts for it; counted is Boolean, (…, query,
    key). β = 2 reflects at the plane across a unit vector w, and β = 1 forgets what lies along it.

    >>> q, k = torch.tensor([[[[3.0, 4]]]]), torch.eye(2)[None, None]
    >>> w = torch.tensor([[[[1.0, 0], [1, 0]]]])
    >>> seen = torch.tensor([[True, True]])
    >>> householder_scores(q, k, w, 2 * w[..., :1], seen)
    tensor([[[[-3.,  4.]]]])
    """
    check_axes({"q": "query d", "k": "key d", "w": "key d", "beta": "key 1"}, q=q, k=k, w=w, beta=beta)
    for name, x in ("k", k), ("w", w), ("beta", beta):
        sizes = zip(x.shape[:-2], q.shape[:-2], strict=False)
        if x.dtype != q.dtype or x.dim() != q.dim() or any(n != m and 1 not in (n, m) for n, m in sizes):
            raise ValueError(f"{name} must have the dtype, batch and heads of q; got {x.dtype}, {tuple(x.shape)}")
    check_boolean("counted", counted, "", q.device)
    check_size("counted", counted.shape[-1], k.shape[-2], "keys")
    check_broadcast(counted=counted, q=q)
    if counted.dim() > q.dim():
        raise ValueError(f"counted must have at most {q.dim()} axes, as q has; got {tuple(counted.shape)}")
    products = []
    tokens = zip(k.unbind(-2), w.unbind(-2), beta.unbind(-2), counted.unbind(-1), strict=True)
    for key, w_n, beta_n, counts in reversed(list(tokens)):
        products.append(q @ key[..., None])  # (…, query, d) @ (…, d, 1)
        along = torch.where(counts[..., None], q @ w_n[..., None], 0)  # (…, query, 1)
        q = q - along * (beta_n * w_n)[..., None, :]
    return torch.cat([*reversed(products), q[..., :0]], dim=-1)


class PaTH(Encoding):
    """Door 3: adds what `householder_scores` makes of q · k, divided by √d, with w and β from each token's hidden state.

    w = W x, of length 1, and β = 2 sigmoid(u · x + c), in each head: W, u and c are the parameters `direction` and
    `strength`. (The paper makes W of two thin matrices, and mixes the w of three neighbors.) Two reflections are a
    turn, so a step of RoPE in 64 features is 64 of them, where a token has one. Tokens count, not places: a gap in
    the positions changes nothing. Equal positions stand in the order of the tokens.

    Made for causal attention; to a key ahead of the query, nothing is added. A cache keeps w and β, and each step
    walks back over all tokens: for study, not for speed. There is no score_mod, because no pair knows what lies
    between. Raises ValueError where a size is not positive, or heads does not divide dim.

    >>> path, here = PaTH(dim=8, heads=2), torch.arange(3)
    >>> hidden = path.hidden_features(torch.randn(1, 3, 8))
    >>> q = k = torch.randn(1, 2, 3, 4)
    >>> path.score(q, k, here, here, hidden).shape
    torch.Size([1, 2, 3, 3])
    """

    needs_hidden = True

    def __init__(self, dim: int, heads: int):
        super().__init__()
        check_positive(dim=dim, heads=heads)
        if dim % heads:
            raise ValueError(f"dim must be a multiple of heads; got dim={dim}, heads={heads}")
        self.heads, self.features = heads, dim // heads
        self.direction = nn.Linear(dim, dim, bias=False)
        self.strength = nn.Linear(dim, heads)

    def hidden_features(self, x: Tensor) -> Tensor:
        """w and β of each token; x (batch, sequence, dim) gives (batch, head, sequence, features + 1)."""
        check_hidden(x, self.direction.weight)
        w = self.direction(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (…, head, sequence, features)
        beta = 2 * self.strength(x).sigmoid().mT[..., None]  # (batch, head, sequence, 1)
        both = torch.cat([w, beta], dim=-1)
        both = both.to(torch.promote_types(both.dtype, torch.float32))
        return torch.cat([normalize(both[..., :-1], dim=-1), both[..., -1:]], dim=-1)

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor,
        hidden_features: Tensor | None = None, visible: Tensor | None = None,
    ) -> Tensor:
        check_pairs(self, q, k, q_positions, k_positions, heads=self.heads, features=self.features)
        check_hidden_features(hidden_features, k, self.features + 1, "PaTH")
        wide = torch.promote_types(q.dtype, hidden_features.dtype)
        q, k, w, beta = (x.to(wide) for x in (q, k, hidden_features[..., :-1], hidden_features[..., -1:]))
        order = torch.atleast_2d(signed("k_positions", k_positions)).argsort(dim=-1, stable=True)[:, None]
        counted = between(q_positions, k_positions, visible).expand(*q.shape[:-1], k.shape[-2])
        along = [x.take_along_dim(order[..., None], dim=-2) for x in (k, w, beta)]  # (…, head, key, features)
        walked = householder_scores(q, *along, counted.take_along_dim(order[:, :, None], dim=-1))
        walked = walked.take_along_dim(order.argsort(dim=-1)[:, :, None], dim=-1)
        return (walked - q @ k.mT) / math.sqrt(q.shape[-1])
