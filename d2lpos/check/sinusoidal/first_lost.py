"""What a number format can count."""

import torch

from ..cases import exact_dtype
from ..verdict import Answer, Check, call


def count_limit(dtype: torch.dtype) -> int:
    """1 + eps is the next number after 1, so the next after 2/eps is 2/eps + 2."""
    return int(2 / torch.finfo(dtype).eps) + 1


def first_unequal(dtype: torch.dtype) -> int:
    """Compares in the small format, where both sides are rounded alike."""
    n = torch.arange(1, 5000)
    return int(n[n.to(dtype) != n.to(dtype)][0])


first_lost = Check(
    "first_lost",
    reference=count_limit,
    properties={
        "the smallest positive whole number that the format cannot hold": [
            exact_dtype(call(dtype=dtype)) for dtype in (torch.bfloat16, torch.float16, torch.float32)
        ],
        "formats of eight bits, too": [
            exact_dtype(call(dtype=dtype)) for dtype in (torch.float8_e4m3fn, torch.float8_e5m2)
        ],
    },
    mistakes={
        "The format holds this one. The next one is lost.": lambda dtype: count_limit(dtype) - 1,
        "One too large: the smaller neighbor is lost as well.": lambda dtype: count_limit(dtype) + 1,
        "The gap is 2 only past 2/eps. Between 1/eps and 2/eps it is 1, which is enough.":
            lambda dtype: int(1 / torch.finfo(dtype).eps) + 1,
        "This is the largest number of the format. Whole numbers are lost long before it.":
            lambda dtype: int(torch.finfo(dtype).max),
        "The search ends before float32 does. Compute the number instead.":
            lambda dtype: min(count_limit(dtype), 5000),
        "Both sides are compared in the small format. Convert back first: n.to(dtype).long() != n.":
            first_unequal,
        "Not every format is known. Compute it from the dtype.":
            lambda dtype: {torch.bfloat16: 257, torch.float16: 2049, torch.float32: 16777217}.get(dtype),
    },
    answers=(Answer("contexts", 128, within=0.01, mistakes={
        "That is float16's number. float32's is larger.": 2049 / 131072,
        "That is bfloat16's number. float32's is larger.": 257 / 131072,
        "float32 holds 24 binary digits, the leading 1 with the 23 of its fraction.": 64,
        "That is the number itself. Divide it by 131,072.": 16777217,
    }),),
)
