"""A window with first tokens, by blocks."""

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def pairs(length: int, window: int, first: int) -> Tensor:
    q, k = torch.arange(length)[:, None], torch.arange(length)
    return (k <= q) & ((q - k < window) | (k < first))


def graded(seen: Tensor, size: int) -> Tensor:
    tiles = seen.unflatten(0, (-1, size)).unflatten(2, (-1, size))
    return tiles.any(dim=(1, 3)).long() + tiles.all(dim=(1, 3))


def kinds(length: int, size: int, window: int, first: int) -> Tensor:
    return graded(pairs(length, window, first), size)


def block_case(length: int, size: int, window: int, first: int) -> Case:
    return call(length=length, size=size, window=window, first=first)


blocks = Check(
    "blocks",
    reference=kinds,
    properties={
        "causal, where the window is as long as the text": [
            block_case(6, 2, 6, 0), block_case(12, 4, 12, 0), block_case(4, 1, 4, 0),
        ],
        "a window, which need not end with a block": [
            block_case(10, 2, 3, 0), block_case(12, 3, 5, 0), block_case(12, 4, 2, 0),
            block_case(16, 4, 10, 0), block_case(12, 2, 6, 0),
        ],
        "first tokens, which all later queries see": [
            block_case(12, 2, 2, 2), block_case(12, 3, 3, 1), block_case(12, 2, 4, 3),
            block_case(12, 2, 2, 4), block_case(8, 4, 5, 1), block_case(8, 4, 6, 2), block_case(256, 64, 100, 70),
        ],
    },
    mistakes={
        "A block is 2 only if all its queries see all its keys.": "+ tiles.all( → + tiles.any(",
        "Blocks where all see all are 2, and need no mask.":
            "tiles.any(dim=(1, 3)).long() + tiles.all(dim=(1, 3)) → tiles.any(dim=(1, 3)).long()",
        "Later keys are seen.": "(k <= q) & ((q - k < window) → (((q - k).abs() < window)",
        "This window has a key too many. With window 1 a query sees itself alone.":
            "q - k < window → q - k <= window",
        "The window is missing.": "(k <= q) & ((q - k < window) | (k < first)) → k <= q",
        "The first tokens are missing.": "((q - k < window) | (k < first)) → (q - k < window)",
        "A key is to be among the first or in the window. Here it is to be both.":
            "| (k < first) → & (k < first)",
        "Rows are queries, columns are keys.": lambda *arguments: kinds(*arguments).mT,
    },
    answers=(Answer("skipped", 749 / 1024, within=0.001, mistakes={
        "These are the blocks that a kernel computes.": 275 / 1024,
        "The first tokens are missing: their column of blocks is computed.": 772 / 1024,
        "The blocks above the diagonal are skipped, too. Divide by all blocks.": 253 / 528,
        "Those are the blocks above the diagonal. The window skips more.": 496 / 1024,
        "A block that is seen in part is computed, too. Only those of 0 are skipped.": 828 / 1024,
        "This is a share of pairs. A kernel skips whole blocks.": 0.7805,
    }),),
    as_good={
        "(k <= q) & ((q - k < window) | (k < first)) → ((q - k < window) | (k < first)) & (k <= q)": "And has no order.",
        "(q - k < window) | (k < first) → (k < first) | (q - k < window)": "Or has no order.",
        "tiles.any(dim=(1, 3)) → tiles.any(dim=(3, 1))": "Axes that are left out together have no order.",
        "tiles.all(dim=(1, 3)) → tiles.all(dim=(3, 1))": "Axes that are left out together have no order.",
    },
)
