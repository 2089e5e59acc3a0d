"""ALiBi."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check
from .material import LINE, lean_case, pairs_case


def alibi_rule(slopes: Tensor, q_positions: Tensor, k_positions: Tensor) -> Callable:
    def add(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        offset = k_positions[batch, key] - q_positions[batch, query]
        return score - slopes[head] * offset.abs()

    return add


def alibi_case(slopes: list[float], q_positions: list, k_positions: list, scores: int | None = None) -> Case:
    return pairs_case(len(slopes), q_positions, k_positions, scores, slopes=torch.tensor(slopes))


alibi_mod = Check(
    "alibi_mod",
    reference=alibi_rule,
    properties={
        "the score less the slope times the distance": [
            alibi_case([0.5], [[0, 1, 2]], [[0, 1, 2]]),
            alibi_case([0.5, 0.25], [[5, 300]], [[*range(250, 270)]]),
            alibi_case([0.5, 1.0, 0.25, 0.125, 0.75], [[2, 9, 1]], [[9, 0, 4]], scores=0),
        ],
        "each row of a batch has positions of its own": [
            alibi_case([0.5], [[0, 1], [0, 4]], [[0, 1], [0, 4]]),
            alibi_case([0.5, 0.25], [[0, 1, 2], [0, 3, 9]], [[0, 1, 2], [0, 3, 9]], scores=1),
        ],
        "no number for each pair is made before": [lean_case(torch.tensor([0.5]), LINE, LINE)],
    },
    mistakes={
        "This counts places in the row. In a cache, and after a gap, a position is another number.":
            "k_positions[batch, key] - q_positions[batch, query] → key - query",
        "A far key loses more: take the slope times the distance away.": "score - slopes → score + slopes",
        "A distance has no sign. Here keys after the query get a reward.":
            "score - slopes[head] * offset.abs() → score + slopes[head] * offset",
        "The score itself is lost: the function returns what becomes of it.":
            "return score - slopes → return -slopes",
        "Queries have positions of their own. In a cache they are not those of the first keys.":
            "q_positions[batch, query] → k_positions[batch, query]",
        "All rows of the batch get the positions of the first.":
            "k_positions[batch, key] - q_positions[batch, query] → k_positions[0, key] - q_positions[0, query]",
    },
    as_good={
        "k_positions[batch, key] - q_positions[batch, query] → q_positions[batch, query] - k_positions[batch, key]": "A distance has no sign.",
    },
)
