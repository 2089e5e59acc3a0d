"""The one tiny model of the book: only the encoding differs from chapter to chapter.

A pre-norm Transformer after Vaswani et al. 2017 (arXiv 1706.03762) and Xiong et al. 2020 (arXiv 2002.04745),
with the LayerNorm of Ba et al. 2016 (arXiv 1607.06450).
"""

from torch import Tensor, nn

from .arguments import check_positive, check_size
from .attention import Attention
from .cache import Cache, check_cache
from .encoding import NOPE, Encoding, check_encoding
from .masks import Mask
from .positions import check_positions, whole

__all__ = ["Transformer"]


class Block(nn.Module):
    """Attention and feed-forward, each behind a LayerNorm and beside a residual; shapes unchanged."""

    def __init__(self, dim: int, heads: int, encoding: Encoding, causal: bool, kv_heads: int | None):
        super().__init__()
        self.attention = Attention(dim, heads, encoding, causal, kv_heads)
        self.feed_forward = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(
        self, x: Tensor, positions: Tensor, mask: Tensor | Mask | None = None, cache: Cache | None = None
    ) -> Tensor:
        x = x + self.attention(self.norm1(x), positions, mask, cache)
        return x + self.feed_forward(self.norm2(x))


class Transformer(nn.Module):
    """Token ids (batch, sequence) in, one vector of `outputs` numbers for each token out.

    The same encoding serves all layers, and each holds it. positions are (sequence,) or (batch, sequence),
    with a last axis of 2 where the encoding has two axes; mask, segments and kv_heads are as for `Attention`. What
    the positions say of the mask is found once, for all layers. With `caches`, tokens are what is new.
    `new_caches` makes them; make them anew after a call that raised, because its first layers may have kept the
    tokens. Raises ValueError where heads does not divide dim, a token is
    not in the vocabulary, positions do not fit tokens, a layer has no cache of its own, and as `Attention`
    does.

    >>> from d2lpos import ALiBi
    >>> model = Transformer(vocabulary=6, outputs=2, encoding=ALiBi(4))
    >>> tokens = torch.tensor([[0, 1, 2, 3, 0, 4]])
    >>> model(tokens, torch.arange(6)).shape
    torch.Size([1, 6, 2])
    """

    def __init__(
        self,
        vocabulary: int,
        outputs: int,
        dim: int = 64,
        heads: int = 4,
        layers: int = 2,
        encoding: Encoding = NOPE,
        causal: bool = False,
        kv_heads: int | None = None,
    ):
        super().__init__()
        check_positive(vocabulary=vocabulary, outputs=outputs, layers=layers)
        check_encoding(encoding)
        self.encoding = encoding
        self.tokens = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, encoding, causal, kv_heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, outputs)

    def new_caches(self, turned: bool = False, room: int = 0) -> list[Cache]:
        """An empty cache for each layer; arguments are those of `Cache`."""
        return [Cache(turned=turned, room=room) for _ in self.blocks]

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor,
        mask: Tensor | Mask | None = None,
        caches: list[Cache] | None = None,
        segments: Tensor | None = None,
    ) -> Tensor:
        tokens = whole(tokens, "tokens", self.tokens.num_embeddings)
        if tokens.dim() != 2:
            raise ValueError(f"tokens must be (batch, sequence); got {tuple(tokens.shape)}")
        check_positions("positions", positions, tokens.shape, tokens.device, self.encoding.axes)
        if caches is not None:
            if not isinstance(caches, list):
                raise TypeError(f"caches must be a list of caches; got {type(caches).__name__}")
            check_size("caches", len(caches), len(self.blocks), "members, one for each layer")
            own = {id(cache) for cache in caches if cache is not None}
            check_size("caches", len(own), len(caches), "different members")
        caches = caches or [None] * len(self.blocks)
        x = self.encoding.embed(self.tokens(tokens), positions)
        if alike(caches) or segments is not None:
            mask = self.blocks[0].attention.mask(tokens.shape, positions, mask, caches[0], segments)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, positions, mask, cache)
        return self.head(self.norm(x))


def alike(caches: list[Cache | None]) -> bool:
    """Whether all layers see the same keys: a call that finds one mask for them leaves one tensor of positions."""
    for cache in caches:
        if cache is not None:
            check_cache(cache)
    return len({None if cache is None else id(cache.positions) for cache in caches}) == 1
