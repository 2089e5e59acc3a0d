"""Symmetries of a bias."""

from collections.abc import Callable
from itertools import permutations

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call
from .material import draw


def orders_where(holds: Callable[[Tensor, Tensor], bool]) -> Callable[[Tensor], list]:
    """The function that lists the orders under which `holds(bias, order)`."""
    return lambda bias: [o for o in permutations(range(len(bias))) if holds(bias, torch.tensor(o))]


def change(bias: Tensor, order: Tensor) -> Tensor:
    return bias[order][:, order] - bias


def is_constant(x: Tensor, dim: int) -> bool:
    return bool((x.amax(dim) - x.amin(dim)).max() < 1e-5)


def is_symmetry(bias: Tensor, order: Tensor) -> bool:
    """Softmax ignores what is added to all logits of a query, so a row of the change may be any constant."""
    return is_constant(change(bias, order), dim=1)


def bias_case(name: str, entry: Callable[[Tensor, Tensor], Tensor], length: int = 4) -> Case:
    place = torch.arange(float(length))
    bias = entry(place[:, None], place[None, :]).expand(length, length)
    return call(f"bias[i, j] = {name}, T = {length}", bias=bias.clone())


list_symmetries = orders_where(is_symmetry)
symmetries = Check(
    "symmetries",
    reference=list_symmetries,
    properties={
        "both axes take the same order": [
            bias_case("−|i − j|", lambda i, j: -(i - j).abs(), 3),
            bias_case("0", lambda i, j: 0 * i, 3),
            bias_case("−|i − j|", lambda i, j: -(i - j).abs()),
            bias_case("(j − i) mod T", lambda i, j: (j - i) % 4),
            bias_case("−min(|i − j|, T − |i − j|)", lambda i, j: -torch.minimum((i - j) % 5, (j - i) % 5), 5),
            bias_case("a random number", lambda i, j: draw(4, 4)),
            bias_case("i · j / 1000 − 40 |i − j|", lambda i, j: i * j / 1000 - 40 * (i - j).abs()),
            bias_case("−|i − j|, 2 % more from i = 2 on", lambda i, j: -(1 + (i > 1) / 50) * (i - j).abs()),
        ],
        "what is constant along a row does not count": [
            bias_case("−i", lambda i, j: -i),
            bias_case("j", lambda i, j: j),
            bias_case("j − i", lambda i, j: j - i),
            bias_case("i² − |i − j|", lambda i, j: i * i - (i - j).abs()),
            bias_case("10⁶ i + j", lambda i, j: 1e6 * i + j),
        ],
        "rounding does not count": [
            bias_case("−|i/10 − j/10|", lambda i, j: -(i * 0.1 - j * 0.1).abs()),
            bias_case("−|i − j|/1000", lambda i, j: -(i - j).abs() / 1000),
        ],
    },
    mistakes={
        "A tuple indexes several axes at once. Make it a list or a tensor.":
            lambda bias: [o for o in permutations(range(len(bias))) if is_constant(bias[o] - bias, dim=1)],
        "Two indices in one bracket pick pairs, here the diagonal. Index twice.":
            orders_where(lambda bias, order: is_constant(bias[order, order] - bias, dim=1)),
        "Only one axis is permuted. A change of order moves queries and keys.": (
            orders_where(lambda bias, order: is_constant(bias[order] - bias, dim=1)),
            orders_where(lambda bias, order: is_constant(bias[:, order] - bias, dim=1)),
        ),
        "The two axes take opposite orders. Queries and keys move alike.":
            orders_where(lambda bias, order: is_constant(bias[order][:, order.argsort()] - bias, dim=1)),
        "The bias itself must not change here. Softmax allows more: any constant added to a row.": orders_where(
            lambda bias, order: torch.allclose(change(bias, order), torch.zeros_like(bias), atol=1e-5)
        ),
        "A constant along each column is ignored. The softmax runs along a row.":
            orders_where(lambda bias, order: is_constant(change(bias, order), dim=0)),
        "A rounding error looks like a change. Compare with a tolerance, say atol=1e-5.":
            orders_where(lambda bias, order: bool((change(bias, order) == change(bias, order)[:, :1]).all())),
        "A weight of e⁻⁴⁰ looks like 0, and so does one of e⁻⁸⁰. Scores can undo that: compare logits.": orders_where(
            lambda bias, order: torch.allclose(bias[order][:, order].softmax(1), bias.softmax(1), atol=1e-6)
        ),
    },
    answers=(Answer("how_many", 24, {
        "The bias −i is constant along each row, so the softmax does not see it.": lambda n: n < 24,
        "Those are the orders of five tokens.": 120,
        "The tokens have 4! orders.": lambda n: n > 24,
    }),),
    fixed={"texts are short": "Of more tokens there are too many orders to try."},
    as_good={
        "returned backward": "The text asks for all orders, in no order.",
        "bias[order][:, order] - bias → bias - bias[order][:, order]": "The sign of a change does not matter to whether it is constant.",
        "bool((x.amax(dim) - x.amin(dim)).max() < 1e-05) → (x.amax(dim) - x.amin(dim)).max() < 1e-05": "A tensor with one truth value is as good as a bool in an if.",
        "(x.amax(dim) - x.amin(dim)).max() < 1e-05 → (x.amax(dim) - x.amin(dim)).max() <= 1e-05": "No change is exactly as large as the tolerance.",
        "(x.amax(dim) - x.amin(dim)).max() < 1e-05 → (x.amax(dim) - x.amin(dim)).max() < 0.001": "The smallest real change is a thousandth itself.",
        "is_constant(change(bias, order), dim=1) → is_constant(change(bias, order), dim=-1)": "A bias has two axes, so the last is axis 1.",
    },
)
