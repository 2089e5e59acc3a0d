"""DeBERTa's two terms: a query meets vectors of offsets, and so does a key.

He et al. 2021, section 3.1 (arXiv 2006.03654); version 3, arXiv 2111.09543, has the same.
"""

import math

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_pairs
from ..positions.arguments import check_positive
from ..positions.checks import as_index, offsets

__all__ = ["DeBERTa", "row"]


def row(offset: Tensor, clip: int, largest: int | None = None) -> Tensor:
    """The row of each offset (key minus query) in tables of 2·clip; same shape, int64.

    Row clip is for a token and itself, and earlier keys have later rows. Offsets beyond clip share the outer rows.
    With `largest`, as in versions 2 and 3, this is so from offsets of `largest` − 1 on: within clip/2 each has a row,
    and the others share rows that widen like logarithms. Raises TypeError where offsets are no integers, ValueError
    where clip is not positive or not even with a `largest`, which must exceed clip.

    >>> row(torch.tensor([3, 1, 0, -1, -2, -9]), clip=2)
    tensor([0, 1, 2, 3, 3, 3])
    >>> row(torch.tensor([0, -2, -5, -9, -99]), clip=4, largest=16)
    tensor([4, 6, 7, 7, 7])
    """
    check_positive(clip=clip)
    back = -as_index(offset, "offset")
    if largest is not None:
        check_positive(largest=largest)
        half = clip // 2
        if clip % 2 or largest <= clip:
            raise ValueError(f"clip must be even and below largest = {largest}; got {clip}")
        ratio = (back.abs().clamp(min=half) / half).log() / math.log((largest - 1) / half)
        far = (ratio * (half - 1)).ceil().long() + half
        back = torch.where(back.abs() <= half, back, back.sign() * far)
    return (back + clip).clamp(0, 2 * clip - 1)


class DeBERTa(Encoding):
    """Door 3: adds (q · keys[row] + k · queries[row]) / √d to the scores, with vectors of each head's own.

    Both terms take the row of the same offset, as in the released code; in the paper's equation the second has the
    offset from key to query. The model divides all three products by √(3d), so its scores are these times 1/√3. There
    the two tables come from one, which all layers share, by projections of the layer.

    Parameters: keys and queries, (heads, 2·clip, features) each. Raises as `row` does, and ValueError where a size is
    not positive.

    >>> q = k = torch.ones(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> DeBERTa(heads=2, features=4, clip=8).score(q, k, here, here).shape
    torch.Size([1, 2, 3, 3])
    """

    def __init__(self, heads: int, features: int, clip: int, largest: int | None = None):
        super().__init__()
        check_positive(heads=heads, features=features)
        row(torch.zeros(1, dtype=torch.int64), clip, largest)  # bad arguments fail here
        self.heads, self.features, self.clip, self.largest = heads, features, clip, largest
        self.keys = nn.Parameter(torch.randn(heads, 2 * clip, features))
        self.queries = nn.Parameter(torch.randn(heads, 2 * clip, features))

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        heads, _, features = self.keys.shape
        check_pairs(self, q, k, q_positions, k_positions, heads, features)
        wide = torch.promote_types(q.dtype, torch.float32)
        offset = offsets(as_index(q_positions, "q_positions"), as_index(k_positions, "k_positions"))
        rows = row(offset, self.clip, self.largest)[..., None, :, :].expand(*q.shape[:-1], -1)
        asked = (q.to(wide) @ self.keys.to(wide).mT).gather(-1, rows)  # (batch, head, query, key)
        answered = (k.to(wide) @ self.queries.to(wide).mT).gather(-1, rows.mT).mT  # the same
        return (asked + answered) / math.sqrt(features)
