"""The loss of the next token."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..verdict import Case, Check, call
from .material import drawn


def pairs_that_count(logits: Tensor, tokens: Tensor, padding: int) -> tuple[Tensor, Tensor]:
    """The logits that count, and the tokens that came."""
    real = tokens != padding
    asked = real[:, 1:] & real[:, :-1]
    return logits[:, :-1][asked], tokens[:, 1:][asked]


def loss_of_the_next(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    return cross_entropy(*pairs_that_count(logits, tokens, padding))


def row_by_row(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    rows = zip(logits, tokens, strict=True)
    return torch.stack([loss_of_the_next(a[None], b[None], padding) for a, b in rows]).mean()


def loss_case(*rows: list[int], seed: int, classes: int = 3, far: int = 8) -> Case:
    tokens = torch.tensor(rows)
    return a_number(call(logits=drawn(*tokens.shape, classes, seed=seed, low=-far, high=far + 1), tokens=tokens, padding=0))


def a_number(case: Case) -> Case:
    """A loss may come as a number of Python's, too."""

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        return torch.tensor(outcome, dtype=torch.float64) if isinstance(outcome, float) else outcome

    return Case(case.text, ask)


next_loss = Check(
    "next_loss",
    reference=loss_of_the_next,
    properties={
        "each token is told by the place before it": [
            loss_case([1, 2], seed=0),
            loss_case([2, 1] * 9, [1, 2, 2] * 6, seed=1, far=800),
        ],
        "padding behind the text": [
            loss_case([1, 2, 0], seed=2),
            loss_case([1, 2, 2, 1], [2, 1, 0, 0], seed=3),
            a_number(call(
                logits=drawn(2, 4, 4, seed=7, low=-8, high=9),
                tokens=torch.tensor([[1, 2, 0, 3], [2, 1, 3, 3]]),
                padding=3,
            )),
        ],
        "padding before the text": [
            loss_case([0, 1, 2], seed=4),
            loss_case([1, 1, 2, 2], [0, 0, 2, 1], seed=5),
        ],
    },
    mistakes={
        "No shift: each place is asked for the token that it reads.": (
            "cross_entropy(*pairs_that_count(logits, tokens, padding)) → "
            "cross_entropy(logits[tokens != padding], tokens[tokens != padding])"
        ),
        "Shifted the wrong way: place i is asked for token i − 1, which it has read.":
            "logits[:, :-1][asked], tokens[:, 1:][asked] → logits[:, 1:][asked], tokens[:, :-1][asked]",
        "Padding is asked for. It is no text.": "real[:, 1:] & real[:, :-1] → real[:, :-1]",
        "The first token of a text stands behind padding, and nothing tells it. Leave it out.":
            "real[:, 1:] & real[:, :-1] → real[:, 1:]",
        "A mean of rows gives the tokens of short rows more weight. Take the mean over all tokens.": row_by_row,
        "The sum is right. Divide it by the number of tokens that count.": (
            "*pairs_that_count(logits, tokens, padding)) → "
            '*pairs_that_count(logits, tokens, padding), reduction="sum") / tokens[:, 1:].numel()'
        ),
    },
    as_good={
        "real[:, 1:] & real[:, :-1] → real[:, :-1] & real[:, 1:]": "Both must be real, in either order.",
    },
)
