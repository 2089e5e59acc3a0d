"""Learned positions: a table with one row for each position.

Gehring et al. 2017, section 3.1 (arXiv 1705.03122); Devlin et al. 2019, appendix A.2 (arXiv 1810.04805).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from ..encoding import Encoding, check_embeddings
from ..positions.arguments import check_positive, check_scale
from ..positions.checks import as_index

__all__ = ["Learned"]


class Learned(Encoding):
    """Door 1: adds row `position` of a (length, dim) table to the token embedding.

    Raises TypeError for positions that are no integers, ValueError for one outside the table: a row that
    was never trained does not exist; and ValueError for a size or std that is not finite and positive.

    >>> learned = Learned(length=512, dim=4)
    >>> words = torch.zeros(1, 3, 4)
    >>> placed = learned.embed(words, torch.arange(3))
    >>> torch.equal(placed[0], learned.table[:3])
    True
    """

    def __init__(self, length: int, dim: int, std: float = 1.0):
        super().__init__()
        check_positive(length=length, dim=dim)
        self.length, self.dim = length, dim
        check_scale(std=std)
        self.table = nn.Parameter(std * torch.randn(length, dim))

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        check_embeddings(x, self.table.shape[1], positions)
        return x + embedding(as_index(positions, length=len(self.table)), self.table).to(x)
