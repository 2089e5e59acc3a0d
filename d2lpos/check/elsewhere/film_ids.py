"""A film with sound."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import number
from ..verdict import Case, Check, Misconduct, call


def ids_and_next(frames: int, height: int, width: int, seconds: float, start: int) -> tuple[Tensor, int]:
    times = (torch.arange(frames) * seconds * 25).long()
    ids = start + torch.cartesian_prod(times, torch.arange(height), torch.arange(width))
    return ids, int(ids.max()) + 1


def look(case: Case, part: int) -> Case:
    """The case, of which only the ids or only the next id is compared."""

    def ask(answer: Callable) -> object:
        outcome = case.ask(answer)
        if outcome is None or outcome is ...:
            return outcome
        if not isinstance(outcome, tuple | list) or len(outcome) != 2:
            raise Misconduct("A pair is asked for: the ids and the next id")
        return number(outcome[1], "the next id") if part else outcome[0]

    return Case(case.text, ask, whole=case.whole)


FILMS = [
    (4, 2, 3, 0.5, 4), (3, 1, 2, 1.0, 0), (4, 3, 2, 0.25, 10), (2, 4, 1, 2.0, 7),
    (9, 1, 1, 0.125, 300), (5, 2, 2, 0.75, 0), (2, 9, 5, 0.125, 6), (1, 2, 6, 0.5, 5),
]  # fmt: skip
WIDE = [(2, 9, 5, 0.125, 6), (1, 2, 6, 0.5, 5), (1, 7, 3, 1.0, 0)]


def films(part: int) -> list[Case]:
    names = ("frames", "height", "width", "seconds", "start")
    return [look(call(**dict(zip(names, film, strict=True))), part) for film in FILMS + WIDE[2:] * part]


def after_the_time(frames, height, width, seconds, start):
    times = (torch.arange(frames) * seconds * 25).long()
    ids = start + torch.cartesian_prod(times, torch.arange(height), torch.arange(width))
    return ids, start + int(times[-1]) + 1


def step_by_step(frames, height, width, seconds, start):
    step = int(seconds * 25)
    times = step * torch.arange(frames)
    ids = start + torch.cartesian_prod(times, torch.arange(height), torch.arange(width))
    return ids, int((frames - 1) * seconds * 25) + start + 1


film_ids = Check(
    "film_ids",
    reference=ids_and_next,
    properties={"ids (time, row, column) of each patch": films(0), "the next id": films(1)},
    mistakes={
        "These are numbers of frames. The unit is 1/25 of a second, and the frames are `seconds` apart.":
            lambda frames, height, width, seconds, start: ids_and_next(frames, height, width, 0.04, start),
        "You rounded the step between two frames first, so the error grows with each frame. Round each time.": (
            "torch.arange(frames) * seconds * 25 → torch.arange(frames) * int(seconds * 25)", step_by_step,
        ),
        "A time between two ids is rounded down, not to the nearest.": "seconds * 25).long() → seconds * 25 + 0.5).long()",
        "Rows and columns begin at `start`, too, as the time does.":
            "ids = start + torch.cartesian_prod(times, → ids = torch.cartesian_prod(start + times,",
        "The next id is one more than the largest id on any axis. A short film may be wider than it is long.": after_the_time,
        "This is the largest id. What comes next is one more.": "int(ids.max()) + 1 → int(ids.max())",
        "This counts patches. A patch does not take an id of its own: the next id is one more than the largest.":
            "int(ids.max()) + 1 → start + len(ids)",
        "Patches come line by line: the column changes fastest. Here the row does.": (
            lambda frames, height, width, seconds, start: (
                ids_and_next(frames, width, height, seconds, start)[0][:, [0, 2, 1]],
                ids_and_next(frames, height, width, seconds, start)[1],
            )
        ),
    },
    as_good={
        "int(ids.max()) → ids.max()": "The text names no type of the number.",
        "returned as a float": "The text names no type of the ids, and 4.0 is one.",
        "returned as a tensor of one number": "The text names no type of the number.",
    },
    cards=(after_the_time,),
)
