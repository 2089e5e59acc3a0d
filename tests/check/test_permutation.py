"""The references of chapter 1's checks, against attention itself, and right answers written otherwise."""

import math
from itertools import permutations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import scaled_dot_product_attention

from d2lpos.check import permutation as check
from d2lpos.check.permutation.layers import COMMUTES, LAYERS
from d2lpos.check.permutation.material import commutes as check_commutes
from d2lpos.check.permutation.recover_positions import causal_mean as check_causal_mean
from tests.check.right import accepted

T, WIDTH = 4, 8
ORDERS = list(permutations(range(T)))
q, k, v = torch.randn(3, T, WIDTH, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
place = torch.arange(T, dtype=torch.float64)
offset = place[:, None] - place
BIASES = {
    "zero": (0 * offset, 24),
    "distance": (-offset.abs(), 2),
    "query": (-place[:, None].expand(T, T), 24),
    "key": (place.expand(T, T), 1),
    "signed distance": (-offset, 1),
    "circle": (-torch.minimum(offset % T, -offset % T), 8),
    "one way around": (offset % T, 4),
    "distance and query": (place[:, None] ** 2 - offset.abs(), 2),
    "large query and key": (1e6 * place[:, None] + place, 1),
    "two pairs": ((place[:, None] // 2 == place // 2).double(), 8),
}


def same(a, b):
    return torch.allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
def test_permuted_mask(order):
    order = list(order)
    mask = torch.tensor([[1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1]]).bool()
    moved = check.permute_mask.reference(mask, torch.tensor(order))
    expected = scaled_dot_product_attention(q, k, v, attn_mask=mask)[order]
    assert same(scaled_dot_product_attention(q[order], k[order], v[order], attn_mask=moved), expected)


@pytest.mark.parametrize("name", BIASES)
def test_symmetries(name):
    bias, count = BIASES[name]
    y = scaled_dot_product_attention(q, k, v, attn_mask=bias)

    def commutes(o):
        o = list(o)
        return same(scaled_dot_product_attention(q[o], k[o], v[o], attn_mask=bias), y[o])

    orders = check.symmetries.reference(bias)
    assert orders == [order for order in ORDERS if commutes(order)]
    assert len(orders) == count


def test_a_bias_of_the_query_alone_has_all_symmetries():
    assert check.symmetries.answers[0](BIASES["query"][1])


def test_layers_that_commute_do_so_for_other_tokens_too():
    x = torch.randn(T, 3, generator=torch.Generator().manual_seed(0))
    for name, (layer, _) in LAYERS.items():
        everywhere = all(check_commutes(layer, x, torch.tensor(order)) for order in ORDERS)
        assert COMMUTES[name] == everywhere
    assert sum(COMMUTES.values()) == 5


def test_positions_from_a_causal_mean():
    tokens = torch.tensor([0, 3, 3, 1, 2])
    logits_equal = torch.zeros(len(tokens), 1)

    def causal_mean(values):
        return scaled_dot_product_attention(
            logits_equal, logits_equal, values.float()[:, None], is_causal=True
        )[:, 0]

    assert check.recover_positions.reference(tokens, causal_mean).tolist() == [0, 1, 2, 3, 4]
    values = torch.tensor([4.0, 2.0, 0.0, 6.0, 3.0])
    assert torch.allclose(check_causal_mean(values), causal_mean(values))


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
    check.permute_mask: [lambda mask, order: mask[..., order[:, None], order], by_matrix],
    check.recover_positions: [
        from_the_other_tokens,
        lambda tokens, mean: (1 / mean(tokens.eq(0)[:, None])[:, 0] - 1).round().long(),
    ],
})
