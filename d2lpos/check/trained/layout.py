"""Which layout?"""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from ..verdict import Answer, Case, Check, call


def by_head(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1))


def keys_of(wk: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The rows of keys that each head of queries meets; (heads, size, dim)."""
    return by_head(wk, kv_heads).repeat_interleave(heads // kv_heads, dim=0)


def met(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> Tensor:
    """How much, on average over heads, each row of the queries has of each row of its keys; (size, size)."""
    return (by_head(wq, heads) @ keys_of(wk, heads, kv_heads).mT).abs().mean(dim=0)


def partners(table: Tensor) -> tuple[Tensor, Tensor]:
    """The entries (size, size) of rows and their partners, if these are neighbors, and if half a head lies between."""
    i = torch.arange(len(table))
    return table[i, i ^ 1], table[i, i - len(i) // 2]


def larger(table: Tensor) -> str:
    """The layout whose partners have the larger entries."""
    neighbors, apart = partners(table)
    return "half" if apart.mean() > neighbors.mean() else "interleaved"


def told_by_products(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
    return larger(met(wq, wk, heads, kv_heads))


def told_by_lengths(weight: Tensor, heads: int) -> str:
    lengths = by_head(weight, heads).norm(dim=-1)
    return larger(-(lengths[:, :, None] - lengths[:, None]).abs().mean(dim=0))


def told_among_themselves(weight: Tensor, heads: int) -> str:
    rows = by_head(weight, heads)
    return larger((rows @ rows.mT).abs().mean(dim=0))


def told_by_one_head(at: int) -> Callable:
    """As the right answer, for one head of queries and its keys."""

    def answer(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
        return told_by_products(by_head(wq, heads)[at], keys_of(wk, heads, kv_heads)[at], 1, 1)

    return answer


def walk(count: int, dim: int, like: float, draw: torch.Generator) -> Tensor:
    """Directions (count, dim), each like the one before."""
    rows = [normalize(torch.randn(dim, generator=draw, dtype=torch.float64), dim=0)]
    while len(rows) < count:
        new = normalize(torch.randn(dim, generator=draw, dtype=torch.float64), dim=0)
        rows.append(normalize(like * rows[-1] + (1 - like**2) ** 0.5 * new, dim=0))
    return torch.stack(rows)


def projections(
    layout: str,
    size: int,
    heads: int = 1,
    kv_heads: int = 1,
    uneven: float = 0.0,
    beside: float = 0.6,
    within: float = 0.3,
    angle: float = 1.0,
    far: float = 0.0,
    astray: tuple[int, ...] = (),
    opposed: bool = False,
    dim: int = 64,
) -> tuple[Tensor, Tensor]:
    """W_Q and W_K as training leaves them: partners have met, and lengths change slowly from pair to pair.

    uneven: how much longer the first row of a pair is in W_Q, and shorter in W_K, as a logarithm. beside: how much a
    row of the keys is like that of the pair before; within: how much like its partner. far: how much like that
    of the pair half a head before. angle: by how much queries are turned from keys, in radians. astray: heads of
    queries that ask for the keys of another pair, whose rows stand where the other layout has partners. opposed: whether
    every other head of queries has the other sign.
    """
    draw = torch.Generator().manual_seed(0)
    lengths = torch.linspace(-1, 1, size // 2, dtype=torch.float64)[:, None].exp()
    cos, sin, longer = math.cos(angle), math.sin(angle), math.exp(uneven)
    queries, keys = [], []
    other = torch.arange(size // 2)
    other = other ^ 1 if layout == "half" else other - size // 4
    for kv_head in range(kv_heads):
        first = walk(size // 2, dim, beside, draw)
        first = normalize(first + far * first.roll(size // 4, dims=0), dim=-1)
        second = normalize(walk(size // 2, dim, beside, draw) + within * first, dim=-1)
        keys.append((first * lengths / longer, second * lengths * longer))
        for head in range(heads // kv_heads):
            turned = first * cos - second * sin, first * sin + second * cos
            if opposed and head % 2:
                turned = -turned[0], -turned[1]
            if kv_head * (heads // kv_heads) + head in astray:
                turned = first[other], second[other]
            one, two = (normalize(x + 0.3 * walk(size // 2, dim, 0, draw), dim=-1) for x in turned)
            queries.append((one * lengths * longer, two * lengths / longer))
    axis = 1 if layout == "interleaved" else 0
    wq, wk = (
        torch.cat([torch.stack(pair, dim=axis).flatten(0, 1) for pair in rows]) for rows in (queries, keys)
    )
    return wq.float(), wk.float()


def layout_case(
    layout: str, size: int, heads: int = 1, kv_heads: int = 1, long: float = 1.0, **how: float | tuple
) -> Case:
    """`long`: how much longer two rows are, which would be partners in the other layout."""
    wq, wk = projections(layout, size, heads, kv_heads, **how)
    wq[0] *= long
    wk[1 if layout == "half" else size // 2] *= long
    label = f"W_Q {tuple(wq.shape)}, W_K {tuple(wk.shape)}, heads = {heads}, kv_heads = {kv_heads}"
    return call(label, wq=wq, wk=wk, heads=heads, kv_heads=kv_heads)


layout = Check(
    "layout",
    reference=told_by_products,
    properties={
        "heads of any size": [
            layout_case("half", 8),
            layout_case("interleaved", 8),
            layout_case("half", 6),
            layout_case("interleaved", 4),
            layout_case("half", 64),
            layout_case("interleaved", 64),
            layout_case("half", 64, beside=0.0),
            layout_case("interleaved", 64, within=-0.3),
            layout_case("half", 64, beside=0.8),
            layout_case("interleaved", 64, far=0.6),
            layout_case("half", 64, beside=0.2, angle=0.5),
            layout_case("interleaved", 64, beside=0.2, angle=0.5),
        ],
        "several heads, which may share keys": [
            layout_case("half", 32, 2, 2),
            layout_case("interleaved", 32, 2, 2),
            layout_case("half", 64, 4, 2),
            layout_case("interleaved", 64, 3, 1, dim=48),
            layout_case("half", 64, 4, 2, beside=0.0, opposed=True),
            layout_case("interleaved", 64, 4, 2, beside=0.0, opposed=True),
            layout_case("half", 64, 6, 6, beside=0.0, astray=(0, 5)),
            layout_case("half", 64, 6, 3, beside=0.0, astray=(0, 1)),
            layout_case("interleaved", 64, 6, 3, beside=0.0, astray=(0, 5)),
        ],
        "rows of unequal lengths": [
            layout_case("half", 64, uneven=0.25),
            layout_case("interleaved", 64, uneven=0.25),
            layout_case("half", 64, beside=0.0, long=30.0),
            layout_case("interleaved", 64, beside=0.0, long=30.0),
        ],
    },
    mistakes={
        "The two layouts are exchanged: in halves, partners are size/2 rows apart.": (
            '"half" if apart.mean() > neighbors.mean() else "interleaved" → '
            '"interleaved" if apart.mean() > neighbors.mean() else "half"'
        ),
        "Lengths mislead: in halves, neighbors belong to neighboring frequencies, and are about as long. Compare "
        "rows of W_Q with rows of W_K.": (
            lambda wq, wk, heads, kv_heads: told_by_lengths(wq, heads),
            lambda wq, wk, heads, kv_heads: told_by_lengths(wk, kv_heads),
        ),
        "Rows of one matrix never meet each other. A score multiplies queries with keys.": (
            lambda wq, wk, heads, kv_heads: told_among_themselves(wq, heads),
            lambda wq, wk, heads, kv_heads: told_among_themselves(wk, kv_heads),
            lambda wq, wk, heads, kv_heads: told_among_themselves(normalize(wq, dim=-1), heads),
            lambda wq, wk, heads, kv_heads: told_among_themselves(normalize(wk, dim=-1), kv_heads),
        ),
        "Products of partners have both signs, and cancel. Take absolute values.":
            "mT).abs().mean(dim=0) → mT).mean(dim=0)",
        "The longest rows outweigh all others where sizes are squared. Take the sizes as they are.":
            "mT).abs().mean(dim=0) → mT).square().mean(dim=0)",
        "All heads are taken for one. Each has its own rows, and its own halves.":
            lambda wq, wk, heads, kv_heads: told_by_products(wq, keys_of(wk, heads, kv_heads).flatten(0, 1), 1, 1),
        "Here queries meet the keys of another head. Heads that share keys are neighbors.":
            lambda wq, wk, heads, kv_heads: told_by_products(wq, wk.repeat(heads // kv_heads, 1), heads, heads),
    },
    answers=(Answer("in_file", "interleaved", {
        "Those are smol's rows, which were moved when it was loaded. Read the file's own.": "half",
        'Neighbors they are. The name of that layout is "interleaved".': "neighbors",
        'Half a head apart would be "half". Which products are large?': "halves",
    }),),
    as_good={
        "argument 1 in whole numbers": "Partners stand out among rounded weights, too.",
        "(by_head(wq, heads) @ keys_of(wk, heads, kv_heads).mT).abs().mean(dim=0) → (by_head(wq, heads) @ keys_of(wk, heads, kv_heads).mT).abs().sum(dim=0)": "The sums over the heads are in the order of the means.",
        "i ^ 1 → 1 ^ i": "The exclusive or has no order.",
        "apart.mean() > neighbors.mean() → apart.mean() >= neighbors.mean()": "The two are never equal.",
    },
)
