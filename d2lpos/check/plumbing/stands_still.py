"""Which keys no longer move when they turn by a small angle and are stored in few digits."""

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def turn(pairs: Tensor, omega: Tensor) -> Tensor:
    x, y = pairs.unbind(dim=-1)
    cos, sin = omega.cos(), omega.sin()
    return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1)


def nearest(x: Tensor, digits: int) -> Tensor:
    fraction, exponent = torch.frexp(x)
    return (fraction * 2**digits).round() * 2.0 ** (exponent - digits)


def still(pairs: Tensor, omega: Tensor, digits: int) -> Tensor:
    return (nearest(turn(pairs, omega), digits) == pairs).all(dim=-1)


def half_a_spacing(pairs, omega, digits):
    moved = (turn(pairs, omega) - pairs).abs()
    spacing = 2.0 ** (torch.frexp(pairs).exponent - digits)
    return (moved < spacing / 2).all(dim=1)


def small_angle(pairs, omega, digits):
    x, y, by = *pairs.T, omega
    moved = torch.stack([x - by * y, y + by * x], dim=1)
    return (nearest(moved, digits) == pairs).all(dim=1)


def keys_case(digits: int, *keys: tuple[float, float, float]) -> Case:
    """Pairs with the angle of each, no number of which is turned to the middle between two that can be stored."""
    x, y, omega = torch.tensor(keys).double().unbind(dim=1)
    return call(pairs=torch.stack([x, y], dim=1), omega=omega, digits=digits)


stands_still = Check(
    "stands_still",
    reference=still,
    properties={
        "two numbers with one exponent": [
            keys_case(4, (1.5, 1.25, 1 / 64), (1.5, 1.25, 1 / 8)),
            keys_case(4, (12.0, -13.0, 1 / 25), (-26.0, 22.0, 1 / 60), (0.4375, 0.375, 1 / 25), (-0.203125, -0.234375, 1 / 50)),
            keys_case(3, (5.0, -6.0, 0.05), (-0.875, 0.75, 0.08), (5.0, -5.0, 0.09), (-6.0, 5.0, 6.2832), (5.0, -6.0, 3.1416)),
            keys_case(3, (1.25, -1.75, 0.0723), (1.75, 1.25, 0.0723)),
            keys_case(8, (1.0078125, 1.9921875, 1 / 490), (-200.0, 130.0, 1 / 500), (200.0, 130.0, 1 / 330)),
        ],
        "a small number beside a large one": [
            keys_case(4, (1.5, 6.5, 1 / 150), (6.5, 1.5, 1 / 70), (-1.25, 12.0, 1 / 300)),
            keys_case(5, (1.5, -20.0, 1 / 500), (20.0, 1.5, 1 / 1000), (-1.25, -3.0, 1 / 130)),
        ],
        "a power of two, which has nearer neighbors below": [
            keys_case(4, (1.0, 1.0, 1 / 20), (-1.0, 1.25, 1 / 30)),
            keys_case(3, (-4.0, -4.0, 0.08), (1.0, -1.75, 0.05), (1.75, 1.0, 0.05)),
            keys_case(3, *((2.0**n, 1.75 * 2.0**n, -0.05) for n in range(-9, 9))),
        ],
    },
    mistakes={
        "Both numbers of a pair must stay. Here one is enough.": ".all(dim=-1) → .any(dim=-1)",
        "Only the first number of each pair is looked at.": "(nearest(turn(pairs, omega), digits) == pairs).all(dim=-1) → (nearest(turn(pairs, omega), digits) == pairs)[:, 0]",
        "digits counts the leading 1, too: numbers from 1 to 2 are 2 ** (1 − digits) apart.": (
            lambda pairs, omega, digits: still(pairs, omega, digits + 1),
            lambda pairs, omega, digits: still(pairs, omega, digits - 1),
        ),
        "A number goes to the nearest one that can be stored, not to the one below.": (".round() → .floor()", ".round() → .trunc()"),
        "The spacing is not the same everywhere. It doubles with each power of two.":
            "(fraction * 2**digits).round() * 2.0 ** (exponent - digits) → (x * 2 ** (digits - 1)).round() / 2 ** (digits - 1)",
        "A turn moves each number by about omega times the other one of its pair.":
            lambda pairs, omega, digits: (nearest(pairs + (turn(pairs, omega) - pairs).flip(1), digits) == pairs).all(1),
        "x − omega · y is a turn only where omega is small. Take its cosine and its sine.": small_angle,
        "Below a power of two the numbers lie half as far apart as above it. Turn, round and compare.": half_a_spacing,
    },
    answers=(Answer("first_still", 20, {
        "At that pair omega is above 2 ** −8, so no key can stand still.": 19,
        "bfloat16 stores seven digits behind the leading 1, which counts, too: it has eight.": 17,
        "From that pair on all keys whose numbers have one exponent stand still. Some stop sooner.": 22,
        "That is the first pair for the base 100,000.": 16,
        "That is the first pair in float16, which has eleven digits.": 27,
    }),),
    cards=(half_a_spacing,),
    as_good={
        "pairs.unbind(dim=-1) → pairs.unbind(dim=1)": "Pairs are (n, 2), so axis 1 is the last.",
        "(nearest(turn(pairs, omega), digits) == pairs).all(dim=-1) → (nearest(turn(pairs, omega), digits) == pairs).all(dim=1)": "Pairs are (n, 2), so axis 1 is the last.",
        "torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1) → torch.stack([x * cos - y * sin, x * sin + y * cos], dim=1)":
            "Pairs are (n, 2), so axis 1 is the last.",
    },
)
