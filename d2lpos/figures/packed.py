"""Two texts in one row, and what the small reader with RoPE makes of them: what the figure "packed" shows.

`python -m d2lpos.figures.packed book/results` reads the second text behind two others in each way, and writes what it
measures where the records are published.
"""

import json
import sys
from pathlib import Path

import torch
from torch import Tensor

from ..pretrained.char_models import attention, load, surprise, tokens
from ..transformer.model import Transformer

FIRST = (
    "She had been forced into prudence in her youth. ",
    "The rain came down on all the roads to the sea. ",
)
SECOND = "Captain Wentworth was on the watch for them, and a chaise"
# Whether positions begin again with the second text, and whether a mask hides the first.
WAYS = {"count on": (False, False), "begin again": (True, False), "mask by text": (True, True)}


def laid(first: int, second: int, way: str) -> tuple[Tensor, Tensor]:
    """Positions (length,) and mask (length, length) of a row with texts of so many characters.

    >>> laid(2, 3, "begin again")[0]
    tensor([0, 1, 0, 1, 2])
    """
    again, apart = WAYS[way]
    index = torch.arange(first + second)
    begun = index >= first
    visible = index <= index[:, None]
    return index - first * begun * again, visible & (begun == begun[:, None]) if apart else visible


def measured(model: Transformer, card: dict, first: str, second: str, way: str) -> tuple[float, Tensor]:
    """The loss of the second text, and the mean weight that its characters give to each one of the first.

    The loss is in nats for each character but the first, whose guess is made in the text before it. The means
    (characters,) are over layers, heads and the characters of the second text.
    """
    row = tokens(card, first + second)
    positions, mask = laid(len(first), len(second), way)
    loss = surprise(model, row, positions, mask)[len(first) + 1 :].mean().item()
    weights = attention(model, row, positions, mask)
    return loss, weights[:, :, len(first) :, : len(first)].mean(dim=(0, 1, 2))


def even(first: int, second: int) -> float:
    """The share of the first text if all that a character of the second sees had the same weight.

    >>> round(even(1, 2), 3)  # 1/2 and 1/3
    0.417
    """
    return sum(first / (first + count) for count in range(1, second + 1)) / second


def table() -> dict:
    """The texts and, for each way, the share of the first, that of each of its characters, and the loss behind each first text."""
    model, card = load("rope")
    ways = {}
    for way in WAYS:
        losses, shades = zip(*(measured(model, card, first, SECOND, way) for first in FIRST), strict=True)
        ways[way] = {
            "share": round(shades[0].sum().item(), 3),
            "shades": [round(shade, 4) for shade in shades[0].tolist()],
            "losses": [round(loss, 2) for loss in losses],
        }
    return {
        "first": FIRST[0],
        "second": SECOND,
        "even": round(even(len(FIRST[0]), len(SECOND)), 3),
        "ways": ways,
    }


if __name__ == "__main__":
    (Path(sys.argv[1]) / "packed.json").write_text(json.dumps(table(), indent=0) + "\n", "utf-8")
