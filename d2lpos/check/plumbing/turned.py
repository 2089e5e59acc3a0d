"""How often a key has turned."""

from operator import index

import torch
from torch import Tensor

from ..cases import read_as
from ..verdict import Answer, Case, Check, Misconduct, call


def counts_of(capacity: int, keep: int, discard: int, n: int) -> list[int]:
    counts = []
    for _ in range(n):
        if len(counts) == capacity:
            counts = counts[:keep] + [count + 1 for count in counts[keep + discard :]]
        counts.append(0)
    return counts


def in_order(counts: object) -> Tensor:
    try:
        return torch.tensor([index(count) for count in counts], dtype=torch.int64)
    except TypeError as error:
        raise Misconduct("A list of whole numbers is asked for") from error


def caches(*sizes: tuple[int, int, int, int]) -> list[Case]:
    names = ("capacity", "keep", "discard", "n")
    return [read_as(call(**dict(zip(names, one, strict=True))), in_order) for one in sizes]


turned = Check(
    "turned",
    reference=counts_of,
    properties={
        "what stays and moves up has turned once more": caches(
            (4, 1, 1, 5), (6, 2, 2, 7), (6, 2, 2, 12), (8, 1, 1, 20), (8, 2, 3, 30), (6, 1, 3, 40), (300, 4, 100, 450)
        ),
        "nothing is kept": caches((4, 0, 2, 5), (4, 0, 1, 9), (6, 0, 3, 20)),
        "nothing turns before the cache is full": caches((4, 1, 1, 4), (6, 0, 2, 3), (5, 2, 1, 1)),
    },
    mistakes={
        "The first tokens stay where they are, and do not turn.":
            "counts[:keep] + [count + 1 for count in counts[ → [count + 1 for count in counts[:keep] + counts[",
        "discard says how many go, not how many stay.": "counts[keep + discard :] → counts[-discard:]",
        "Nothing has turned here. Those behind the gap move up at each shift.":
            "[count + 1 for count in counts[keep + discard :]] → counts[keep + discard :]",
        "A key that has turned once may turn again: add 1.": "[count + 1 → [1",
        "The first token stays only where keep says so.": "counts = []\n → keep, counts = keep or 1, []\n",
        "The cache is not full yet, and nothing has turned. There are as many counts as tokens.":
            "return counts → return [0] * (capacity - len(counts)) * (max(counts) == 0) + counts",
        "Shift when the next token finds no room, not as soon as the cache is full.":
            "== capacity → == capacity - 1",
    },
    answers=(
        Answer("half", 1, {
            "After the first shift it lies in the older half, and the second one drops it.": 2,
            "Some keys stay behind the gap, and these turn.": 0,
            "That is by how many places it turns, at once.": 2046,
        }),
        Answer("one", 4091, {
            "The last to come stands at 4,095, and has turned at each shift until it stands at 4.": 4092,
            "Four places are kept, and no key turns into them.": lambda place: place in (4095, 4096),
            "As often as the tokens behind it, which are many.": 1,
        }),
    ),
    as_good={"counts[:keep] → [0, 0, 0, 0][:keep]": "The first tokens stay, and never turn."},
)
