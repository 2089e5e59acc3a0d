"""Relative key vectors for all pairs: gathered a pair at a time, gathered from products, or skewed."""

import torch

from d2lpos.offset.skew import key_term
from d2lpos.positions.checks import offsets

from .measure import Contest


def contests(device: str, length: int = 1024, heads: int = 8, features: int = 64) -> list[Contest]:
    q = torch.randn(1, heads, length, features, device=device)
    vectors = torch.randn(length, features, device=device)
    here = torch.arange(length, device=device)
    rows = (offsets(here, here) + length - 1).clamp(max=length - 1)

    def vectors_of_pairs() -> torch.Tensor:
        return torch.einsum("bhqd,qkd->bhqk", q, vectors[rows]) / features**0.5

    def products_of_pairs() -> torch.Tensor:
        return (q @ vectors.mT).gather(-1, rows.expand(*q.shape[:-1], -1)) / features**0.5

    return [Contest(
        "skew",
        f"Key term of relative vectors, {heads} heads of {features} features, {length} tokens",
        {
            "gather a vector for each pair": vectors_of_pairs,
            "gather a product for each pair": products_of_pairs,
            "`skew.key_term`": lambda: key_term(q, vectors),
        },
        memory=True,
    )]
