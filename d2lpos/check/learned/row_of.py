"""Past the end."""

import torch
from torch import Tensor

from ..cases import exact_dtype
from ..verdict import Case, Check, call


def rows(T: int, L: int, remedy: str) -> Tensor:
    p = torch.arange(T, dtype=torch.float32)
    if T <= L:
        return p
    return {"last row": p.clamp(max=L - 1), "wrapped": p % L, "stretched": p * (L - 1) / (T - 1)}[remedy]


def remedy_cases(remedy: str, *sizes: tuple[int, int]) -> list[Case]:
    return [exact_dtype(call(f'T = {T}, L = {L}, "{remedy}"', T=T, L=L, remedy=remedy)) for T, L in sizes]


row_of = Check(
    "row_of",
    reference=rows,
    properties={
        "last row": remedy_cases("last row", (5, 3), (9, 4), (3000, 2500)),
        "wrapped": remedy_cases("wrapped", (5, 3), (9, 4)),
        "stretched, from the first row to the last": remedy_cases("stretched", (5, 3), (9, 4), (3, 2)),
        "a text that fits keeps its rows": [
            *remedy_cases("stretched", (3, 5), (1, 4), (1, 1), (5, 7)),
            *remedy_cases("last row", (3, 3), (2, 5)),
            *remedy_cases("wrapped", (2, 3)),
        ],
    },
    mistakes={
        "The last row is L − 1, not L.": "p.clamp(max=L - 1) → p.clamp(max=L)",
        "p mod (L − 1) leaves out the last row.": "p % L → p % (L - 1)",
        "The factor is L/T. Then the last position misses the last row: take (L − 1)/(T − 1).":
            "p * (L - 1) / (T - 1) → p * L / T",
        "Stretching takes whole rows only. It mixes two.":
            "p * (L - 1) / (T - 1) → (p * (L - 1) / (T - 1)).floor()",
        "Positions run to T − 1: divide by that, so that the last position gets the last row.":
            "(L - 1) / (T - 1) → (L - 1) / T",
        "A text that fits is stretched too. It keeps its own rows.":
            lambda T, L, remedy: torch.linspace(0, L - 1, T) if remedy == "stretched" else rows(T, L, remedy),
    },
)
