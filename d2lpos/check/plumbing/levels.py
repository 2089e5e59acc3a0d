"""Keys in few bits, feature by feature."""

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def by_feature(keys: Tensor, bits: int, group: int) -> Tensor:
    full = len(keys) // group * group
    groups = keys[:full].unflatten(0, (-1, group))
    low, high = groups.aminmax(dim=1, keepdim=True)
    step = (high - low) / (2**bits - 1)
    level = ((groups - low) / step.where(step > 0, 1)).round()
    return torch.cat([(low + level * step).flatten(0, 1), keys[full:]])


def divides_by_nothing(keys, bits, group):
    full = len(keys) // group * group
    x = keys[:full].unflatten(0, (-1, group))
    low, high = x.amin(dim=1, keepdim=True), x.amax(dim=1, keepdim=True)
    step = (high - low) / (2**bits - 1)
    x = ((x - low) / step).round() * step + low
    return torch.cat([x.flatten(0, 1), keys[full:]])


def keys_case(n: int, d: int, bits: int, group: int, seed: int, still: int = 0) -> Case:
    """Quarters of which none lies midway between two levels; the first `still` features are one number each."""
    draw = torch.Generator().manual_seed(seed)
    keys = torch.randint(-12, 13, (n, d), generator=draw) / 4
    keys[:, :still] = keys[:1, :still]
    return call(keys=keys, bits=bits, group=group)


def two_levels(n: int, group: int) -> Case:
    """Numbers that are levels already, behind them a tail."""
    keys = torch.tensor([[0.0, 3.0], [1.0, 2.0]])[torch.arange(n) % 2] + torch.arange(n)[:, None] // group
    keys[n // group * group :] += torch.tensor([0.25, 0.75])
    return call(keys=keys, bits=1, group=group)


levels = Check(
    "levels",
    reference=by_feature,
    properties={
        "each feature has levels of its own in each full group": [
            keys_case(4, 2, 1, 4, 4),
            keys_case(8, 3, 2, 4, 8),
            keys_case(9, 4, 4, 3, 14),
        ],
        "what stands behind the last full group stays": [
            keys_case(3, 2, 1, 4, 1),
            two_levels(7, 4),
            two_levels(17, 3),
        ],
        "a feature that is one number stays": [
            keys_case(4, 2, 2, 4, 0, still=2),
            keys_case(6, 3, 3, 3, 0, still=2),
        ],
    },
    mistakes={
        "Here a token has levels of its own. A group is one feature of so many tokens.":
            "aminmax(dim=1 → aminmax(dim=2",
        "All features share one smallest and one largest number. Each feature has its own.": (
            "low, high = groups.aminmax(dim=1, keepdim=True) → "
            "low, high = groups.amin((1, 2), True), groups.amax((1, 2), True)"
        ),
        "The levels are those of the whole text. Each group of tokens has its own.":
            "groups.aminmax(dim=1, keepdim=True) → groups.flatten(0, 1).aminmax(dim=0, keepdim=True)",
        "From the smallest to the largest of 2 ** bits levels there are 2 ** bits − 1 steps.":
            "2**bits - 1 → 2**bits",
        "A number goes to the nearest level, not to the one below.": "round() → floor()",
        "The last tokens are too few for a group. They stay as they are.":
            lambda keys, bits, group: torch.cat([by_feature(part, bits, len(part)) for part in keys.split(group)]),
        "Where a feature is one number, a step is 0, and 0 / 0 is no number.": divides_by_nothing,
    },
    answers=(Answer("cost", 3, {
        "A group must remember its smallest number and its step, too.": 2,
        "That is one of the two numbers. A group has its smallest number and its step.": 2.5,
        "32 numbers share the two of 16 bits.": 34,
        "32 numbers share the two of 16 bits: they are 1 bit more for each.": 18,
    }),),
    cards=(divides_by_nothing,),
    as_good={
        "step.where(step > 0, 1) → step.where(step > 0, -1)": "Where a step is 0, all numbers are the lowest: 0 by anything.",
        "step.where(step > 0, 1) → step.where(step > 0, 2)": "Where a step is 0, all numbers are the lowest: 0 by anything.",
    },
)
