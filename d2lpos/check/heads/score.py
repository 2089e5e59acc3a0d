"""The weight at an offset."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call
from .material import back, made_up


def mean_back(weights: Tensor, seen: Tensor, offset: int) -> Tensor:
    return back(weights, offset)[..., seen.diagonal(-offset)].mean(dim=-1)


def causal(n: int) -> Tensor:
    return torch.ones(n, n).tril() > 0


def packed(*lengths: int) -> Tensor:
    """The causal mask of several texts in one row."""
    return torch.block_diag(*(causal(n).float() for n in lengths)) > 0


def score_case(seen: Tensor, offset: int, heads: tuple[int, ...] = (2,), seed: int = 0) -> Case:
    return call(weights=made_up(*heads, len(seen), seed=seed, seen=seen), seen=seen, offset=offset)


score = Check(
    "score",
    reference=mean_back,
    properties={
        "the mean weight at an offset, over the queries that may see that key": [
            score_case(causal(3), 1, (1,)), score_case(causal(4), 2), score_case(causal(6), 0, seed=22),
            score_case(packed(2, 2), 1, (1,)), score_case(packed(2, 3, 4) | packed(2, 3, 4).T, 1), score_case(packed(3, 17), 2),
        ],
        "any number of layers and heads": [score_case(causal(4), 1, (3, 2)), score_case(causal(5), 2, ())],
    },
    mistakes={
        "The first queries have no key that far back. As zeros they dilute the mean.":
            lambda weights, seen, offset: back(weights, offset).sum(dim=-1) / len(seen),
        "A query that may not see that key has no choice. Leave it out of the mean.":
            lambda weights, seen, offset: back(weights, offset).mean(dim=-1),
        "This is a sum. Long texts have larger ones.":
            lambda weights, seen, offset: back(weights, offset).sum(dim=-1),
        "A positive diagonal has the keys to come. Those before the query lie below the main one.":
            lambda weights, seen, offset: back(weights, -offset)[..., seen.diagonal(-offset)].mean(dim=-1),
        "One query is enough for this maximum. A habit is a mean.":
            lambda weights, seen, offset: back(weights, offset)[..., seen.diagonal(-offset)].amax(dim=-1),
    },
)
