"""A check accepts every right answer, however it is written."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from d2lpos.check import permutation as check
from d2lpos.check import rope, trained
from d2lpos.check.permutation.layers import COMMUTES
from tests.check.exercises import CHECKS
from tests.check.mutants import altered, of_type, survives
from tests.check.right import accepted


def attention_by_hand(q, k, v):
    logits = torch.einsum("...td,...sd->...ts", q * q.size(-1) ** -0.5, k)
    exponentials = (logits - logits.max(-1, keepdim=True).values).exp()
    return exponentials @ v / exponentials.sum(-1, keepdim=True)


def attention_in_numpy(q, k, v):
    if q.dtype == torch.bfloat16:  # which NumPy lacks
        return attention_in_numpy(q.float(), k.float(), v.float()).to(q.dtype)
    logits = q.numpy() @ np.swapaxes(k.numpy(), -1, -2) / q.numpy().dtype.type(q.shape[-1] ** 0.5)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return torch.from_numpy(exponentials @ v.numpy() / exponentials.sum(-1, keepdims=True))


def number_by_number(f, x, order):
    a, b = f(x[order]).flatten().tolist(), f(x)[order].flatten().tolist()
    return all(math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-5) for one, other in zip(a, b, strict=True))


def by_softmax(bias):
    weights = bias.double().softmax(-1)
    orders = permutations(range(len(bias)))
    return [o for o in orders if torch.allclose(weights[list(o)][:, list(o)], weights, atol=1e-6)]


def raises_unless_close(f, x, order):
    try:
        torch.testing.assert_close(f(x[order]), f(x)[order])
    except AssertionError:
        return False
    return True


def close_beside_the_largest(f, x, order):
    a, b = f(x[order]), f(x)[order]
    return bool((a - b).abs().max() <= 1e-5 * b.abs().max())


def scattered(mask, order):
    permuted = torch.empty_like(mask)
    places = order.argsort()
    permuted[..., places[:, None], places] = mask
    return permuted


def by_matrix(mask, order):
    p = torch.eye(len(order))[order]
    return (p @ mask.float() @ p.T).bool()


def by_experiment(bias):
    q, k, v = torch.randn(3, len(bias), 8, dtype=torch.float64)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.double())

    def commutes(o):
        moved = F.scaled_dot_product_attention(q[o], k[o], v[o], attn_mask=bias.double())
        return torch.allclose(moved, y[o], atol=1e-6)

    return [order for order in permutations(range(len(bias))) if commutes(list(order))]


def by_an_absolute_tolerance(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in permutations(range(len(bias)))}
    return [o for o, change in changes.items() if torch.allclose(change, change[:, :1], rtol=0, atol=1e-5)]


def backwards(bias):
    found = []
    for order in permutations(reversed(range(len(bias)))):
        change = (bias[list(order)][:, list(order)] - bias).numpy()
        if np.ptp(change, axis=1).max() < 1e-6:
            found.append(tuple(np.array(order)))
    return found


def from_the_other_tokens(tokens, causal_mean):
    share = causal_mean((tokens != 0).float())
    return torch.round(share / (1 - share)).to(torch.int64)


def by_two_averages(tokens, causal_mean):
    mark = causal_mean(torch.exp(-100.0 * tokens))
    return torch.round(causal_mean(torch.ones(len(tokens))) / mark - 1).long()


test_accepted = accepted({
    check.layers: [{name: np.bool_(commutes) for name, commutes in COMMUTES.items()}],
    check.attention: [attention_by_hand, F.scaled_dot_product_attention, attention_in_numpy],
    check.is_equivariant: [
        number_by_number, lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], atol=1e-6),
        lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], atol=1e-4),
        lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], rtol=0, atol=1e-5),
        close_beside_the_largest, lambda f, x, order: torch.dist(f(x[order]), f(x)[order]).item() < 1e-3,
        lambda f, x, order: torch.allclose(f(x[order])[order.argsort()], f(x), atol=1e-6),
        raises_unless_close, lambda f, x, order: ((f(x[order]) - f(x)[order]).abs().numpy() < 1e-5).all(),
    ],
    check.symmetries: [by_softmax, by_experiment, by_an_absolute_tolerance, backwards],
    check.permute_mask: [
        lambda mask, order: mask[..., order[:, None], order],
        lambda mask, order: mask.index_select(-1, order).index_select(-2, order), scattered, by_matrix,
    ],
    check.recover_positions: [
        from_the_other_tokens, by_two_averages,
        lambda tokens, mean: (mean(tokens == 0) ** -1 - 1 + 0.5).long(),
        lambda tokens, mean: (1 / mean(tokens.eq(0)[:, None])[:, 0] - 1).round().long(),
    ],
})


IN_ANOTHER_DTYPE = of_type(Tensor, lambda x: x.to(OTHER.get(x.dtype, x.dtype)))
OTHER = {
    torch.float32: torch.float64,
    torch.float64: torch.float32,
    torch.int64: torch.int32,
    torch.int32: torch.int64,
}


@pytest.mark.parametrize("check", [check for check in CHECKS if callable(check.reference)], ids=lambda check: check.name)
def test_the_dtype_counts_where_the_exercise_names_one(check):
    exact = any(case.exact_dtype for cases in check.properties.values() for case in cases)
    if check is rope.step:
        pytest.skip("its caches come back to it, so they must be of the dtype of what it computes")
    assert survives(check, altered(check.reference, IN_ANOTHER_DTYPE)) is not exact


def test_numpys_integers_are_whole_numbers():
    assert trained.frozen(lambda *given: np.int64(trained.frozen.reference(*given)))
