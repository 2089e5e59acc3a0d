"""Where the next drafts stand."""

import torch
from torch import Tensor

from ..cases import read_as, two_tensors
from ..verdict import Case, Check, call


def behind_its_own(length: Tensor, accepted: Tensor, drafted: int) -> tuple[Tensor, Tensor]:
    kept = length + accepted
    return kept, kept[:, None] + 1 + torch.arange(drafted)


def round_cases(which: int | None, *rounds: tuple[list[int], list[int], int]) -> list[Case]:
    """Of each round, kept (batch,) or positions (batch, drafted) is compared, or both are."""

    def case(length: list[int], accepted: list[int], drafted: int) -> Case:
        def read(outcome: object) -> object:
            both = two_tensors(outcome, "kept and positions", (len(length),), (len(length), drafted))
            return torch.cat([both[0][:, None], both[1]], dim=1) if which is None else both[which]

        return read_as(call(length=torch.tensor(length), accepted=torch.tensor(accepted), drafted=drafted), read)

    return [case(*one) for one in rounds]


ALIKE = (([5], [1], 3), ([9], [0], 2), ([4], [4], 4), ([7, 3], [2, 2], 9))
UNLIKE = (([5, 5], [0, 3], 4), ([12, 4, 8], [2, 0, 1], 3))


next_round = Check(
    "next_round",
    reference=behind_its_own,
    properties={
        "the cache keeps what was accepted": round_cases(0, *ALIKE),
        "the next drafts stand behind the model's own token": round_cases(1, *ALIKE),
        "each row by what it accepted": round_cases(None, *UNLIKE),
    },
    mistakes={
        "The cache keeps tokens that were not accepted. The next round would see them.":
            "return kept, → return length + drafted,",
        "The model's own token has no key yet: nobody has read it.": "return kept, → return kept + 1,",
        "Where all drafts are accepted, the last one stays, too: the large model has read it.":
            "return kept, → return length + accepted.clamp(max=drafted - 1),",
        "The first draft stands where the model's own token stands. It comes one behind.":
            "kept[:, None] + 1 → kept[:, None]",
        "The counter still counts tokens that were not accepted.": (
            "kept[:, None] + 1 → (length + drafted)[:, None] + 1",
            "kept[:, None] + 1 → (length + drafted)[:, None]",
        ),
        "Where all drafts are accepted, the model adds a token of its own, too.":
            "kept[:, None] + 1 → (kept + (accepted < drafted))[:, None]",
        "The first draft stands on the last accepted token.": "kept[:, None] + 1 → kept[:, None] - 1",
        "All rows go on as if each had accepted what the best row did.":
            "length + accepted → length + accepted.max()",
    },
)
