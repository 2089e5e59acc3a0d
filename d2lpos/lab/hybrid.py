"""A tiny hybrid: layers of every kind that a text can leave and come back to, with random weights in float64.

What layers hold of a text is in a list with an entry for each. Of attention, of a latent vector, an indexer and a convolution
it is a pair: the positions (n,) of some tokens and a row of numbers (n, r) for each of them. Of a state it is the state.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, rms_norm

from ..content import decay
from ..encoding import Encoding
from ..rotary import RoPE
from ..transformer import Attention, attend, causal_mask, mla, window_mask
from ..transformer.prefix import PER_TOKEN, Layer, check_layer

__all__ = ["Hybrid"]

DIM, HEADS, FEATURES, CHOICES = 16, 2, 8, 4

Memory = tuple[Tensor, Tensor] | Tensor


def turn(x: Tensor, positions: Tensor) -> Tensor:
    """Queries or keys (head, n, FEATURES) as RoPE turns them."""
    return RoPE(FEATURES).rotate_at(x[None], positions)[0]


class Rows(nn.Module):
    """Softmax attention: full without a position, in a window, in chunks, or to the keys that an indexer chooses, with RoPE."""

    def __init__(self, kind: str, size: int):
        super().__init__()
        self.kind, self.size = kind, size
        self.attention = Attention(DIM, HEADS, Encoding() if kind == "full" else RoPE(FEATURES))
        self.index = nn.Linear(DIM, 2 * FEATURES)

    def forward(self, x: Tensor, positions: Tensor, memory: Memory | None) -> tuple[Tensor, Memory]:
        """What leaves the layer for tokens x (n, DIM), and what it holds then. Rows that it has are never written over."""
        rows, row_positions = self.rows(x), positions
        if memory is not None and len(memory[0]):
            new = positions > memory[0][-1]
            row_positions = torch.cat([memory[0], positions[new]])
            rows = torch.cat([memory[1], rows[new]])
        y = self.mix(x, positions, rows, row_positions)
        needed = self.needed(positions[-1:] + 1, row_positions)[0]
        return y, (row_positions[needed], rows[needed])

    def needed(self, positions: Tensor, row_positions: Tensor) -> Tensor:
        """Which rows tokens at these positions use, (n, rows)."""
        mask = causal_mask(positions, row_positions)
        if self.kind in ("window", "convolution"):
            mask = mask & window_mask(positions, row_positions, self.size)
        if self.kind == "chunk":
            mask = mask & (positions[:, None] // self.size == row_positions // self.size)
        return mask

    def rows(self, x: Tensor) -> Tensor:
        _, k, v = self.attention.projected(x[None])
        return torch.cat(
            [torch.cat([k, v], dim=-1)[0].transpose(0, 1).flatten(1), self.index(x)[:, :FEATURES]], dim=1
        )

    def mix(self, x: Tensor, positions: Tensor, rows: Tensor, row_positions: Tensor) -> Tensor:
        q = self.attention.projected(x[None])[0]
        k, v = rows[:, :-FEATURES].unflatten(1, (HEADS, -1)).transpose(0, 1)[None].chunk(2, dim=-1)
        mask = self.needed(positions, row_positions)
        if self.kind == "indexer":
            # Keys of equal tokens would tie without a turn.
            queries, keys = self.index(x)[None, :, FEATURES:], rows[None, :, -FEATURES:]
            scores = (turn(queries, positions) @ turn(keys, row_positions).mT)[0].masked_fill(
                ~mask, -torch.inf
            )
            mask = mask & (scores >= scores.topk(min(CHOICES, len(rows))).values[:, -1:])
        y = attend(q, k, v, positions, row_positions, self.attention.encoding, mask)
        return self.attention.out(y.transpose(1, 2).flatten(2))[0]


class Latent(Rows):
    """Multi-head latent attention: of each token one latent vector, and a key that RoPE turns, for all heads."""

    def __init__(self, kind: str, size: int):
        super().__init__(kind, size)
        self.down, self.query = nn.Linear(DIM, 2 * FEATURES), nn.Linear(DIM, 2 * HEADS * FEATURES)
        self.up, self.values = (nn.Parameter(torch.randn(HEADS, FEATURES, FEATURES) / 3) for _ in range(2))

    def rows(self, x: Tensor) -> Tensor:
        return self.down(x)

    def mix(self, x: Tensor, positions: Tensor, rows: Tensor, row_positions: Tensor) -> Tensor:
        latents, keys = rows[None].chunk(2, dim=-1)
        q, turning = self.query(x).unflatten(1, (HEADS, -1)).transpose(0, 1).chunk(2, dim=-1)
        scores = mla.scores(q, latents, self.up, turn(turning, positions), turn(keys, row_positions))
        weights = scores.masked_fill(~self.needed(positions, row_positions), -torch.inf).softmax(dim=-1)
        return self.attention.out((weights @ latents @ self.values).transpose(0, 1).flatten(1))


class Convolution(Rows):
    """A weight for each channel and each of the last tokens."""

    def __init__(self, kind: str, size: int):
        super().__init__(kind, size)
        self.weights = nn.Parameter(torch.randn(size, DIM))

    def rows(self, x: Tensor) -> Tensor:
        return x

    def mix(self, x: Tensor, positions: Tensor, rows: Tensor, row_positions: Tensor) -> Tensor:
        back = (positions[:, None] - row_positions).clamp(0, self.size - 1)
        weights = self.weights[back] * self.needed(positions, row_positions)[..., None]  # (n, rows, channel)
        return torch.einsum("nrc,rc->nc", weights, rows)


class State(nn.Module):
    """A gated state, `decay.recurrence`; with erase the gated delta rule, `decay.delta`."""

    def __init__(self, erase: bool):
        super().__init__()
        self.erase, self.project, self.out = erase, nn.Linear(DIM, 3 * FEATURES + 2), nn.Linear(FEATURES, DIM)

    def forward(self, x: Tensor, positions: Tensor, memory: Memory | None) -> tuple[Tensor, Memory]:
        q, k, v, gate, beta = self.project(x).split([FEATURES] * 3 + [1, 1], dim=-1)
        inputs = q, normalize(k, dim=-1), v, (gate[:, 0] + 3).sigmoid().log()
        if self.erase:
            y, state = decay.delta(*inputs, beta[:, 0].sigmoid(), memory)
        else:
            y, state = decay.recurrence(*inputs, memory)
        return self.out(y), state


class Hybrid(nn.Module):
    """Residual layers, as `resume_at` names them, on 32 tokens; with erase, states follow the gated delta rule.

    The same seed gives the same weights, and torch's own random numbers stay as they are.

    >>> hybrid = Hybrid(["full", ("window", 4), "state"])
    >>> old, new = torch.arange(12), torch.arange(12).flip(0)
    >>> _, memory = hybrid.read(old)
    >>> y, _ = hybrid.read(new, start=12, memory=memory)
    >>> whole, _ = hybrid.read(torch.cat([old, new]))
    >>> torch.allclose(y, whole[12:])
    True
    """

    def __init__(self, layers: Iterable[Layer], erase: bool = False, seed: int = 0):
        super().__init__()
        kinds = {"latent": Latent, "convolution": Convolution}
        self.layers = nn.ModuleList()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embed = nn.Embedding(32, DIM)
            for layer in layers:
                check_layer(layer)
                kind, size = (layer, 0) if isinstance(layer, str) else layer
                self.layers.append(State(erase) if kind == "state" else kinds.get(kind, Rows)(kind, size))
        self.double()

    @torch.no_grad()
    def read(self, tokens: Tensor, start: int = 0, memory: list | None = None) -> tuple[Tensor, list]:
        """Hidden states (n, 16) of tokens (n,) at positions from `start` on, and what each layer holds behind them.

        memory is what layers hold of the text before, or None for nothing; so is each of its entries. Raises ValueError where
        there are no tokens.
        """
        if not len(tokens):
            raise ValueError("tokens must be at least one; got none")
        x, after = self.embed(tokens), []
        positions = torch.arange(start, start + len(tokens))
        for layer, before in zip(self.layers, memory or [None] * len(self.layers), strict=True):
            y, held = layer(rms_norm(x, x.shape[-1:]), positions, before)
            x = x + y
            after.append(held)
        return x, after

    def cut(self, memory: list, place: int, checkpoint: list | None = None) -> list:
        """What is left of `memory` for a text that shares `place` tokens: rows of full layers, latent vectors and indexers.

        Layers that forget have nothing, or what they held at a checkpoint.
        """
        left = []
        for number, layer in enumerate(self.layers):
            if getattr(layer, "kind", "state") in PER_TOKEN:
                positions, rows = memory[number]
                left.append((positions[positions < place], rows[positions < place]))
            else:
                left.append(None if checkpoint is None else checkpoint[number])
        return left
