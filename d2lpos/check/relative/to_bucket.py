"""Buckets, both ways."""

import math

import torch
from torch import Tensor

from ...bias import t5 as package
from ..cases import by_hand
from ..verdict import Answer, Case, Check, call


def never_cut(distance: Tensor, count: int, far: int) -> Tensor:
    near = count // 2
    octaves = (distance.double() / near).log() / math.log(far / near)
    return torch.where(distance < near, distance, near + (octaves * near).long())


def side(distance: Tensor, count: int, far: int) -> Tensor:
    """The bucket of each distance among the `count` of one side."""
    return never_cut(distance, count, far).clamp(max=count - 1)


def buckets_of(offset: Tensor, buckets: int, max_distance: int, bidirectional: bool) -> Tensor:
    if not bidirectional:
        return side((-offset).clamp(min=0), buckets, max_distance)
    return side(offset.abs(), buckets // 2, max_distance) + buckets // 2 * (offset > 0)


def bucket_case(offsets: list, buckets: int, max_distance: int, bidirectional: bool, shown: str = "") -> Case:
    kind = "two sides" if bidirectional else "causal"
    return call(
        f"offsets {shown or offsets}, {buckets} buckets, maximum {max_distance}, {kind}",
        offset=torch.tensor(offsets), buckets=buckets, max_distance=max_distance, bidirectional=bidirectional,
    )


def all_offsets(buckets: int, max_distance: int, bidirectional: bool) -> Case:
    """But those at which a bucket begins by the formula, so that rounding may leave them in the one before."""
    count = buckets // 2 if bidirectional else buckets
    near = count // 2

    def is_clear(distance: int) -> bool:
        place = (count - near) * math.log(max(distance, near) / near) / math.log(max_distance / near)
        return distance in range(near + 1) or distance >= max_distance or abs(place - round(place)) > 1e-4

    reach = 2 * max_distance
    offsets = [offset for offset in range(-reach, reach + 1) if is_clear(abs(offset))]
    return bucket_case(offsets, buckets, max_distance, bidirectional, f"−{reach} … {reach}")


to_bucket = Check(
    "to_bucket",
    reference=buckets_of,
    properties={
        "causal: exact, then logarithmic, then the last; keys after the query get 0": [
            bucket_case([0, -1, -7, -15, -16], 32, 128, False),
            bucket_case([-17, -20, -34, -65, -98], 32, 128, False),
            bucket_case([-5, -6, -9, -13, -22], 8, 40, False),
            bucket_case([-112, -113, -127, -500, -100000], 32, 128, False),
            bucket_case([[1, 5, 40]], 32, 128, False),
            all_offsets(32, 128, False),
            all_offsets(12, 8, False),
        ],
        "two sides, each with half of the buckets": [
            bucket_case([-3, -1, 0, 1, 3], 32, 128, True),
            bucket_case([-100, -25, -9, 9, 25, 100], 32, 128, True),
            bucket_case([[-300, -21, -6], [6, 21, 300]], 16, 50, True),
            all_offsets(32, 128, True),
            all_offsets(24, 770, True),
        ],
        "written by hand": [
            by_hand("one offset", package, "check_positive", "bucket", (torch.tensor([-1]), 32, 128, False))
        ],
    },
    mistakes={
        "The sign is turned around: keys before the query have negative offsets.":
            lambda offset, *args: buckets_of(-offset, *args),
        "The last bucket is missing its cut: clamp to the number of buckets − 1.":
            "never_cut(distance, count, far).clamp(max=count - 1) → never_cut(distance, count, far)",
        "The far buckets are rounded to the nearest. Round down.":
            "(octaves * near).long() → (octaves * near).round().long()",
        "The logarithm is divided by ln D. From the exact half on, it must reach 1 at D: ln(2D/G).":
            "math.log(far / near) → math.log(far)",
        "In a causal model keys after the query are hidden, and get bucket 0.":
            "(-offset).clamp(min=0) → offset.abs()",
        "With two sides, each has half of the buckets.":
            "buckets // 2, max_distance) + buckets // 2 * → buckets, max_distance) + buckets *",
        "Left and right share their buckets. Keys after the query use the upper half.":
            "max_distance) + buckets // 2 * (offset > 0) → max_distance)",
        "Offset 0 belongs to the lower half.": "offset > 0 → offset >= 0",
    },
    answers=(Answer("unused", 16, {
        "Bucket 15 has all keys far before the query.": 15,
        "Bucket 0 has the query's own place.": 0,
        "Bucket 17 has the key behind the query. Count the upper half from distance 0.": 17,
        "Bucket 31 has all keys far behind the query.": 31,
    }),),
    as_good={
        "distance.double() → distance": "Single precision differs only where a bucket begins, which the text leaves open.",
        "distance.double() → distance.float()": "Single precision differs only where a bucket begins, which the text leaves open.",
        "distance < near → distance <= near": "The first bucket of the second half begins at this distance.",
    },
)
