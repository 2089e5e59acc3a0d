"""Wrong answers to the exercises of chapter 1."""

from itertools import permutations
from math import sqrt

import torch
import torch.nn.functional as F

from d2lpos.check import permutation as check

from . import wrong

# Which layers commute

RIGHT = {
    "layer norm": True,
    "feed-forward": True,
    "residual sum": True,
    "batch norm over tokens": True,
    "subtract the mean token": True,
    "cumulative sum": False,
    "convolution of width 3": False,
    "sort tokens by first feature": False,
}
wrong(check.layers, "Layer norm treats each token by itself.")(RIGHT | {"layer norm": False})

# Attention


wrong(check.attention, "The logits are not divided by √d.")(
    lambda q, k, v: F.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
)


@wrong(check.attention, "Input: q = [[[0.0, 0.25, 0.5, 0.75], [1.0,")
def no_or_two_dimensions_in_front(q, k, v):
    keys = k.T if k.dim() == 2 else k.permute(0, 1, 3, 2)
    return F.softmax(q @ keys / sqrt(q.size(-1)), dim=-1) @ v


@wrong(check.attention, "Input: q (2, 2, 3, 5, 4)")
def up_to_two_dimensions_in_front(q, k, v):
    axes = {2: (1, 0), 3: (0, 2, 1), 4: (0, 1, 3, 2)}[k.dim()]
    return F.softmax(q @ k.permute(axes) / sqrt(q.size(-1)), dim=-1) @ v


@wrong(check.attention, "k (2, 5, 4), v = [[[0.0, 0.25]")
def values_as_wide_as_queries_in_a_batch(q, k, v):
    if q.dim() == 2:
        return F.softmax(q @ k.T / sqrt(q.size(-1)), dim=-1) @ v
    out = torch.empty_like(q)
    for b in range(len(q)):
        out[b] = values_as_wide_as_queries_in_a_batch(q[b], k[b], v[b])
    return out


def in_float32(q, k, v):
    return F.scaled_dot_product_attention(*(x.to(torch.float32) for x in (q, k, v)))


wrong(check.attention, "Property: in the dtype of the input Input: q, k, v in float64")(
    lambda q, k, v: in_float32(q, k, v).type_as(v)
)


# Is a layer equivariant?


wrong(check.is_equivariant, "is invariance")(lambda f, x, order: torch.allclose(f(x[order]), f(x), atol=1e-6))
wrong(check.is_equivariant, "0.002 added to the first feature of token 2")(
    lambda f, x, order: bool((f(x[order]) - f(x)[order]).abs().mean() < 1e-5)
)
wrong(check.is_equivariant, "f is token 1 added to token 2")(
    lambda f, x, order: torch.allclose(f(x[order])[:-1], f(x)[order[:-1]], atol=1e-5)
)
wrong(check.is_equivariant, "f is token 1 added to token 0")(
    lambda f, x, order: torch.allclose(f(x[order])[1:], f(x)[order[1:]], atol=1e-5)
)
wrong(check.is_equivariant, "Property: True where f commutes, False where it does not")(
    lambda f, x, order: (f(x[order]) - f(x)[order]).max().item() < 1e-5
)
wrong(check.is_equivariant, "Property: True where f commutes, False where it does not")(
    lambda f, x, order: (f(x)[order] - f(x[order])).max().item() < 1e-5
)


# Masks


wrong(check.permute_mask, "The mask is unchanged")(lambda mask, order: mask.clone())


@wrong(check.permute_mask, "order = [2, 0, 3, 1]")
def rolled(mask, order):
    by = -int(order[0])
    return mask.roll((by, by), (-2, -1))


@wrong(check.permute_mask, "Input: mask (3, 3, 3)")
def one_mask_or_with_heads(mask, order):
    if mask.dim() == 2:
        return mask[order][:, order]
    return mask[:, :, order][:, :, :, order]


@wrong(check.permute_mask, "Input: mask (4, 3, 3)")
def length_of_the_batch(mask, order):
    permuted = mask.clone()
    for i in range(len(mask)):
        for j in range(len(mask)):
            permuted[..., i, j] = mask[..., order[i], order[j]]
    return permuted


# Symmetries of a bias


def all_orders(bias):
    return permutations(range(len(bias)))


@wrong(check.symmetries, "twice that from i = 2 on")
def by_ranks(bias):
    ranks = lambda x: (x * 1e4).round().argsort(dim=1, stable=True).argsort(dim=1, stable=True)
    level = lambda x: (x - x[:, :1]).mul(1e4).round().sign()
    found = []
    for o in permutations(range(len(bias))):
        moved = bias[list(o)][:, list(o)]
        if torch.equal(ranks(moved), ranks(bias)) and torch.equal(level(moved), level(bias)):
            found.append(o)
    return found


wrong(check.symmetries, "Softmax allows more")(
    lambda bias: [o for o in all_orders(bias) if torch.allclose(bias[list(o)][:, list(o)], bias, atol=1e-5)]
)


@wrong(check.symmetries, "bias[i, j] = −|i − j|/1000")
def loose_symmetry(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in all_orders(bias)}
    return [o for o, change in changes.items() if torch.allclose(change, change[:, :1], rtol=0, atol=0.05)]


# Positions out of a causal mean


wrong(check.recover_positions, "This counts from 1")(
    lambda tokens, causal_mean: torch.round(1 / causal_mean((tokens == 0).float())).long()
)
wrong(check.symmetries.answers[0], "so the softmax does not see it")(1)
wrong(check.symmetries.answers[0], "The tokens have 4! orders.")(256)
wrong(check.is_equivariant, "f is the sum of the tokens in each row")(
    lambda f, x, order: bool((f(x[order]).round(decimals=4) == f(x)[order].round(decimals=4)).all())
)
