"""A checkpoint's layout."""

import math

import torch
from torch import Tensor

from ...rotary import rope as package
from ..cases import by_hand, exact_dtype
from ..verdict import Answer, Case, Check, call


def rows_to_half(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def rows_case(
    heads: int, d: int, *columns: int, first: int = 0, step: float = 1, dtype: torch.dtype = torch.float32
) -> Case:
    weight = first + step * torch.arange(heads * d * math.prod(columns)).reshape(heads * d, *columns)
    return exact_dtype(call(weight=weight.to(dtype), heads=heads))


def the_way_back(weight, heads):
    halves = weight.reshape(heads, 2, -1, *weight.shape[1:])
    return halves.transpose(1, 2).reshape(weight.shape)


def heads_of_a_bias_only(weight, heads):
    if weight.dim() == 1:
        return weight.view(heads, -1, 2).mT.flatten()
    return torch.cat([weight[0::2], weight[1::2]])


to_half = Check(
    "to_half",
    reference=rows_to_half,
    properties={
        "one head: first members first, then second members": [
            rows_case(1, 4, 2), rows_case(1, 6, 3), rows_case(1, 128, 16),
        ],
        "several heads, each by itself": [
            rows_case(2, 4, 8), rows_case(3, 4, 5, first=5000), rows_case(2, 4, 2, dtype=torch.bfloat16),
        ],
        "a bias, which has no columns": [rows_case(1, 4), rows_case(2, 4, first=1, step=-0.25)],
        "written by hand": [by_hand("one head", package, "check_layout", "convert", (torch.ones(4, 2), 1))],
    },
    mistakes={
        "This leads from halves to neighbors. The other way is asked for.": the_way_back,
        "Second members come first: the even rows are the first of their pairs.":
            lambda weight, heads: weight.unflatten(0, (heads, -1, 2)).flip(2).transpose(1, 2).flatten(0, 2),
        "All heads are taken for one. Each has d rows of its own, and d/2 pairs in them.": heads_of_a_bias_only,
        "Rows of different heads are mixed. Rows of one head lie together: the heads are the first axis.":
            lambda weight, heads: weight.unflatten(0, (-1, 2, heads)).transpose(0, 1).flatten(0, 2),
        "The columns are reordered. They are features of the input, which does not turn.":
            lambda weight, heads: torch.cat([weight[:, 0::2], weight[:, 1::2]], dim=1),
        "Nothing has moved.": lambda weight, heads: weight.clone(),
    },
    answers=(Answer("key_heads", 4, {
        "That is the number for W_Q. The rows of W_K belong to the key heads.": 32,
        "So many query heads share one key head. The rows of W_K are those of all key heads.": 8,
        "Queries have a weight of their own.": 36,
    }),),
    cards=(the_way_back, heads_of_a_bias_only),
    as_good={
        "weight.unflatten(0, (heads, -1, 2)).transpose(1, 2) → weight.unflatten(0, (heads, -1, 2)).transpose(2, 1)": "To exchange two axes is the same in both orders.",
    },
)
