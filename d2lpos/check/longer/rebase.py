"""Evict and re-base."""

import torch
from torch import Tensor

from ...input.sinusoids import angles, frequencies
from ...rotary.rope import rotate
from ..verdict import Case, Check, call


def moved_up(keys: Tensor, positions: Tensor, kept: Tensor, omega: Tensor) -> Tensor:
    turns = torch.arange(len(kept)) - positions[kept]
    return rotate(keys[kept], turns[:, None] * omega)


def cache_case(positions: list[int], kept: list[int], d: int = 4, base: float = 10_000.0) -> Case:
    draw = torch.Generator().manual_seed(len(positions))
    keys = torch.randint(-8, 9, (len(positions), d), generator=draw) / 4
    return call(
        f"keys ({len(positions)}, {d}), positions = {positions}, kept = {kept}, base = {base:g}",
        keys=keys, positions=torch.tensor(positions), kept=torch.tensor(kept), omega=frequencies(d, base),
    )


def new(kept):
    return torch.arange(len(kept))


def counted_from_the_first(keys, positions, kept, omega):
    old = (positions - positions[0])[kept]
    return rotate(keys[kept], angles(new(kept) - old, omega))


rebase = Check(
    "rebase",
    reference=moved_up,
    properties={
        "the kept keys stand at 0, 1, 2, …": [
            cache_case([0, 1, 2, 3], [0, 3]),
            cache_case([*range(20)], [0, 1, 4, 5, *range(9, 20)], d=8),
            cache_case([0, 1, 2, 3, 4], [2, 3, 4], d=2),
            cache_case([0, 1, 2, 3, 4, 5], [1, 3, 5], d=6, base=100.0),
        ],
        "positions with gaps": [
            cache_case([0, 1, 4, 7, 9], [0, 1, 3, 4]),
            cache_case([0, 5, 6, 20, 21, 22], [0, 1, 2, 4, 5], d=8),
        ],
        "positions that begin elsewhere": [
            cache_case([7, 8, 9, 10], [0, 2, 3]),
            cache_case([100, 101, 102, 103], [0, 1, 3], d=8),
        ],
    },
    mistakes={
        "Here no key has turned. Each turns by new − old, and old is positions[kept].":
            "torch.arange(len(kept)) - positions[kept] → 0 * positions[kept]",
        "The keys come turned by their old positions. Turn by new − old.":
            "torch.arange(len(kept)) - positions[kept] → torch.arange(len(kept))",
        "The turn goes the wrong way: it is new − old.":
            "torch.arange(len(kept)) - positions[kept] → positions[kept] - torch.arange(len(kept))",
        "kept are indices. Where such a key stands, positions tells.": "- positions[kept] → - kept",
        "All keys turn by one angle, so that gaps between them stay.": (
            "turns[:, None] → turns[-1].expand(len(turns))[:, None]",
            "turns[:, None] → turns[0].expand(len(turns))[:, None]",
        ),
        "Positions need not begin at 0. Here the first of the text is taken for 0.": counted_from_the_first,
        "The frequencies are given: omega.":
            "turns[:, None] * omega → turns[:, None] * frequencies(keys.shape[1])",
    },
    cards=(counted_from_the_first,),
    fixed={"omega falls": "Each pair of a head turns more slowly than the one before."},
)
