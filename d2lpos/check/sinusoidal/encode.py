"""The encoding."""

import torch
from torch import Tensor

from ...input import sinusoids as package
from ..cases import by_hand, exact_dtype, no_loop
from ..verdict import Case, Check, call


def encode_clocks(positions: Tensor, d: int, base: float) -> Tensor:
    return clocks(positions, base, torch.arange(0, d, 2) / d).flatten(-2)


def clocks(positions: Tensor, base: float, exponents: Tensor) -> Tensor:
    """Sines and cosines side by side, (…, d/2, 2); the angle is the position over base^exponent."""
    angles = positions[..., None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], dim=-1)


def own_frequencies(positions: Tensor, d: int, base: float) -> Tensor:
    """Every feature turns at its own pace, so that no sine has the cosine that belongs to it."""
    angles = positions[..., None] * base ** -(torch.arange(d) / d)
    return torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())


def encode_case(positions: list, d: int, base: float) -> Case:
    label = f"positions {positions}, d = {d}, base = {base:g}"
    return exact_dtype(call(label, positions=torch.tensor(positions), d=d, base=base))


def hand_by_hand(positions: Tensor, d: int, base: float) -> Tensor:
    hands = [clocks(positions, base, torch.tensor([2 * i / d])) for i in range(d // 2)]
    return torch.cat(hands, dim=-2).flatten(-2)


encode = Check(
    "encode",
    reference=encode_clocks,
    properties={
        "sine and cosine of p · base^(−2i/d), in turn": [
            encode_case([0, 1, 2, 3], 4, 10000.0), encode_case([1, 100_000], 2, 10000.0),
            encode_case([3, 40], 128, 10000.0), encode_case([1, 7], 6, 99.5),
        ],
        "positions that are no whole numbers": [encode_case([0.5, 2.25, -3.75], 4, 10000.0)],
        "positions of any shape": [
            encode_case(3, 4, 10000.0),
            encode_case([[0, 1, 2], [5, 6, 7]], 4, 10000.0),
        ],
        "no loop over the hands": [
            no_loop("d = 4, then d = 64", "2 hands", *((torch.arange(3), d, 10000.0) for d in (4, 64)))
        ],
        "written by hand": [
            by_hand("three positions, d = 4", package, "angles", "sinusoidal", (torch.arange(3), 4, 10000.0))
        ],
    },
    mistakes={
        "The exponent has lost its minus: the hands must become slower, not faster.":
            "base**-exponents → base**exponents",
        "All sines come first. This layout has each sine next to its cosine.":
            "[angles.sin(), angles.cos()], dim=-1 → [angles.sin(), angles.cos()], dim=-2",
        "The cosines stand at the even places. The sines belong there.":
            "[angles.sin(), angles.cos()] → [angles.cos(), angles.sin()]",
        "Every feature has its own frequency. A sine and its cosine share one.": own_frequencies,
        "The exponent is −i/d here. Equation (2.1) has −2i/d.": "torch.arange(0, d, 2) / d → torch.arange(d // 2) / d",
        "The base is always 10000 here. It is an argument.": lambda p, d, base: encode_clocks(p, d, 10000.0),
        "Exactly one axis of positions is expected. positions[..., None] serves any shape.":
            "positions[..., None] * base**-exponents → torch.outer(positions, base**-exponents)",
        "Hand by hand is slow. Let one tensor of speeds multiply the positions.": hand_by_hand,
    },
)
