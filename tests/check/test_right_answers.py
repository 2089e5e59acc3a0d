"""A check accepts every right answer, however it is written."""

import math
from inspect import isfunction
from itertools import permutations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from d2lpos.check import fused, rope, trained
from d2lpos.check import permutation as check
from d2lpos.check.permutation.layers import COMMUTES
from tests.check.exercises import CHECKS
from tests.check.mutants import altered, survives
from tests.check.right import accepted


def attention_by_hand(q, k, v):
    logits = torch.einsum("...td,...sd->...ts", q * q.size(-1) ** -0.5, k)
    exponentials = (logits - logits.max(-1, keepdim=True).values).exp()
    return exponentials @ v / exponentials.sum(-1, keepdim=True)


def number_by_number(f, x, order):
    a, b = f(x[order]).flatten().tolist(), f(x)[order].flatten().tolist()
    return all(math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-5) for one, other in zip(a, b, strict=True))


def by_softmax(bias):
    weights = bias.double().log_softmax(-1)
    orders = permutations(range(len(bias)))
    return [o for o in orders if torch.allclose(weights[list(o)][:, list(o)], weights, atol=1e-6)]


def by_matrix(mask, order):
    p = torch.eye(len(order))[order]
    return (p @ mask.float() @ p.T).bool()


def backwards(bias):
    orders = []
    for order in permutations(reversed(range(len(bias)))):
        change = (bias[list(order)][:, list(order)] - bias).numpy()
        if np.ptp(change, axis=1).max() < 1e-6:
            orders.append(tuple(np.array(order)))
    return orders


def from_the_other_tokens(tokens, causal_mean):
    share = causal_mean((tokens != 0).float())
    return torch.round(share / (1 - share)).to(torch.int64)


def by_row_then_place(slopes, q_positions, k_positions):
    """As FlexAttention allows, which asks for one pair at a time."""
    return lambda score, b, h, q, k: score - slopes[h] * (q_positions[b][q] - k_positions[b][k]).abs()


test_accepted = accepted({
    check.layers: [{name: np.bool_(commutes) for name, commutes in COMMUTES.items()}],
    check.attention: [attention_by_hand, F.scaled_dot_product_attention],
    check.is_equivariant: [
        number_by_number,
        lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], atol=1e-4),
        lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], rtol=0, atol=1e-5),
        lambda f, x, order: torch.allclose(f(x[order])[order.argsort()], f(x), atol=1e-6),
        lambda f, x, order: ((f(x[order]) - f(x)[order]).abs().numpy() < 1e-5).all(),
    ],
    check.symmetries: [by_softmax, backwards],
    fused.alibi_mod: [by_row_then_place],
    check.permute_mask: [lambda mask, order: mask[..., order[:, None], order], by_matrix],
    check.recover_positions: [
        from_the_other_tokens,
        lambda tokens, mean: (1 / mean(tokens.eq(0)[:, None])[:, 0] - 1).round().long(),
    ],
})


OTHER = {
    torch.float32: torch.float64,
    torch.float64: torch.float32,
    torch.int64: torch.int32,
    torch.int32: torch.int64,
}


def in_another_form(value):
    """The same numbers in another dtype, a number as a tensor of no axes, a list for a tuple; also from a function."""
    if isinstance(value, Tensor):
        return value.to(OTHER.get(value.dtype, value.dtype))
    if type(value) in (int, float):
        return torch.tensor(value)
    if isinstance(value, tuple | list):
        return [*map(in_another_form, value)]
    return altered(value, in_another_form) if isfunction(value) else value


@pytest.mark.parametrize("check", [check for check in CHECKS if callable(check.reference)], ids=lambda check: check.name)
def test_the_form_counts_where_the_exercise_names_one(check):
    exact = any(case.exact_dtype for cases in check.properties.values() for case in cases)
    if check is rope.step:
        pytest.skip("its caches come back to it, so they must be of the dtype of what it computes")
    assert survives(check, altered(check.reference, in_another_form)) is not exact


def test_numpys_integers_are_whole_numbers():
    assert trained.frozen(lambda *given: np.int64(trained.frozen.reference(*given)))
