"""One row for all queries."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...bias import alibi as package
from ...bias.alibi import bias
from ..verdict import Case, Check, Misconduct, call


def key_row(slopes: Tensor, k_positions: Tensor) -> Tensor:
    return slopes[:, None, None] * k_positions


def row_case(label: str, slopes: list, k: list) -> Case:
    """The attention weights of equal scores under a causal mask, for a query at each key and one at the end."""
    slopes, k = torch.tensor(slopes), torch.tensor(k)
    queries = torch.cat([k, k.max()[None] + 3])
    case = call(f"slopes {slopes.tolist()}, {label}", slopes=slopes, k_positions=k)

    def ask(answer: Callable) -> object:
        row = case.ask(answer)
        if not isinstance(row, Tensor):
            return row
        if row.shape != (wanted := (len(slopes), 1, len(k))):
            raise Misconduct(f"Returns shape {tuple(row.shape)}; (H, 1, N) is {wanted} here")
        if not row.is_floating_point():
            raise Misconduct("Returns whole numbers; slopes are fractions")
        return row.double().masked_fill(k > queries[:, None], -torch.inf).softmax(dim=-1)

    return Case(case.text, ask)


def from_the_end_of_the_list(slopes, k_positions):
    return bias(k_positions[-1:], k_positions, slopes)


one_row = Check(
    "one_row",
    reference=key_row,
    properties={
        "the weights of the full bias": [
            row_case("keys 0, 1, 2", [0.5], [0, 1, 2]),
            row_case("keys 0 to 4", [0.5, 1.0, 0.25], [0, 1, 2, 3, 4]),
            row_case("keys 0 to 39", [1 / 256], [*range(40)]),
        ],
        "the same weights for positions as they come": [
            row_case("keys 3, 4, 9", [0.5], [3, 4, 9]),
            row_case("keys 7, 5, 6", [0.5], [7, 5, 6]),
            row_case("keys 3001, 2998, 3004", [0.5], [3001, 2998, 3004]),
            row_case("keys −3, −1, 2", [0.5], [-3, -1, 2]),
        ],
    },
    mistakes={
        "The sign is wrong: this favors the first keys. Step 2 leaves + m·j.":
            lambda slopes, k: -key_row(slopes, k),
        "Every head has the first slope.": lambda slopes, k: key_row(slopes[:1].expand_as(slopes), k),
        "The slopes are missing: each head multiplies the positions by its own.":
            lambda slopes, k: key_row(torch.ones_like(slopes), k),
        "This is (H, N). The axis of queries has length 1: (H, 1, N).":
            lambda slopes, k: key_row(slopes, k)[:, 0],
        "This is the full bias. One row is enough.": (lambda slopes, k: package.bias(k, k, slopes)),
        "Positions are taken to be 0, 1, 2, … They are data: use k_positions.":
            lambda slopes, k: key_row(slopes, torch.arange(len(k))),
        "The distance to the last key in the list. The last in the list need not be the last in the text.": from_the_end_of_the_list,
    },
    cards=(from_the_end_of_the_list,),
)
