"""A bias that the query's word chooses: a mixture of a few profiles over the distance.

From the released code of Inkling, in transformers 5.23 (`InklingRelativeLogits`); there is no paper.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_positive
from ..positions.checks import as_index, offsets
from ..transformer.temperature import check_temperature, multiply
from .distance import check_hidden, check_hidden_features

__all__ = ["Inkling"]


class Inkling(Encoding):
    """Door 3: adds (R x_i) · profiles[:, i − j] for keys at 0 ≤ i − j < extent, and nothing farther away or ahead.

    x_i is the hidden state of the query's token; R x is `rank` numbers in each head. ShawKeys' term is this with
    the query for R x and full rank, T5's with constant numbers. temperature, as of `Attention`, multiplies what is
    added, too: give it both, as in the global layers of Inkling.

    Parameters: weights, which is R, and profiles, (rank, extent), 0 at first. A cache keeps R x. There is no
    score_mod, because it would not know the hidden states. Raises TypeError for positions that are no integers,
    ValueError where a size is not positive.

    >>> inkling, here = Inkling(dim=8, heads=2), torch.arange(3)
    >>> hidden = inkling.hidden_features(torch.randn(1, 3, 8))
    >>> q = k = torch.randn(1, 2, 3, 4)
    >>> inkling.score(q, k, here, here, hidden).shape
    torch.Size([1, 2, 3, 3])
    """

    needs_hidden = True

    def __init__(
        self,
        dim: int,
        heads: int,
        rank: int = 16,
        extent: int = 1024,
        temperature: Callable[[Tensor], Tensor] | None = None,
    ):
        super().__init__()
        check_positive(dim=dim, heads=heads, rank=rank, extent=extent)
        check_temperature(temperature)
        self.heads, self.temperature = heads, temperature
        self.weights = nn.Linear(dim, heads * rank, bias=False)
        self.profiles = nn.Parameter(torch.zeros(rank, extent))

    def hidden_features(self, x: Tensor) -> Tensor:
        """How much each token takes of each profile; x (batch, sequence, dim) gives (batch, head, sequence, rank)."""
        check_hidden(x, self.weights.weight)
        return self.weights(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (…, head, sequence, rank)

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor,
        hidden_features: Tensor | None = None, visible: Tensor | None = None,
    ) -> Tensor:
        rank, extent = self.profiles.shape
        check_pairs(self, q, k, q_positions, k_positions, heads=self.heads)
        check_hidden_features(hidden_features, k, rank, "Inkling")
        if q.shape[-2] > k.shape[-2]:
            raise ValueError(f"q must have at most as many tokens as k; got {tuple(q.shape)} and {tuple(k.shape)}")
        offset = offsets(as_index(q_positions, "q_positions"), as_index(k_positions, "k_positions"))
        distance = -offset[..., None, :, :]
        wide = torch.promote_types(hidden_features.dtype, torch.float32)
        of_queries = hidden_features[..., hidden_features.shape[-2] - q.shape[-2] :, :].to(wide)
        columns = distance.clamp(0, extent - 1).expand(*q.shape[:-1], -1)
        at = (of_queries @ self.profiles.to(wide)).gather(-1, columns)  # (batch, head, query, key)
        bias = torch.where((distance >= 0) & (distance < extent), at, 0)
        return bias if self.temperature is None else multiply(bias, q_positions, self.temperature)
