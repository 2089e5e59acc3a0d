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


def line(at: Callable) -> Callable:
    """As the right answer, with another rule: at(score, slope, here, there, query, key)."""

    def answer(slopes: Tensor, q_positions: Tensor, k_positions: Tensor) -> Callable:
        return lambda score, batch, head, query, key: at(
            score, slopes[head], q_positions[batch, query], k_positions[batch, key], query, key
        )

    return answer


def alibi_case(slopes: list[float], q_positions: list, k_positions: list, scores: int | None = None) -> Case:
    return pairs_case(len(slopes), q_positions, k_positions, scores, slopes=torch.tensor(slopes))


alibi_mod = Check(
    "alibi_mod",
    reference=alibi_rule,
    properties={
        "the score less the slope times the distance": [
            alibi_case([0.5], [[0, 1, 2]], [[0, 1, 2]]),
            alibi_case([0.5, 0.25], [[5]], [[3, 4, 5]]),
            alibi_case([0.5, 1.0], [[2, 9]], [[9, 0, 4]], scores=0),
        ],
        "each row of a batch has positions of its own": [
            alibi_case([0.5], [[0, 1], [0, 4]], [[0, 1], [0, 4]]),
            alibi_case([0.5, 0.25], [[0, 1, 2], [0, 3, 9]], [[0, 1, 2], [0, 3, 9]], scores=1),
        ],
        "no number for each pair is made before": [lean_case(torch.tensor([0.5]), LINE, LINE)],
    },
    mistakes={
        "This counts places in the row. In a cache, and after a gap, a position is another number.":
            line(lambda score, slope, here, there, query, key: score - slope * (key - query).abs()),
        "A far key loses more: take the slope times the distance away.":
            line(lambda score, slope, here, there, query, key: score + slope * (there - here).abs()),
        "A distance has no sign. Here keys after the query get a reward.":
            line(lambda score, slope, here, there, query, key: score + slope * (there - here)),
        "The score itself is lost: the function returns what becomes of it.":
            line(lambda score, slope, here, there, query, key: -slope * (there - here).abs()),
        "Queries have positions of their own. In a cache they are not those of the first keys.": (
            lambda slopes, q_positions, k_positions: lambda score, batch, head, query, key: (
                score - slopes[head] * (k_positions[batch, key] - k_positions[batch, query]).abs()
            )
        ),
        "All rows of the batch get the positions of the first.": (
            lambda slopes, q_positions, k_positions: lambda score, batch, head, query, key: (
                score - slopes[head] * (k_positions[0, key] - q_positions[0, query]).abs()
            )
        ),
    },
    as_good={
        "k_positions[batch, key] - q_positions[batch, query] → q_positions[batch, query] - k_positions[batch, key]": "A distance has no sign.",
    },
)
