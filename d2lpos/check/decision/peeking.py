"""Looking after each seed."""

import torch
from scipy.stats import t
from torch import Tensor

from ..cases import exact_dtype, quarters
from ..verdict import Case, Check, call


def apart(differences: Tensor, n: int, level: float = 0.975) -> Tensor:
    """Which studies have an interval without zero after n seeds."""
    part = differences[:, :n]
    return part.mean(dim=1).abs() > t.ppf(level, n - 1) * part.std(dim=1) / n**0.5


def looks(differences: Tensor, first: int) -> Tensor:
    return torch.stack([apart(differences, n) for n in range(first, differences.shape[1] + 1)])


def share(discovered: Tensor) -> float:
    return discovered.float().mean().item()


def ever_apart(differences: Tensor, first: int) -> float:
    return share(looks(differences, first).any(dim=0))


def studies(number: int, seeds: int, first: int, seed: int) -> Case:
    """As many studies, and as many looks, as is a power of two: then shares are exact in any dtype."""
    return exact_dtype(call(differences=quarters(number, seeds, seed=seed), first=first))


peeking = Check(
    "peeking",
    reference=ever_apart,
    properties={
        "the share that wins at any look": [
            studies(64, 6, 3, 0), studies(256, 8, 5, 1), studies(256, 17, 2, 7), studies(256, 5, 5, 3),
        ],
    },
    mistakes={
        "This looks once, at the end.": lambda differences, first: share(apart(differences, differences.shape[1])),
        "A study that wins twice counts once: ask whether it ever wins.":
            "looks(differences, first).any(dim=0) → looks(differences, first)",
        "This asks for studies that win at every look.": "any(dim=0) → all(dim=0)",
        "The first look comes after `first` seeds.": (
            lambda differences, first: ever_apart(differences, min(first + 1, differences.shape[1])) * (first < differences.shape[1])
        ),
        "The last look, with all seeds, is missing.": lambda differences, first: ever_apart(
            differences[:, :-1], first
        ) if differences.shape[1] > first else 0.0,
    },
    as_good={
        "differences.shape[1] → differences.shape[-1]": "Of two axes, 1 is the last.",
        "part.mean(dim=1) → part.mean(dim=-1)": "Of two axes, 1 is the last.",
        "part.std(dim=1) → part.std(dim=-1)": "Of two axes, 1 is the last.",
    },
)  # fmt: skip
