"""Positions of a table of variables and times that is read as one row."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call

NOW = 1_700_000_000
HOUR = 3600


def hours_of(stamps: Tensor, variables: int) -> Tensor:
    return ((stamps - stamps[0]).double() / HOUR).repeat(variables)


def rounded_first(stamps, variables):
    seconds = stamps.float()
    hours = (seconds - seconds[0]) / 3600
    return hours.repeat(variables)


def stamped(*tables: tuple[list[int], int]) -> list[Case]:
    return [call(stamps=torch.tensor(stamps), variables=variables) for stamps, variables in tables]


time_ids = Check(
    "time_ids",
    reference=hours_of,
    properties={
        "each variable has all times, one variable after another": stamped(
            ([0, HOUR], 2), ([n * HOUR for n in range(17)], 3), ([HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR], 2),
        ),
        "uneven times": stamped(([0, HOUR, 5 * HOUR], 1), ([900, 1845, 9000], 1), ([0, 0, 10 * HOUR, 11 * HOUR], 1), ([0, 1000 * HOUR + 1080], 1)),
        "stamps of today": stamped(
            ([NOW, NOW + HOUR], 1), ([NOW, NOW + 60], 1), ([NOW + 7, NOW + HOUR + 7, NOW + 2 * HOUR + 7], 1),
        ),
    },
    mistakes={
        "These are indices. The second variable does not begin at the first time again.":
            lambda stamps, variables: torch.arange(len(stamps) * variables).double(),
        "The times are counted, but they are not equally far apart. Take them from the stamps.":
            lambda stamps, variables: torch.arange(len(stamps)).double().repeat(variables),
        "Here all variables of one time come first. The row has all times of one variable first.":
            ".repeat(variables) → .repeat_interleave(variables)",
        "The stamps are rounded to float32 before you subtract, so they are off by up to a minute. Subtract whole numbers.":
            (rounded_first, lambda stamps, variables: (stamps / HOUR - stamps[0] / HOUR).repeat(variables)),
        "16 bits are too few: of 1,000.3 hours float16 makes 1,000.5, and bfloat16 makes 1,000. Return float32 or float64.": (
            "((stamps - stamps[0]).double() / HOUR) → ((stamps - stamps[0]) / HOUR).half()",
            "((stamps - stamps[0]).double() / HOUR) → ((stamps - stamps[0]) / HOUR).bfloat16()",
        ),
        "These are seconds. Hours are asked for.": "/ HOUR → / 1",
        "These are times from the event before. Positions are times from the first.":
            lambda stamps, variables: (stamps.diff(prepend=stamps[:1]).double() / HOUR).repeat(variables),
        "Divided by the last, all rows end at 1, and the unit depends on the row.":
            "/ HOUR → / (stamps[-1] - stamps[0])",
    },
    as_good={
        "(stamps - stamps[0]).double() → (stamps - stamps[0]).float()": "After the subtraction numbers are small.",
        "(stamps - stamps[0]).double() → stamps - stamps[0]": "Whole numbers are divided in float32, and are small by then.",
    },
    fixed={"stamps rises": "The stamps come in order."},
    cards=(rounded_first,),
)
