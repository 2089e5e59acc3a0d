"""The one tiny model of the book: only the encoding differs from chapter to chapter.

A pre-norm Transformer after Vaswani et al. 2017 (arXiv 1706.03762) and Xiong et al. 2020 (arXiv 2002.04745),
with the LayerNorm of Ba et al. 2016 (arXiv 1607.06450).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ..encoding import NOPE, Encoding, check_encoding, closed
from ..positions.arguments import check_beside, check_positive, check_size
from ..positions.checks import as_index, check_positions, own_copy
from .attention import Attention
from .cache import Cache, check_cache
from .masks import Mask

__all__ = ["Transformer"]


class Block(nn.Module):
    """Attention and feed-forward, each behind a LayerNorm and beside a residual; shapes unchanged."""

    def __init__(self, dim: int, attention: Attention):
        super().__init__()
        self.attention = attention
        self.feed_forward = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(
        self, x: Tensor, positions: Tensor, mask: Tensor | Mask | None = None, cache: Cache | None = None,
        encoding: Encoding | None = None,
    ) -> Tensor:
        x = x + self.attention(self.norm1(x), positions, mask, cache, encoding=encoding)
        return x + self.feed_forward(self.norm2(x))


class Transformer(nn.Module):
    """Token ids (batch, sequence) in, one vector of `outputs` numbers for each token out.

    One encoding, with its parameters, serves all layers. Or give a list with an encoding for each layer, and None for a
    layer without positions. Only the first of the list may open door 1, the input of the model. window and temperature
    can also be one for all layers or a list.

    positions are (sequence,) or (batch, sequence), with a last axis of 2 if encodings have two axes. mask,
    segments, kv_heads, window, sinks and temperature are as for `Attention`. What depends only on the positions is
    computed once for all layers: the mask of each window, and what `precompute` of each encoding returns. If the caches of
    layers hold different tokens, each layer computes it for itself. With `caches`, tokens are only the new ones.

    tokens and positions may be on the CPU while the model is on another device. Then their values are checked on the CPU
    before they are copied, and the call does not wait for the device. If they are on the device, a call waits once to check
    each of them. It does not wait for positions that `next_positions` made, except under `torch.inference_mode`.

    `new_caches` makes the caches. After a call that raised, make new ones, because its first layers may have kept the
    tokens. Raises ValueError if heads does not divide dim, if a list does not have one entry a layer, if its encodings
    differ in axes or a later one opens door 1, if a token is not in the vocabulary, if positions do not fit the
    tokens, if a layer has no cache of its own, and whatever `Attention` raises.

    >>> from d2lpos import ALiBi
    >>> model = Transformer(6, 2, encoding=[ALiBi(4), None], window=8)
    >>> tokens = torch.tensor([[0, 1, 2, 3, 0, 4]])
    >>> model(tokens, torch.arange(6)).shape
    torch.Size([1, 6, 2])
    """

    def __init__(
        self, vocabulary: int, outputs: int, dim: int = 64, heads: int = 4, layers: int = 2,
        encoding: Encoding | Sequence[Encoding | None] = NOPE,
        causal: bool = False, kv_heads: int | None = None, window: int | None | Sequence[int | None] = None,
        sinks: bool = False,
        temperature: Callable[[Tensor], Tensor] | None | Sequence[Callable[[Tensor], Tensor] | None] = None,
    ):
        super().__init__()
        check_positive(vocabulary=vocabulary, outputs=outputs, dim=dim, heads=heads, layers=layers)
        encodings = by_layer(encoding, layers)
        windows, temperatures = each("window", window, layers), each("temperature", temperature, layers)
        self.encoding = encodings[0]
        self.tokens = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(
            Block(dim, Attention(dim, heads, encoding, causal, kv_heads, window, sinks, temperature))
            for encoding, window, temperature in zip(encodings, windows, temperatures, strict=True)
        )
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, outputs)

    def new_caches(self, rotated: bool = False, capacity: int = 0) -> list[Cache]:
        """An empty cache for each layer; arguments are those of `Cache`."""
        return [Cache(rotated=rotated, capacity=capacity, axes=self.encoding.axes) for _ in self.blocks]

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        mask: Tensor | Mask | None = None,
        caches: list[Cache] | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        device = self.tokens.weight.device
        check_beside("tokens", tokens, device)
        tokens = as_index(tokens, "tokens", self.tokens.num_embeddings).to(device)
        if not isinstance(mask, Mask) or positions is not mask.q_positions:
            positions = own_copy("positions", positions, device)
        if tokens.dim() != 2:
            raise ValueError(f"tokens must be (batch, sequence); got {tuple(tokens.shape)}")
        check_positions("positions", positions, tokens.shape, device, self.encoding.axes)
        if caches is not None:
            if not isinstance(caches, list):
                raise TypeError(f"caches must be a list of caches; got {type(caches).__name__}")
            check_size("caches", len(caches), len(self.blocks), "members, one for each layer")
            own = {id(cache) for cache in caches if cache is not None}
            check_size("caches", len(own), len(caches), "different members")
        caches = caches or [None] * len(self.blocks)
        x = self.encoding.embed(self.tokens(tokens), positions)
        masks, encodings = {}, {}
        compiled = torch.compiler.is_compiling()  # a compiler finds by itself what is computed twice
        layers = Counter() if compiled else Counter(id(block.attention.encoding) for block in self.blocks)
        if alike(caches) or segments is not None:
            for layer in {block.attention.window: block.attention for block in self.blocks}.values():
                masks[layer.window] = layer.mask(tokens.shape, positions, mask, caches[0], segments)
        for block, cache in zip(self.blocks, caches, strict=True):
            shared = masks.get(block.attention.window, mask)
            own = block.attention.encoding
            if masks and layers[id(own)] > 1:
                keys = positions if cache is not None and cache.rotated else shared.k_positions
                place = id(own), id(keys)
                if place not in encodings:
                    encodings[place] = own.precompute(positions, keys)
                own = encodings[place]
            x = block(x, positions, shared, cache, own)
        return self.head(self.norm(x))


def each(name: str, value: object, layers: int) -> list[Any]:
    """What is given for each layer, or for all of them."""
    if not isinstance(value, (list, tuple)):
        return [value] * layers
    check_size(name, len(value), layers, "members, one for each layer")
    return list(value)


def by_layer(encoding: Encoding | Sequence[Encoding | None], layers: int) -> list[Encoding]:
    """The encoding of each layer, closed where there is none; raises as `Transformer` does."""
    if not isinstance(encoding, (list, tuple)):
        check_encoding(encoding)
        return [encoding] * layers
    members = [member for member in each("encoding", encoding, layers) if member is not None]
    for member in members:
        check_encoding(member)
    axes = {member.axes for member in members} or {NOPE.axes}
    if len(axes) > 1:
        raise ValueError(f"encoding must have the same axes in each layer; got {sorted(axes)}")
    nothing = closed(*axes)
    encodings = [nothing if member is None else member for member in encoding]
    for number, member in enumerate(encodings[1:], start=1):
        if "embed" in member.doors:
            raise ValueError(
                f"encoding of layer {number} must leave door 1 closed, the model's input; got {member!r}"
            )
    return encodings


def alike(caches: list[Cache | None]) -> bool:
    """Whether all layers see the same keys: a call that finds one mask for them leaves one tensor of positions."""
    for cache in caches:
        if cache is not None:
            check_cache(cache)
    cached = [None if cache is None else cache.positions for cache in caches]
    return all(positions is cached[0] for positions in cached)  # an id would be compiled in, and anew at each step
