"""Where the next drafts stand."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import read_as
from ..verdict import Case, Check, Misconduct, call


def behind_its_own(length: Tensor, accepted: Tensor, drafted: int) -> tuple[Tensor, Tensor]:
    kept = length + accepted
    return kept, kept[:, None] + 1 + torch.arange(drafted)


def keeping(keep: Callable) -> Callable:
    """As the right answer, with keep(length, accepted, drafted) tokens kept."""

    def answer(length: Tensor, accepted: Tensor, drafted: int) -> tuple[Tensor, Tensor]:
        return keep(length, accepted, drafted), behind_its_own(length, accepted, drafted)[1]

    return answer


def going_on(first: Callable) -> Callable:
    """As the right answer, with positions that count from first(length, accepted, drafted)."""

    def answer(length: Tensor, accepted: Tensor, drafted: int) -> tuple[Tensor, Tensor]:
        return length + accepted, first(length, accepted, drafted)[:, None] + torch.arange(drafted)

    return answer


def both(case: Case, batch: int, drafted: int, which: int | None) -> Case:
    """The case, of whose kept (batch,) and positions (batch, drafted) one is compared, or both."""
    names, shapes = ("kept", "positions"), ((batch,), (batch, drafted))

    def read(outcome: object) -> object:
        if not isinstance(outcome, tuple | list) or len(outcome) != 2:
            raise Misconduct("Two tensors are asked for: kept and positions")
        for name, part, shape in zip(names, outcome, shapes, strict=True):
            if not isinstance(part, Tensor) or part.is_floating_point() or part.dtype == torch.bool:
                raise Misconduct(f"{name} is to be a tensor of whole numbers")
            if part.shape != shape:
                raise Misconduct(f"Returns {name} of shape {tuple(part.shape)}; here it is {shape}")
        outcome = [part.long() for part in outcome]
        return torch.cat([outcome[0][:, None], outcome[1]], dim=1) if which is None else outcome[which]

    return read_as(case, read)


def round_cases(which: int | None, *given: tuple[list[int], list[int], int]) -> list[Case]:
    return [
        both(
            call(length=torch.tensor(length), accepted=torch.tensor(accepted), drafted=drafted),
            len(length),
            drafted,
            which,
        )
        for length, accepted, drafted in given
    ]


ALIKE = (([5], [1], 3), ([9], [0], 2), ([4], [4], 4), ([7, 3], [2, 2], 5))
UNLIKE = (([5, 5], [0, 3], 4), ([12, 4, 8], [2, 0, 1], 3))


def counter_goes_on(length, accepted, drafted):
    position = length + drafted
    return length + accepted, torch.stack([position + 1 + n for n in range(drafted)], dim=1)


next_round = Check(
    "next_round",
    reference=behind_its_own,
    properties={
        "the cache keeps what was accepted": round_cases(0, *ALIKE),
        "the next drafts stand behind the model's own token": round_cases(1, *ALIKE),
        "each row by what it accepted": round_cases(None, *UNLIKE),
    },
    mistakes={
        "The cache keeps tokens that were not accepted. The next round would see them.": keeping(
            lambda length, accepted, drafted: length + drafted
        ),
        "The model's own token has no key yet: nobody has read it.": keeping(
            lambda length, accepted, drafted: length + accepted + 1
        ),
        "Where all drafts are accepted, the last one stays, too: the large model has read it.": keeping(
            lambda length, accepted, drafted: length + accepted.clamp(max=drafted - 1)
        ),
        "The first draft stands where the model's own token stands. It comes one behind.": going_on(
            lambda length, accepted, drafted: length + accepted
        ),
        "The counter still counts tokens that were not accepted.": (
            counter_goes_on,
            going_on(lambda length, accepted, drafted: length + drafted),
        ),
        "Where all drafts are accepted, the model adds a token of its own, too.": going_on(
            lambda length, accepted, drafted: length + accepted + (accepted < drafted)
        ),
        "The first draft stands on the last accepted token.": going_on(
            lambda length, accepted, drafted: length + accepted - 1
        ),
        "All rows go on as if each had accepted what the best row did.": (
            lambda length, accepted, drafted: behind_its_own(length, accepted.max().expand_as(accepted), drafted)
        ),
    },
)
