"""A fair null."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call


def indifferent(queries: Tensor) -> Tensor:
    """The mean weight of one key, where each query shares its weight equally among those that it sees."""
    return (1 / (queries + 1)).mean()


def ranked(share: Tensor, least: float) -> Tensor:
    """(n, 2): layer and head of each share that is at least so large, the largest first."""
    order = share.flatten().argsort(descending=True)
    order = order[share.flatten()[order] >= least]
    return torch.stack([order // share.shape[1], order % share.shape[1]], dim=1)


def beyond(null: Tensor, scores: Tensor, least: float) -> Tensor:
    return ranked((scores - null) / (1 - null), least)


def beyond_the_null(scores: Tensor, queries: Tensor, least: float) -> Tensor:
    return beyond(indifferent(queries), scores, least)


def null_case(scores: list[list[float]], queries: list[int], least: float) -> Case:
    return call(scores=torch.tensor(scores), queries=torch.tensor(queries), least=least)


standing_out = Check(
    "standing_out",
    reference=beyond_the_null,
    properties={
        "all that come so far from the null to 1": [
            null_case([[0.55, 0.65, 0.5, 0.4, 0.12, 0.05]], [1, 3], 0.3),
            null_case([[0.7, 0.3]], [1, 3], 0.3),
            null_case([[0.52], [0.2], [0.49]], [7, 1, 3, 1], 0.25),
            null_case([[0.5, 0.625]], [1], 0.25),
        ],
        "the largest first": [
            null_case([[0.5, 0.75], [1.0, 0.875]], [1], 0.25),
            null_case([*[[0.25, 0.25]] * 14, [0.875, 0.5], [0.75, 1.0], [0.625, 0.25]], [3], 0.1),
        ],
        "nobody, where nobody stands out": [null_case([[0.25, 0.5]], [1, 2], 0.75)],
    },
    mistakes={
        "The largest comes first.": lambda *arguments: beyond_the_null(*arguments).flip(0),
        "This is (head, layer). The layer comes first.": lambda *arguments: beyond_the_null(*arguments).flip(1),
        "Each of `queries` is a place i, from which i + 1 tokens are seen: those before it and itself.": "1 / (queries + 1) → 1 / queries",
        "Of 1/(i + 1) the mean is asked for. One over the mean is less.":
            "(1 / (queries + 1)).mean() → 1 / (queries + 1.0).mean()",
        "This is the distance from the null. Divide it by the distance from the null to 1.":
            lambda scores, queries, least: ranked(scores - indifferent(queries), least),
        "This takes scores as they are. What would a head get that has no habit?":
            lambda scores, queries, least: ranked(scores, least),
    },
    as_good={
        "argument 1 sorted": "A mean has no order.",
        "share.shape[1] → share.shape[-1]": "Of two axes, 1 is the last.",
        "share.shape[1] → share.shape[-1] (2)": "Of two axes, 1 is the last.",
        "torch.stack([order // share.shape[1], order % share.shape[1]], dim=1) → torch.stack([order // share.shape[1], order % share.shape[1]], dim=-1)": "Of two axes, 1 is the last.",
    },
)
