"""Tasks that a model can solve only if it knows where its tokens stand."""

import torch
from torch import Tensor


def order(size: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Did A come before B? Each row is a random order of the letters 0 … length − 1, A is 0 and B is 1.

    Returns tokens (size, length) and labels (size,), 1 where A comes first; both int64.
    Raises ValueError for a length below 2.

    >>> generator = torch.Generator().manual_seed(0)
    >>> tokens, labels = order(2, 5, generator)
    >>> tokens[0], labels[0]
    (tensor([2, 3, 4, 0, 1]), tensor(1))
    """
    if length < 2:
        raise ValueError(f"length must be at least 2, to hold A and B; got {length}")
    tokens = torch.rand(size, length, generator=generator).argsort(dim=-1)
    places = tokens.argsort(dim=-1)  # the inverse permutation: where each letter stands
    return tokens, (places[:, 0] < places[:, 1]).long()
