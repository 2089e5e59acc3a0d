"""Rows for a fair test."""

import torch
from torch import Tensor

from ..cases import read_as, two_tensors
from ..verdict import Case, Check, call


def rows_that_end(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    places = ends[:, None] + torch.arange(-length, 0)
    targets = text[places + 1]
    targets[:, :-asked] = -100
    return text[places], targets


def row_case(text: list[int], ends: list[int], length: int, asked: int) -> Case:
    shape = len(ends), length
    return read_as(
        call(text=torch.tensor(text), ends=torch.tensor(ends), length=length, asked=asked),
        lambda outcome: torch.stack(two_tensors(outcome, "tokens and targets", shape, shape)),
    )


TEXT = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4]
fair_rows = Check(
    "fair_rows",
    reference=rows_that_end,
    properties={
        "all of a row is asked": [row_case(TEXT[:8], [3], 3, 3), row_case(TEXT, [7, 3], 3, 3)],
        "the last of a row are asked": [row_case(TEXT[:8], [4], 3, 1), row_case(TEXT, [9, 13, 6], 5, 2)],
        "a row that ends with the text": [row_case(TEXT[:5], [4], 3, 2), row_case(TEXT, [19, 11], 8, 3)],
    },
    mistakes={
        "A longer row begins earlier and ends where the shorter one does. These begin at `ends`.":
            lambda text, ends, length, asked: rows_that_end(text, ends + length, length, asked),
        "The targets are the tokens themselves. Each is asked for the next one.":
            "text[places + 1] → text[places]",
        "The first ones are asked for. The last ones have the most text before them.":
            "targets[:, :-asked] → targets[:, asked:]",
        "All are asked for. Then a longer row is asked for other characters than a short one.":
            lambda text, ends, length, asked: rows_that_end(text, ends, length, length),
        "The row holds text[end]. It is the last target: the row ends just before it.":
            lambda text, ends, length, asked: rows_that_end(text, ends + 1, length, asked),
        "One target too many, or too few: the last `asked` of each row are asked for.":
            lambda text, ends, length, asked: rows_that_end(text, ends, length, asked + 1),
    },
)
