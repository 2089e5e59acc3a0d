"""Beside the book's."""

import torch
from scipy.stats import t
from torch import Tensor

from ..cases import read_as, several
from ..verdict import Case, Check, call


def with_interval(each: Tensor) -> tuple[float, float]:
    """The mean, and half its 95 % interval, by Student's t."""
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / n**0.5


def differences(mine: dict[int, float], theirs: dict[int, float]) -> Tensor:
    return torch.tensor([mine[seed] - theirs[seed] for seed in mine if seed in theirs], dtype=torch.float64)


def paired_by_seed(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    return with_interval(differences(mine, theirs))


def not_paired(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    a, b = (torch.tensor([*side.values()], dtype=torch.float64) for side in (mine, theirs))
    error = (a.var() / len(a) + b.var() / len(b)).sqrt().item()
    return (a.mean() - b.mean()).item(), t.ppf(0.975, len(a) - 1) * error


def beside_case(mine: dict[int, float], theirs: dict[int, float]) -> Case:
    return read_as(
        call(f"mine = {mine}, theirs = {theirs}", mine=mine, theirs=theirs),
        lambda outcome: torch.tensor(several(outcome, "mean", "half"), dtype=torch.float64),
    )


beside = Check(
    "beside",
    reference=paired_by_seed,
    properties={
        "the mean difference, and half its interval": [
            beside_case({0: 1.5, 1: 2.5}, {0: 1.75, 1: 2.0}),
            beside_case({0: 1.5, 1: 1.25, 2: 2.0, 3: 1.75}, {0: 1.0, 1: 1.25, 2: 1.5, 3: 1.5}),
        ],
        "seeds in another order": [
            beside_case({0: 1.5, 1: 2.5}, {1: 2.0, 0: 1.25}),
            beside_case({2026: 1.5, 2: 0.0, 7: 2.5}, {7: 2.0, 2026: 1.25, 2: 1.25}),
        ],
        "seeds that one of the two lacks": [
            beside_case({0: 1.5, 1: 2.5}, {0: 1.25, 1: 2.0, 2: 9.0}),
            beside_case({0: 1.5, 1: 2.5, 3: 8.0, 4: 2.0}, {0: 1.25, 1: 2.0, 4: 1.75}),
        ],
    },
    mistakes={
        "Paired by their place in the dictionary. The same seed belongs together.": (
            "[mine[seed] - theirs[seed] for seed in mine if seed in theirs] → "
            "[a - b for a, b in zip(mine.values(), theirs.values())]"
        ),
        "A seed that one lacks is no loss of 0. Leave it out.": (
            "[mine[seed] - theirs[seed] for seed in mine if seed in theirs] → "
            "[mine.get(seed, 0) - theirs.get(seed, 0) for seed in mine | theirs]"
        ),
        "Theirs comes off mine: below 0, mine has the lower loss.":
            "mine[seed] - theirs[seed] → theirs[seed] - mine[seed]",
        "Seeds share their batches. Take differences first, and their spread.": not_paired,
        "1.96 is for many seeds. For a few, take Student's t with one degree less than seeds.":
            "t.ppf(0.975, n - 1) → 1.96",
        "This is the spread of seeds. A mean over n seeds varies less, by the root of n.":
            "each.std().item() / n**0.5 → each.std().item()",
        "This is the whole interval. Half of it is asked for.": "t.ppf( → 2 * t.ppf(",
    },
    as_good={
        "each.mean().item() → each.mean()": "The text names no type.",
        "each.std().item() → each.std()": "The text names no type.",
        "torch.tensor([mine[seed] - theirs[seed] for seed in mine if seed in theirs], dtype=torch.float64) → torch.tensor([mine[seed] - theirs[seed] for seed in mine if seed in theirs])": "The losses have so few digits that both types hold them.",
        "torch.tensor([mine[seed] - theirs[seed] for seed in mine if seed in theirs], dtype=torch.float64) → torch.tensor([mine[seed] - theirs[seed] for seed in mine if seed in theirs], dtype=torch.float32)": "The losses have so few digits that both types hold them.",
    },
)
