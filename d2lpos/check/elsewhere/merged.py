"""Ids that merge."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call


def merged_ids(ids: Tensor, dtype: torch.dtype) -> Tensor:
    rounded = ids.to(dtype)
    same = (rounded[:, None] == rounded).all(dim=-1)
    apart = (ids[:, None] != ids).any(dim=-1)
    return (same & apart).any(dim=-1)


def of_neighbors(ids, dtype):
    rounded = ids.to(dtype)
    same = (rounded[1:] == rounded[:-1]).all(dim=-1) & (ids[1:] != ids[:-1]).any(dim=-1)
    no = torch.zeros(1, dtype=torch.bool)
    return torch.cat([same, no]) | torch.cat([no, same])


def those_that_change(ids, dtype):
    return (ids.to(dtype) != ids).any(dim=-1)


def later_ones(ids, dtype):
    rounded = ids.to(dtype)
    same = (rounded[:, None] == rounded).all(dim=-1)
    apart = (ids[:, None] != ids).any(dim=-1)
    return (same & apart).tril().any(dim=-1)


def seen_twice(ids, dtype):
    rounded = ids.to(dtype)
    same = (rounded[:, None] == rounded).all(dim=-1)
    return same.sum(dim=-1) > 1


def ids_case(ids: list[list[int]], dtype: torch.dtype) -> Case:
    return call(ids=torch.tensor(ids), dtype=dtype)


merged = Check(
    "merged",
    reference=merged_ids,
    properties={
        "rows and columns from 256 on, in bfloat16": [
            ids_case([[0, 256], [0, 257], [0, 258], [0, 259], [0, 260]], torch.bfloat16),
            ids_case([[0, 257, 3, 1], [0, 3, 257, 1], [0, 256, 3, 1], [0, 257, 4, 1], [0, 256, 4, 2]], torch.bfloat16),
            ids_case([[-514], [2], [512], [515], [516], [513]], torch.bfloat16),
            ids_case([[257, 600], [256, 601], [257, 604], [10, 600]], torch.bfloat16),
            ids_case([[n] for n in range(250, 270)], torch.bfloat16),
        ],
        "in other dtypes, which have other limits": [
            ids_case([[0, 256], [0, 257], [0, 2048], [0, 2049]], torch.float16),
            ids_case([[2**24, 1], [2**24 + 1, 1], [2**24 + 2, 1], [2**24 + 1, 2]], torch.float32),
            ids_case([[2**53, 1], [2**53 + 1, 1], [2**24, 1], [2**24 + 1, 1]], torch.float64),
            ids_case([[4097], [4096], [4100], [257], [256], [70000], [70001]], torch.float16),
        ],
        "ids that were equal before": [
            ids_case([[0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 256, 2], [0, 257, 2], [0, 256, 2]], torch.bfloat16),
            ids_case([[1, 300], [1, 300], [1, 304], [1, 304]], torch.bfloat16),
            ids_case([[5], [5], [3], [9]], torch.float16),
        ],
    },
    mistakes={
        "These tokens change when they are rounded. 256 stays and still has 257 beside it; a token that moves to an "
        "empty place merges with none.": those_that_change,
        "Only tokens that follow each other are compared. The row below comes a whole width later.": of_neighbors,
        "One coordinate is enough here. Two tokens merge if all of their coordinates agree after rounding.": (
            "same = (rounded[:, None] == rounded).all(dim=-1) → same = (rounded[:, None] == rounded).any(dim=-1)"
        ),
        "Both tokens of a pair are merged, the earlier one, too.": later_ones,
        "These ids were equal before they were rounded, as all of FLUX.1's text tokens are. They did not merge.": seen_twice,
        "You rounded to bfloat16 whatever `dtype` says.": "ids.to(dtype) → ids.to(torch.bfloat16)",
        "True is for those that merged. These are the others.": lambda ids, dtype: ~merged_ids(ids, dtype),
    },
    as_good={
        "same & apart → apart & same": "The order does not matter.",
        "(same & apart).any(dim=-1) → (same & apart).any(dim=-0)": "Who merges with whom is symmetric.",
        "(same & apart).any(dim=-1) → (same & apart).any(dim=-2)": "Who merges with whom is symmetric.",
        "(same & apart).any(dim=-1) → (same & apart).any(dim=1)": "Of two axes, 1 is the last.",
    },
    cards=(seen_twice, of_neighbors),
)
