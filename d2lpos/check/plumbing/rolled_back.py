"""A state behind the accepted part of a draft."""


import torch
from torch import Tensor

from ..cases import quarters
from ..verdict import Case, Check, call


def states_of(state: Tensor, k: Tensor, v: Tensor, gates: Tensor, accepted: Tensor) -> Tensor:
    for t in range(k.shape[1]):
        written = k[:, t, :, None] * v[:, t, None]
        after = gates[:, t, None, None] * state + written
        state = torch.where((accepted > t)[:, None, None], after, state)
    return state


def drafts(*cases: tuple[list[int], int, int, int]) -> list[Case]:
    """Cases of what is accepted in each row, the drafted tokens, and the features of keys and of values."""
    return [
        call(
            state=quarters(len(accepted), d, e, seed=seed, low=-8 * 10**d, high=8 * 10**d), k=quarters(len(accepted), n, d, seed=seed + 10),
            v=quarters(len(accepted), n, e, seed=seed + 20), gates=quarters(len(accepted), n, seed=seed + 30, low=0, high=4),
            accepted=torch.tensor(accepted),
        )
        for seed, (accepted, n, d, e) in enumerate(cases)
    ]


rolled_back = Check(
    "rolled_back",
    reference=states_of,
    properties={
        "each row keeps what was accepted in it": drafts(
            ([1, 2], 3, 2, 3), ([3, 1, 2], 4, 3, 3), ([2], 5, 1, 2), ([1, 16, 4, 2, 3], 17, 4, 3)
        ),
        "nothing accepted: the state is what it was": drafts(([0], 2, 2, 1), ([0, 2, 0], 4, 2, 3)),
        "all accepted: the state behind the last token": drafts(([2], 2, 2, 3), ([3, 3], 3, 1, 4), ([1, 1, 1], 1, 3, 2)),
    },
    mistakes={
        "The rejected tokens are still in the state.": "(accepted > t)[:, None, None] → (accepted > -1)[:, None, None]",
        "Each row has a number of its own.": "(accepted > t) → (accepted[:1] > t)",
        "A rejected token has faded the state: its gate counts no more than its value.":
            "after, state) → after, gates[:, t, None, None] * state)",
        "A token's gate fades what was there before it, and not what it writes.":
            "gates[:, t, None, None] * state + written → gates[:, t, None, None] * (state + written)",
        "The first drafted token may be rejected, too.": "(accepted > t) → (accepted.clamp(min=1) > t)",
        "If all are accepted, the last one belongs to the state.": "(accepted > t) → (accepted.clamp(max=k.shape[1] - 1) > t)",
        "One token too many: of 2 accepted tokens the last is number 1.": "accepted > t → accepted >= t",
    },
    as_good={
        "k.shape[1] → v.shape[1]": "There are as many values as keys.",
        "k.shape[1] → gates.shape[1]": "There are as many gates as keys.",
    },
)
