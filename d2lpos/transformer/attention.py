"""Attention that knows position only through the doors of an `Encoding`, and through a causal mask.

Vaswani et al. 2017, section 3.2 (arXiv 1706.03762). Attention itself is older: Bahdanau et al. 2015
(arXiv 1409.0473).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ..encoding import BLOCK, NOPE, Encoding, adds_values, check_embeddings, check_encoding, opens
from ..positions.arguments import check_flag, check_floating, check_layer_dtype, check_positive, check_size
from ..positions.checks import check_positions, own_copy, token_axis
from ..positions.looks import recall, remember
from .cache import Cache, check_cache, rotated
from .inputs import check_inputs, check_sinks
from .masks import Mask, causal_mask, check_mask, over_heads, segment_mask  # noqa: F401, chapters look for them here
from .programs import repeat_kv, sdpa, varlen_attention
from .temperature import check_temperature, multiply

__all__ = ["Attention", "attend", "attention_weights"]


def attention_weights(
    q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding = NOPE,
    mask: Tensor | Mask | None = None, hidden_features: Tensor | None = None, sinks: Tensor | None = None,
) -> Tensor:
    """softmax(qkᵀ/√d + score), written out; (batch, head, query, key) in q's dtype.

    mask is Boolean, True where a query may look: (query, key), (batch, query, key) or with heads; or a `Mask`.
    A row that may look nowhere has weight 0 everywhere. k may have fewer heads, and the other arguments are those of
    `attend`. Computed in at least float32, unless autocast takes less.

    >>> q = k = torch.zeros(1, 1, 3, 4)
    >>> here = torch.arange(3)
    >>> past = here <= here[:, None]
    >>> attention_weights(q, k, here, here, mask=past)[0, 0, 1]
    tensor([0.5000, 0.5000, 0.0000])
    """
    mask = check_inputs(q, k, k, q_positions, k_positions, encoding, mask)
    check_sinks(sinks, q)
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    bias = biases(q, k, q_positions, k_positions, encoding, mask, hidden_features)
    return softmax_weights(turned_q, turned_k, bias, mask, sinks)


def softmax_weights(q: Tensor, k: Tensor, bias: Tensor | None, mask: Mask, sinks: Tensor | None) -> Tensor:
    """softmax(qkᵀ/√d + bias) for what has turned and has been checked."""
    wide = torch.promote_types(q.dtype, torch.float32)  # qkᵀ overflows float16
    logits = q.to(wide) @ repeat_kv(k, q).to(wide).mT / math.sqrt(q.shape[-1])  # (batch, head, query, key)
    if bias is not None:
        logits = logits + bias
    hidden = None if mask.dense is None else ~mask.dense
    if hidden is not None:
        logits = logits.masked_fill(hidden, -torch.inf)
    if sinks is None:
        weights = logits.softmax(dim=-1)
    else:  # a sink is a key without a value, so its weight is left out of the output
        sink = sinks.to(logits)[:, None, None].expand(*logits.shape[:-1], 1)  # (batch, head, query, 1)
        weights = torch.cat([logits, sink], dim=-1).softmax(dim=-1)[..., :-1]
    return (weights if hidden is None else weights.masked_fill(hidden, 0)).to(q)


def attend(
    q: Tensor, k: Tensor, v: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding = NOPE,
    mask: Tensor | Mask | None = None, hidden_features: Tensor | None = None, sinks: Tensor | None = None,
) -> Tensor:
    """Attention through doors 2, 3 and 4; q, k, v are (batch, head, sequence, feature).

    Equals `attention_weights(…) @ v` plus what the value door adds. If the value door is closed, it uses PyTorch's fused
    attention. With a `Mask` no number is stored for each pair, if doors 3 and 4 are closed and either keys are in order
    or every query sees every key. A query that sees no key gets 0.

    k and v may have fewer heads than q. Each then serves the same number of neighboring heads of queries (grouped
    queries; Ainslie et al. 2023, arXiv 2305.13245). hidden_features:
    what `encoding.hidden_features` returned for all keys, if the encoding `needs_hidden`.

    sinks, (heads,), are learned logits, one a head. Each is added to the sum of the softmax like a key whose value is 0, so
    that weights add up to less than 1. It belongs to no token: the *attention sink* on the first token of a text is another
    thing. Source: gpt-oss (OpenAI 2025, arXiv 2508.10925). With sinks, fused attention is not used.

    Raises TypeError or ValueError where arguments do not fit together.

    >>> q = k = v = torch.randn(1, 2, 3, 4)
    >>> here = torch.arange(3)
    >>> y = attend(q, k, v, here, here)
    >>> torch.allclose(y, attention_weights(q, k, here, here) @ v)
    True
    """
    mask = check_inputs(q, k, v, q_positions, k_positions, encoding, mask)
    check_sinks(sinks, q)
    v = encoding.rotate_values(v, k_positions)
    y = attend_unchecked(q, k, v, q_positions, k_positions, encoding, mask, hidden_features, sinks)
    return encoding.unrotate_output(y, q_positions)


def attend_unchecked(
    q: Tensor, k: Tensor, v: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding, mask: Mask,
    hidden_features: Tensor | None, sinks: Tensor | None,
) -> Tensor:
    """`attend` for what has been checked, and values that have turned."""
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    if sinks is not None or adds_values(encoding):
        bias = biases(q, k, q_positions, k_positions, encoding, mask, hidden_features)
        weights = softmax_weights(turned_q, turned_k, bias, mask, sinks)
        extra = encoding.value(weights, q_positions, k_positions)
        if extra is not None:
            check_size("v", v.shape[-1], extra.shape[-1], "features a head, as door 4 adds")
        return weights @ repeat_kv(v, q) if extra is None else weights @ repeat_kv(v, q) + extra
    if not opens(encoding, "score"):
        if mask.doc_lens is not None:
            return varlen_attention(turned_q, turned_k, v, mask)
        if mask.in_order:
            return sdpa(turned_q, turned_k, v, is_causal=True)
        return sdpa(turned_q, turned_k, v, attn_mask=mask.dense)
    if encoding.needs_hidden or encoding.axes > 1 or not mask.in_order or q.shape[-2] <= BLOCK:
        bias = biases(q, k, q_positions, k_positions, encoding, mask, hidden_features)
        return sdpa(turned_q, turned_k, v, attn_mask=attn_bias(bias, mask.dense, q))
    blocks = []
    for end in range(BLOCK, q.shape[-2] + BLOCK, BLOCK):  # no key behind a block of queries is looked at
        queries, keys = slice(end - BLOCK, end), slice(end)
        here = remember(q_positions[..., queries], recall(q_positions))
        there = remember(k_positions[..., keys], recall(k_positions))
        bias = biases(q[..., queries, :], k[..., keys, :], here, there, encoding, mask, None)
        allowed = attn_bias(bias, over_heads(causal_mask(here, there)), q)
        blocks.append(
            sdpa(turned_q[..., queries, :], turned_k[..., keys, :], v[..., keys, :], attn_mask=allowed)
        )
    return torch.cat(blocks, dim=-2)


def attn_bias(bias: Tensor | None, allowed: Tensor | None, q: Tensor) -> Tensor | None:
    """What PyTorch's attention adds to the scores: the bias, and −∞ where a query may not look."""
    if bias is None:  # an open door may add nothing
        return allowed
    bias = bias[None] if bias.dim() == 3 else bias  # without a batch axis, fused attention is slow
    both = bias if allowed is None else torch.where(allowed, bias, -torch.inf)
    if bias.dtype.itemsize > q.dtype.itemsize and both.shape[-1]:
        # Softmax needs the differences alone, and half precision rounds large numbers.
        both = both - both.detach().amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    return both.to(q)


def biases(
    q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding, mask: Mask,
    hidden_features: Tensor | None,
) -> Tensor | None:
    """What door 3 adds, or None. A key that several heads share meets each of them."""
    if not opens(encoding, "score"):
        return None
    k = repeat_kv(k, q)
    if not encoding.needs_hidden:
        return encoding.score(q, k, q_positions, k_positions)
    return encoding.score(q, k, q_positions, k_positions, hidden_features, mask.dense)


class Attention(nn.Module):
    """Multi-head self-attention through doors 2, 3 and 4; x (batch, sequence, dim) gives the same shape.

    With causal=True a query sees the keys at or before its own position. Positions of several axes do not order tokens,
    so with them a query sees the keys up to its own index in the row. segments, (sequence,) or (batch, sequence), number
    packed texts, and a query sees only its own text. mask is as for `attend`. A `Mask` already contains causal and segments
    and is used as it is, together with the window. kv_heads: heads of keys and values, each shared by several
    heads of queries; by default as many as heads.

    window: in addition, a query sees only keys less than this many positions away, as with `window_mask`. The mask then has
    a number for each pair. For long texts, `attend_flex` with a `block_mask` leaves out whole blocks. sinks: each head
    learns a logit that is added to the sum of its softmax, as for `attend`, and begins at 0. temperature: a function from
    positions to the numbers by which queries are multiplied, as in `d2lpos.transformer.temperature`.

    positions may be on the CPU while the layer is on another device. They are then checked on the CPU.

    encoding, in a call: what the `precompute` of the layer's encoding returned, if it is computed once for all layers.

    With a cache, x has only the new tokens. They also see the tokens of the cache, and are added to it. The mask must then
    cover all of these keys, also for a single new token, because a mask (batch, 1, 1) would be broadcast over them. If a
    call raises, the cache is left as it was.

    If a stream may look ahead, it comes in chunks, and a query sees all of its own chunk. Make the layer causal, give each
    call mask=Mask(positions, cache.append_positions(positions), causal=False), and keep with `evict` only the chunks that
    the next one may see. The outputs equal those of one pass with a mask of the same pairs.

    Raises ValueError if heads does not divide dim or kv_heads does not divide heads, if a window or a temperature comes with
    an encoding of two axes, and if a cache comes with a layer that is not causal or has other axes. Raises TypeError if a
    flag is not True or False or x does not have the dtype of the weights, and whatever `attend` raises.

    >>> from d2lpos import RoPE
    >>> layer = Attention(16, heads=2, encoding=RoPE(8), causal=True)
    >>> layer(torch.randn(1, 3, 16), torch.arange(3)).shape
    torch.Size([1, 3, 16])
    """

    def __init__(
        self, dim: int, heads: int, encoding: Encoding = NOPE, causal: bool = False,
        kv_heads: int | None = None, window: int | None = None, sinks: bool = False,
        temperature: Callable[[Tensor], Tensor] | None = None,
    ):
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        check_positive(dim=dim, heads=heads, kv_heads=kv_heads)
        check_flag(causal=causal, sinks=sinks)
        check_encoding(encoding)
        if dim % heads:
            raise ValueError(f"dim must be a multiple of heads; got dim={dim}, heads={heads}")
        if heads % kv_heads:
            raise ValueError(f"heads must be a multiple of kv_heads; got heads={heads}, kv_heads={kv_heads}")
        if window is not None:
            check_positive(window=window)
        check_temperature(temperature)
        for name, argument in ("window", window), ("temperature", temperature):
            if argument is not None and encoding.axes > 1:
                raise ValueError(f"{name} needs positions of one axis; got {encoding.axes}")
        self.heads, self.kv_heads, self.encoding, self.causal = heads, kv_heads, encoding, causal
        self.window, self.temperature = window, temperature
        self.sinks = nn.Parameter(torch.zeros(heads)) if sinks else None
        self.project = nn.Linear(dim, dim + 2 * kv_heads * (dim // heads))
        self.out = nn.Linear(dim, dim)

    def forward(
        self,
        x: Tensor,
        positions: Tensor,
        mask: Tensor | Mask | None = None,
        cache: Cache | None = None,
        segments: Tensor | None = None,
        encoding: Encoding | None = None,
    ) -> Tensor:
        check_floating("x", x)
        if not isinstance(mask, Mask) or positions is not mask.q_positions:
            positions = own_copy("positions", positions, x.device)
        check_embeddings(x, self.out.in_features, positions, self.encoding.axes)
        check_layer_dtype(x, self.project.weight)
        if cache is not None:
            check_cache(cache)
            check_size("cache", cache.axes, self.encoding.axes, "axes, as the encoding has")
            if cache.keys is not None:
                check_size("x", len(x), len(cache.keys), "rows, as the cache has")
            if not self.causal:
                raise ValueError("cache needs causal=True: a token that sees later ones has no final answer")
        mask = self.mask(x.shape[:2], positions, mask, cache, segments)
        q, k, v = self.projected(x)
        encoding = self.encoding if encoding is None else encoding
        hidden_features = encoding.hidden_features(x)
        if self.temperature is not None:
            q = multiply(q, positions, self.temperature)
        if cache is not None:
            if cache.rotated:
                q, k, encoding = rotated(q, k, positions, encoding)
            k, v = cache.append_tokens(k, v)
            hidden_features = cache.append_hidden_features(hidden_features)
        y = attend(q, k, v, positions, mask.k_positions, encoding, mask, hidden_features, self.sinks)
        if cache is not None:  # stored last, so that an error above leaves the cache as it was
            cache.keys, cache.values, cache.positions = k, v, mask.copied_k_positions()
            cache.hidden_features = hidden_features
        return self.out(y.transpose(-3, -2).flatten(-2))  # (batch, sequence, head · feature) into dim

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values (batch, head, sequence, feature) of x (batch, sequence, dim), before they turn."""
        parts = (self.heads, self.kv_heads, self.kv_heads)
        x = self.project(x).unflatten(-1, (sum(parts), -1))  # (batch, sequence, head, feature)
        return x.transpose(-3, -2).split(parts, dim=-3)  # (batch, head, sequence, feature)

    def mask(
        self, tokens: tuple[int, int], positions: Tensor, mask: Tensor | Mask | None, cache: Cache | None,
        segments: Tensor | None,
    ) -> Mask:
        """The mask of `forward`, which layers with the same settings can share; tokens is (batch, sequence)."""
        if isinstance(mask, Mask):
            if segments is not None:
                raise ValueError("segments must be given to the Mask; got both")
            return mask.with_window(self.window)
        if cache is not None and segments is not None:
            raise ValueError("segments need a call and a cache for each text; got one cache")
        k_positions = positions if cache is None else cache.append_positions(positions)
        if mask is not None:
            keys = k_positions.shape[token_axis(self.encoding.axes)]
            check_mask(mask, (tokens[0], self.heads, tokens[1], keys), positions.device)
        if segments is not None:
            check_positions("segments", segments, tokens, positions.device)
        return Mask(positions, k_positions, mask, segments, self.causal, self.window, self.encoding.axes)
