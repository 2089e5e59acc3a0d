"""What a head is worth."""

import torch
from scipy.stats import t
from torch import Tensor

from ..cases import read_as, several
from ..verdict import Case, Check, call
from .material import drawn


def known(losses: Tensor, period: int) -> Tensor:
    """The losses of the tokens that a repeat can tell: those after the first of the second copy."""
    return losses[:, period:]


def with_interval(each: Tensor) -> tuple[float, float]:
    """The mean, and half its 95 % interval, by Student's t."""
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / n**0.5


def paired_rise(before: Tensor, after: Tensor, period: int) -> tuple[float, float]:
    return with_interval(known(after - before, period).mean(dim=1))


def not_paired(before: Tensor, after: Tensor, period: int) -> tuple[float, float]:
    a, b = (known(losses, period).mean(dim=1) for losses in (before, after))
    half = t.ppf(0.975, len(a) - 1) * ((a.var() + b.var()).item() / len(a)) ** 0.5
    return (b - a).mean().item(), half


def rise_case(texts: int, tokens: int, period: int, seed: int) -> Case:
    """Losses of texts that differ more from each other than a change moves them."""
    level = 4 * drawn(texts, 1, seed=seed + 1, low=0, high=9)
    before = level + drawn(texts, tokens - 1, seed=seed, low=0, high=9)
    after = before + drawn(texts, tokens - 1, seed=seed + 2, low=-8, high=9)
    return read_as(
        call(before=before, after=after, period=period),
        lambda outcome: torch.tensor(several(outcome, "rise", "half"), dtype=torch.float64),
    )


worth = Check(
    "worth",
    reference=paired_rise,
    properties={
        "the mean rise where a repeat can help, and half its interval over texts": [
            rise_case(2, 4, 2, seed=0), rise_case(3, 8, 4, seed=3), rise_case(4, 16, 8, seed=6),
        ],
        "more than one repeat": [rise_case(8, 17, 3, seed=9)],
    },
    mistakes={
        "The first token of a copy cannot be known. Column c is the loss of token c + 1.":
            "losses[:, period:] → losses[:, period - 1 :]",
        "In the first copy nothing repeats. Leave it out.": "losses[:, period:] → losses",
        "This is a fall: before comes off after.": "after - before → before - after",
        "Tokens of one text are not independent: their number makes the interval too narrow. Take the mean of a "
        "text first.": "period).mean(dim=1) → period).flatten()",
        "Texts differ, and both readings share that. Take differences first, and their spread.": not_paired,
        "1.96 is for many texts. For a few, take Student's t with one degree less than texts.":
            "t.ppf(0.975, n - 1) → 1.96",
        "This is the spread of texts. A mean over n texts varies less, by the root of n.":
            "each.std().item() / n**0.5 → each.std().item()",
    },
    as_good={
        "each.std().item() → each.std()": "The text names no type.",
        "each.mean().item() → each.mean()": "The text names no type.",
        "known(after - before, period).mean(dim=1) → known(after - before, period).mean(dim=-1)": "Of two axes, 1 is the last.",
    },
)
