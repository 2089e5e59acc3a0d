"""The widest buckets that training fills."""

import math

from ..verdict import Check, call


def by_formula(farthest: int, buckets: int) -> float:
    """The maximum at which the last bucket begins at the farthest distance."""
    return farthest * (2 * farthest / buckets) ** (2 / (buckets - 2))


def fitted(length: int, buckets: int) -> int:
    return math.floor(by_formula(length - 1, buckets))


widest = Check(
    "widest",
    reference=fitted,
    properties={
        "the largest maximum that leaves no bucket empty": [
            call(length=length, buckets=buckets)
            for length, buckets in [(64, 32), (16, 8), (24, 4), (113, 32), (512, 32), (200, 64), (95, 12), (2048, 8)]
        ],
    },
    mistakes={
        "That is the length of training. The last bucket begins before the maximum, so there is room.":
            lambda length, buckets: length,
        "Training has distances up to length − 1. Here it has one more.":
            lambda length, buckets: fitted(length + 1, buckets),
        "One too large: with this maximum the last bucket stays empty.":
            lambda length, buckets: fitted(length, buckets) + 1,
        "One too small: the next maximum leaves no bucket empty either.":
            lambda length, buckets: fitted(length, buckets) - 1,
        "These are the buckets of a model that sees both sides. This one is causal: all are for the past.":
            lambda length, buckets: fitted(length, buckets // 2),
        "Solved for D, the exponent is 2/(G − 2), not 2/G.":
            lambda length, buckets: math.floor((length - 1) * (2 * (length - 1) / buckets) ** (2 / buckets)),
    },
    as_good={
        "returned as a float": "The text asks for a whole number, and 1.0 is one.",
        "returned as a tensor of one number": "The text asks for a whole number, and this is one.",
    },
)
