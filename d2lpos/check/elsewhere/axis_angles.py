"""Uneven axes."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call


def angles_by_axis(positions: Tensor, features: list[int], base: float) -> Tensor:
    parts = []
    for axis, d in enumerate(features):
        omega = base ** (-torch.arange(0, d, 2) / d)
        parts.append(positions[:, axis, None] * omega)
    return torch.cat(parts, dim=-1)


def one_ladder(positions, features, base):
    pairs = sum(features) // 2
    omega = base ** (-torch.arange(pairs) / pairs)
    axis = torch.arange(len(features)).repeat_interleave(torch.tensor(features) // 2)
    return positions[:, axis] * omega


def even_shares(positions, features, base):
    shares = [sum(features) // len(features) // 2 * 2] * len(features)
    shares[0] += sum(features) - sum(shares)
    return angles_by_axis(positions, shares, base)


def over_the_head(positions, features, base):
    parts = []
    for axis, d in enumerate(features):
        omega = base ** (-torch.arange(0, d, 2) / sum(features))
        parts.append(positions[:, axis, None] * omega)
    return torch.cat(parts, dim=-1)


def from_a_table(positions, features, base):
    last = int(positions.abs().max()) + 2
    parts = []
    for axis, d in enumerate(features):
        omega = base ** (-torch.arange(0, d, 2) / d)
        table = torch.arange(last)[:, None] * omega
        parts.append(table[positions[:, axis].long()])
    return torch.cat(parts, dim=-1)


def grid(*sizes: int, first: float = 0, step: float = 1) -> Tensor:
    """All points of a grid, the last axis fastest, (points, axes)."""
    points = torch.cartesian_prod(*(torch.arange(n, dtype=torch.float32) for n in sizes))
    return first + step * points.reshape(len(points), len(sizes))


def axes_case(positions: list | Tensor, features: list[int], base: float, label: str = "") -> Case:
    return call(label, positions=torch.as_tensor(positions), features=features, base=base)


axis_angles = Check(
    "axis_angles",
    reference=angles_by_axis,
    properties={
        "whole numbers: each axis has its own pairs, from fast to slow": [
            axes_case([[0.0, 1.0], [2.0, 0.0]], [2, 4], 100.0),
            axes_case([[0.0, 1.0, 2.0], [1.0, 3.0, 0.0], [1.0, 5.0, 4.0]], [4, 8, 6], 256.0),
            axes_case([[3.0], [1.0]], [6], 64.0),
            axes_case(grid(2, 3, 2), [16, 56, 56], 10_000.0, "a film of 2 frames of 3 × 2 patches, as FLUX has it"),
            axes_case(grid(1, 2, 2, 3), [6, 4, 2, 8], 2_000.0, "four axes of 6, 4, 2 and 8 features"),
        ],
        "coordinates below 0, and between whole numbers": [
            axes_case([[-1.0, 0.5], [0.25, -2.0]], [4, 2], 100.0),
            axes_case([[-0.5, 1.5, -3.0], [0.0, -2.5, 0.75], [1.25, 2.0, -1.0], [300.5, 0.5, 0.0]], [2, 4, 4], 20.5),
            axes_case(grid(1, 4, 4, first=-2, step=0.75), [8, 4, 6], 10_000.0, "a picture of 4 × 4 patches, centered"),
        ],
    },
    mistakes={
        "Each axis has a ladder of its own that begins with the frequency 1. Here one ladder runs on over all axes, as "
        "M-RoPE has it.": one_ladder,
        "The exponent is divided by the features of the whole head. Divide it by those of the axis.": over_the_head,
        "All axes get the same number of features here. `features` has a number for each.": even_shares,
        "Pair n has the exponent 2n/d. You left out the 2, so all pairs but the first are too fast.":
            "torch.arange(0, d, 2) → (torch.arange(0, d, 2) / 2)",
        "The axes come in the wrong order. The first d features belong to the first coordinate.":
            lambda positions, features, base: angles_by_axis(positions.flip(-1), features, base),
        "The last pair of an axis has the exponent (d − 2)/d, not 1. You divided by d − 2.":
            "torch.arange(0, d, 2) / d → torch.arange(0, d, 2) / max(d - 2, 1)",
        "Multiply the coordinate as it is. It may be below 0, or between two whole numbers, where a table has no row.": (from_a_table, lambda positions, *rest: angles_by_axis(positions.abs(), *rest)),
    },
    cards=(over_the_head, from_a_table),
    as_good={"torch.cat(parts, dim=-1) → torch.cat(parts, dim=1)": "Of two axes, 1 is the last."},
    fixed={
        "len(features) is positions.shape[-1]": "The text gives each axis its number of features.",
        "entries that are equal are one object": "Of so small a number Python has only one object.",
    },
)
