"""The board of a trained model as the numbers that the figure "board" shows, and one state of it in words.

All is read from files that are written where the records are published.
"""

import json
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

import torch

from ..input.sinusoids import frequencies
from ..runtime.published import published

LENGTH, DIM, BASE = 512, 64, 100_000  # tokens that were read; features of a head, and RoPE's base
SMALL = 50  # ten-thousandths of a nat


@cache
def stored(study: str) -> dict:
    return json.loads((published("results") / f"{study}.json").read_text("utf-8"))


@cache
def numbers() -> dict:
    """All that the figure shows, small enough for a page.

    base: [loss, weight of each head]. none, columns[pair], rows[layer] and cells[layer][pair]: by how much these change.
    Losses travel in ten-thousandths, weights in thousandths. sentence: as in `real-sentence.json`.
    """
    board = stored("real-board")
    base = [round(10_000 * board["base"][0]), *(round(1000 * weight) for weight in board["base"][1:])]

    def change(cell: list) -> list[int]:
        rise, *weights = cell
        after = (
            was if weight is None else round(1000 * weight)
            for weight, was in zip(weights, base[1:], strict=True)
        )
        return [round(10_000 * rise), *(now - was for now, was in zip(after, base[1:], strict=True))]

    return {
        "heads": board["heads"],
        "passages": board["passages"],
        "base": base,
        "none": change(board["none"]),
        "columns": [change(cell) for cell in board["columns"]],
        "rows": [change(cell) for cell in board["rows"]],
        "cells": [[change(cell) for cell in row] for row in board["cells"]],
        "sentence": stored("real-sentence"),
    }


def state(layer: int | None, pair: int | None, still: str | None) -> tuple[list[int], str] | None:
    """What changes, and how the sentence goes on; None where all turns. Raises ValueError for a part of everything."""
    if still is not None and (layer, pair) != (None, None):
        raise ValueError(
            f"layer and pair of board must be None where still is {still!r}; got {layer!r} and {pair!r}"
        )
    if (layer, pair, still) == (None, None, None):
        return None

    def part(of: dict):
        if layer is None:
            return of["none"] if pair is None else of["columns"][pair]
        return of["rows"][layer] if pair is None else of["cells"][layer][pair]

    data = numbers()
    return part(data), data["sentence"]["goes"][part(data["sentence"])]


def slow() -> int:
    """The first pair that does not get around once in the text."""
    return int((LENGTH * frequencies(DIM, BASE) >= 2 * torch.pi).sum())


def describe_state(layer: int | None, pair: int | None, still: str | None) -> str:
    effect, data = state(layer, pair, still), numbers()
    loss, *weights = data["base"]
    layers, pairs, late = len(data["rows"]), len(data["columns"]), slow()
    cells = {(n, i): cell[0] for n, row in enumerate(data["cells"]) for i, cell in enumerate(row)}
    at, best = max(cells, key=cells.get)
    far = max(abs(v) for (_, i), v in cells.items() if i >= late)
    column, row = (
        max(range(len(some)), key=lambda n: some[n][0]) for some in (data["columns"], data["rows"])
    )
    small = [v for v in cells.values() if abs(v) < SMALL]
    falls, rises = sum(v < 0 for v in small), sum(v > 0 for v in small)
    others = max(cell[0] for i, cell in enumerate(data["columns"]) if i != column)
    passages = (
        f"mean over {data['passages']} passages"
        if data["passages"] > 1
        else "one passage, so without an interval"
    )
    text = (
        f"SmolLM2-135M reads {LENGTH} tokens of Persuasion with a loss of {fixed(loss / 10_000, 2)} nats a token "
        f"({passages}). The board shows by how much it rises when one of {layers} × {pairs} pairs of features is "
        f"held still: most for pair {best} of layer {at}, by {nats(cells[at, best])}. "
        f"Of the changes below {nats(SMALL)}, {falls} are falls and {rises} rises. Pairs {late} to {pairs - 1}, which "
        f"get around less than once in {LENGTH} tokens, change it by at most {nats(far)}. Held still in all layers, pair "
        f"{column} costs {nats(data['columns'][column][0])} and any other at most {nats(others)}; all of layer {row} costs "
        f"{nats(data['rows'][row][0])}, and all pairs of all layers {nats(data['none'][0])}."
    )
    if effect is None:
        return f"{text} Here all turn, as trained."
    (rise, *change), goes = effect
    which = {
        (True, True): "nothing turns",
        (True, False): f"pair {pair} is held still in all layers",
        (False, True): f"all pairs of layer {layer} are held still",
        (False, False): f"pair {pair} of layer {layer} is held still",
    }[layer is None, pair is None]
    before, after = (
        listed(fixed(weight / 1000, 2) for weight in some)
        for some in (weights, [was + by for was, by in zip(weights, change, strict=True)])
    )
    first, begins = data["sentence"]["goes"][0], data["sentence"]["begins"]
    same = "as it did" if goes == first else f"instead of “{line(first)}”"
    return (
        f"{text} Here {which}, and the loss becomes {fixed((loss + rise) / 10_000, 2)}. Four heads that look one back "
        f"give the previous token a weight of {after}, instead of {before}. “{begins}” goes on “{line(goes)}”, {same}."
    )


def fixed(value: float, places: int) -> str:
    """A number as the figure rounds it: Python would write 0.625 as 0.62, and JavaScript 0.63."""
    rounded = Decimal(value).quantize(Decimal(10) ** -places, ROUND_HALF_UP)
    return f"{rounded + 0:f}".replace("-", "−")


def nats(change: int) -> str:
    return fixed(change / 10_000, 3)


def listed(some: Iterable[str]) -> str:
    *first, last = some
    return f"{', '.join(first)} and {last}"


def line(words: str) -> str:
    return " ".join(words.split())
