"""Shaw's key vectors on two axes: one for the rows between two cells, one for the columns.

Li et al. 2022, section 4.1 (arXiv 2112.01526). ViTDet and the picture encoder of SAM run it.
"""

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_positive
from ..positions.checks import offsets
from .swin import row_and_column

__all__ = ["Decomposed"]


class Decomposed(Encoding):
    """Door 3: adds q · rows[step down] + q · columns[step right] to the scores, the same vectors in all heads.

    A step is the query's place minus the key's. The sum is not divided by √d, as Shaw's is. A table of all steps of a
    window of 14 × 14 would have 729 vectors; these two have 54.

    Positions are (…, sequence, 2): row before column of a cell in a height × width window. Parameters: rows,
    (2·height − 1, features), and columns, (2·width − 1, features), zero at first. Raises TypeError where positions
    are no integers, ValueError where one lies outside the window or a size is not positive.

    >>> q = k = torch.ones(1, 2, 6, 4)
    >>> places = torch.cartesian_prod(torch.arange(2), torch.arange(3))
    >>> vectors = Decomposed(features=4, height=2, width=3)
    >>> vectors.score(q, k, places, places).shape
    torch.Size([1, 2, 6, 6])
    """

    axes = 2

    def __init__(self, features: int, height: int, width: int):
        super().__init__()
        check_positive(features=features, height=height, width=width)
        self.features, self.height, self.width = features, height, width
        self.rows = nn.Parameter(torch.zeros(2 * height - 1, features))
        self.columns = nn.Parameter(torch.zeros(2 * width - 1, features))

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        check_pairs(self, q, k, q_positions, k_positions, features=self.rows.shape[1])
        q_places = row_and_column("q_positions", q_positions, self.height, self.width)
        k_places = row_and_column("k_positions", k_positions, self.height, self.width)
        wide = q.to(torch.promote_types(q.dtype, torch.float32))
        terms = []
        for table, here, there in zip((self.rows, self.columns), q_places, k_places, strict=True):
            step = (len(table) // 2 - offsets(here, there))[..., None, :, :]  # (…, 1, query, key)
            products = wide @ table.to(wide).mT  # T · (2·side − 1) numbers a head
            terms.append(products.gather(-1, step.expand(*q.shape[:-1], -1)))  # (batch, head, query, key)
        return terms[0] + terms[1]
