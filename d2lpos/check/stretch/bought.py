"""What a budget buys."""


import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def worth(rows: Tensor, lengths: Tensor, trained: int) -> Tensor:
    """(n, 3): rows, pairs of query and key, and tokens that stand past the rows of training."""
    pairs = rows * lengths * (lengths + 1) // 2
    return torch.stack([rows, pairs, rows * (lengths - trained).clamp(min=0)], dim=1)


def by_tokens(budget: int, lengths: Tensor, shares: Tensor, trained: int) -> Tensor:
    return worth((budget * shares / lengths).long(), lengths, trained)


def budget_case(budget: int, lengths: list[int], shares: list[float], trained: int) -> Case:
    rows = {"lengths": torch.tensor(lengths), "shares": torch.tensor(shares)}
    return call(budget=budget, **rows, trained=trained)


bought = Check(
    "bought",
    reference=by_tokens,
    properties={
        "a mixture, by shares of the tokens": [
            budget_case(64, [8, 16], [0.5, 0.5], 4),
            budget_case(256 * 131_101, [64, 128], [0.5, 0.5], 64),
            budget_case(2048, [4, 8, 16, 32] * 4, [0.03125, 0.09375] * 8, 4),
        ],
        "whole rows alone": [
            budget_case(100, [8], [1.0], 4), budget_case(1000, [100, 275, 3000], [0.25, 0.5, 0.25], 4),
            budget_case(999, [100], [1.0], 64),
        ],
        "rows as short as those of training": [
            budget_case(64, [8], [1.0], 8),
            budget_case(128, [4, 32], [0.5, 0.5], 16),
        ],
    },
    mistakes={
        "shares are of the tokens. A row of 256 takes four times as many as a row of 64.":
            "budget * shares / lengths → budget / (shares * lengths).sum() * shares",
        "The shares need not be equal: they are given.":
            "budget * shares / lengths → budget / len(shares) / lengths",
        "A row that the budget does not pay for is not bought: round down.":
            ("lengths).long() → lengths).ceil().long()", "lengths).long() → lengths).round().long()"),
        "A token sees itself and those before it: a row of N has N(N + 1)/2 pairs.":
            ("lengths * (lengths + 1) // 2 → lengths**2", "lengths + 1 → lengths - 1"),
        "These are the places of one row that are new. Count them in all rows.":
            "rows * (lengths - trained) → (lengths - trained)",
        "A row that is shorter than those of training has no token past them: 0, and no negative number.":
            "(lengths - trained).clamp(min=0) → (lengths - trained)",
    },
    answers=(Answer("dearer", 257 / 65, within=0.01, mistakes={
        "So many pairs more has a single row. The same tokens buy a quarter of the rows.": 4 * 257 / 65,
        "A token sees itself, too: a row has N(N + 1)/2 pairs.": 255 / 63,
        "It is nearly that. How many pairs has a row of 256, and how many has a row of 64?": 4,
        "The tokens are as many. The pairs are not.": 1,
        "Divide the pairs of the long rows by those of the short ones.": 0.25,
    }),),
    as_good={
        "torch.stack([rows, pairs, rows * (lengths - trained).clamp(min=0)], dim=1) → torch.stack([rows, pairs, rows * (lengths - trained).clamp(min=0)], dim=-1)": "Of two axes, 1 is the last.",
    },
)
