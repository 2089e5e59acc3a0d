"""Which rows are trained."""

import torch
from torch import Tensor

from ..cases import exact_dtype
from ..verdict import Case, Check, call


def tally(positions: Tensor, mask: Tensor, L: int) -> Tensor:
    return torch.bincount(positions[mask], minlength=L)


def count_case(positions: list, mask: list, L: int) -> Case:
    positions, mask = torch.tensor(positions), torch.tensor(mask).bool()
    return exact_dtype(call(positions=positions, mask=mask, L=L))


def text_by_text(positions, mask, L):
    counts = torch.zeros(L, dtype=torch.int64)
    for p, m in zip(positions, mask, strict=True):
        counts[p[m]] += 1
    return counts


def one_hot_first(positions, mask, L):
    return torch.nn.functional.one_hot(positions, L)[mask].sum(0)


count_rows = Check(
    "count_rows",
    reference=tally,
    properties={
        "padding does not count": [
            count_case([[0, 0, 1]], [[0, 1, 1]], 2), count_case([[0, 1, 1]], [[1, 1, 0]], 2),
            count_case([[1, 0, 2]], [[1, 0, 1]], 3),
        ],
        "every token counts once, wherever its text begins": [
            count_case([[0, 1, 2], [0, 1, 2]], [[1, 1, 1], [1, 1, 1]], 3),
            count_case([[3, 4, 5], [0, 1, 2]], [[1, 1, 1], [1, 1, 1]], 6),
            count_case([[0, 1, 0, 1, 2]], [[1] * 5], 3),
            count_case([[0, 2, 2]], [[1, 1, 1]], 3),
            count_case([[1, 3], [3, 3]], [[1, 1], [1, 1]], 4), count_case([[1] * 300], [[1] * 300], 2),
        ],
        "a count for all L rows": [count_case([[0]], [[0]], 3), count_case([[8, 1]], [[1, 1]], 12)],
        "padding may hold any number": [
            count_case([[-1, 0, 1]], [[0, 1, 1]], 2),
            count_case([[0, 1, 9]], [[1, 1, 0]], 2),
            count_case([[0, 1, 9, 9], [-1, -1, 3, 2]], [[1, 1, 0, 0], [0, 0, 1, 1]], 4),
        ],
    },
    mistakes={
        "Padding is counted. Ask only for positions where the mask is true.": (
            lambda positions, mask, L: torch.bincount(positions.flatten(), minlength=L),
            lambda positions, mask, L: (positions.flatten()[:, None] == torch.arange(L)).sum(dim=0),
        ),
        "Padding is counted as row 0, because 0 · position is 0. Leave it out.":
            lambda positions, mask, L: torch.bincount((positions * mask).flatten(), minlength=L),
        "Rows that nobody uses are missing at the end. There are L of them.":
            lambda positions, mask, L: torch.bincount(positions[mask]),
        "This counts by place in the batch. The positions say which row is used.":
            lambda positions, mask, L: torch.nn.functional.pad(mask.sum(dim=0), (0, L))[:L],
        "A text may use a row again, when texts are packed: all its tokens there count. counts[rows] += 1 adds 1 for them together.": text_by_text,
        "Padding may hold any number, −1 or one past the table. Leave it out before you count.": (
            lambda positions, mask, L: torch.bincount(
                positions.flatten(), weights=mask.flatten().float(), minlength=L
            ).long()
        ),
        "These are floating-point numbers. A count is int64.":
            lambda positions, mask, L: tally(positions, mask, L).float(),
    },
    cards=(text_by_text, one_hot_first),
    as_good={"argument 0 without signs": "Padding alone is negative, and does not count."},
)
