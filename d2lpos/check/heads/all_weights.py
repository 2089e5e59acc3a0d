"""All weights of a layer."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call
from .material import drawn


def served(q: Tensor, k: Tensor) -> Tensor:
    """Each head's keys; (heads, tokens, features)."""
    return k.repeat_interleave(len(q) // len(k), dim=0)


def later(scores: Tensor, diagonal: int = 1) -> Tensor:
    """Where a key comes after its query."""
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal)


def scored(q: Tensor, k: Tensor) -> Tensor:
    return q @ served(q, k).mT / q.shape[-1] ** 0.5


def causal_weights(q: Tensor, k: Tensor) -> Tensor:
    scores = scored(q, k)
    return scores.masked_fill(later(scores), -torch.inf).softmax(dim=-1)


def weights_case(heads: int, kv_heads: int, tokens: int, size: int, seed: int, times: int = 1) -> Case:
    q, k = times * drawn(heads, tokens, size, seed=seed), drawn(kv_heads, tokens, size, seed=seed + 1)
    return call(q=q, k=k)


all_weights = Check(
    "all_weights",
    reference=causal_weights,
    properties={
        "heads with keys of their own": [
            weights_case(1, 1, 2, 4, seed=0), weights_case(1, 1, 3, 2, seed=2),
            weights_case(2, 2, 20, 16, seed=4, times=256),
        ],
        "neighboring heads that share their keys": [
            weights_case(6, 2, 3, 2, seed=6),
            weights_case(9, 3, 4, 8, seed=8),
        ],
    },
    mistakes={
        "Queries are rows and keys are columns: softmax runs over the last axis.":
            "softmax(dim=-1) → softmax(dim=-2)",
        "A token sees itself, too: hide the keys behind the diagonal, not those on it.":
            "later(scores) → later(scores, 0)",
        "No key is hidden. A token must not see those after it.": lambda q, k: scored(q, k).softmax(dim=-1),
        "Hidden after the softmax, the keys to come have taken their share already: rows do not sum to 1.": (
            "scores.masked_fill(later(scores), -torch.inf).softmax(dim=-1) → "
            "scores.softmax(dim=-1).masked_fill(later(scores), 0)"
        ),
        "Scores are divided by the root of the number of features.": (
            lambda q, k: causal_weights(q * q.shape[-1] ** 0.5, k),
            lambda q, k: causal_weights(q / q.shape[-1] ** 0.5, k),
        ),
        "Heads that share keys are neighbors: 0, 1, 2 have the first keys. `repeat` gives these to 0, 3, 6.":
            lambda q, k: causal_weights(q, k.repeat(len(q) // len(k), 1, 1)),
    },
    as_good={"q.shape[-1] → k.shape[-1]": "Queries and keys have as many features."},
)
