"""Attention forward, with ALiBi and three masks: the formula, PyTorch's program with all pairs, and FlexAttention.

Forward alone, because on a CPU PyTorch has no gradient of FlexAttention. Tensors of all pairs and block masks are made
before, in the round that is not measured, as layers of a model share them.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask
from torch.nn.functional import scaled_dot_product_attention

from d2lpos import ALiBi
from d2lpos.bias.alibi import bias, slopes
from d2lpos.transformer import attend, causal_mask, segment_mask, window_mask
from d2lpos.transformer.flex import attend_flex, block_mask, compiled

from .attention import DIM, HEADS
from .measure import Contest

LENGTHS = (2048, 8192)
TEXTS = 8


def contests(device: str, lengths: tuple[int, ...] = LENGTHS) -> list[Contest]:
    short, long = lengths
    return [
        contest(device, short, "causal"),
        contest(device, long, "causal"),
        contest(device, long, "window", window=long // TEXTS),
        contest(device, long, "texts", texts=TEXTS),
    ]


def contest(device: str, length: int, name: str, window: int | None = None, texts: int = 1) -> Contest:
    at = torch.arange(length, device=device)
    here, text = at % (length // texts), at // (length // texts)
    q, k, v = torch.randn(3, 1, HEADS, length, DIM // HEADS, device=device)
    alibi = ALiBi(HEADS, slopes=slopes(HEADS)).to(device)

    @cache
    def in_window() -> Tensor:
        near = True if window is None else window_mask(here, here, window)
        return causal_mask(here, here) & segment_mask(text, text) & near

    @cache
    def pairs() -> Tensor:
        return bias(here, here, alibi.slopes).masked_fill(~in_window(), -torch.inf)[None]

    @cache
    def blocks() -> BlockMask:
        return block_mask(here, here, True, window, text, text)

    contenders = {
        "`attend`, all pairs": lambda: attend(q, k, v, here, here, alibi, in_window()),
        "PyTorch's program, a tensor of all pairs": lambda: scaled_dot_product_attention(q, k, v, pairs()),
        "FlexAttention, compiled": lambda: attend_flex(q, k, v, here, here, alibi, blocks(), compiled()),
    }
    return Contest(
        f"fused-{name}-{length}",
        f"{length} tokens, ALiBi, {name}, {HEADS} heads of {DIM // HEADS} features; forward",
        {title: torch.no_grad()(call) for title, call in contenders.items()},
        memory=True, rounds=None if length <= 2048 else 5,
    )
