"""Packed texts."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call
from .material import both, the_positions


def seen_among(pairs: Tensor) -> Callable:
    return lambda positions, mask: mask & pairs


def in_texts(cu_seqlens: Tensor) -> tuple[Tensor, Tensor]:
    lengths = cu_seqlens.diff()
    text = torch.arange(len(lengths)).repeat_interleave(lengths)
    here = torch.arange(len(text))
    return here - cu_seqlens[text], (text == text[:, None]) & (here <= here[:, None])


def row_of(cu_seqlens: Tensor) -> tuple[Tensor, Tensor]:
    """Each token's text, and its place in the row."""
    here = torch.arange(cu_seqlens[-1])
    return torch.bucketize(here, cu_seqlens[1:], right=True), here


ROWS = [[0, 2, 5], [0, 7], [0, 4, 6, 11], [0, 1, 2, *range(6, 32, 2), 50]]


def packed_cases(pairs: Callable | None = None) -> list[Case]:
    """All rows; of the mask the pairs (text, place) that are looked at, and without them the positions."""
    cases = []
    for row in ROWS:
        cu_seqlens = torch.tensor(row, dtype=torch.int32)
        look = seen_among(pairs(*row_of(cu_seqlens))) if pairs else the_positions
        cases.append(both(call(cu_seqlens=cu_seqlens), row[-1], look))
    return cases


def counted(cu_seqlens):
    return torch.cat([torch.arange(n) for n in cu_seqlens.diff().tolist()])


def causal_by_position(cu_seqlens):
    positions = counted(cu_seqlens)
    return positions, positions[:, None] >= positions


packed = Check(
    "packed",
    reference=in_texts,
    properties={
        "positions begin again at 0 with each text": packed_cases(),
        "no query sees another text": packed_cases(lambda text, here: text != text[:, None]),
        "of its own it sees itself and what came before":
            packed_cases(lambda text, here: text == text[:, None]),
    },
    mistakes={
        "Positions go on from one text to the next. Each text begins at 0.": "here - cu_seqlens[text] → here",
        "Each text begins at 1. It is to begin at 0.":
            "here - cu_seqlens[text] → here - cu_seqlens[text] + 1",
        "The mask is causal, and knows of no texts.": "(text == text[:, None]) & (here → (here",
        "The mask compares positions, which begin again. Compare texts, and places in the row.": causal_by_position,
        "The mask keeps texts apart, but shows later tokens, too.":
            "(text == text[:, None]) & (here <= here[:, None]) → text == text[:, None]",
        "Rows of the mask are queries, columns are keys.": "here <= here → here >= here",
        "The mask is turned around: True is where a query sees a key.":
            "(text == text[:, None]) & (here <= here[:, None]) → (text != text[:, None]) | (here > here[:, None])",
        "A query sees itself, too.": "here <= here → here < here",
    },
    answers=(Answer("leaks", 38, {
        "So many pairs both masks show.": 28,
        "So many pairs the causal mask shows, those within a text included.": 66,
        "Half of these are later than their query, and the causal mask hides them.": 76,
        "So many pairs this mask hides. Most of them the causal mask hides, too.": 93,
    }),),
    cards=(causal_by_position,),
    as_good={
        "(text == text[:, None]) & (here <= here[:, None]) → (here <= here[:, None]) & (text == text[:, None])": "And has no order.",
    },
)
