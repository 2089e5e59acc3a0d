"""Layers that commute and layers that do not."""

from collections.abc import Callable
from itertools import permutations

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from ..verdict import Case, Check, describe
from .material import CYCLE, commutes, feed_forward, sort_by_first_feature


def convolve(x: Tensor) -> Tensor:
    """The sum of each token and its two neighbors, with zeros beyond both ends."""
    nothing = torch.zeros_like(x[:1])
    padded = torch.cat([nothing, x, nothing])
    return padded[:-2] + padded[1:-1] + padded[2:]


LAYERS = {  # name: (layer, why it commutes or does not)
    "layer norm": (
        lambda x: layer_norm(x, x.shape[-1:]),
        "Layer norm treats each token by itself. It does not matter where the others stand.",
    ),
    "feed-forward": (
        feed_forward,
        "A feed-forward layer treats each token by itself. It does not matter where the others stand.",
    ),
    "residual sum": (
        lambda x: x + feed_forward(x),
        "The residual sum x + f(x) commutes because both of its terms do.",
    ),
    "batch norm over tokens": (
        lambda x: (x - x.mean(0)) / x.std(0),
        "The mean and the deviation over the tokens are the same in every order.",
    ),
    "subtract the mean token": (
        lambda x: x - x.mean(0),
        "The mean token is the same in every order, and each token loses the same.",
    ),
    "cumulative sum": (
        lambda x: x.cumsum(0),
        "A cumulative sum adds the tokens before. Another order puts others before.",
    ),
    "convolution of width 3": (
        convolve,
        "A convolution adds the neighbors. Another order gives other neighbors.",
    ),
    "sort tokens by first feature": (
        sort_by_first_feature,
        "Sorting gives the same rows in every order. That is invariant, f(x[order]) = f(x), not equivariant.",
    ),
}
TOKENS = torch.tensor([[1.0, 2.0], [4.0, 0.0], [2.0, 5.0]])
COMMUTES = {
    name: all(commutes(f, TOKENS, torch.tensor(order)) for order in permutations(range(len(TOKENS))))
    for name, (f, _) in LAYERS.items()
}


def layer_case(name: str, f: Callable) -> Case:
    """The reader's word on a layer, beside what the layer does to three tokens."""

    def show(x: Tensor) -> list:
        return [[round(value, 2) + 0.0 for value in row] for row in x.tolist()]

    text = (
        f"x = {show(TOKENS)}, {describe('order', CYCLE)}\n"
        f"f(x[order]) = {show(f(TOKENS[CYCLE]))}\n"
        f"f(x)[order] = {show(f(TOKENS)[CYCLE])}"
    )
    return Case(text, lambda answer: answer[name])


layers = Check(
    "layers", reference=COMMUTES, properties={name: [layer_case(name, f)] for name, (f, _) in LAYERS.items()},
    mistakes={why: COMMUTES | {name: not COMMUTES[name]} for name, (_, why) in LAYERS.items()},
)
