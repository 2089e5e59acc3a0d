"""Contextual positions: a query counts the words that it cares for, and asks how many came since.

Golovneva et al. 2024 (arXiv 2405.18719).
"""

import math

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_positive
from .distance import gated_distance

__all__ = ["CoPE"]


class CoPE(Encoding):
    """Door 3: adds q · table[p], where p is how much the query counts from the key to itself, both included.

    A query counts a key by the gate sigmoid(q · k / √d), and p is the sum of these; between two rows of the table
    lies their mean, weighted. What exceeds the last row is the last row. Where all gates are 1, p counts tokens, and
    this is a table of offsets. As in the paper's listing, the term is not divided by √d, and one table serves all
    heads. Made for causal attention; a key ahead of the query has p = 0.

    Parameters: table, (rows, features) for heads of `features` features, 0 at first. A cache needs nothing more;
    there is no score_mod, because no pair knows what lies between. Raises ValueError where a size is not positive.

    >>> cope, here = CoPE(features=4, rows=8), torch.arange(3)
    >>> q = k = torch.randn(1, 2, 3, 4)
    >>> cope.score(q, k, here, here).shape
    torch.Size([1, 2, 3, 3])
    """

    needs_hidden = True

    def __init__(self, features: int, rows: int):
        super().__init__()
        check_positive(features=features, rows=rows)
        self.table = nn.Parameter(torch.zeros(rows, features))

    def score(
        self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor,
        hidden_features: Tensor | None = None, visible: Tensor | None = None,
    ) -> Tensor:
        check_pairs(self, q, k, q_positions, k_positions, features=self.table.shape[1])
        wide = torch.promote_types(q.dtype, torch.float32)
        q, k, table = q.to(wide), k.to(wide), self.table.to(wide)
        gates = torch.sigmoid(q @ k.mT / math.sqrt(q.shape[-1]))  # (batch, head, query, key)
        p = gated_distance(gates, q_positions, k_positions, visible, own=True).clamp(max=len(table) - 1)
        terms = q @ table.mT  # (batch, head, query, row)
        below, above = (terms.gather(-1, row.nan_to_num().long()) for row in (p.floor(), p.ceil()))
        return torch.lerp(below, above, p - p.floor())
