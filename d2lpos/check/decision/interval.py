"""The interval of paired differences."""

import torch
from scipy.stats import t
from torch import Tensor

from ..cases import exact_dtype, quarters
from ..verdict import Case, Check, call


def student(each: Tensor, level: float = 0.975, correction: int = 1) -> Tensor:
    """Low and high of the mean of the differences."""
    n = len(each)
    half = t.ppf(level, n - 1) * each.std(correction=correction) / n**0.5
    return torch.stack([each.mean() - half, each.mean() + half])


def paired_interval(ours: Tensor, theirs: Tensor) -> Tensor:
    return student(ours - theirs)


def two_groups(ours: Tensor, theirs: Tensor) -> Tensor:
    half = t.ppf(0.975, len(ours) - 1) * ((ours.var() + theirs.var()) / len(ours)) ** 0.5
    mean = ours.mean() - theirs.mean()
    return torch.stack([mean - half, mean + half])


def pairs(n: int, seed: int, dtype: torch.dtype = torch.float32) -> Case:
    theirs = quarters(n, seed=seed, low=0, high=33).to(dtype) + 2**26 * (dtype == torch.float64)
    ours = theirs + quarters(n, seed=seed + 1, low=-6, high=3).to(dtype)
    return exact_dtype(call(ours=ours, theirs=theirs))


interval = Check(
    "interval",
    reference=paired_interval,
    properties={"the 95 % interval of the mean difference": [pairs(3, 0), pairs(4, 2), pairs(10, 4), pairs(5, 6, torch.float64)]},
    mistakes={
        "The sign is turned: theirs come off ours.": lambda ours, theirs: paired_interval(theirs, ours),
        "Equal seeds share batches and first weights. Take differences first, and their spread.": two_groups,
        "1.96 is for many seeds. For a few, take Student's t with one degree less than seeds.":
            "t.ppf(level, n - 1) → 1.96",
        "This is the spread of seeds. A mean over n seeds varies less, by the root of n.":
            "each.std(correction=correction) / n**0.5 → each.std(correction=correction)",
        "A 95 % interval leaves 2.5 % on each side: ask t for 0.975.":
            "level: float = 0.975 → level: float = 0.95",
        "For the spread of a sample, divide squares by n − 1.": "correction: int = 1 → correction: int = 0",
    },
    as_good={
        "each.std(correction=correction) → each.std()": "PyTorch divides by one less than the number of seeds by itself.",
    },
)
