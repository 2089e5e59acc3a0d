"""A text in chunks on four processors, and who counts its positions: what the figure "ranks" shows.

`python -m d2lpos.figures.ranks book/results` reads the text in all ways that the figure shows, in half a
minute, and writes the losses where the records are published.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path

import torch
from torch import Tensor

from ..pretrained.reader import load, surprise, tokens
from ..transformer.model import Transformer

CHUNKS, SIZE = 8, 16  # of a text; tokens of a chunk
TEXT = (
    "One morning, about a week after Bingley's engagement with Jane had been formed, "
    "as he and the females of the family were sitting"
)
LEAST = 100  # of the losses, in hundredths of a nat


def ways(chunks: Sequence[int] = range(CHUNKS)) -> Iterator[tuple[int, ...]]:
    """All orders in which processors hold chunks, two each and the earlier one first.

    >>> list(ways((0, 1, 2, 3)))[:2]
    [(0, 1, 2, 3), (0, 2, 1, 3)]
    """
    if not chunks:
        yield ()
    for pair in combinations(chunks, 2):
        for others in ways([chunk for chunk in chunks if chunk not in pair]):
            yield (*pair, *others)


def starts(order: Sequence[int], rule: str) -> list[int]:
    """The position that the first token of each chunk is given.

    >>> starts([0, 7, 1, 6, 2, 5, 3, 4], "row")
    [0, 32, 64, 96, 112, 80, 48, 16]
    """
    places = [order.index(chunk) for chunk in range(CHUNKS)]
    return [
        SIZE * {"text": chunk, "row": place, "each": place % 2}[rule] for chunk, place in enumerate(places)
    ]


def first(order: Sequence[int]) -> str:
    """The chunks that processors hold first: all that counting from 0 on each of them depends on."""
    return "".join(str(chunk) for chunk in sorted(order[::2]))


def measured(model: Transformer, text: Tensor, at: Sequence[int]) -> int:
    """The loss when chunks begin at these positions, in hundredths of a nat; the mask is always the text's."""
    positions = (torch.tensor(at)[:, None] + torch.arange(SIZE)).flatten()
    return round(100 * surprise(model, text, positions)[1:].mean().item())


def table() -> dict:
    """The text, and the loss of the small reader with RoPE in all ways to deal it, in hundredths of a nat.

    right: with the positions of the text. row: when positions count along the row, a byte for each of `ways`,
    above `least`, in base64. each: when each processor counts from 0, by `first`.
    """
    model, card = load("rope")
    read = partial(measured, model, tokens(card, TEXT))
    row = bytes(read(starts(order, "row")) - LEAST for order in ways())
    each = {first(order): starts(order, "each") for order in ways()}
    return {
        "text": TEXT,
        "right": read(starts(range(CHUNKS), "text")),
        "least": LEAST,
        "row": b64encode(row).decode(),
        "each": {key: read(at) for key, at in each.items()},
    }


if __name__ == "__main__":
    (Path(sys.argv[1]) / "ranks.json").write_text(json.dumps(table(), indent=0) + "\n", "utf-8")
