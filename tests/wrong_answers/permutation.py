"""Wrong answers to the exercises of chapter 1."""

from itertools import permutations

import torch

from d2lpos.check import permutation as check

from . import wrong

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
wrong(check.attention, "Input: q = [[[0.0, 0.25, 0.5, 0.75], [1.0,")(
    "k.mT → (k.T if k.dim() == 2 else k.permute(0, 1, 3, 2))"
)
wrong(check.attention, "Input: q (2, 2, 3, 5, 4)")(
    "k.mT → k.permute({2: (1, 0), 3: (0, 2, 1), 4: (0, 1, 3, 2)}[k.dim()])"
)
wrong(check.attention, "k (2, 5, 4), v = [[[0.0, 0.25]")(
    "return (q @ k.mT * scale).softmax(dim=-1) @ v → out = (q @ k.mT * scale).softmax(dim=-1) @ v\n    return out if q.dim() == 2 else torch.empty_like(q).copy_(out)"
)
wrong(check.attention, "Property: in the dtype of the input Input: q, k, v in float64")(
    "attend_scaled(q, k, v, 1 / math.sqrt(q.shape[-1])) → attend_scaled(q.float(), k.float(), v.float(), 1 / math.sqrt(q.shape[-1])).type_as(v)"
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
wrong(check.permute_mask, "order = [2, 0, 3, 1]")(
    "mask[..., order, :][..., order] → mask.roll((-int(order[0]), -int(order[0])), (-2, -1))"
)
wrong(check.permute_mask, "Input: mask (3, 3, 3)")(
    "mask[..., order, :][..., order] → mask[order][:, order] if mask.dim() == 2 else mask[:, :, order][:, :, :, order]"
)


@wrong(check.permute_mask, "Input: mask (4, 3, 3)")
def length_of_the_batch(mask, order):
    permuted = mask.clone()
    for i in range(len(mask)):
        for j in range(len(mask)):
            permuted[..., i, j] = mask[..., order[i], order[j]]
    return permuted


@wrong(check.symmetries, "2 % more from i = 2 on")
def by_ranks(bias):
    ranks = lambda x: (x * 1e4).round().argsort(dim=1, stable=True).argsort(dim=1, stable=True)
    level = lambda x: (x - x[:, :1]).mul(1e4).round().sign()
    orders = []
    for o in permutations(range(len(bias))):
        moved = bias[list(o)][:, list(o)]
        if torch.equal(ranks(moved), ranks(bias)) and torch.equal(level(moved), level(bias)):
            orders.append(o)
    return orders


@wrong(check.symmetries, "bias[i, j] = i · j / 1000 − 40 |i − j|")
def loose_symmetry(bias):
    changes = {o: bias[list(o)][:, list(o)] - bias for o in permutations(range(len(bias)))}
    return [o for o, change in changes.items() if torch.allclose(change, change[:, :1], rtol=0, atol=0.05)]


wrong(check.symmetries.answers[0], "so the softmax does not see it")(1)
wrong(check.symmetries.answers[0], "The tokens have 4! orders.")(256)
wrong(check.is_equivariant, "f is the sum of the tokens in each row")(
    lambda f, x, order: bool((f(x[order]).round(decimals=4) == f(x)[order].round(decimals=4)).all())
)
wrong(check.is_equivariant, "0.002 added to the first feature of token 2")(
    lambda f, x, order: bool((f(x[order]) - f(x)[order]).abs().mean() < 1e-5)
)
wrong(check.recover_positions, "Input: tokens (2500,)")("causal_mean((tokens == 0).float()) → causal_mean((tokens == 0).float()).half().float()")
wrong(check.permute_mask, "Input: mask (100, 100)")("return mask → order = torch.cat([order[:16], torch.arange(16, len(order))]) if len(order) > 16 else order\n    return mask")
