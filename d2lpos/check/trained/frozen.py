"""Which pairs can be held for nothing?"""

from collections.abc import Callable
from operator import index

import numpy as np

from ..cases import exact_dtype
from ..verdict import Answer, Case, Check, is_empty

MOST = 7  # runs of the model, where there are 32 pairs


def halve(loss: Callable, pairs: int, allowed: float) -> int:
    limit = loss(pairs) + allowed
    low, high = -1, pairs
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if loss(middle) <= limit else (middle, high)
    return high


def from_the_top(loss: Callable, pairs: int, allowed: float) -> int:
    limit = loss(pairs) + allowed
    return next((p + 1 for p in range(pairs - 1, -1, -1) if loss(p) > limit), 0)


def from_the_bottom(loss: Callable, pairs: int, allowed: float) -> int:
    limit = loss(pairs) + allowed
    return next(p for p in range(pairs + 1) if loss(p) <= limit)


def all_at_once(loss: Callable, pairs: int, allowed: float) -> int:
    losses = [loss(p) for p in range(pairs + 1)]
    return min(p for p in range(pairs + 1) if losses[p] <= losses[pairs] + allowed)


def held_case(losses: list, allowed: float, look: Callable, label: str = "") -> Case:
    """Pairs are as many as losses, less one: the last loss is that with none held. look(edge, asked) is compared."""

    def ask(answer: Callable) -> object:
        asked = []

        def loss(p: int) -> float:
            if index(p) < 0:
                raise ValueError(f"pairs must lie in 0 … {len(losses) - 2}; got {p}")
            asked.append(index(p))
            return losses[min(index(p), len(losses) - 1)]

        edge = answer(loss, len(losses) - 1, allowed)
        edge = edge.item() if isinstance(edge, np.integer) else edge
        return edge if is_empty(edge) else look(edge, asked)

    return exact_dtype(Case(f"{label or f'losses {losses}'}, allowed = {allowed:g}", ask))


def first_case(losses: list, allowed: float, label: str = "") -> Case:
    return held_case(losses, allowed, lambda edge, asked: edge, label)


def edge_case(losses: list, allowed: float) -> Case:
    limit = losses[-1] + allowed

    def look(edge: object, asked: list) -> object:
        if not isinstance(edge, int) or not 0 <= edge < len(losses):
            return edge
        verdicts = [
            f"{p}: {'allowed' if losses[p] <= limit else 'too much'}" for p in (edge - 1, edge) if p >= 0
        ]
        return (
            "an edge"
            if verdicts[-1].endswith("allowed") and "allowed" not in "".join(verdicts[:-1])
            else ", ".join(verdicts)
        )

    return held_case(losses, allowed, look)


def runs_case(edge: int) -> Case:
    losses = [3.0 if p >= edge else 4.0 for p in range(33)]

    def look(edge: object, asked: list) -> object:
        if len(asked) > MOST >= len(set(asked)):
            return "some of them more than once"
        return f"at most {MOST}" if len(asked) <= MOST else "more"

    return held_case(losses, 0.5, look, f"losses asked for; 32 pairs, too much below {edge}")


def base_each_time(loss, pairs, allowed):
    low, high = -1, pairs
    while high - low > 1:
        middle = (low + high) // 2
        if loss(middle) - loss(pairs) <= allowed:
            high = middle
        else:
            low = middle
    return high


frozen = Check(
    "frozen",
    reference=halve,
    properties={
        "from here on all may be held, where losses only fall": [
            first_case([6.0, 5.0, 4.5, 4.0], 0.5),
            first_case([6.0, 4.2505, 4.25, 4.0], 0.25),
            first_case([6.0, 5.0, 4.5, 4.0], 1.0),
            first_case([7.0, 6.5, 6.0, 4.0, 3.75, 3.5, 3.25, 3.0], 1.0),
            first_case([7.0, 6.5, 4.5, 4.0, 3.75, 3.5, 3.25, 3.0], 1.75),
            first_case([9.0, 7.0, 5.0, 3.25, 3.0, 3.0], 0.0),
            *(
                first_case([4.0] * p + [3.0] * (pairs + 1 - p), 0.5, f"{pairs} pairs, too much below {p}")
                for pairs, p in ((32, 16), (32, 31), (64, 49))
            ),
        ],
        "0 where all may be": [
            first_case([4.5, 4.25, 4.0], 1.0),
            first_case([3.5, 3.5, 3.25, 3.25, 3.0], 0.75),
        ],
        "as many as there are pairs, where none may be": [
            first_case([6.0, 5.0, 4.0], 0.5),
            first_case([7.0, 6.0, 5.0, 4.0, 3.0], 0.25),
        ],
        "an edge where losses rise and fall": [
            edge_case([9.0, 4.25, 2.0, 3.0, 3.0, 3.5, 4.0], 0.5),
            edge_case([6.0, 5.0, 4.0, 3.0, 2.0, 3.0, 4.0], 0.5),
            edge_case([6.0, 4.0, 6.0, 4.0, 4.0, 6.0, 4.0], 0.5),
            edge_case([3.0, 5.0, 3.0, 5.0, 3.0, 5.0, 3.0, 5.0, 3.0], 0.25),
        ],
        "7 losses at most for 32 pairs": [runs_case(edge) for edge in (16, 0, 32, 3, 31)],
    },
    mistakes={
        "This is the last that is too much. The next one is allowed.":
            ("return high → return max(low, 0)", "return high → return low"),
        "Exactly as much as allowed is allowed.": "<= limit → < limit",
        "The loss itself is compared with what is allowed. It may be that much above loss(pairs).":
            "limit = loss(pairs) + allowed → limit = allowed",
        "The loss is compared with the lowest so far. loss(pairs) is the one to compare with.":
            "loss(middle) <= limit → (now := loss(middle)) <= (limit := min(limit, now + allowed))",
        "0 is never tried, and may be allowed.": "-1, pairs → 0, pairs",
        "None held may be all that is allowed: the answer is then the number of pairs.":
            "-1, pairs → -1, pairs - 1",
        "Each loss is a run of the model. Halve the range in which the edge lies: every answer leaves one half.":
            (from_the_top, from_the_bottom, all_at_once),
        "loss(pairs) is asked for again and again. Keep it.": base_each_time,
    },
    answers=(Answer("first", 14, {
        "Pair 14 may be held, too: that costs 0.03 in all.": 15,
        "To hold pair 13 costs 0.07.": 13,
        "So many pairs are held. From which one on?": 18,
        "With all pairs held the model loses 2 nats.": 0,
    }),),
    cards=(base_each_time,),
)
