"""Is a layer equivariant?"""

from collections.abc import Callable
from itertools import permutations

import torch
from torch import Tensor

from ..verdict import Case, Check, call, describe
from .material import CYCLE, close, commutes, draw, feed_forward, sort_by_first_feature

SWAP = torch.tensor([1, 0, 2])
REVERSAL = torch.tensor([3, 2, 1, 0])
LAST_SWAPPED = torch.tensor([0, 2, 1])
ENDS_SWAPPED = torch.tensor([2, 1, 0])
MIDDLE_SWAPPED = torch.tensor([0, 1, 3, 2, 4, 5])


def layer_call(f: Callable, x: Tensor, order: Tensor, name: str) -> Case:
    return call(f"f is {name}, {describe('x', x)}, {describe('order', order)}", f=f, x=x, order=order)


def mean_token(x: Tensor) -> Tensor:
    return x.mean(0).expand_as(x)


def scale_by_sum(x: Tensor) -> Tensor:
    """Added one by one, so that the rounding depends on the order of the tokens on every processor."""
    return x * sum(x)


def sum_of_others(x: Tensor) -> Tensor:
    """Nothing but rounding for a token that outweighs all others."""
    return sum(x) - x


def add_one(token: int, feature: int, amount: float = 1.0) -> Callable:
    """A layer that is wrong at a single place, so that the difference shows in two tokens only."""

    def layer(x: Tensor) -> Tensor:
        one = torch.zeros_like(x)
        one[token, feature] = amount
        return x + one

    return layer


def places(x: Tensor) -> Tensor:
    return torch.arange(len(x))[:, None]


def add_to(token: int, other: int) -> Callable:
    """A layer whose difference shows in one token, where an order moves others only."""

    def layer(x: Tensor) -> Tensor:
        y = x.clone()
        y[token] += x[other]
        return y

    return layer


def swap_at_odd_places(x: Tensor) -> Tensor:
    return torch.where(places(x) % 2 == 1, x.flip(-1), x)


def first_token(x: Tensor) -> Tensor:
    return x[:1].expand_as(x)


RISING = torch.arange(6.0).reshape(3, 2)  # another order makes each feature of the first token larger
OPPOSITES = torch.tensor([[1.0, -1.0], [2.0, -2.0]])  # a swap leaves sums, norms and absolute values
TINY = 2.0**-24  # 1 + TINY rounds to 1, and 1 + (TINY + TINY) does not
# The first less the others is one rounding above 1.00005 or below it, by the order: to 4 decimals another number.
NEAR_HALF = torch.tensor([[1 + 420 * 2.0**-23], [-TINY], [-TINY]])
HEAVY_FIRST = torch.tensor([[1.0], [TINY], [TINY]])
is_equivariant = Check(
    "is_equivariant",
    reference=commutes,
    properties={
        "True where f commutes, False where it does not": [
            layer_call(feed_forward, draw(3, 3), CYCLE, "a feed-forward layer"),
            layer_call(feed_forward, draw(3, 2), SWAP, "a feed-forward layer"),
            layer_call(mean_token, draw(3, 3), CYCLE, "the mean token in each row"),
            layer_call(lambda x: x.cumsum(0), draw(3, 3), CYCLE, "the cumulative sum"),
            layer_call(sort_by_first_feature, draw(3, 3), CYCLE, "sorting by the first feature"),
            layer_call(lambda x: x.flip(0), draw(3, 3), CYCLE, "the reversal of the tokens"),
            layer_call(sort_by_first_feature, torch.ones(3, 3), CYCLE, "sorting, and all tokens are equal"),
            layer_call(swap_at_odd_places, OPPOSITES, SWAP[:2], "a swap of the features at odd places"),
            layer_call(add_one(0, -1), draw(3, 3), ENDS_SWAPPED, "1 added to the last feature of token 0"),
            layer_call(add_one(2, 0), draw(6, 3), MIDDLE_SWAPPED, "1 added to the first feature of token 2"),
            layer_call(add_one(18, 0), draw(20, 3), torch.arange(20) * 7 % 20, "1 added to the first feature of token 18"),
            layer_call(add_to(2, 1), draw(3, 2), SWAP, "token 1 added to token 2"),
            layer_call(add_to(0, 1), draw(3, 2), LAST_SWAPPED, "token 1 added to token 0"),
            layer_call(first_token, RISING, CYCLE, "the first token in each row"),
            layer_call(first_token, -RISING, CYCLE, "the first token in each row"),
        ],
        "rounding is forgiven, and nothing else": [
            layer_call(scale_by_sum, HEAVY_FIRST, CYCLE, "x · (sum of the tokens)"),
            layer_call(sum_of_others, HEAVY_FIRST, CYCLE, "the sum of the other tokens"),
            layer_call(lambda x: sum(x).expand_as(x), NEAR_HALF, CYCLE, "the sum of the tokens in each row"),
            layer_call(lambda x: x + places(x) / 4000, RISING, CYCLE, "x + position / 4000"),
            layer_call(lambda x: x * (1 + places(x) / 250), draw(3, 3), CYCLE, "x · (1 + position / 250)"),
            layer_call(add_one(2, 0, 0.002), torch.ones(4, 250), REVERSAL, "0.002 added to the first feature of token 2"),
        ],
        "for the order that is given, not for all": [
            layer_call(lambda x: x.flip(0), draw(4, 3), REVERSAL, "the reversal of the tokens"),
        ],
    },
    mistakes={
        "f(x[order]) == f(x) is invariance. Equivariance permutes the result too, f(x)[order].":
            lambda f, x, order: close(f(x[order]), f(x)),
        "Only the result is permuted. f must see the permuted tokens too: f(x[order]).":
            lambda f, x, order: close(f(x), f(x)[order]),
        "One side takes the inverse order. Swaps hide this, a cycle of three shows it.":
            lambda f, x, order: close(f(x[order]), f(x)[order.argsort()]),
        "The order permutes the features. Tokens are rows: x[order], not x[:, order].":
            lambda f, x, order: close(f(x[:, order]), f(x)[:, order]),
        "The comparison is exact. Another order of the same sum rounds differently: use torch.allclose.":
            lambda f, x, order: torch.equal(f(x[order]), f(x)[order]),
        "The default tolerance is relative: next to 0 it forgives nothing. Set atol, say 1e-5.":
            lambda f, x, order: torch.allclose(f(x[order]), f(x)[order]),
        "Another order is tried, or all of them. The question is about this one: reversal commutes with itself.":
            lambda f, x, order: all(commutes(f, x, torch.tensor(o)) for o in permutations(range(len(x)))),
    },
    fixed={"order.shape[-1] is x.shape[-2]": "The order is one of the tokens."},
    as_good={
        "argument 1 sorted": "Each f of the cases commutes or does not, whatever x is.",
        "argument 1 in whole numbers": "Each f of the cases commutes or does not, whatever x is.",
        "close(f(x[order]), f(x)[order]) → close(f(x)[order], f(x[order]))": "Which side the relative tolerance belongs to matters only to differences of about that size.",
        "torch.allclose(a, b, rtol=0.0001, atol=1e-05) → torch.allclose(b, a, rtol=0.0001, atol=1e-05)": "Which side the relative tolerance belongs to matters only to differences of about that size.",
        "torch.allclose(a, b, rtol=0.0001, atol=1e-05) → torch.allclose(a, b, atol=1e-05)": "The relative tolerance is torch's own then, 1e-5, which forgives the same rounding.",
    },
)
