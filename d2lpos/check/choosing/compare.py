"""A fair comparison."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import several
from ..verdict import Case, Check, call, is_empty


def interval(difference: Tensor, t: float) -> tuple[Tensor, Tensor]:
    half = t * difference.std() / len(difference) ** 0.5
    return difference.mean() - half, difference.mean() + half


def fair(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
    arm = 1 + validation[1:].mean(dim=1).argmin()
    return arm, *interval(test[arm] - test[0], t)


def not_paired(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor]:
    arm, low, high = fair(validation, test, t)
    half = t * ((test[arm].var() + test[0].var()) / test.shape[1]) ** 0.5
    return arm, (low + high) / 2 - half, (low + high) / 2 + half


VALIDATION = torch.tensor([
    [2.0, 2.5, 3.0, 2.5],
    [1.75, 2.25, 2.5, 2.5],
    [1.0, 2.5, 3.5, 3.0],
    [2.0, 2.125, 2.25, 5.0],
    [3.0, 3.0, 3.5, 3.5],
])
TEST = torch.tensor([
    [2.25, 2.75, 3.5, 2.5],
    [2.0, 2.25, 3.25, 2.75],
    [2.0, 3.5, 1.25, 1.25],
    [1.5, 2.0, 2.0, 1.75],
    [2.5, 3.0, 3.25, 2.75],
])
WORSE = VALIDATION + torch.tensor([[0.0], [1.0], [2.0], [2.0], [2.0]])  # here the baseline is the best


def comparison_case(part: str, validation: Tensor, test: Tensor, t: float = 3.182) -> Case:
    """What an answer says of the arm, or of the interval."""
    text = f"validation {validation.tolist()}, test {test.tolist()}, t = {t}"
    case = call(text, validation=validation, test=test, t=t)

    def ask(answer: Callable) -> object:
        all_three = case.ask(answer)
        if is_empty(all_three):
            return all_three
        arm, *ends = several(all_three, "arm", "low", "high")
        return arm if part == "arm" else torch.tensor(ends)

    return Case(case.text, ask)


compare = Check(
    "compare",
    reference=fair,
    properties={
        "the arm is chosen by validation": [
            comparison_case("arm", VALIDATION[:3, :2], TEST[:3, :2]),
            comparison_case("arm", VALIDATION, TEST),
            comparison_case("arm", WORSE[[0, 2, 1, 3, 4]], TEST),
            comparison_case("arm", VALIDATION.flip(0), TEST),
            comparison_case("arm", VALIDATION[[0, 2, 1]] / 4, TEST[[0, 2, 1]]),
        ],
        "the interval is of paired differences on the test": [
            comparison_case("interval", VALIDATION[:2], TEST[:2]),
            comparison_case("interval", VALIDATION, TEST),
            comparison_case("interval", VALIDATION[:3, :2], TEST[:3, :2], 12.706),
        ],
    },
    mistakes={
        "The arm is chosen by the test. Whatever is chosen there looks better than it is.":
            "1 + validation[1:] → 1 + test[1:]",
        "The arms are counted from 0 without the baseline. Row 0 is the baseline: add 1.":
            "1 + validation[1:] → validation[1:]",
        "The baseline is no arm: choose among the rows from 1 on.": "1 + validation[1:] → validation",
        "The seeds are not paired: the interval must be that of the differences, seed by seed.": not_paired,
        "The interval is of the validation, by which the arm was chosen.":
            "test[arm] - test[0] → validation[arm] - validation[0]",
        "These are baseline minus arm. Take the baseline from the arm.":
            "test[arm] - test[0] → test[0] - test[arm]",
        "This is how far runs lie apart. For their mean, divide by the root of the number of seeds.":
            "difference.std() / len(difference) ** 0.5 → difference.std()",
        "1.96 is right for many seeds. With few, use t.": "half = t * → half = 1.96 *",
    },
    as_good={
        "argument 0 sorted": "A mean over seeds has no order.",
        "validation[1:].mean(dim=1) → validation[1:].sum(dim=1)": "The sums over the seeds are in the order of the means.",
        "validation[1:].mean(dim=1) → validation[1:].mean(dim=-1)": "Of two axes, 1 is the last.",
        "returned as fractions": "The row may be counted as 3.0.",
    },
)
