"""Several questions at once."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call


def corrected(p: Tensor) -> Tensor:
    order = p.argsort()
    left = torch.arange(len(p), 0, -1)
    scaled = (p[order] * left).cummax(dim=0).values.clamp(max=1)
    return scaled[order.argsort()]


def family(*p: float) -> Case:
    return call(p=torch.tensor(p))


holm = Check(
    "holm",
    reference=corrected,
    properties={
        "each p times how many are left, in its place": [
            family(0.3, 0.7), family(0.0078125, 0.03125, 0.125, 0.25),
            family(0.125, 0.03125), family(*((n + 1) / (17 - n) / 32 for n in torch.arange(0, 85, 5).remainder(17).tolist())),
        ],
        "a larger p never ends smaller": [family(0.125, 0.15625, 0.28125)],
        "none above 1": [family(1.0, 0.0625, 0.75)],
    },
    mistakes={
        "This multiplies all by their number, which is Bonferroni's. Holm's factor falls by one each time.":
            lambda p: (p * len(p)).clamp(max=1),
        "Sort first: the factors belong to the order of size, not of the list.":
            lambda p: (p * torch.arange(len(p), 0, -1)).cummax(dim=0).values.clamp(max=1),
        "Bring each back to the place where its p stood.": lambda p: corrected(p.sort().values),
        "Where a larger p has ended smaller, raise it to the one before.":
            "left).cummax(dim=0).values → left)",
        "A probability is 1 at most.": "values.clamp(max=1) → values",
        "Nothing has been corrected.": lambda p: p,
    },
    as_good={
        "(p[order] * left).cummax(dim=0) → (p[order] * left).cummax(dim=-1)": "Of one axis, 0 is the last.",
    },
)  # fmt: skip
