"""Offsets around a ring that do not depend on its first residue."""

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def around_ring(ids: Tensor, period: int) -> Tensor:
    offset = (ids[:, None] - ids) % period
    return torch.where(2 * offset > period, offset - period, offset)


def rounded(ids, period):
    offset = ids[:, None] - ids
    return (offset - period * (offset / period).round()).long()


def one_round(ids, period):
    offset = ids[:, None] - ids
    offset = torch.where(2 * offset > period, offset - period, offset)
    return torch.where(2 * offset <= -period, offset + period, offset)


def ring_cases(*rings: tuple[list[int], int]) -> list[Case]:
    return [call(ids=torch.tensor(ids), period=period) for ids, period in rings]


around = Check(
    "around",
    reference=around_ring,
    properties={
        "an odd ring: the shorter way, with its sign": ring_cases(([0, 1, 2], 3), ([*range(17)], 17), ([4, 0, 3], 7)),
        "an even ring: half way is the same in both directions": ring_cases(([0, 1], 2), ([2, 3, 0, 1], 4), ([0, 6, 1], 10)),
        "ids that are more than a round apart": ring_cases(([0, 7, 14], 6), ([1, 50, -31], 12)),
    },
    mistakes={
        "Half way around, the sign depends on which residue has the smaller id. So another first residue gives other "
        "offsets. Return half of the period in both directions.": rounded,
        "Half way around is to be plus half of the period; you return minus.": "2 * offset > period → 2 * offset >= period",
        "You subtract queries from keys. The offset is the id of the row minus the id of the column.":
            "ids[:, None] - ids → ids - ids[:, None]",
        "These are distances without a sign. A residue before and one after are different offsets.":
            lambda ids, period: around_ring(ids, period).abs(),
        "All offsets go around in one direction. From half of the period on, the other way is shorter.":
            lambda ids, period: (ids[:, None] - ids) % period,
        "In an odd ring the two residues across are not both on the same side. Compare twice the offset with the period.":
            "2 * offset > period → offset > (period + 1) // 2",
        "You go back by one round at most. Ids may be several rounds apart.": one_round,
        "The chain is not closed: these are the offsets on a line.": lambda ids, period: ids[:, None] - ids,
    },
    answers=(Answer("flipped", 2, {
        "Half way is met by 10 ordered pairs, and most of them keep their sign. Count those that change.": 10,
        "You count a pair once. Both entries, of (4, 9) and of (9, 4), are in the matrix.": 1,
        "With an even period some do change: look at the pairs half way around.": 0,
    }),),
    cards=(rounded, one_round),
)
