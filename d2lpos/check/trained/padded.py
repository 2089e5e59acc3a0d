"""Left padding."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import positions_and_mask, read_as
from ..verdict import Answer, Case, Check, call


def count_and_hide(real: Tensor) -> tuple[Tensor, Tensor]:
    positions = (real.cumsum(dim=1) - 1).clamp(min=0)
    here = torch.arange(real.shape[1])
    past = here <= here[:, None]
    return positions, past & real[:, None, None] | torch.eye(len(here)).bool()


def padding_case(look: Callable, *texts: str) -> Case:
    """A batch, in which a dot is padding; look(positions, mask, real) is what is compared."""
    real = torch.tensor([[token != "." for token in text] for text in texts])
    shape = len(real), 1, real.shape[1], real.shape[1]

    def read(outcome: object) -> object:
        return look(*positions_and_mask(outcome, real.shape, shape), real)

    return read_as(call(real=real), read)


def of_real(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return positions.masked_fill(~real, 0)


def seen_by_real(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return mask & real[:, None, :, None]


def sees_any(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return mask.any(dim=-1)


def has_a_row(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return (positions >= 0) & (positions < real.shape[1])


def padding_cases(look: Callable) -> list[Case]:
    batches = (["..abc"], ["abcdefghijklmnopq", "." * 12 + "abcde"], [".abc", "...a", "..ab"])
    return [padding_case(look, *texts) for texts in batches]


def mask_of(real):
    n = real.shape[1]
    return (lower(n) & real[:, None, None, :]) | torch.eye(n, dtype=torch.bool)


def lower(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def minus_many(real):
    padding = (~real).sum(dim=-1, keepdim=True)
    return torch.arange(real.shape[1]) - padding, mask_of(real)


padded = Check(
    "padded",
    reference=count_and_hide,
    properties={
        "each text counts from its first real token": padding_cases(of_real),
        "a real token sees the real ones up to itself": padding_cases(seen_by_real),
        "every query sees a key, or its softmax is 0/0": padding_cases(sees_any),
        "padding stands on some row of the table, too": padding_cases(has_a_row),
    },
    mistakes={
        "This is the column. A text counts from its own first token.":
            "(real.cumsum(dim=1) - 1).clamp(min=0) → torch.arange(real.shape[1]).expand(real.shape)",
        "The first token stands at 1. In a table that is another row: begin with 0.":
            "(real.cumsum(dim=1) - 1).clamp(min=0) → real.cumsum(dim=1)",
        "The padding of the first text is taken from all. Each text has its own.": (
            "(real.cumsum(dim=1) - 1).clamp(min=0) → "
            "(torch.arange(real.shape[1]) - (~real[:1]).sum()).clamp(min=0).expand(real.shape)"
        ),
        "Padding stands below 0, or past the end, and a table has no row there. Give it one that there is, such as 0.": minus_many,
        "Padding is seen. Hide it as a key: columns of the mask are keys, rows are queries.": (
            "past & real[:, None, None] | torch.eye(len(here)).bool() → past.expand(len(real), 1, -1, -1)",
            "past & real[:, None, None] | torch.eye(len(here)).bool() → past & real[:, None, :, None]",
        ),
        "Later tokens are seen. Hide the padding, and what comes later.":
            "past & real[:, None, None] | → real[:, None, None] |",
        "A padding token sees nothing, and the softmax of its row is 0/0. Let it see itself.": (
            "real[:, None, None] | torch.eye(len(here)).bool() → real[:, None, None]",
            "| torch.eye(len(here)).bool() → & real[:, None, :, None]",
        ),
    },
    answers=(Answer("needed", "mask", {
        "Try the mask alone: what do RoPE's scores know of positions?": "both",
        "Try it: with positions alone, every token sees the padding.": "positions",
        "Try it: without either, every token sees the padding.": "neither",
    }),),
    cards=(minus_many,),
    as_good={
        "real.cumsum(dim=1) → real.cumsum(dim=-1)": "Of two axes, 1 is the last.",
        "real.shape[1] → real.shape[-1]": "Of two axes, 1 is the last.",
        "here <= here[:, None] → here < here[:, None]": "A token sees itself by the identity that is joined.",
        "past & real[:, None, None] | torch.eye(len(here)).bool() → torch.eye(len(here)).bool() | past & real[:, None, None]": "Or has no order.",
        "past & real[:, None, None] → real[:, None, None] & past": "And has no order.",
    },
)
