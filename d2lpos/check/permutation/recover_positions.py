"""Positions out of a causal mean."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import exact_dtype
from ..verdict import Case, Check, Misconduct, call, call_or_exception, difference
from .material import generator


def causal_mean(values: Tensor) -> Tensor:
    """Causal attention with all logits equal: entry t is the mean of values[0..t]."""
    values = values.float()
    return values.cumsum(0) / torch.ones_like(values).cumsum(0)


def text(length: int) -> Tensor:
    """The begin mark 0, then random tokens that repeat."""
    return torch.cat([torch.zeros(1), torch.randint(1, 5, (length - 1,), generator=generator)]).long()


def first_share(tokens: Tensor, causal_mean: Callable) -> Tensor:
    return 1 / causal_mean((tokens == 0).float())


def recover(tokens: Tensor, causal_mean: Callable) -> Tensor:
    return (first_share(tokens, causal_mean) - 1).round().long()


def ask_in_vain(answer: Callable) -> str:
    """What an answer finds where attention tells it nothing."""
    tokens = text(4)
    outcome = call_or_exception(answer, tokens.clone(), lambda values: torch.ones(values.shape))
    return "no positions" if difference(torch.arange(len(tokens)), outcome) else "all positions"


def rearranged_mean(values: Tensor) -> Tensor:
    """Answers for the positions 0, 3, 2, 1: they tell who reads them and who counts."""
    return causal_mean(values)[[0, 3, 2, 1]]


def strict_mean(tokens: Tensor) -> Callable:
    """A causal_mean that refuses values which tell equal tokens apart."""

    def mean(values: Tensor) -> Tensor:
        for token in tokens:
            alike = values[tokens == token]
            if difference(alike[:1].expand_as(alike), alike):
                raise Misconduct("Gives causal_mean different values for equal tokens")
        return causal_mean(values)

    return mean


STUTTER = torch.tensor([0, 2, 1, 2, 1])
def cut_off(tokens, causal_mean):
    return (1 / causal_mean((tokens == 0).float()) - 1).long()


recover_positions = Check(
    "recover_positions",
    reference=recover,
    properties={
        "the positions 0 to T − 1": [
            exact_dtype(call(tokens=text(length), causal_mean=causal_mean)) for length in (4, 7, 2500)
        ],
        "one token": [call(tokens=text(1), causal_mean=causal_mean)],
        "they come from causal_mean": [
            Case("4 tokens, and a causal_mean that returns ones", ask_in_vain),
            call(
                "4 tokens, and a causal_mean that swaps what it returns at 1 and 3",
                tokens=text(4),
                causal_mean=rearranged_mean,
            ),
        ],
        "equal tokens bring equal values": [call(tokens=STUTTER, causal_mean=strict_mean(STUTTER))],
    },
    mistakes={
        "This counts from 1: the begin mark stands at position 0.":
            lambda tokens, mean: first_share(tokens, mean).round().long(),
        "The positions are floats. Round them and call .long().":
            lambda tokens, mean: first_share(tokens, mean) - 1,
        ".long() cuts off, and 1 / (1 / n) may lie below n. Round first.": cut_off,
        "This is the share of the begin mark, not yet the position.":
            lambda tokens, mean: mean((tokens == 0).float()),
        "squeeze drops a dimension when there is one token.":
            lambda tokens, mean: recover(tokens, mean).squeeze(),
        "The share only tells the first token from the others. It gives each position: 1 / (t + 1).":
            lambda tokens, mean: (mean((tokens == 0).float()) < 1).long().cumsum(0),
        "These values know the position already. Equal tokens must bring equal values.":
            lambda tokens, mean: (2 * mean(torch.arange(len(tokens)))).round().long(),
    },
    cards=(cut_off,),
    as_good={
        "argument 0 sorted": "The begin mark alone counts, and it stays in front.",
        "(tokens == 0).float() → tokens == 0": "The function causal_mean takes truth values and whole numbers, too.",
        "(tokens == 0).float() → (tokens == 0).long()": "The function causal_mean takes truth values and whole numbers, too.",
    },
)
