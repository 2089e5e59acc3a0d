"""Does it see places, or offsets?"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check, call
from .material import drawn, logits_of


def unmoved(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
    here = torch.arange(q.shape[-2])
    first = scores(q, k, here)
    starts = range(longest - len(here) + 1)
    return all(torch.allclose(scores(q, k, here + start), first, atol=1e-4) for start in starts)


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Two features, turned by one radian a position."""
    angle = positions.float()[:, None]
    return torch.cat(
        [
            x[..., :1] * angle.cos() - x[..., 1:] * angle.sin(),
            x[..., :1] * angle.sin() + x[..., 1:] * angle.cos(),
        ],
        dim=-1,
    )


def offset(positions: Tensor) -> Tensor:
    return positions[:, None] - positions


def biased(bias: Callable[[Tensor], Tensor]) -> Callable:
    """Scores with a bias that knows the positions."""
    return lambda q, k, positions: logits_of(q, k) + bias(positions)


def moved_by_place(positions: Tensor) -> Tensor:
    """Nothing in the mean: each score changes, and their sum does not."""
    sign = torch.tensor([1.0, -1.0, 0.0])
    return positions[:1] * (sign[:, None] + sign) * 0.25


def in_one_place(heads: int, positions: Tensor, at: int) -> Tensor:
    """Next to nothing in the mean, and nothing at all but in one head, for one query and the last key."""
    bias = torch.zeros(heads, len(positions), len(positions))
    bias[at, at, -1] = positions[-1] / 20_000
    return bias


ENCODINGS: dict[str, Callable] = {
    "the key's position/200000, which is less than 0.0001": biased(lambda p: p / 200_000),
    "−distance/4": biased(lambda p: -offset(p).abs() / 4),
    "pairs that turn": lambda q, k, p: logits_of(turned(q, p), turned(k, p)),
    "a bell around offset 2": biased(lambda p: -((offset(p) - 2) ** 2)),
    "the key's position/4": biased(lambda p: p / 4),
    "100, and the key's position/1000": biased(lambda p: 100 + p / 1000),
    "a table that starts again after 4 rows": biased(lambda p: (p % 4) / 4),
    "a table whose last row serves positions from 2 on": biased(lambda p: p.clamp(max=2) / 4),
    "a bonus for position 0": biased(lambda p: (p == 0) / 4),
    "distance/4, and 1 from position 7 on": biased(lambda p: -offset(p).abs() / 4 + (p >= 7)),
    "distance/4, and 1 at position 11": biased(lambda p: -offset(p).abs() / 4 + (p == 11)),
    "distance/4, and 1 at position 7": biased(lambda p: -offset(p).abs() / 4 + (p == 7)),
    "distance over the query's place": biased(lambda p: -offset(p).abs() / (p[:, None] + 1)),
    "a bias that cancels in the mean": biased(moved_by_place),
    "keys that turn, queries that do not": lambda q, k, p: logits_of(q, turned(k, p)),
    "the last key's position/20000, for the last query in the last head": lambda q, k, p: logits_of(q, k) + in_one_place(len(q), p, -1),
    "the last key's position/20000, for the first query in the first head": lambda q, k, p: logits_of(q, k) + in_one_place(len(q), p, 0),
}


def law_case(name: str, longest: int = 12, shape: tuple[int, ...] = (2, 3, 2)) -> Case:
    q, k = drawn(*shape, seed=1), drawn(*shape, seed=4)
    label = f"scores: {name}; q and k: {shape}, longest = {longest}"
    return call(label, scores=ENCODINGS[name], q=q, k=k, longest=longest)


NAMES = list(ENCODINGS)
offsets_alone = Check(
    "offsets_alone",
    reference=unmoved,
    properties={
        "True where offsets alone count": [*map(law_case, NAMES[:3]), law_case(NAMES[3], 24, (2, 17, 2))],
        "False where places count": [law_case(name) for name in [*NAMES[4:9], *NAMES[12:]]],
        "False where one place counts": [*map(law_case, NAMES[9:12]), law_case(NAMES[11], 12, (2, 1, 2))],
        "True where no such place is reached": [
            law_case(NAMES[9], 7), law_case(NAMES[10], 11), law_case(NAMES[10], 11, (1, 4, 6)),
        ],
    },
    mistakes={
        "A turn rounds differently at each place. Allow 0.0001.": (
            "torch.allclose(scores(q, k, here + start), first, atol=1e-4) → "
            "torch.equal(scores(q, k, here + start), first)"
        ),
        "One shift is not enough. Some encodings change at certain places alone.": (
            "range(longest - len(here) + 1) → [1]",
            "range(longest - len(here) + 1) → [longest - len(here)]",
            "range(longest - len(here) + 1) → [(longest - len(here)) // 2]",
        ),
        "A shift by 4 is a whole turn of a table of 4 rows. Try all starts.":
            "range(longest - len(here) + 1) → range(0, longest - len(here) + 1, 4)",
        "The last start is missing: n tokens fit at longest − n, too.":
            "range(longest - len(here) + 1) → range(longest - len(here))",
        "These positions go past `longest`: the last token of a row would stand outside.":
            "range(longest - len(here) + 1) → range(longest - len(here) + 3)",
        "Without contents nobody sees what queries and keys do. Pass the q and k that are given.":
            lambda scores, q, k, longest: unmoved(scores, torch.zeros_like(q), torch.zeros_like(k), longest),
        "Twice the positions is another law: offsets double, too. Add one number to all.":
            "here + start → 2 * here",
    },
    as_good={
        **{
            f"argument {at} {what}": "Offsets alone count or they do not, whatever queries and keys are."
            for at in (1, 2)
            for what in ("with its first row for all", "with the first of each row for all", "sorted", "without signs", "in whole numbers")
        },
        "q.shape[-2] → k.shape[-2]": "There are as many queries as keys.",
        "torch.allclose(scores(q, k, here + start), first, atol=0.0001) → torch.allclose(first, scores(q, k, here + start), atol=0.0001)": "What is near is near from both sides.",
    },
)
