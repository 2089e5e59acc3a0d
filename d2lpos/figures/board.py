"""The board of a trained model as the numbers that the figure "board" shows.

All is read from files that are written where the records are published.
"""

import json
from functools import cache

from ..runtime.published import published


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
