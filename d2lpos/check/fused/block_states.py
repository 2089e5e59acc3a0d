"""Blocks."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..verdict import Answer, Case, Check, call


def cut(seen: Tensor, size: int) -> Tensor:
    """(rows, columns, size²): what each block shows; behind the edges nobody is seen."""
    queries, keys = seen.shape
    padded = pad(seen, (0, -keys % size, 0, -queries % size))
    return padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, 2).flatten(2)


def states(seen: Tensor, size: int) -> Tensor:
    blocks = cut(seen, size)
    return blocks.any(dim=2).long() + blocks.all(dim=2)


def blocks_case(seen: Tensor, size: int) -> Case:
    return call(seen=seen, size=size)


def apart(queries: int, keys: int | None = None) -> Tensor:
    """How far back each key stands."""
    return torch.arange(queries)[:, None] - torch.arange(queries if keys is None else keys)


block_states = Check(
    "block_states",
    reference=states,
    properties={
        "0 for none, 1 for some, 2 for all of its pairs": [
            blocks_case(apart(4) >= 0, 2),
            blocks_case((apart(6) >= 0) & (apart(6) < 3), 2),
            blocks_case(torch.arange(36).view(6, 6) != 7, 3), blocks_case(torch.arange(36).view(6, 6) == 28, 3),
            blocks_case(apart(20) % 5 != 2, 4), blocks_case(apart(128) != 127, 64),
            blocks_case(apart(2, 6) < 1, 2),
            blocks_case(apart(6, 3) >= 2, 3),
        ],
        "behind the edge nobody is seen": [
            blocks_case(apart(2, 3) > -8, 2), blocks_case(apart(5, 8) > -8, 4),
            blocks_case(apart(8, 5) > -8, 4),
        ],
    },
    mistakes={
        "A block whose pairs are all seen is a 2. There the program need not ask the mask.":
            lambda seen, size: cut(seen, size).any(dim=2).long(),
        "1 and 2 have changed places.": lambda seen, size: torch.tensor([0, 2, 1])[states(seen, size)],
        "Two corners do not tell of a block. Somebody in between may see, or not see.":
            "blocks = cut(seen, size) → blocks = cut(seen, size)[..., [-size, size - 1]]",
        "Rows are blocks of queries, columns blocks of keys.": lambda seen, size: states(seen, size).mT,
        "The last block is cut short. Fill it up: behind the edge nobody is seen.":
            lambda seen, size: states(seen[: len(seen) // size * size, : seen.shape[1] // size * size], size),
        "A block that is cut short is not whole: its missing pairs must stay hidden.":
            "+ blocks.all(dim=2) → + ~cut(~seen, size).any(dim=2)",
    },
    answers=(Answer("left", 150 / 1024, within=0.001, mistakes={
        "This is the share of the pairs. A block with one visible pair is computed whole.": 1_966_336
        / 4096**2,
        "These are the blocks seen in part alone. Whole ones are work as well.": 60 / 1024,
        "These are the whole blocks alone. Those seen in part are work as well.": 90 / 1024,
        "This is the share of the causal blocks. Asked for is that of all blocks.": 150 / 528,
    }),),
    as_good={
        "padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, 2) → padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(2, 1)": "Two axes change places, whichever is named first.",
        "padded.unflatten(1, (-1, size)) → padded.unflatten(-1, (-1, size))": "Of two axes, 1 is the last.",
        "padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, 2) → padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, -2)": "Of four axes, 2 is the last but one.",
        "padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, 2).flatten(2) → padded.unflatten(1, (-1, size)).unflatten(0, (-1, size)).transpose(1, 2).flatten(-2)": "Of four axes, 2 is the last but one.",
    },
)
