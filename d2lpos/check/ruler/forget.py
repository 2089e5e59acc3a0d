"""A gate at each word."""

import math

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def forgotten(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    behind = here[:, None] > here
    sums = torch.where(behind, gates.log()[..., None], 0).cumsum(dim=-2)
    return sums.masked_fill(behind.mT, -math.inf)


def by_quotients(gates: Tensor) -> Tensor:
    products = gates.cumprod(dim=-1)
    return hidden(products[..., :, None] / products[..., None, :])


def by_products(gates: Tensor) -> Tensor:
    here = torch.arange(gates.shape[-1])
    return hidden(torch.where(here[:, None] > here, gates[..., None], 1).cumprod(dim=-2))


def hidden(factors: Tensor) -> Tensor:
    """Their logarithms, and −∞ for later keys."""
    return factors.log().masked_fill(torch.ones(factors.shape[-2:]).triu(1) > 0, -math.inf)


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
            gates_case([[0.5, 0.25, 0.0, 0.5, 0.0, 0.75], [0.25, 0.5, 0.75, 0.5, 0.25, 0.5]]),
            gates_case([[0.0, 0.5]]), gates_case([[0.25, 0.0]]),
        ],
    },
    mistakes={
        "The key's own gate counts here. A gate forgets what came before its token.":
            "torch.where(behind → torch.where(here[:, None] >= here",
        "The query's own gate counts, too: the sum ends with it.":
            "cumsum(dim=-2) → cumsum(dim=-2).roll(1, -2).index_fill(-2, torch.tensor(0), 0)",
        "These are factors. What is added to a score is their logarithm.":
            lambda gates: forgotten(gates).exp(),
        "A later key stands ahead of the query: −∞, not 0.": lambda gates: forgotten(gates).tril(),
        "Rows are queries, columns are keys.": lambda gates: forgotten(gates).mT,
        "Each head has its own gates.": (
            lambda gates: forgotten(gates[:1].expand(gates.shape)),
            lambda gates: forgotten(gates.mean(dim=0, keepdim=True).expand(gates.shape)),
        ),
        "A product of many small gates is 0 in a float. Add their logarithms.": (
            by_quotients,
            by_products,
            lambda gates: by_quotients(gates.double()),
            lambda gates: by_products(gates.double()),
        ),
        "ln 0 is −∞. −∞ less −∞ is nan, and so is 0 times −∞: choose with torch.where, and subtract nothing.": (
            multiplied_with_a_mask,
            "torch.where(behind, gates.log()[..., None], 0) → (behind * gates.log()[..., None])",
        ),
    },
    answers=(Answer("gate", math.exp(-1 / 4), within=0.001, mistakes={
        "This is the slope. Which gate has the logarithm −1/4?": 1 / 4,
        "This is the gate's logarithm.": -1 / 4,
        "1 − m is near e⁻ᵐ, and only for small m.": 3 / 4,
        "ln is the natural logarithm.": 2 ** (-1 / 4),
        "A gate is at most 1. Which way does ALiBi's term go?": math.exp(1 / 4),
    }),),
    cards=(multiplied_with_a_mask,),
    as_good={
        "gates.shape[-1] → gates.shape[1]": "Of two axes, 1 is the last.",
    },
)
