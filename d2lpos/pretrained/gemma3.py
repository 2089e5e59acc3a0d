"""Gemma 3 of 270 million weights, whose layers turn at two bases: most see a window, and each sixth one the whole text.

Gemma Team 2025 (arXiv 2503.19786). The weights are under Google's terms, which a reader accepts where their makers publish
them, google/gemma-3-270m; the book downloads none. Everything that concerns position is an argument, as in `SmolLM2`.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from ..positions.arguments import check_positive
from ..positions.checks import as_index
from ..rotary.rope import RoPE
from ..transformer.masks import Mask
from . import smollm2
from .smollm2 import SmolLM2, opened, weights_in_file
from .weights import WeightsMissing, find

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Gemma3", "gemma3_tokenizer", "load_gemma3"]

PARTS = {  # ours, llama.cpp's, transformers'
    "norm1": ("attn_norm", "input_layernorm"),
    "q": ("attn_q", "self_attn.q_proj"),
    "k": ("attn_k", "self_attn.k_proj"),
    "v": ("attn_v", "self_attn.v_proj"),
    "o": ("attn_output", "self_attn.o_proj"),
    "q_norm": ("attn_q_norm", "self_attn.q_norm"),
    "k_norm": ("attn_k_norm", "self_attn.k_norm"),
    "after1": ("post_attention_norm", "post_attention_layernorm"),
    "norm2": ("ffn_norm", "pre_feedforward_layernorm"),
    "gate": ("ffn_gate", "mlp.gate_proj"),
    "up": ("ffn_up", "mlp.up_proj"),
    "down": ("ffn_down", "mlp.down_proj"),
    "after2": ("post_ffw_norm", "post_feedforward_layernorm"),
}


class Block(smollm2.Block):
    """SmolLM2's, with norms of queries, keys and what joins the residual, and a GELU at the gate."""

    def __init__(self, dim: int, heads: int, kv_heads: int, inner: int, size: int):
        super().__init__(dim, heads, kv_heads, inner, size, eps=1e-6)
        self.q_norm, self.k_norm = nn.RMSNorm(size, eps=1e-6), nn.RMSNorm(size, eps=1e-6)
        self.after1, self.after2 = nn.RMSNorm(dim, eps=1e-6), nn.RMSNorm(dim, eps=1e-6)

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = super().projected(x)
        return self.q_norm(q), self.k_norm(k), v

    def close(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + self.after1(self.o(attended.transpose(1, 2).flatten(2)))
        y = self.norm2(x)
        return x + self.after2(self.down(gelu(self.gate(y), approximate="tanh") * self.up(y)))


class Gemma3(SmolLM2):
    """`SmolLM2` with two encodings: `encoding` in layers with a window, and `far` in each sixth layer, which sees all.

    base, far_base: the bases of the two. window: how many tokens a token sees, itself included. An encoding that is given
    replaces both in all layers; `own` has the encoding with which each was trained. The first token of a text is <bos>.

    Raises as `SmolLM2` does.

    >>> small = dict(vocabulary=9, dim=8, heads=2, inner=8, head_dim=4)
    >>> [one.base for one in Gemma3(**small, layers=6).own[-2:]]
    [10000.0, 1000000.0]
    """

    def __init__(
        self,
        vocabulary: int = 262_144,
        dim: int = 640,
        layers: int = 18,
        heads: int = 4,
        kv_heads: int = 1,
        inner: int = 2048,
        head_dim: int = 256,
        base: float = 10_000.0,
        far_base: float = 1_000_000.0,
        window: int = 512,
        layout: str = "half",
    ):
        nn.Module.__init__(self)
        check_positive(vocabulary=vocabulary, layers=layers, window=window)
        self.window, self.scale = window, dim**0.5
        self.tokens = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, kv_heads, inner, head_dim) for _ in range(layers))
        self.norm = nn.RMSNorm(dim, eps=1e-6)
        self.encoding, self.far = (RoPE(head_dim, one, layout) for one in (base, far_base))

    def embed(self, tokens: Tensor) -> Tensor:
        return self.tokens(as_index(tokens, "tokens", self.tokens.num_embeddings)) * self.scale

    @property
    def own(self) -> list[RoPE]:
        return [self.far if far else self.encoding for far in self.sees_all()]

    def sees_all(self) -> list[bool]:
        """Whether each layer sees the whole text."""
        return [layer % 6 == 5 for layer in range(len(self.blocks))]

    def masks(self, here: Tensor) -> list[Mask]:
        whole, near = Mask(here), Mask(here, window=self.window)
        return [whole if far else near for far in self.sees_all()]


def load_gemma3(path: str | Path | None = None, dtype: torch.dtype = torch.float32) -> Gemma3:
    """Gemma 3 270M with its weights, from a GGUF file or from a folder with the safetensors of the authors' release.

    path: by default the file with which the records were made. Bases and windows are taken from the release, because a GGUF
    file has only one base and does not say which layers have a window. Raises ImportError without gguf or safetensors,
    WeightsMissing if there is no such file, and ValueError if its tensors do not fit this model.

    >>> load_gemma3.__defaults__  # the file that was fetched, and dtype
    (None, torch.float32)
    """
    path = find("gemma3")[0] if path is None else Path(path)
    with torch.device("meta"):
        model = Gemma3()
    if path.is_dir() and (path / "model.safetensors").is_file():
        from safetensors.torch import load_file

        weights = load_file(path / "model.safetensors")
        outer, which = ("model.embed_tokens", "model.norm", "model.layers"), 1
        weights = {  # transformers' norms multiply by 1 + weight, llama.cpp's by what the file holds
            name: one.float() + 1 if name.endswith("norm.weight") else one for name, one in weights.items()
        }
    elif path.is_file():
        weights = weights_in_file(path=path)
        outer, which = ("token_embd", "output_norm", "blk"), 0
    else:
        raise WeightsMissing(f"path must be a GGUF file or a folder with model.safetensors; got {path}")
    names = {"tokens.weight": f"{outer[0]}.weight", "norm.weight": f"{outer[1]}.weight"}
    for layer in range(len(model.blocks)):
        for ours, theirs in PARTS.items():
            names[f"blocks.{layer}.{ours}.weight"] = f"{outer[2]}.{layer}.{theirs[which]}.weight"
    sizes = {name: one.shape for name, one in model.state_dict().items()}
    for ours, theirs in names.items():
        got = tuple(weights[theirs].shape) if theirs in weights else "nothing"
        if got != tuple(sizes[ours]):
            raise ValueError(f"{theirs} of {path.name} must be {tuple(sizes[ours])}, as in 270M; got {got}")
    model.load_state_dict({ours: weights[theirs] for ours, theirs in names.items()}, assign=True)
    return model.to(dtype).eval().requires_grad_(False)


@cache
def gemma3_tokenizer(path: str | Path | None = None) -> "Tokenizer":
    """Gemma's tokenizer, from a folder with tokenizer.json or from the fields of a GGUF file; adds <bos>.

    In a GGUF file each piece has a rank, and two neighbors merge where they make the piece of the best one.
    Raises ImportError without tokenizers, and as `load_gemma3` does.

    >>> gemma3_tokenizer.__name__
    'gemma3_tokenizer'
    """
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, processors

    path = find("gemma3")[0] if path is None else Path(path)
    if path.is_dir():
        return Tokenizer.from_file(str(path / "tokenizer.json"))
    fields = opened(path).fields
    tokens, scores, kinds = (
        fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "scores", "token_type")
    )
    known = {token: number for number, token in enumerate(tokens)}
    merges = []
    for token, score, kind in zip(tokens, scores, kinds, strict=True):
        if kind == 1:
            cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
            merges += [(-score, known[a], known[b], a, b) for a, b in cuts if a in known and b in known]
    tokenizer = Tokenizer(
        models.BPE(
            known,
            [(a, b) for *_, a, b in sorted(merges)],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    tokenizer.add_special_tokens(
        [
            AddedToken(one, normalized=False, special=True)
            for one, kind in zip(tokens, kinds, strict=True)
            if kind == 3
        ]
    )
    tokenizer.add_tokens(
        [AddedToken(one, normalized=True) for one, kind in zip(tokens, kinds, strict=True) if kind == 4]
    )
    tokenizer.post_processor = processors.TemplateProcessing("<bos> $A", special_tokens=[("<bos>", 2)])
    return tokenizer
