"""Absorb, or not."""

import math

import torch
from torch import Tensor

from ...input.sinusoids import frequencies
from ...rotary.rope import rotate
from ..cases import quarters
from ..verdict import Answer, Case, Check, call
from .material import without


def absorbed(q: Tensor, c: Tensor, up: Tensor, q_r: Tensor, k_r: Tensor, angle: Tensor) -> Tensor:
    content = torch.einsum("hd,hrd->hr", q, up) @ c.mT
    clock = rotate(q_r, angle[-1]) @ rotate(k_r, angle).mT
    return (content + clock) / math.sqrt(q.shape[-1] + q_r.shape[-1])


def step_of(heads: int, tokens: int, d: int, r: int, d_r: int, first: int = 0, leave: str = "") -> dict:
    """The arguments; those whose names are in `leave` are zeros."""
    shapes = {
        "q": (heads, d),
        "c": (tokens, r),
        "up": (heads, r, d),
        "q_r": (heads, d_r),
        "k_r": (tokens, d_r),
    }
    made = {
        name: quarters(*shape, seed=n + tokens) * (name not in leave.split())
        for n, (name, shape) in enumerate(shapes.items())
    }
    places = first + torch.arange(tokens) ** 2
    return {**made, "angle": places[:, None] * frequencies(d_r, base=100.0).float()}


def step_case(heads: int, tokens: int, d: int, r: int, d_r: int, first: int = 0, leave: str = "") -> Case:
    label = f"{heads} head{'s' * (heads > 1)}, {tokens} tokens, d = {d}, r = {r}, d_r = {d_r}"
    label += f", positions {first}, {first + 1}, {first + 4}, …" + f", {leave} = 0" * (leave > "")
    return call(label, **step_of(heads, tokens, d, r, d_r, first, leave))


def root(q, q_r):
    return (q.shape[-1] + q_r.shape[-1]) ** 0.5


def clock(q_r, k_r, angle):
    return rotate(q_r, angle[-1]) @ rotate(k_r, angle).T


def heads_summed(q, c, up, q_r, k_r, angle):
    absorbed = torch.einsum("hd,grd->hr", q, up)
    return (absorbed @ c.T + clock(q_r, k_r, angle)) / root(q, q_r)


scores = Check(
    "scores",
    reference=absorbed,
    properties={
        "each head's content, where the clock is silent": [
            step_case(2, 3, 4, 4, 4, leave="q_r"), step_case(3, 4, 6, 5, 2, leave="q_r"),
            step_case(2, 5, 2, 3, 4, leave="k_r"),
        ],
        "the clock, one turned key for all heads": [
            step_case(2, 3, 4, 4, 4, leave="q"),
            step_case(3, 4, 6, 5, 2, first=7, leave="q"),
            step_case(1, 20, 6, 2, 4, first=2),
        ],
        "1,000 tokens, and no keys of any head": [without(
            "4 heads, 1,000 tokens, d = 1,024, r = 8, d_r = 4",
            1000 * 1024, *step_of(4, 1000, 1024, 8, 4).values(), in_all=True,
        )],
    },
    mistakes={
        "Both parts are one score, and share one root: that of d + d_r.": (
            "q.shape[-1] + q_r.shape[-1] → q.shape[-1]",
            "(content + clock) / math.sqrt(q.shape[-1] + q_r.shape[-1]) → content / math.sqrt(q.shape[-1]) + clock / math.sqrt(q_r.shape[-1])",
        ),
        "Each head has its own matrix to absorb.": (
            "q, up) → q, up[:1].expand(up.shape))",
            "q, up) → q, up.mean(dim=0).expand(up.shape))",
            heads_summed,
        ),
        "The content does not turn. Between the query and a matrix that it absorbs, no turn can stand.": (
            "q, up) @ c.mT → rotate(q, angle[-1]), up) @ rotate(c, angle).mT",
            "q, up) → rotate(q, angle[-1]), up)",
            'torch.einsum("hd,hrd->hr", q, up) @ c.mT → (rotate(c @ up, angle) @ rotate(q, angle[-1])[..., None])[..., 0]',
        ),
        "The clock is missing.": "content + clock → content",
        "The clock's queries and keys come unturned.":
            "rotate(q_r, angle[-1]) @ rotate(k_r, angle).mT → q_r @ k_r.mT",
        "The query stands at the last token. Here it turns as the first.":
            "rotate(q_r, angle[-1]) → rotate(q_r, angle[0])",
        "The keys are built from the cache. Let the query absorb the matrix instead.":
            'torch.einsum("hd,hrd->hr", q, up) @ c.mT → (c @ up @ q[..., None])[..., 0]',
    },
    answers=(Answer("times", 2 * 128 * 128 / (512 + 64), within=0.1, mistakes={
        "The clock's key is kept, too.": 2 * 128 * 128 / 512,
        "All heads share the clock's key: it is kept once.": 2 * 128 * 128 / (512 + 128 * 64),
        "Without the latent, keys and values are kept.": 128 * 128 / (512 + 64),
        "All 128 heads have keys and values of their own.": 2 * 128 / (512 + 64),
        "How many times as many, not as few.": (512 + 64) / (2 * 128 * 128),
    }),),
    cards=(heads_summed,),
    as_good={
        "q.shape[-1] → up.shape[-1]": "A matrix gives keys with as many features as a query has.",
        "q.shape[-1] → q.shape[1]": "Of two axes, 1 is the last.",
        "q_r.shape[-1] → k_r.shape[-1]": "Queries and keys of a clock have as many features.",
        "q_r.shape[-1] → q_r.shape[1]": "Of two axes, 1 is the last.",
    },
)
