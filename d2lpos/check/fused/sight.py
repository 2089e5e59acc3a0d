"""A mask."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check
from .material import LINE, lean_case, pairs_case


def sight_rule(
    window: int, q_positions: Tensor, k_positions: Tensor, q_texts: Tensor, k_texts: Tensor
) -> Callable:
    def see(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        back = q_positions[batch, query] - k_positions[batch, key]
        own = q_texts[batch, query] == k_texts[batch, key]
        return own & (back >= 0) & (back < window)

    return see


def sight_case(
    window: int,
    q_positions: list,
    k_positions: list | None = None,
    q_texts: list | None = None,
    k_texts: list | None = None,
) -> Case:
    k_positions = q_positions if k_positions is None else k_positions
    here, there = torch.tensor(q_positions), torch.tensor(k_positions)
    texts = {
        "q_texts": torch.zeros_like(here) if q_texts is None else torch.tensor(q_texts),
        "k_texts": torch.zeros_like(there) if k_texts is None else torch.tensor(k_texts),
    }
    return pairs_case(2, q_positions, k_positions, masks=True, window=window, **texts)


sight = Check(
    "sight",
    reference=sight_rule,
    properties={
        "no key after the query": [sight_case(9, [[0, 1, 2]]), sight_case(9, [[3, 4]], [[4, 1, 6, 3]])],
        "`window` positions, the query's own among them": [
            sight_case(1, [[5]], [[2, 3, 4, 5]]),
            sight_case(22, [[24, 40]], [[0, 2, 3, 8, 19]]),
        ],
        "its own text alone": [
            sight_case(9, [[2]], [[0, 1, 2, 0, 1, 2]], [[1]], [[0, 0, 0, 1, 1, 1]]),
            sight_case(9, [[2] * 6], [[0, 1, 2, 0, 1, 2]], [[1, 0] * 3], [[0, 0, 0, 1, 1, 1]]),
            sight_case(9, [[2], [2]], [[0, 1, 2], [0, 1, 2]], [[1], [2]], [[1, 1, 1], [1, 2, 2]]),
        ],
        "each row of a batch has positions of its own": [
            sight_case(3, [[5], [3]], [[0, 4, 5], [2, 1, 3]]),
            sight_case(3, [[5, 6, 9], [13, 14, 17]], [[1, 4, 5], [8, 12, 13]]),
        ],
        "no number for each pair is made before": [lean_case(8, LINE, LINE, 0 * LINE, 0 * LINE)],
    },
    mistakes={
        "`and`, `not` and `if` ask for one truth value. `&` and `~` work for all pairs at once.":
            "own & (back >= 0) & (back < window) → own and back >= 0 and back < window",
        "This counts places in the row. In a cache a new query is place 0.":
            "(back >= 0) & (back < window) → (query >= key) & (query - key < window)",
        "This hides the past and shows the future.":
            "(back >= 0) & (back < window) → (back <= 0) & (-back < window)",
        "The window has two sides here. No key after the query may be seen.":
            "(back >= 0) & (back < window) → (back.abs() < window)",
        "The window is one too wide: the query's own key is the first of them.":
            "back < window → back <= window",
        "Another text in the row is seen, too.": "return own & → return",
        "All rows of the batch get the first one's positions and texts.":
            "back = → batch = 0 * batch\n        back =",
    },
    as_good={
        "own & (back >= 0) & (back < window) → (back < window) & (own & (back >= 0))": "All three hold, in whatever order.",
        "own & (back >= 0) → (back >= 0) & own": "All three hold, in whatever order.",
    },
)
