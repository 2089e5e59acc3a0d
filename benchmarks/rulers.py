"""A layer of attention by each ruler: tokens counted by RoPE or ALiBi, or what the text lays itself."""

from collections.abc import Callable

import torch
from torch import Tensor

from d2lpos import ALiBi, Attention, Encoding, RoPE
from d2lpos.content import CoPE, FoX, PaTH

from .attention import DIM, HEADS, about
from .measure import Contest, forward_and_backward

LENGTHS = (256, 1024, 4096)
ROWS = 64  # of CoPE's table, as in its paper


def contests(device: str, lengths: tuple[int, ...] = LENGTHS) -> list[Contest]:
    return [contest(device, length) for length in lengths]


def contest(device: str, length: int) -> Contest:
    x, positions = torch.randn(1, length, DIM, device=device), torch.arange(length, device=device)
    encodings = {
        "`RoPE`": RoPE(DIM // HEADS),
        "no encoding": Encoding(),
        "`ALiBi`": ALiBi(HEADS),
        "`FoX`": FoX(DIM, HEADS),
        "`CoPE`": CoPE(DIM // HEADS, ROWS),
    }
    if length <= 1024:  # its walk keeps all queries for each key: tens of gigabytes at 4,096
        encodings["`PaTH`"] = PaTH(DIM, HEADS)
    return Contest(
        f"rulers-{length}", f"{length} tokens, causal, {about('cpu', grouped=False)}",
        {name: through(encoding, x, positions) for name, encoding in encodings.items()},
        memory=True, rounds=None if length <= 1024 else 5,
    )


def through(encoding: Encoding, x: Tensor, positions: Tensor) -> Callable[[], object]:
    layer = Attention(DIM, HEADS, encoding, causal=True).to(x.device)
    return forward_and_backward(lambda x: layer(x, positions), x)
