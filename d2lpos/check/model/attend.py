"""Attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check, call
from .material import drawn, logits_of


def causal_attention(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, score: Callable) -> Tensor:
    logits = logits_of(q, k) + score(positions, positions)
    later = positions > positions[:, None]
    return logits.masked_fill(later, -torch.inf).softmax(dim=-1) @ v


def steps(slopes: Tensor) -> Callable:
    """A score that falls with the distance to a key before, and the more the later the query stands."""
    return lambda q, k: slopes * (k - q[:, None]) * (q[:, None] + 1)


def attend_case(batch: int, heads: int, size: int, positions: list[int], seed: int) -> Case:
    q, k, v = (drawn(batch, heads, len(positions), size, seed=seed + n) for n in range(3))
    slopes = torch.arange(1, heads + 1).view(-1, 1, 1) / 8
    label = (
        f"q, k, v: ({batch}, {heads}, {len(positions)}, {size}), positions = {positions}, and head h (from 0) "
        "scores (key position − query position)·(query position + 1)·(h + 1)/8"
    )
    return call(label, q=q, k=k, v=v, positions=torch.tensor(positions), score=steps(slopes))


attend = Check(
    "attend",
    reference=causal_attention,
    properties={
        "positions that count from 0": [
            attend_case(1, 1, 4, [0, 1], seed=0),
            attend_case(1, 2, 1, [0, 1, 2], seed=3),
            attend_case(2, 2, 16, [0, 1, 2, 3], seed=6),
        ],
        "positions with gaps": [
            attend_case(1, 1, 4, [5, 7], seed=9),
            attend_case(2, 3, 4, [1, 40, 100], seed=12),
        ],
        "tokens in any order": [
            attend_case(1, 1, 4, [1, 0], seed=15),
            attend_case(1, 2, 4, [7 * n % 17 // 2 for n in range(17)], seed=18),
        ],
    },
    mistakes={
        "No key is hidden. A query must not see keys at later positions.":
            "logits.masked_fill(later, -torch.inf) → logits",
        "A token sees itself, too: hide positions above its own alone.": (
            "later, -torch.inf).softmax(dim=-1) → "
            "later | torch.eye(len(later)).bool(), -torch.inf).softmax(dim=-1).nan_to_num()"
        ),
        "Hidden by the place in the row. Compare positions: a row may hold its tokens in any order.":
            "positions > positions[:, None] → torch.ones(len(positions), len(positions)).triu(1) > 0",
        "These positions are counted along the row. Use the ones that are given.":
            lambda q, k, v, positions, score: causal_attention(q, k, v, torch.arange(len(positions)), score),
        "Hidden after the softmax, the keys to come have taken their share already.":
            "logits.masked_fill(later, -torch.inf).softmax(dim=-1) → logits.softmax(dim=-1).masked_fill(later, 0)",
        "The encoding's score is divided as well. The root divides q · k alone.":
            "+ score(positions, positions) → + score(positions, positions) / q.shape[-1] ** 0.5",
        "The encoding's score is left out.":
            "logits_of(q, k) + score(positions, positions) → logits_of(q, k)",
        "Each query shares out a weight of 1: softmax runs over the last axis.":
            "softmax(dim=-1) → softmax(dim=-2)",
    },
    as_good={"q.shape[-1] → k.shape[-1]": "Queries and keys have as many features."},
)
