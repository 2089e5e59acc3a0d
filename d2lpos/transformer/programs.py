"""PyTorch's programs for attention that is told nothing of positions: of a batch, and of packed texts."""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from .masks import Mask

# cuDNN's program is built anew for each length of the keys, which takes far longer than a step of decoding.
ANY_LENGTH = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def sdpa(q: Tensor, k: Tensor, v: Tensor, **mask: Any) -> Tensor:
    """PyTorch's attention, in which heads of keys may serve several of queries.

    On a CPU its program without a mask takes a row of scores that are all NaN for one that sees nothing: it gives 0.
    """
    grouped = q.shape[1] != k.shape[1]
    with sdpa_kernel(ANY_LENGTH) if q.is_cuda and q.shape[-2] != k.shape[-2] else nullcontext():
        y = scaled_dot_product_attention(q, k, v, **mask, enable_gqa=grouped)
    if mask.get("attn_mask") is not None or q.device.type != "cpu":
        return y
    keys = repeat_kv(k.isnan().any(dim=-1), q)
    any_key = keys.cumsum(dim=-1) > 0 if mask.get("is_causal") else keys.any(dim=-1, keepdim=True)
    return y.masked_fill((any_key | ~q.isfinite().all(dim=-1))[..., None], torch.nan)


def varlen_attention(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
    """The texts of a packed batch, each by itself: no program meets a pair of two texts.

    One call for all of them on a GPU and in half precision, for which PyTorch has a program; else one for each.
    """
    batch, length = len(q), q.shape[-2]
    lengths = mask.doc_lens * (batch * length // sum(mask.doc_lens))  # one row of segments may serve the batch
    if q.is_cuda and q.dtype.itemsize == 2 and q.shape[-1] <= 256:
        y = all_at_once(q, k, v, lengths, mask.causal)
    else:
        rows = (t.transpose(0, 1).flatten(1, 2).split(lengths, dim=1) for t in (q, k, v))  # (head, token, …)
        texts = [sdpa(*(t[None] for t in text), is_causal=mask.causal) for text in zip(*rows, strict=True)]
        y = torch.cat(texts, dim=2)[0]  # (head, batch · sequence, feature)
    return y.unflatten(1, (batch, length)).transpose(0, 1)  # (batch, head, sequence, feature)


def all_at_once(q: Tensor, k: Tensor, v: Tensor, lengths: tuple[int, ...], causal: bool) -> Tensor:
    """(head, token, feature) of all texts, one after the other."""
    from torch.nn.attention.varlen import varlen_attn  # here, because the import brings the compiler

    rows = (t.transpose(1, 2).flatten(0, 1) for t in (q, repeat_kv(k, q), repeat_kv(v, q)))
    ends = torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32)
    ends, longest = ends.to(q.device, non_blocking=True), max(lengths)
    window = (-1, 0 if causal else -1)
    return varlen_attn(*rows, ends, ends, longest, longest, window_size=window).transpose(0, 1)


def repeat_kv(k: Tensor, q: Tensor) -> Tensor:
    """Keys or values with as many heads as queries: each stands for the heads that share it."""
    return k if k.shape[1] == q.shape[1] else k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
