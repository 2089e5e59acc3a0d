"""A gate at each word."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def forgotten(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    behind = here[:, None] > here
    sums = torch.where(behind, gates.log()[..., None], 0).cumsum(dim=-2)
    return sums.masked_fill(behind.mT, -math.inf)


def token_by_token(counts: Callable) -> Callable:
    """As the right answer, where counts(t, i, j) tells whether token t's gate counts from key j to query i."""

    def answer(gates: Tensor) -> Tensor:
        t = torch.arange(gates.shape[-1])
        i, j = t[:, None, None], t[:, None]
        sums = torch.where(counts(t, i, j), gates.log()[:, None, None], 0).sum(dim=-1)
        return sums.masked_fill((j > i)[..., 0], -math.inf)

    return answer


def of_gates(change: Callable) -> Callable:
    """As the right answer, for other gates."""
    return lambda gates: forgotten(change(gates))


def of_bias(change: Callable) -> Callable:
    """What becomes of the right answer."""
    return lambda gates: change(forgotten(gates))


def by_one_quotient(gates: Tensor) -> Tensor:
    products = gates.cumprod(dim=-1)
    return (products[..., :, None] / products[..., None, :]).log()


def by_products(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    return torch.where(here[:, None] > here, gates[..., None], 1).cumprod(dim=-2).log()


def masked_by_a_product(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    return ((here[:, None] > here) * gates.log()[..., None]).cumsum(dim=-2)


def hidden_ahead(answer: Callable) -> Callable:
    def hidden(gates: Tensor) -> Tensor:
        here = torch.arange(gates.shape[-1])
        return answer(gates).masked_fill(here[:, None] < here, -math.inf)

    return hidden


def gates_case(gates: list[list[float]], label: str = "") -> Case:
    return call(label, gates=torch.tensor(gates))


def multiplied_with_a_mask(gates):
    T = gates.shape[-1]
    behind = torch.ones(T, T).tril(-1)
    bias = (gates.log()[:, :, None] * behind).cumsum(dim=1)
    return bias.masked_fill(behind.T > 0, float("-inf"))


forget = Check(
    "forget",
    reference=forgotten,
    properties={
        "in each head the sum of ln gates behind the key, up to the query": [
            gates_case([[0.5, 0.25, 0.75]]),
            gates_case([[0.5, 0.25, 0.75, 0.125], [0.25, 1.0, 0.5, 0.75]]),
            gates_case([[0.75]]),
        ],
        "many small gates, and sums that stay finite": [
            gates_case([[2.0 ** -(18 + n % 5) for n in range(64)]], "gates (1, 64), of 2⁻¹⁸ … 2⁻²²")
        ],
        "a gate of 0 forgets all before it": [
            gates_case([[0.5, 0.0, 0.25]]),
            gates_case([[0.5, 0.25, 0.0, 0.5, 0.0, 0.75]]),
            gates_case([[0.0, 0.5]]),
        ],
    },
    mistakes={
        "The key's own gate counts here. A gate forgets what came before its token.":
            token_by_token(lambda t, i, j: (t >= j) & (t <= i)),
        "The query's own gate counts, too: the sum ends with it.":
            token_by_token(lambda t, i, j: (t > j) & (t < i)),
        "These are factors. What is added to a score is their logarithm.": of_bias(torch.exp),
        "A later key stands ahead of the query: −∞, not 0.": of_bias(torch.tril),
        "Rows are queries, columns are keys.": of_bias(lambda bias: bias.mT),
        "Each head has its own gates.": (
            of_gates(lambda gates: gates[:1].expand(gates.shape)),
            of_gates(lambda gates: gates.mean(dim=0, keepdim=True).expand(gates.shape)),
        ),
        "A product of many small gates is 0 in a float. Add their logarithms.": (
            *(hidden_ahead(by_one_quotient), hidden_ahead(by_products)),
            lambda gates: hidden_ahead(by_one_quotient)(gates.double()),
            lambda gates: hidden_ahead(by_products)(gates.double()),
        ),
        "ln 0 is −∞. −∞ less −∞ is nan, and so is 0 times −∞: choose with torch.where, and subtract nothing.": (
            multiplied_with_a_mask,
            hidden_ahead(masked_by_a_product),
        ),
    },
    answers=(Answer(
        "gate",
        math.exp(-1 / 4),
        {
            "This is the slope. Which gate has the logarithm −1/4?": 1 / 4,
            "This is the gate's logarithm.": -1 / 4,
            "1 − m is near e⁻ᵐ, and only for small m.": 3 / 4,
            "ln is the natural logarithm.": 2 ** (-1 / 4),
            "A gate is at most 1. Which way does ALiBi's term go?": math.exp(1 / 4),
        },
        within=0.001,
    ),),
    cards=(multiplied_with_a_mask,),
    as_good={
        "gates.shape[-1] → gates.shape[1]": "Of two axes, 1 is the last.",
    },
)
