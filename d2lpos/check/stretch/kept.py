"""What is kept."""


import torch
from scipy.stats import t
from torch import Tensor

from ..verdict import Case, Check, call


def judged(each: Tensor, margin: float, half: float) -> str:
    mean = each.mean().item()
    if mean + half < margin:
        return "kept"
    return "lost" if mean - half > margin else "undecided"


def error(each: Tensor) -> float:
    return each.std().item() / len(each) ** 0.5


def student(each: Tensor) -> float:
    return t.ppf(0.975, len(each) - 1) * error(each)


def rises(before: Tensor, after: Tensor) -> Tensor:
    """How much the loss of each seed has risen."""
    return (after - before).mean(dim=1)


def paired_word(before: Tensor, after: Tensor, margin: float) -> str:
    each = rises(before, after)
    return judged(each, margin, student(each))


def holds_zero(before: Tensor, after: Tensor, margin: float) -> str:
    each = rises(before, after)
    return "kept" if abs(each.mean().item()) < student(each) else "lost"


def not_paired(before: Tensor, after: Tensor, margin: float) -> str:
    a, b = before.mean(dim=1), after.mean(dim=1)
    half = t.ppf(0.975, len(a) - 1) * (error(a) ** 2 + error(b) ** 2) ** 0.5
    return judged(b - a, margin, half)


def word_case(margin: float, *rise: list[float]) -> Case:
    """The losses of seeds, which differ more than they rise; a list for each text."""
    rises = torch.tensor(rise).T
    before = 1.5 + torch.tensor([0.0, 1.0, 0.5] * 2)[: len(rises), None] + torch.arange(len(rise)) / 4
    return call(before=before, after=before + rises, margin=margin)


kept = Check(
    "kept",
    reference=paired_word,
    properties={
        "kept, where the whole interval lies below the margin": [
            word_case(0.375, [0.125, 0.25, 0.125, 0.25]),
            word_case(0.68556, [0.25, 0.375, 0.5]),
            word_case(0.5, [-1.5, -1.375, -1.625]),
            word_case(0.5, [1.0, 1.125, 1.0], [-1.0, -0.875, -1.125]),
            word_case(0.85, [0.125, 0.25, 0.125, 0.25], [1.0, 1.125, 1.0, 1.25]),
        ],
        "lost, where the whole interval lies above the margin": [
            word_case(0.5, [1.0, 1.125, 1.0, 1.25]),
            word_case(0.75, [3.0, 2.875, 3.0], [0.0, 0.125, 0.25], [0.25, 0.0, 0.125]),
            word_case(1.4476, [1.5, 1.625, 1.5, 1.625]),
        ],
        "undecided, where the margin lies within the interval": [
            word_case(0.5, [0.0, 0.5, 0.0, 0.5]),
            word_case(0.625, [0.25, 0.375, 0.5]),
            word_case(0.6855, [0.25, 0.375, 0.5]),
            word_case(0.5, [0.5, 1.25, 0.625, 1.0]),
            word_case(1.5093, [1.5, 1.75, 2.0, 2.25, 2.5]),
            word_case(2.4907, [1.5, 1.75, 2.0, 2.25, 2.5]),
        ],
    },
    mistakes={
        "A mean below the margin may be luck. The whole interval must lie there.":
            lambda before, after, margin: "kept" if rises(before, after).mean() < margin else "lost",
        "An interval that holds 0 proves nothing: with noisy seeds everything would be kept.": holds_zero,
        "What is not kept need not be lost: the margin may lie within the interval.":
            '"lost" if mean - half > margin else "undecided" → "lost"',
        "What is lost is known, too: there the whole interval lies above the margin.":
            '"lost" if mean - half > margin else "undecided" → "undecided"',
        "A rise is after − before. This is a fall.": "after - before → before - after",
        "Seeds differ, and before and after share that. Take differences first, and their spread.": not_paired,
        "1.96 is for many seeds. For a few, take Student's t with one degree less than seeds.":
            "t.ppf(0.975, len(each) - 1) → 1.96",
        "This is the spread of seeds. A mean over n seeds varies less, by the root of n.":
            "each.std().item() / len(each) ** 0.5 → each.std().item()",
    },
    as_good={
        "argument 1 sorted": "The order of texts does not change a mean over them, and seeds stay.",
        "each.mean().item() → each.mean()": "A tensor compares as well as a number.",
        "each.std().item() → each.std()": "A tensor compares as well as a number.",
        "mean + half < margin → mean + half <= margin": "An interval hardly ever ends at the margin.",
        "mean - half > margin → mean - half >= margin": "An interval hardly ever ends at the margin.",
        "(after - before).mean(dim=1) → (after - before).mean(dim=-1)": "Of two axes, 1 is the last.",
    },
)
