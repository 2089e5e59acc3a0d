"""Both layouts."""

import torch
from torch import Tensor

from ...rotary import rope as package
from ..cases import by_hand
from ..verdict import Case, Check, call
from .material import draw, joined, split, turn_both, turned_pair


def spread(x: Tensor, both: Tensor, layout: str) -> Tensor:
    """A turn feature by feature, with an angle for each."""
    a, b = split(x, layout)
    return x * both.cos() + joined(-b, a, layout) * both.sin()


def turn_case(x: list, angles: list, layout: str) -> Case:
    label = f"x = {x}, angles = {angles}, layout = {layout}"
    return call(label, x=torch.tensor(x), angles=torch.tensor(angles), layout=layout)


def turn_many(layout: str, *shape: int, d: int = 6, far: int = 1) -> Case:
    x = draw(*shape, d)
    angles = far * draw(shape[-1], d // 2)
    label = f"x {tuple(x.shape)}, angles {tuple(angles.shape)}, layout = {layout}"
    return call(label, x=x, angles=angles, layout=layout)


turn_pairs = Check(
    "turn_pairs",
    reference=turn_both,
    properties={
        "each pair turns by its angle, in both layouts": [
            turn_case([[1.0, 0.0]], [[0.5]], "interleaved"),
            turn_case([[1.0, 2.0, 3.0, 4.0]], [[0.5, 0.25]], "interleaved"),
            turn_case([[1.0, 2.0, 3.0, 4.0], [4.0, 2.0, 1.0, 3.0]], [[0.5, 0.25], [1.0, 2.0]], "half"),
            turn_case([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], [[0.5, 0.25, 2.0]], "half"),
            turn_many("interleaved", 4, 4),
            turn_many("half", 4),
            turn_many("interleaved", 2, 3, 4),
            turn_many("half", 2, 4, 4),
            turn_many("half", 20, d=128, far=101),
        ],
        "written by hand": [by_hand(
            "ones, both layouts", package, "check_and_upcast", "rotate",
            *[(torch.ones(3, 4), torch.ones(3, 2), layout) for layout in ("interleaved", "half")],
        )],
    },
    mistakes={
        "The pairs turn clockwise: this is the angle −α.":
            lambda x, angles, layout: turn_both(x, -angles, layout),
        "The second feature turns with the new first one. Both sums need the old one.": (
            "return a * angles.cos() - b * angles.sin(), a → a = a * angles.cos() - b * angles.sin()\n    return a, a"
        ),
        "The two layouts are exchanged.":
            lambda x, angles, layout: turn_both(x, angles, {"half": "interleaved"}.get(layout, "half")),
        "Neighbors have turned, but come back in halves. Put each one next to its partner.":
            lambda x, angles, layout: joined(*turned_pair(*split(x, layout), angles), "half"),
        "Two neighbors get different angles. Repeat each angle twice in a row: repeat_interleave.":
            lambda x, angles, layout: spread(x, torch.cat([angles, angles], dim=-1), layout),
        "In the half layout, partners are d/2 apart. Lay the angles end to end: cat([angles, angles]).":
            lambda x, angles, layout: spread(x, angles.repeat_interleave(2, dim=-1), layout),
        "In the half layout, the pairs turn clockwise. The minus belongs to the second half: cat([-x2, x1]).":
            lambda x, angles, layout: turn_both(x, -angles if layout == "half" else angles, layout),
    },
)
