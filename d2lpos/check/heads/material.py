"""What several exercises of this chapter ask about."""

from functools import partial

import torch
from torch import Tensor

from ..cases import quarters

drawn = partial(quarters, low=-4, high=5)


def back(weights: Tensor, offset: int) -> Tensor:
    """The weights of the keys that stand `offset` back, for the queries that have such a key."""
    return weights.diagonal(-offset, dim1=-2, dim2=-1)


def made_up(*shape: int, seed: int, seen: Tensor | None = None, habit: int = 0) -> Tensor:
    """Attention weights (…, tokens, tokens) under a mask, causal where none is given; more at the offset `habit`."""
    draw = torch.Generator().manual_seed(seed)
    weights = torch.randint(0, 9, (*shape, shape[-1]), generator=draw) + torch.eye(shape[-1]).double()
    weights = weights.tril() if seen is None else weights * seen
    back(weights, habit).add_(20 * (habit > 0))
    return (weights / weights.sum(dim=-1, keepdim=True).clamp(min=1)).float()
