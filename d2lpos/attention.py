"""Attention that knows position only through the doors of an `Encoding`, and through a causal mask.

Vaswani et al. 2017, section 3.2 (arXiv 1706.03762). Attention itself is older: Bahdanau et al. 2015
(arXiv 1409.0473).
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from .arguments import check_positive, check_size, check_tensor
from .cache import Cache, check_cache, turned
from .encoding import NOPE, Encoding, check_embeddings, check_encoding
from .masks import Mask, causal_mask, check_mask, over_heads, segment_mask  # noqa: F401, chapters look for them here
from .placing import check_segments
from .positions import check_positions

__all__ = ["Attention", "attend", "attention_weights"]

BLOCK = 1024  # queries that share a bias: so long that PyTorch computes the same numbers as for all at once


def attention_weights(
    q: Tensor,
    k: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    encoding: Encoding = NOPE,
    mask: Tensor | Mask | None = None,
) -> Tensor:
    """softmax(qkᵀ/√d + score), written out; (batch, head, query, key) in q's dtype.

    mask is Boolean, True where a query may look: (query, key), (batch, query, key) or with heads; or a `Mask`.
    A row that may look nowhere has weight 0 everywhere. k may have fewer heads, as in `attend`. Computed in at
    least float32, unless autocast takes less.

    >>> q = k = torch.zeros(1, 1, 3, 4)
    >>> here = torch.arange(3)
    >>> past = here <= here[:, None]
    >>> attention_weights(q, k, here, here, mask=past)[0, 0, 1]
    tensor([0.5000, 0.5000, 0.0000])
    """
    mask = check_inputs(q, k, k, q_positions, k_positions, encoding, mask)
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    return weigh(turned_q, turned_k, biases(q, k, q_positions, k_positions, encoding), mask)


def weigh(q: Tensor, k: Tensor, bias: Tensor | None, mask: Mask) -> Tensor:
    """softmax(qkᵀ/√d + bias) for what has turned and has been checked."""
    wide = torch.promote_types(q.dtype, torch.float32)  # qkᵀ overflows float16
    logits = q.to(wide) @ shared(k, q).to(wide).mT / math.sqrt(q.shape[-1])
    if bias is not None:
        logits = logits + bias
    if mask.pairs is None:
        return logits.softmax(dim=-1).to(q)
    hidden = ~mask.pairs
    return logits.masked_fill(hidden, -torch.inf).softmax(dim=-1).masked_fill(hidden, 0).to(q)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    encoding: Encoding = NOPE,
    mask: Tensor | Mask | None = None,
) -> Tensor:
    """Attention through doors 2, 3 and 4; q, k, v are (batch, head, sequence, feature).

    Equals `attention_weights(…) @ v` plus what the value door adds, and takes PyTorch's fused attention
    where that door is closed. A `Mask` lets it do without a number for each pair where none is needed: doors 3
    and 4 closed, and keys in order or everything to be seen. A query that may look nowhere gets 0.

    k and v may have fewer heads than q, each for as many queries' heads that stand side by side (grouped
    queries; Ainslie et al. 2023, arXiv 2305.13245). Raises TypeError or ValueError where arguments do not fit
    together.

    >>> q = k = v = torch.randn(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> y = attend(q, k, v, here, here)
    >>> torch.allclose(y, attention_weights(q, k, here, here) @ v)
    True
    """
    mask = check_inputs(q, k, v, q_positions, k_positions, encoding, mask)
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    if "value" in encoding.doors:
        weights = weigh(turned_q, turned_k, biases(q, k, q_positions, k_positions, encoding), mask)
        extra = encoding.value(weights, q_positions, k_positions)
        return weights @ shared(v, q) if extra is None else weights @ shared(v, q) + extra
    if type(encoding).score is Encoding.score:
        if mask.texts is not None:
            return by_text(turned_q, turned_k, v, mask)
        if mask.in_order:
            return fused(turned_q, turned_k, v, is_causal=True)
        return fused(turned_q, turned_k, v, attn_mask=mask.pairs)
    if not mask.in_order or q.shape[-2] <= BLOCK:
        bias = biases(q, k, q_positions, k_positions, encoding)
        return fused(turned_q, turned_k, v, attn_mask=added(bias, mask.pairs, q))
    blocks = []
    for end in range(BLOCK, q.shape[-2] + BLOCK, BLOCK):  # no key behind a block of queries is looked at
        queries, keys = slice(end - BLOCK, end), slice(end)
        here, there = q_positions[..., queries], k_positions[..., keys]
        bias = biases(q[..., queries, :], k[..., keys, :], here, there, encoding)
        allowed = added(bias, over_heads(causal_mask(here, there)), q)
        blocks.append(
            fused(turned_q[..., queries, :], turned_k[..., keys, :], v[..., keys, :], attn_mask=allowed)
        )
    return torch.cat(blocks, dim=-2)


def added(bias: Tensor | None, allowed: Tensor | None, q: Tensor) -> Tensor | None:
    """What PyTorch's attention adds to the scores: the bias, and −∞ where a query may not look."""
    if bias is None:  # an open door may add nothing
        return allowed
    bias = bias[None] if bias.dim() == 3 else bias  # without a batch axis, fused attention is slow
    both = bias if allowed is None else torch.where(allowed, bias, -torch.inf)
    if bias.dtype.itemsize > q.dtype.itemsize and both.shape[-1]:  # only differences count: keep them small
        both = both - both.detach().amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    return both.to(q)


def fused(q: Tensor, k: Tensor, v: Tensor, **mask) -> Tensor:
    """PyTorch's attention, in which heads of keys may serve several of queries."""
    return scaled_dot_product_attention(q, k, v, **mask, enable_gqa=q.shape[1] != k.shape[1])


def by_text(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
    """The texts of a packed batch one by one: no program meets a pair of two texts."""
    batch, length = len(q), q.shape[-2]
    lengths = mask.texts * (batch * length // sum(mask.texts))  # one row of segments may serve the batch
    rows = (t.transpose(0, 1).flatten(1, 2).split(lengths, dim=1) for t in (q, k, v))
    texts = [fused(*(t[None] for t in text), is_causal=mask.causal) for text in zip(*rows, strict=True)]
    return torch.cat(texts, dim=2)[0].unflatten(1, (batch, length)).transpose(0, 1)


def biases(
    q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding
) -> Tensor | None:
    """What door 3 adds, or None. A key that several heads share meets each of them."""
    if type(encoding).score is Encoding.score:
        return None
    return encoding.score(q, shared(k, q), q_positions, k_positions)


def shared(k: Tensor, q: Tensor) -> Tensor:
    """Keys or values with as many heads as queries: each stands for the heads that share it."""
    return k if k.shape[1] == q.shape[1] else k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)


def check_inputs(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    encoding: Encoding,
    mask: Tensor | Mask | None,
) -> Mask:
    """The mask as a `Mask`. Raise a ValueError or TypeError that names the argument which does not fit."""
    check_encoding(encoding)
    check_tensor("q", q)
    check_tensor("k", k, q.device)
    check_tensor("v", v, q.device)
    if not q.is_floating_point() or not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"q, k and v must share a floating-point dtype; got {q.dtype}, {k.dtype}, {v.dtype}")
    if (
        not q.dim() == k.dim() == 4
        or not q.shape[-1]
        or (k.shape[0], k.shape[-1]) != (q.shape[0], q.shape[-1])
        or (q.shape[1] % k.shape[1] if k.shape[1] else q.shape[1])
    ):
        raise ValueError(
            "q and k must be (batch, head, sequence, feature) and differ in sequence only, "
            "or q have a multiple of k's heads; "
            f"got {tuple(q.shape)} and {tuple(k.shape)}"
        )
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v must differ from k in features only; got {tuple(v.shape)} and {tuple(k.shape)}")
    axes = encoding.axes
    check_positions("q_positions", q_positions, (q.shape[0], q.shape[2]), q.device, axes)
    check_positions("k_positions", k_positions, (k.shape[0], k.shape[2]), q.device, axes)
    full = (*q.shape[:-1], k.shape[-2])
    if isinstance(mask, Mask):
        sequence = -1 if axes == 1 else -2
        check_size("mask", mask.q_positions.shape[sequence], full[2], "queries, as q has")
        check_size("mask", mask.k_positions.shape[sequence], full[3], "keys, as k has")
        return mask
    if mask is not None:
        check_mask(mask, full, q.device)
    return Mask(q_positions, k_positions, mask, causal=False)


class Attention(nn.Module):
    """Multi-head self-attention through doors 2, 3 and 4; x (batch, sequence, dim) gives the same shape.

    With causal=True a query sees the keys at or before its own position (not index). segments, (sequence,) or
    (batch, sequence), are packed texts: a query sees those of its own. mask is as for `attend`; a `Mask` says
    all of this, and is taken as it is. kv_heads: heads of keys and values, each for several heads of queries;
    as many as heads by default.

    With a cache, x is what is new: its tokens also see those of the cache and are added to it, and the keys that
    mask speaks of are all of these, for a single new token, too: (batch, 1, 1) would be spread over them. A cache
    is left as it was where a call raises. Raises ValueError where heads does not divide dim, or kv_heads heads,
    a causal layer gets an encoding of two axes or one that is not causal a cache, and as `attend` does.

    >>> from d2lpos import RoPE
    >>> layer = Attention(16, heads=2, encoding=RoPE(8), causal=True)
    >>> layer(torch.randn(1, 3, 16), torch.arange(3)).shape
    torch.Size([1, 3, 16])
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        encoding: Encoding = NOPE,
        causal: bool = False,
        kv_heads: int | None = None,
    ):
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        check_positive(dim=dim, heads=heads, kv_heads=kv_heads)
        check_encoding(encoding)
        if dim % heads:
            raise ValueError(f"dim must be a multiple of heads; got dim={dim}, heads={heads}")
        if heads % kv_heads:
            raise ValueError(f"heads must be a multiple of kv_heads; got heads={heads}, kv_heads={kv_heads}")
        if causal and encoding.axes > 1:
            raise ValueError(f"causal=True needs positions of one axis, to order them; got {encoding.axes}")
        self.heads, self.kv_heads, self.encoding, self.causal = heads, kv_heads, encoding, causal
        self.project = nn.Linear(dim, dim + 2 * kv_heads * (dim // heads))
        self.out = nn.Linear(dim, dim)

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        mask: Tensor | Mask | None = None,
        cache: Cache | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        check_embeddings(x, self.out.in_features, positions, self.encoding.axes)
        if cache is not None:
            check_cache(cache)
            if not self.causal:
                raise ValueError("cache needs causal=True: a token that sees later ones has no final answer")
        mask = self.mask(x.shape[:2], positions, mask, cache, segments)
        parts = (self.heads, self.kv_heads, self.kv_heads)
        q, k, v = self.project(x).unflatten(-1, (sum(parts), -1)).transpose(-3, -2).split(parts, dim=-3)
        encoding = self.encoding
        if cache is not None:
            if cache.turned:
                q, k, encoding = turned(q, k, positions, encoding)
            k, v = cache.joined_tokens(k, v)
        y = attend(q, k, v, positions, mask.k_positions, encoding, mask)
        if cache is not None:  # not before: what is refused must leave no trace
            cache.keys, cache.values, cache.positions = k, v, mask.k_positions
        return self.out(y.transpose(-3, -2).flatten(-2))

    def mask(
        self,
        tokens: tuple[int, int],
        positions: Tensor,
        mask: Tensor | Mask | None,
        cache: Cache | None,
        segments: Tensor | None,
    ) -> Mask:
        """What `forward` may see, which other layers of this kind may share; tokens is (batch, sequence)."""
        if isinstance(mask, Mask):
            if segments is not None:
                raise ValueError("segments must be given to the Mask; got both")
            return mask
        if cache is not None and segments is not None:
            raise ValueError("segments need a call and a cache for each text; got one cache")
        k_positions = positions if cache is None else cache.joined_positions(positions)
        if mask is not None:
            check_mask(mask, (tokens[0], self.heads, tokens[1], k_positions.shape[-1]), positions.device)
        if segments is not None:
            check_positions("segments", segments, tokens, positions.device)
            check_segments(segments)
        return Mask(positions, k_positions, mask, segments, self.causal)
