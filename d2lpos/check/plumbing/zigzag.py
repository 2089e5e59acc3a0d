"""A zigzag on several processors."""


import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def chunks_of(rank: int, ranks: int, length: int) -> Tensor:
    return torch.arange(length).view(2 * ranks, -1)[[rank, 2 * ranks - 1 - rank]].flatten()


def cut_from_the_end(rank: int, ranks: int, length: int) -> Tensor:
    """A slice that ends at −0 is empty."""
    row, size = torch.arange(length), length // (2 * ranks)
    return torch.cat([row[rank * size : (rank + 1) * size], row[-(rank + 1) * size : -rank * size]])


def zigzag_cases(*sizes: tuple[int, int, int]) -> list[Case]:
    return [call(rank=rank, ranks=ranks, length=length) for rank, ranks, length in sizes]


zigzag = Check(
    "zigzag",
    reference=chunks_of,
    properties={
        "an early chunk and a late one, in order":
            zigzag_cases((1, 4, 24), (2, 8, 64), (3, 4, 24), (1, 2, 12), (2, 3, 6), (5, 8, 64)),
        "the first processor has both ends of the text": zigzag_cases((0, 4, 24), (0, 2, 12), (0, 1, 6)),
    },
    mistakes={
        "This is one plain part of the text. Each processor has two chunks, of 2 · ranks.":
            lambda rank, ranks, length: torch.arange(length).chunk(ranks)[rank],
        "These are places in the processor's own slice. A position is counted in the text.":
            lambda rank, ranks, length: torch.arange(length // ranks),
        "The late chunk comes first. They are asked for in order.":
            "rank, 2 * ranks - 1 - rank → 2 * ranks - 1 - rank, rank",
        "The second chunk is to be as far from the end as the first is from the beginning.":
            "2 * ranks - 1 - rank → ranks + rank",
        "Only the first processor has the last chunk.": "2 * ranks - 1 - rank → 2 * ranks - 1",
        "The second chunk is one too late. They are counted from 0, so the last is 2 · ranks − 1.":
            "2 * ranks - 1 - rank → 2 * ranks - rank",
        "A slice that ends at −0 ends before the first token: it is empty.": cut_from_the_end,
    },
    answers=(Answer("most", 7169 / 1025, within=0.001, mistakes={
        "Nearly. A query sees itself, too, so it is a little less: count the pairs.": 7,
        "A query sees itself, too.": 7167 / 1023,
        "So it is in a zigzag. Here each processor has one plain quarter.": 1,
        "That is what the very last query sees, beside the last one of the first quarter.": 4,
        "The last processor has more. Divide its pairs by those of the first.": 1025 / 7169,
        "This is the last processor beside the mean of all four.": 4 * 7169 / 16388,
    }),),
)
