"""The weight of what followed."""

from torch import Tensor

from ..verdict import Case, Check, call
from .material import back, made_up


def what_followed(weights: Tensor, period: int) -> Tensor:
    return back(weights, period - 1)[..., 1:].mean(dim=-1)


def all_that_followed(weights: Tensor, period: int) -> Tensor:
    """What followed all earlier ones counts."""
    times, last = range(period, weights.shape[-1], period), weights.shape[-1] - period
    return sum(back(weights, time - 1)[..., 1:].sum(dim=-1) for time in times) / last


def induction_case(period: int, tokens: int, heads: tuple[int, ...] = (2,), habit: int = 0) -> Case:
    return call(weights=made_up(*heads, tokens, seed=0, habit=habit), period=period)


induction = Check(
    "induction",
    reference=what_followed,
    properties={
        "the mean weight of the token that followed the last time": [
            induction_case(2, 4, (1,)), induction_case(3, 6), induction_case(4, 7),
        ],
        "more than one repeat": [induction_case(2, 6), induction_case(3, 17)],
        "any number of layers and heads": [induction_case(3, 6, (5, 4), habit=2), induction_case(3, 6, ())],
    },
    mistakes={
        "The last token of the first copy sees token 0 at this offset, but its word has not come before.":
            lambda weights, period: back(weights, period - 1).mean(dim=-1),
        "This is the same word earlier. What will come is the token after it.":
            lambda weights, period: back(weights, period).mean(dim=-1),
        "This is the token before the same word. What will come stands after it.":
            lambda weights, period: back(weights, period + 1).mean(dim=-1),
        "Queries of the first copy have nothing to repeat. As zeros they dilute the mean.":
            lambda weights, period: back(weights, period - 1)[..., 1:].sum(dim=-1) / weights.shape[-1],
        "Queries of the second copy alone are asked. All that repeat count.":
            lambda weights, period: back(weights, period - 1)[..., 1 : period + 1].mean(dim=-1),
        "This adds what followed every earlier time. Only the last time is asked for.": all_that_followed,
    },
)
