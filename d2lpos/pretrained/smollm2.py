"""SmolLM2: a Llama of 135 million weights, whose positions go through the doors of an `Encoding`.

Allal et al. 2025 (arXiv 2502.02737). The file is the one that `weights` finds: llama.cpp's, in 4 bits, in which the
features of a pair are neighbors. Everything that concerns position is an argument.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, silu

from ..encoding import Encoding
from ..positions.arguments import check_positive
from ..positions.checks import as_index, check_positions
from ..rotary.rope import RoPE, permute_qk_rows
from ..transformer.attention import attend
from ..transformer.masks import Mask
from ..transformer.model import by_layer
from ..transformer.temperature import multiply
from .weights import find

if TYPE_CHECKING:
    from gguf import GGUFReader
    from tokenizers import Tokenizer

__all__ = ["SmolLM2", "load_smollm2", "losses", "smollm2_tokenizer", "stand_in"]

BLOCK = 256  # queries at a time where a window is read
HEAD = 1024  # tokens at a time whose logits are held


class Block(nn.Module):
    """Grouped attention and a gated feed-forward, each behind an RMSNorm and beside a residual."""

    def __init__(
        self, dim: int, heads: int, kv_heads: int, inner: int, size: int | None = None, eps: float = 1e-5
    ):
        super().__init__()
        self.heads, self.kv_heads, size = heads, kv_heads, size or dim // heads
        linear = partial(nn.Linear, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(dim, eps=eps), nn.RMSNorm(dim, eps=eps)
        self.q, self.o = linear(dim, heads * size), linear(heads * size, dim)
        self.k, self.v = linear(dim, kv_heads * size), linear(dim, kv_heads * size)
        self.gate, self.up, self.down = linear(dim, inner), linear(dim, inner), linear(inner, dim)

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values before they turn, (batch, head, sequence, feature)."""
        y = self.norm1(x)
        parts = ((self.q, self.heads), (self.k, self.kv_heads), (self.v, self.kv_heads))
        q, k, v = (project(y).unflatten(-1, (heads, -1)).transpose(1, 2) for project, heads in parts)
        return q, k, v

    def close(self, x: Tensor, attended: Tensor) -> Tensor:
        """What follows attention: (batch, head, sequence, feature) joins x."""
        x = x + self.o(attended.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(silu(self.gate(y)) * self.up(y))


class SmolLM2(nn.Module):
    """Tokens (batch, sequence) in, logits (batch, sequence, vocabulary) out; untrained until `load_smollm2` fills it.

    positions (sequence,) or (batch, sequence), by default 0, 1, 2, …, set only the angles. encoding is one for all
    layers, or a list with one for each, in which None means none; by default the model's own. mask is as for `attend`. By
    default a token sees itself and the tokens before it in the text, whatever their positions are. temperature multiplies
    queries, as `d2lpos.transformer.temperature` does. window=(last, first): a token sees only the last `last` tokens, itself
    included, and the first `first`; not together with mask. watch(layer, q, k) is called before queries and keys are rotated.

    Raises ValueError for a token that is not in the vocabulary, for positions that do not fit and for a list of encodings
    of the wrong length, and whatever `attend` raises.

    >>> model, tokens = stand_in(), torch.tensor([list(b"abc")])
    >>> bag = model(tokens, positions=torch.zeros(3))
    >>> torch.allclose(bag, model(tokens, encoding=[None] * 2), atol=1e-4)
    True
    """

    def __init__(
        self,
        vocabulary: int = 49152,
        dim: int = 576,
        layers: int = 30,
        heads: int = 9,
        kv_heads: int = 3,
        inner: int = 1536,
        base: float = 100_000.0,
        layout: str = "half",
    ):
        super().__init__()
        check_positive(vocabulary=vocabulary, layers=layers)
        self.tokens = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, kv_heads, inner) for _ in range(layers))
        self.norm = nn.RMSNorm(dim, eps=1e-5)
        self.encoding = RoPE(dim // heads, base, layout)

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor | None = None,
        encoding: Encoding | Sequence[Encoding | None] | None = None,
        mask: Tensor | Mask | None = None,
        temperature: Callable[[Tensor], Tensor] | None = None,
        window: tuple[int, int] | None = None,
        watch: Callable[[int, Tensor, Tensor], None] | None = None,
    ) -> Tensor:
        return self.logits(
            self.read(self.embed(tokens), positions, encoding, mask, temperature, window, watch)
        )

    def embed(self, tokens: Tensor) -> Tensor:
        """Tokens (batch, sequence) as vectors, the input of the first layer."""
        return self.tokens(as_index(tokens, "tokens", self.tokens.num_embeddings))

    def read(
        self,
        x: Tensor,
        positions: Tensor | None = None,
        encoding: Encoding | Sequence[Encoding | None] | None = None,
        mask: Tensor | Mask | None = None,
        temperature: Callable[[Tensor], Tensor] | None = None,
        window: tuple[int, int] | None = None,
        watch: Callable[[int, Tensor, Tensor], None] | None = None,
        first: int = 0,
        last: int | None = None,
    ) -> Tensor:
        """The output of layer last − 1 if x is the input of layer `first`; by default of all layers."""
        here = torch.arange(x.shape[1], device=x.device)
        positions = here if positions is None else positions
        check_positions("positions", positions, x.shape[:2], x.device)
        if window is not None and mask is not None:
            raise ValueError("window goes without mask; got both")
        encodings = self.encodings(encoding)
        masks = self.masks(here) if mask is None else [mask] * len(self.blocks)
        for layer in range(len(self.blocks))[first:last]:
            block, one = self.blocks[layer], encodings[layer]
            q, k, v = block.projected(x)
            if temperature is not None:
                q = multiply(q, positions, temperature)
            if watch is not None:
                watch(layer, q, k)
            if window is None:
                y = attend(q, k, v, positions, positions, one, masks[layer])
            else:
                y = attend_in_window(q, k, v, positions, one, *window)
            x = block.close(x, y)
        return x

    def logits(self, x: Tensor) -> Tensor:
        """The logits for the output of the last layer; the embeddings are the output matrix, too."""
        return self.norm(x) @ self.tokens.weight.T

    def encodings(self, encoding: Encoding | Sequence[Encoding | None] | None) -> list[Encoding]:
        """An encoding for each layer, as `Transformer` has them."""
        return by_layer(self.own if encoding is None else encoding, len(self.blocks))

    @property
    def own(self) -> list[RoPE]:
        """The encoding of each layer as it was trained."""
        return [self.encoding] * len(self.blocks)

    def masks(self, here: Tensor) -> list[Mask]:
        """What a token of each layer sees, by its place in the text (sequence,)."""
        return [Mask(here)] * len(self.blocks)


def attend_in_window(
    q: Tensor, k: Tensor, v: Tensor, positions: Tensor, encoding: Encoding, last: int, first: int
) -> Tensor:
    """`attend` in which a token sees the `last` tokens up to its own, and the `first` of the text.

    Blocks of queries see slices of the keys, so nothing is as large as all pairs.
    """
    check_positive(window=last)
    length, blocks = q.shape[2], []
    index = torch.arange(length, device=q.device)
    for start in range(0, length, BLOCK):
        queries = index[start : start + BLOCK]
        keys = index[max(0, start - last + 1) : start + BLOCK]
        keys = torch.cat([index[: min(first, int(keys[0]))], keys])
        back = queries[:, None] - keys
        visible = (back >= 0) & ((back < last) | (keys < first))
        some = q[:, :, queries], k[:, :, keys], v[:, :, keys]
        blocks.append(attend(*some, positions[..., queries], positions[..., keys], encoding, visible))
    return torch.cat(blocks, dim=2)


@torch.no_grad()
def losses(model: SmolLM2, tokens: Tensor, x: Tensor | None = None, **how: object) -> Tensor:
    """−ln p of each token but the first, given those before it, in nats; (batch, n) gives (batch, n − 1), float32.

    how: the other arguments of `SmolLM2`. x: the output of the last layer, if it is known already.
    Logits are computed for some tokens at a time, so a long text does not need memory for all of them.

    >>> losses(stand_in(), torch.tensor([list(b"abc")])).shape
    torch.Size([1, 2])
    """
    x = model.read(model.embed(tokens), **how) if x is None else x
    parts = zip(x[:, :-1].split(HEAD, dim=1), tokens[:, 1:].split(HEAD, dim=1), strict=True)
    pieces = [
        cross_entropy(model.logits(a).float().flatten(0, 1), b.flatten(), reduction="none") for a, b in parts
    ]
    return torch.cat([loss.unflatten(0, (len(tokens), -1)) for loss in pieces], dim=1)


def stand_in(layout: str = "half") -> SmolLM2:
    """A tiny untrained SmolLM2 that reads bytes, for use without the weights; always the same one.

    >>> [name for name, _ in stand_in().blocks[0].named_children()][:2]
    ['norm1', 'norm2']
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = SmolLM2(vocabulary=256, dim=24, layers=2, heads=3, kv_heads=1, inner=32, layout=layout)
        for parameter in model.parameters():
            nn.init.normal_(parameter, std=0.3)
    return model.eval().requires_grad_(False)


def reader() -> "GGUFReader":
    """The open file; raises ImportError without gguf, WeightsMissing as `weights.find` does."""
    return opened(find("smollm2")[0])


@lru_cache(maxsize=2)
def opened(path: Path) -> "GGUFReader":
    """The file's parts: to find the 100,000 strings among them takes seconds."""
    from gguf.gguf_reader import GGUFReader

    class Plain(GGUFReader):
        """The mapped file is an array like any other, whose slices cost a third of a memmap's."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, np.asarray(value) if name == "data" else value)

    return Plain(path)


def weights_in_file(*names: str, path: Path | None = None) -> dict[str, Tensor]:
    """The weights of these names, or all, dequantized, with their rows as they lie in the file; raises as `reader` does."""
    tensors = {one.name: one for one in (opened(path) if path else reader()).tensors}
    from gguf import dequantize

    # A copy: what is dequantized is new, but float32 would lie in the mapped file.
    return {
        name: torch.tensor(dequantize(tensors[name].data, tensors[name].tensor_type))
        for name in names or tensors
    }


def load_smollm2(dtype: torch.dtype = torch.float32, layout: str = "half") -> SmolLM2:
    """SmolLM2-135M-Instruct with its weights, dequantized from llama.cpp's file.

    layout: "interleaved" keeps the rows of queries and keys in the order of the file, and "half" moves them into the order
    of transformers. The model's encoding rotates the matching pairs. Raises ImportError without gguf, WeightsMissing
    if the file is not on this machine, and ValueError for another layout.

    >>> load_smollm2(layout="diagonal")
    Traceback (most recent call last):
    ValueError: layout must be "half" or "interleaved"; got 'diagonal'
    """
    with torch.device("meta"):
        model = SmolLM2(layout=layout)
    weights = weights_in_file()
    names = {"tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight"}
    parts = {
        "norm1": "attn_norm", "norm2": "ffn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v",
        "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down",
    }  # fmt: skip
    for layer, block in enumerate(model.blocks):
        for ours, theirs in parts.items():
            names[f"blocks.{layer}.{ours}.weight"] = f"blk.{layer}.{theirs}.weight"
        if layout == "half":
            for name, heads in ("attn_q", block.heads), ("attn_k", block.kv_heads):
                key = f"blk.{layer}.{name}.weight"
                weights[key] = permute_qk_rows(weights[key], heads, "half")
    model.load_state_dict({ours: weights[theirs] for ours, theirs in names.items()}, assign=True)
    return model.to(dtype).eval().requires_grad_(False)


def smollm2_tokenizer() -> "Tokenizer":
    """SmolLM2's tokenizer, made from the fields of its file: bytes in pairs, digits one by one, no first token added.

    Raises ImportError without tokenizers, and as `load_smollm2` does.

    >>> smollm2_tokenizer.__name__
    'smollm2_tokenizer'
    """
    file = reader()
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    fields = {
        name: file.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges", "token_type")
    }
    merges = [tuple(merge.split(" ")) for merge in fields["merges"]]
    known = {token: number for number, token in enumerate(fields["tokens"])}
    tokenizer = Tokenizer(models.BPE(known, merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(fields["tokens"], fields["token_type"], strict=True) if kind == 3]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return tokenizer
