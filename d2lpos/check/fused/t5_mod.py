"""T5."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...bias.t5 import bucket
from ..verdict import Case, Check
from .material import LINE, lean_case, pairs_case


def t5_rule(table: Tensor, size: int, q_positions: Tensor, k_positions: Tensor) -> Callable:
    def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        offset = k_positions[batch, key] - q_positions[batch, query]
        number = bucket(offset, len(table), bidirectional=False)
        return score * size**0.5 + table[number, head]

    return add


def t5_case(
    size: int, q_positions: list, k_positions: list, table: Tensor, scores: int | None = None
) -> Case:
    return pairs_case(table.shape[1], q_positions, k_positions, scores, table=table, size=size)


def steps_of(buckets: int, heads: int) -> Tensor:
    """A table whose numbers all differ."""
    return torch.arange(buckets * heads).view(buckets, heads) / 4


t5_mod = Check(
    "t5_mod",
    reference=t5_rule,
    properties={
        "the number of the offset's bucket, of this head": [
            t5_case(1, [[2]], [[0, 1, 2]], steps_of(4, 1)),
            t5_case(1, [[9, 300]], [[0, 5, 9, 299]], steps_of(8, 2)),
            t5_case(1, [[4, 160]], [[0, 40, 4]], steps_of(16, 3), scores=2),
        ],
        "scores that T5 does not divide": [
            t5_case(4, [[1, 2]], [[1, 2]], torch.zeros(8, 1), scores=3),
            t5_case(16, [[1, 2]], [[1, 2]], -torch.ones(8, 2), scores=4),
        ],
        "each row of a batch has positions of its own": [
            t5_case(1, [[0, 2], [0, 1]], [[0, 2], [0, 1]], steps_of(8, 2)),
            t5_case(1, [[0, 1, 2], [0, 1, 3]], [[0, 2, 1], [0, 3, 1]], steps_of(8, 1)),
        ],
        "no number for each pair is made before": [lean_case(steps_of(8, 1), 4, LINE, LINE)],
    },
    mistakes={
        "An offset is key minus query. With the other sign, all that may be seen falls into bucket 0.": (
            "k_positions[batch, key] - q_positions[batch, query] → "
            "q_positions[batch, query] - k_positions[batch, key]"
        ),
        "This counts places in the row. Buckets go by positions.":
            "k_positions[batch, key] - q_positions[batch, query] → key - query",
        "A decoder spends no bucket on the future: bidirectional=False.":
            "len(table), bidirectional=False → len(table)",
        "The table is (buckets, heads).": "table[number, head] → table[head, number]",
        "The table says how many buckets there are: len(table).": "offset, len(table), → offset,",
        "The score has been divided by the root of the size. T5 does not divide.":
            "score * size**0.5 → score",
        "The score has been divided already. Undo that, do not do it again.": "score * size → score / size",
    },
)
