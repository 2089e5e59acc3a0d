"""Attention that knows position only through the doors of an `Encoding`, and through a causal mask.

Vaswani et al. 2017, section 3.2 (arXiv 1706.03762). Attention itself is older: Bahdanau et al. 2015
(arXiv 1409.0473).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from .arguments import check_positive, check_tensor
from .cache import Cache
from .encoding import Encoding, check_embeddings, check_encoding
from .positions import check_positions, column_and_row, offsets

__all__ = ["Attention", "attend", "attention_weights", "causal_mask", "segment_mask"]

NOPE = Encoding()


def causal_mask(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """True where a key stands at or before the query, by position; (…, query, key).

    >>> causal_mask(torch.tensor([4, 5]), torch.tensor([3, 4, 5, 6]))
    tensor([[ True,  True, False, False],
            [ True,  True,  True, False]])
    """
    return offsets(q_positions, k_positions) <= 0


def segment_mask(q_segments: Tensor, k_segments: Tensor) -> Tensor:
    """True where query and key belong to the same segment; (…, query, key).

    Packed sentences are segments. So is padding: a segment that no real token belongs to.

    >>> segments = torch.tensor([0, 0, 1])
    >>> segment_mask(segments, segments)
    tensor([[ True,  True, False],
            [ True,  True, False],
            [False, False,  True]])
    """
    column, row = column_and_row(q_segments, k_segments, "segments")
    return column == row


def attention_weights(
    q: Tensor,
    k: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    encoding: Encoding = NOPE,
    mask: Tensor | None = None,
) -> Tensor:
    """softmax(qkᵀ/√d + score), written out; (batch, head, query, key) in q's dtype.

    mask is Boolean, True where a query may look: (query, key), (batch, query, key) or with heads. A row
    that may look nowhere has weight 0 everywhere. Computed in at least float32, unless autocast takes less.

    >>> q = k = torch.zeros(1, 1, 3, 4)
    >>> here = torch.arange(3)
    >>> mask = causal_mask(here, here)
    >>> attention_weights(q, k, here, here, mask=mask)[0, 0, 1]
    tensor([0.5000, 0.5000, 0.0000])
    """
    check_inputs(q, k, k, q_positions, k_positions, encoding, mask)
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    return weigh(turned_q, turned_k, encoding.score(q, k, q_positions, k_positions), mask)


def weigh(q: Tensor, k: Tensor, bias: Tensor | None, mask: Tensor | None) -> Tensor:
    """softmax(qkᵀ/√d + bias) for what has turned and has been checked."""
    wide = torch.promote_types(q.dtype, torch.float32)  # qkᵀ overflows float16
    logits = q.to(wide) @ k.to(wide).mT / math.sqrt(q.shape[-1])
    if bias is not None:
        logits = logits + bias
    if mask is None:
        return logits.softmax(dim=-1).to(q)
    hidden = ~over_heads(mask)
    return logits.masked_fill(hidden, -torch.inf).softmax(dim=-1).masked_fill(hidden, 0).to(q)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    encoding: Encoding = NOPE,
    mask: Tensor | None = None,
) -> Tensor:
    """Attention through doors 2, 3 and 4; q, k, v are (batch, head, sequence, feature).

    Equals `attention_weights(…) @ v` plus what the value door adds, and takes PyTorch's fused attention
    where that door is closed. A query that may look nowhere gets 0. Raises TypeError or ValueError where
    arguments do not fit together.

    >>> q = k = v = torch.randn(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> y = attend(q, k, v, here, here)
    >>> torch.allclose(y, attention_weights(q, k, here, here) @ v)
    True
    """
    check_inputs(q, k, v, q_positions, k_positions, encoding, mask)
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    bias = encoding.score(q, k, q_positions, k_positions)
    if "value" in encoding.doors:
        weights = weigh(turned_q, turned_k, bias, mask)
        extra = encoding.value(weights, q_positions, k_positions)
        return weights @ v if extra is None else weights @ v + extra
    allowed = None if mask is None else over_heads(mask)
    if bias is not None:
        bias = bias[None] if bias.dim() == 3 else bias  # without a batch axis, fused attention is slow
        allowed = bias if allowed is None else torch.where(allowed, bias, -torch.inf)
        if bias.dtype.itemsize > q.dtype.itemsize and k.shape[-2]:  # only differences count: keep them small
            allowed = allowed - allowed.detach().amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
        allowed = allowed.to(q)
    return scaled_dot_product_attention(turned_q, turned_k, v, attn_mask=allowed)


def over_heads(mask: Tensor) -> Tensor:
    """The mask with an axis for heads, where it has none."""
    return mask[..., None, :, :] if mask.dim() == 3 else mask


def check_inputs(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    encoding: Encoding,
    mask: Tensor | None,
) -> None:
    """Raise a ValueError or TypeError that names the argument which does not fit."""
    check_encoding(encoding)
    check_tensor("q", q)
    check_tensor("k", k, q.device)
    check_tensor("v", v, q.device)
    if not q.is_floating_point() or not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"q, k and v must share a floating-point dtype; got {q.dtype}, {k.dtype}, {v.dtype}")
    if q.dim() != 4 or not q.shape[-1] or k.shape != (*q.shape[:2], k.shape[-2], q.shape[-1]):
        raise ValueError(
            "q and k must be (batch, head, sequence, feature) and differ in sequence only; "
            f"got {tuple(q.shape)} and {tuple(k.shape)}"
        )
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v must differ from k in features only; got {tuple(v.shape)} and {tuple(k.shape)}")
    axes = encoding.axes
    check_positions("q_positions", q_positions, (q.shape[0], q.shape[2]), q.device, axes)
    check_positions("k_positions", k_positions, (k.shape[0], k.shape[2]), q.device, axes)
    if mask is not None:
        check_mask(mask, (*q.shape[:-1], k.shape[-2]), q.device)


def check_mask(mask: Tensor, full: tuple[int, int, int, int], device: torch.device) -> None:
    """Raise a TypeError or ValueError where mask is not Boolean or does not broadcast to the logits."""
    check_tensor("mask", mask, device)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask must be Boolean, True where a query may look; got {mask.dtype}")
    sizes = zip(reversed(over_heads(mask).shape), reversed(full), strict=False)
    if not 2 <= mask.dim() <= 4 or any(have not in (1, want) for have, want in sizes):
        raise ValueError(
            f"mask must broadcast to (batch, head, query, key) = {full}; got {tuple(mask.shape)}"
        )


class Attention(nn.Module):
    """Multi-head self-attention through doors 2, 3 and 4; x (batch, sequence, dim) gives the same shape.

    With causal=True a query sees the keys at or before its own position (not index). With a cache, x is what
    is new: its tokens also see those of the cache and are added to it, and the keys that mask speaks of are
    all of these, for a single new token, too: (batch, 1, 1) would be spread over them. A cache is left as it
    was where a call raises. Raises ValueError where heads does not divide dim, a causal layer gets an
    encoding of two axes or one that is not causal a cache, and as `attend` does.

    >>> from d2lpos import RoPE
    >>> layer = Attention(dim=16, heads=2, encoding=RoPE(8), causal=True)
    >>> layer(torch.randn(1, 3, 16), torch.arange(3)).shape
    torch.Size([1, 3, 16])
    """

    def __init__(self, dim: int, heads: int, encoding: Encoding = NOPE, causal: bool = False):
        super().__init__()
        check_positive(dim=dim, heads=heads)
        check_encoding(encoding)
        if dim % heads:
            raise ValueError(f"dim must be a multiple of heads; got dim={dim}, heads={heads}")
        if causal and encoding.axes > 1:
            raise ValueError(f"causal=True needs positions of one axis, to order them; got {encoding.axes}")
        self.heads, self.encoding, self.causal = heads, encoding, causal
        self.project = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(
        self, x: Tensor, positions: Tensor, mask: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        check_embeddings(x, self.out.in_features, positions, self.encoding.axes)
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).movedim(-3, 0).transpose(-3, -2)
        k_positions = positions
        if cache is not None:
            if not isinstance(cache, Cache):
                raise TypeError(f"cache must be a Cache; got {type(cache).__name__}")
            if not self.causal:
                raise ValueError("cache needs causal=True: a token that sees later ones has no final answer")
            k, v, k_positions = cache.joined(k, v, positions)
        if self.causal:
            past = over_heads(causal_mask(positions, k_positions))
            if mask is not None:
                check_mask(mask, (*q.shape[:-1], k.shape[-2]), q.device)
                past = past & over_heads(mask)
            mask = past
        y = attend(q, k, v, positions, k_positions, self.encoding, mask)
        if cache is not None:  # not before: what is refused must leave no trace
            cache.keys, cache.values, cache.positions = k, v, k_positions
        return self.out(y.transpose(-3, -2).flatten(-2))
