"""Lost in the middle."""

import math

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def carried(layers: int, length: int, slope: float) -> Tensor:
    here = torch.arange(length)
    scores = slope * (here - here[:, None])
    weights = scores.masked_fill(here > here[:, None], -math.inf).softmax(dim=-1)
    return torch.linalg.matrix_power((weights + torch.eye(length)) / 2, layers)[-1]


def by_geometric_series(layers: int, length: int, slope: float) -> Tensor:
    """0/0 where there is no slope."""
    back = torch.arange(length).double()[:, None] - torch.arange(length)
    q = torch.tensor(-slope).double().exp()
    sums = (1 - q ** torch.arange(1, length + 1)) / (1 - q)
    weights = (q**back).tril() / sums[:, None]
    return torch.linalg.matrix_power((weights + torch.eye(length)) / 2, layers)[-1]


def shares_case(layers: int, length: int, slope: float) -> Case:
    return call(layers=layers, length=length, slope=slope)


shares = Check(
    "shares",
    reference=carried,
    properties={
        "each layer keeps half, and takes half from what it looks at": [
            shares_case(1, 3, 0.5), shares_case(2, 3, 0.5), shares_case(5, 6, 1.0), shares_case(24, 240, 1.0),
        ],
        "uniform attention, where the slope is 0": [shares_case(1, 4, 0.0), shares_case(3, 5, 0.0)],
    },
    mistakes={
        "Nothing is kept. Average the weights with the identity.":
            "(weights + torch.eye(length)) / 2 → weights",
        "Half is kept once, not in each layer.": (
            "matrix_power((weights + torch.eye(length)) / 2, layers)[-1] → "
            "matrix_power(weights, layers)[-1] / 2 + torch.eye(length)[-1] / 2"
        ),
        "The toll grows the wrong way: the farther a key, the lower its score.": "slope * → -slope *",
        "Later tokens are seen. The weights of each query are to end with its own token.": (
            "here > here[:, None] → here < 0",
            "slope * (here - here[:, None]) → -slope * (here - here[:, None]).abs()\n    here = 0 * here",
        ),
        "The weights of a query add up to 1: the softmax runs over keys.": "softmax(dim=-1) → softmax(dim=0)",
        "This is one layer too few.": lambda layers, length, slope: carried(layers - 1, length, slope),
        "The sum of a geometric series is 0/0 where the slope is 0.": by_geometric_series,
    },
    answers=(Answer("middle", 0.1, {
        "With no toll nearly all comes from the first third.": 0,
        "A hop goes 100 tokens back, and twelve hops end at the first.": 0.01,
        "A hop goes 33 tokens back, and twelve hops are more than the text.": 0.03,
        "A hop hardly goes one token back: all comes from the last third.": 1,
    }),),
    as_good={
        "here - here[:, None] → here + here[:, None]": "A softmax does not see what all scores of a query share.",
        "here - here[:, None] → here": "A softmax does not see what all scores of a query share.",
        "scores.masked_fill(here > here[:, None], -math.inf).softmax(dim=-1) → scores.masked_fill(here > here[:, None], -math.inf).softmax(dim=1)": "Of two axes, 1 is the last.",
    },
)
