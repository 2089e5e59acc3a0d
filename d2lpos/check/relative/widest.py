"""The widest buckets that training fills."""

import math
import operator
from collections.abc import Callable

from ..verdict import Case, Check, Misconduct, call, call_or_exception, is_empty


def by_formula(farthest: int, buckets: int) -> float:
    """The maximum at which the last bucket begins at the farthest distance."""
    return farthest * (2 * farthest / buckets) ** (2 / (buckets - 2))


def fitted(length: int, buckets: int) -> int:
    return math.floor(by_formula(length - 1, buckets))


def too_far(length: int, buckets: int, far: int) -> str:
    excess = far - fitted(length, buckets)
    return f"too far by {excess}: a bucket stays empty" if excess > 0 else "all are filled"


def too_near(length: int, buckets: int, far: int) -> str:
    room = fitted(length, buckets) - far
    return f"{room} more would do" if room > 0 else "no more would do"


def length_cases(verdict: Callable) -> list[Case]:
    """In words, how far an answer is off to one side."""

    def case(length: int, buckets: int) -> Case:
        question = call(f"length = {length}, buckets = {buckets}", length=length, buckets=buckets)

        def ask(answer: Callable) -> object:
            far = question.ask(answer)
            if is_empty(far):
                return far
            if isinstance(call_or_exception(operator.index, far), Exception):
                raise Misconduct(f"Returns type {type(far).__name__}; a whole number is asked for")
            return verdict(length, buckets, operator.index(far))

        return Case(question.text, ask)

    sizes = [(64, 32), (16, 8), (24, 8), (113, 32), (512, 32), (200, 64), (95, 12), (2048, 8)]
    return [case(*size) for size in sizes]


widest = Check(
    "widest",
    reference=fitted,
    properties={
        "no bucket stays empty": length_cases(too_far),
        "no larger maximum does that": length_cases(too_near),
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
    as_good={"returned as a tensor of one number": "The text asks for a whole number, and this is one."},
)
