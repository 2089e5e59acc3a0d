"""Documents that were read apart, in one row."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call


def turns_of(prompt: int, lengths: list[int], first: int, question: int) -> Tensor:
    parts, start = [torch.full((prompt,), -1)], prompt
    for length in lengths:
        inside = torch.arange(length)
        parts.append(torch.where(inside < first, -1, start))
        start += length
    return torch.cat([*parts, torch.full((question,), -1)])


def longer_than_it_is(prompt: int, lengths: list[int], first: int, question: int) -> Tensor:
    """A list that is repeated −2 times is empty."""
    found = [-1] * prompt
    start = prompt
    for length in lengths:
        found += [-1] * first + [start] * (length - first)
        start += length
    return torch.tensor(found + [-1] * question)


def rows(*arguments: tuple[int, list[int], int, int]) -> list[Case]:
    names = ("prompt", "lengths", "first", "question")
    return [call(**dict(zip(names, one, strict=True))) for one in arguments]


joined = Check(
    "joined",
    reference=turns_of,
    properties={
        "kept keys turn on to their places, the first of each document are computed": rows(
            (2, [3], 0, 1),
            (2, [3], 1, 1),
            (0, [4, 3], 2, 1),
            (3, [2, 4], 0, 2),
            (3, [4, 5], 2, 0),
            (1, [300, int("300"), 2], 1, 3),  # equal, and two objects
            (1, [2, 5, 3, 4], 1, 2),
        ),
        "a document as short as that is computed whole": rows(
            (2, [1], 3, 1), (0, [1, 1, 4], 3, 2), (4, [2, 1, 2], 3, 1)
        ),
    },
    mistakes={
        "The keys are left where they were: turned for 0, 1, 2, … in each document.": "-1, start) → -1, 0)",
        "The prompt stands before the documents, so all of them move by its length, too.":
            "-1, start) → -1, start - prompt)",
        "Each document begins where the one before it ends. Here all move by the prompt alone.":
            "-1, start) → -1, prompt)",
        "These are the new places. The keys have turned already: by new − old.":
            "-1, start) → -1, start + inside)",
        "The keys turn the wrong way: by new − old.": "-1, start) → -1, -start)",
        "The first tokens are counted from the beginning of the row, so the prompt takes them up.":
            "inside < first → inside + prompt < first",
        "A document may have fewer tokens than are to be computed: then all of them are, and no more.": longer_than_it_is,
    },
    cards=(longer_than_it_is,),
)
