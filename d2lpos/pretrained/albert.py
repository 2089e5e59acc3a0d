"""RXNMapper's ALBERT: it reads chemical reactions as text, and its positions are a learned table of 512 rows.

Schwaller et al. 2021 (10.1126/sciadv.abe4166); ALBERT, one layer that is used twelve times, is of Lan et al. 2020
(arXiv 1909.11942).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from ..encoding import NOPE
from ..input.learned import Learned
from .minilm import Block
from .weights import find

__all__ = ["Albert", "load_albert"]

NARROW, DIM, HEADS, INNER, ROUNDS, ROWS, VOCABULARY = 128, 256, 8, 512, 12, 512, 591


class Albert(nn.Module):
    """Tokens (batch, sequence) in, logits (batch, sequence, 591) out; untrained until `load_albert` fills it.

    positions (sequence,) or (batch, sequence), by default 0, 1, 2, …, choose rows of `positions.table`. Each token sees all
    others. Raises what `Learned` raises.

    >>> Albert()(torch.tensor([[12, 17, 13]])).shape
    torch.Size([1, 3, 591])
    """

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, NARROW)
        self.segment = nn.Parameter(torch.zeros(NARROW))
        self.positions = Learned(ROWS, NARROW)
        self.norm1, self.norm2 = nn.LayerNorm(NARROW, eps=1e-12), nn.LayerNorm(NARROW, eps=1e-12)
        self.widen, self.narrow = nn.Linear(NARROW, DIM), nn.Linear(DIM, NARROW)
        self.block = Block(DIM, HEADS, INNER)
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device) if positions is None else positions
        x = self.norm1(self.positions.embed(self.tokens(tokens) + self.segment, positions))
        x = self.widen(x)
        for _ in range(ROUNDS):
            x = self.block(x, positions, NOPE, None)
        return self.norm2(gelu(self.narrow(x))) @ self.tokens.weight.T + self.bias


def load_albert(dtype: torch.dtype = torch.float32) -> Albert:
    """RXNMapper's ALBERT with its weights. Raises WeightsMissing as `weights.find` does.

    >>> load_albert.__name__
    'load_albert'
    """
    with torch.device("meta"):
        model = Albert()
    weights = torch.load(find("albert")[0], map_location="cpu", weights_only=True)
    model.load_state_dict(renamed(weights), assign=True)
    return model.to(dtype).eval().requires_grad_(False)


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """An ALBERT's weights by our names; the pooler's are left out, which masked tokens do without."""
    state = {
        "tokens.weight": weights["albert.embeddings.word_embeddings.weight"],
        "segment": weights["albert.embeddings.token_type_embeddings.weight"][0],
        "positions.table": weights["albert.embeddings.position_embeddings.weight"],
        "bias": weights["predictions.bias"],
    }
    layer = "albert.encoder.albert_layer_groups.0.albert_layers.0."
    parts = {
        "norm1": "albert.embeddings.LayerNorm", "widen": "albert.encoder.embedding_hidden_mapping_in",
        "narrow": "predictions.dense", "norm2": "predictions.LayerNorm", "block.out": f"{layer}attention.dense",
        "block.norm1": f"{layer}attention.LayerNorm", "block.up": f"{layer}ffn", "block.down": f"{layer}ffn_output",
        "block.norm2": f"{layer}full_layer_layer_norm",
    }  # fmt: skip
    for kind in ("weight", "bias"):
        three = [weights[f"{layer}attention.{name}.{kind}"] for name in ("query", "key", "value")]
        state[f"block.project.{kind}"] = torch.cat(three)
        state |= {f"{ours}.{kind}": weights[f"{theirs}.{kind}"] for ours, theirs in parts.items()}
    return state
