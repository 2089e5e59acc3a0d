"""Two mirrors."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from ..cases import read_as, two_tensors
from ..verdict import Answer, Case, Check, call


def toward(angle: Tensor) -> Tensor:
    return torch.stack([angle.cos(), angle.sin()], dim=-1)


def half_way(angle: Tensor) -> tuple[Tensor, Tensor]:
    return toward(0 * angle), toward(angle / 2)


def reflections(v: Tensor) -> Tensor:
    """I − 2vvᵀ for v of whatever length; (n, 2) gives (n, 2, 2)."""
    v = normalize(v, dim=-1)
    return torch.eye(2) - 2 * v[..., :, None] * v[..., None, :]


def one_after_the_other(u: Tensor, w: Tensor) -> Tensor:
    return reflections(w) @ reflections(u)


def lengths(u: Tensor, w: Tensor) -> Tensor:
    return torch.stack([u, w]).norm(dim=-1)


def mirror_case(angles: list[float], look: Callable) -> Case:
    def read(outcome: object) -> object:
        return look(*(part.double() for part in two_tensors(outcome, "u and w", *2 * ((len(angles), 2),))))

    return read_as(call(angle=torch.tensor(angles)), read)


mirrors = Check(
    "mirrors",
    reference=half_way,
    properties={
        "reflected at u and then at w, the plane turns by the angle": [
            mirror_case([0.5, 1.0, 2.0], one_after_the_other),
            mirror_case([-0.5, -2.0, 0.0, 4.0, 10.0, *(n / 2 for n in range(12))], one_after_the_other),
            mirror_case([1.5], one_after_the_other),
        ],
        "u and w have length 1": [mirror_case([0.5, -1.0, 2.0, 0.0], lengths)],
    },
    mistakes={
        "Reflected at these two, the plane turns the other way. Which of the two comes first?":
            "toward(0 * angle), toward(angle / 2) → toward(angle / 2), toward(0 * angle)",
        "Two mirrors turn by twice the angle between them.": "angle / 2 → angle",
        "This turns by half of the angle.": "angle / 2 → angle / 4",
        "What matters is the angle between the two mirrors, not where both stand.": "0 * angle → angle / 2",
        "This turns by half a circle besides. A vector is the normal of its mirror, and stands across it.":
            "angle / 2 → angle / 2 + torch.pi / 2",
        "w is on the right line, but its length is not 1.":
            lambda angle: (toward(0 * angle), toward(0 * angle) + toward(angle)),
    },
    answers=(Answer("fewest", 64, {
        "So many turn one plane. RoPE turns 32 of them.": 2,
        "A reflection is no turn: one plane takes two.": 32,
        "One reflection changes one direction, and leaves 63 as they are.": 1,
        "One more direction would stay as it is, and RoPE's turn leaves none.": 63,
        "One plane takes two, and 64 features are 32 planes.": 128,
    }),),
    as_good={
        "torch.stack([angle.cos(), angle.sin()], dim=-1) → torch.stack([angle.cos(), angle.sin()], dim=1)": "Of two axes, 1 is the last.",
    },
)
