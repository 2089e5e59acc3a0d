"""The Forgetting Transformer: every word says how much of what came before it is to be forgotten.

Lin et al. 2025 (arXiv 2503.02130).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_positive
from .distance import check_hidden, check_hidden_features, gated_distance

__all__ = ["FoX"]


class FoX(Encoding):
    """Door 3: adds the logarithms of the gates of all tokens behind the key, up to the query.

    A token x has the gate sigmoid(w · x + b), in 0 … 1, in each head. Where all gates are e⁻ᵐ, this is ALiBi with
    the slope m. But tokens count, not places: a gap in the positions changes nothing. Made for causal attention; to
    a key ahead of the query, nothing is added. Parameters: gate, which is w and b. A cache keeps a number for each
    token and head; there is no score_mod, because no pair knows what lies between. Raises ValueError where a size is
    not positive.

    >>> fox, here = FoX(dim=8, heads=2), torch.arange(3)
    >>> half = torch.full((1, 2, 3, 1), 0.5).log()  # its gates
    >>> q = k = torch.zeros(1, 2, 3, 4)
    >>> fox.score(q, k, here, here, half)[0, 0, -1].exp()
    tensor([0.2500, 0.5000, 1.0000])
    """

    needs_hidden = True

    def __init__(self, dim: int, heads: int):
        super().__init__()
        check_positive(dim=dim, heads=heads)
        self.gate = nn.Linear(dim, heads)

    def hidden_features(self, x: Tensor) -> Tensor:
        """The logarithm of each token's gates; x (batch, sequence, dim) gives (batch, head, sequence, 1)."""
        check_hidden(x, self.gate.weight)
        logits = self.gate(x)
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return logsigmoid(wide).mT[..., None]  # (batch, head, sequence, 1)

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor,
        hidden_features: Tensor | None = None, visible: Tensor | None = None,
    ) -> Tensor:
        check_pairs(self, q, k, q_positions, k_positions, heads=self.gate.out_features)
        check_hidden_features(hidden_features, k, 1, "FoX")
        return gated_distance(hidden_features.mT, q_positions, k_positions, visible)
