"""Whisper tiny.en, which hears with sinusoids and writes with a learned table of 448 rows (Radford et al. 2022, arXiv 2212.04356).

The file is the one that `weights` finds: CTranslate2's, in float16.
"""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from ..input.learned import Learned
from .weights import find

__all__ = ["Whisper", "load_whisper"]

DIM, LAYERS, ROWS, FRAMES, VOCABULARY = 384, 4, 448, 1500, 51864


class Whisper(nn.Module):
    """Tokens (batch, sequence) and encoded sound in, logits (batch, sequence, 51864) out; untrained until `load_whisper`.

    sound (batch, 1500, 384) is the output of `hear`. positions (sequence,) or (batch, sequence), by default 0, 1, 2, …, choose
    only rows of `positions.table`: a token sees itself and the tokens before it in any case. watch(weights) is called
    with each layer's attention to the text, (batch, head, query, key). Raises as `Learned` does.

    >>> Whisper().positions.table.shape
    torch.Size([448, 384])
    """

    def __init__(self):
        super().__init__()
        kind = {"nhead": 6, "dim_feedforward": 4 * DIM, "dropout": 0.0, "activation": "gelu"}
        kind |= {"batch_first": True, "norm_first": True}
        self.conv1, self.conv2 = nn.Conv1d(80, DIM, 3, padding=1), nn.Conv1d(DIM, DIM, 3, 2, padding=1)
        self.frames, self.positions = Learned(FRAMES, DIM), Learned(ROWS, DIM)
        self.tokens = nn.Embedding(VOCABULARY, DIM)
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(DIM, **kind) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(DIM, **kind) for _ in range(LAYERS))
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)

    def hear(self, spectrogram: Tensor) -> Tensor:
        """The encoder: a spectrogram (batch, 80, 3000) becomes vectors (batch, 1500, 384); silence is −1.5 everywhere."""
        x = gelu(self.conv2(gelu(self.conv1(spectrogram)))).mT
        x = self.frames.embed(x, torch.arange(FRAMES, device=x.device))
        for layer in self.encoder:
            x = layer(x)
        return self.norm1(x)

    def forward(
        self,
        tokens: Tensor,
        sound: Tensor,
        positions: Tensor | None = None,
        watch: Callable[[Tensor], None] | None = None,
    ) -> Tensor:
        here = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.positions.embed(self.tokens(tokens), here if positions is None else positions)
        later = here > here[:, None]
        for layer in self.decoder:
            if watch is not None:
                q = layer.norm1(x)
                watch(layer.self_attn(q, q, q, attn_mask=later, average_attn_weights=False)[1])
            x = layer(x, sound, tgt_mask=later)
        return self.norm2(x) @ self.tokens.weight.T


def variables(path: Path) -> dict[str, Tensor]:
    """The float16 variables of a file of CTranslate2's sixth version, by name, as float32."""
    state = {}
    with path.open("rb") as file:

        def unpack(form: str) -> tuple:
            return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))

        file.read(4)  # the version; then the kind of model, and its revision
        file.read(*unpack("H")), file.read(4)
        for _ in range(*unpack("I")):
            name = file.read(*unpack("H"))[:-1].decode()
            shape = unpack(f"{unpack('B')[0]}I")
            kind, size = unpack("BI")
            data = file.read(size)
            if kind == 4:
                state[name] = torch.tensor(np.frombuffer(data, "<f2").astype(np.float32)).reshape(shape)
    return state


def load_whisper(dtype: torch.dtype = torch.float32) -> Whisper:
    """Whisper tiny.en with its weights. Raises WeightsMissing as `weights.find` does.

    >>> load_whisper.__name__
    'load_whisper'
    """
    with torch.device("meta"):
        model = Whisper()
    model.load_state_dict(renamed(variables(find("whisper")[0])), assign=True)
    return model.to(dtype).eval().requires_grad_(False)


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """CTranslate2's variables by our names."""
    parts = {
        "norm1.": ["self_attention/layer_norm"], "self_attn.in_proj_": ["self_attention/linear_0"],
        "self_attn.out_proj.": ["self_attention/linear_1"], "linear1.": ["ffn/linear_0"], "linear2.": ["ffn/linear_1"],
    }  # fmt: skip
    asks = {
        "norm2.": ["attention/layer_norm"], "norm3.": ["ffn/layer_norm"], "multihead_attn.out_proj.": ["attention/linear_2"],
        "multihead_attn.in_proj_": ["attention/linear_0", "attention/linear_1"],
    }  # fmt: skip
    places = {"conv1.": ["encoder/conv1"], "conv2.": ["encoder/conv2"]}
    places |= {"norm1.": ["encoder/layer_norm"], "norm2.": ["decoder/layer_norm"]}
    for side, more in ("encoder", {"norm2.": ["ffn/layer_norm"]}), ("decoder", asks):
        for n in range(LAYERS):
            for ours, theirs in (parts | more).items():
                places[f"{side}.{n}.{ours}"] = [f"{side}/layer_{n}/{one}" for one in theirs]
    state = {
        "tokens.weight": weights["decoder/embeddings/weight"],
        "frames.table": weights["encoder/position_encodings/encodings"],
        "positions.table": weights["decoder/position_encodings/encodings"],
    }
    for ours, theirs in places.items():
        norm = theirs[0].endswith("layer_norm")
        for kind, name in ("weight", "gamma" if norm else "weight"), ("bias", "beta" if norm else "bias"):
            state[ours + kind] = torch.cat([weights[f"{one}/{name}"] for one in theirs])
    return state
