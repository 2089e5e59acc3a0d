"""Wrong answers to the exercises of chapter 3."""

from functools import partial

import torch

from d2lpos.check import learned as check

from . import wrong


@wrong(check.add_positions, "fails 1 of 5 properties Property: x plus the row of each position")
def of_five_rows(x, table, positions):
    if ((positions < 0) | (positions > 4)).any():
        raise IndexError("no such row")
    return x + table[positions]


@wrong(check.knots_at, "fails 1 of 5 properties Property: whole positions")
def floats_only(positions, knots, last):
    assert positions.is_floating_point()
    return check.knots_at.reference(positions, knots, last)


@wrong(check.row_of, 'Input: T = 2, L = 5, "last row"')
def filled_up(T, L, remedy):
    if remedy == "last row":
        return torch.cat([torch.arange(L), torch.full((T - L,), L - 1)]).float()
    p = torch.arange(T).float()
    return p if T <= L else p % L if remedy == "wrapped" else p * (L - 1) / (T - 1)


def unless(x, table, positions, raises):
    if raises(positions) or positions.max() >= len(table):
        raise IndexError("no such row")
    return x + table[positions]


for raises in (
    lambda positions: (positions == -1).any(),
    lambda positions: positions.sum() < 0,
    lambda positions: positions[..., -1].min() < 0,
    lambda positions: positions.reshape(-1, positions.shape[-1])[0].min() < 0,
):
    wrong(check.add_positions, "fails 1 of 5 properties Property: negative positions are an IndexError")(partial(unless, raises=raises))
wrong(check.count_rows, "Input: positions = [[0, 1, 9, 9], [-1, -1, 3, 2]]")("positions[mask] → positions[:, mask[0]].flatten().clamp(0, L - 1)")
wrong(check.count_rows, "Input: positions (1, 300)")("minlength=L) → minlength=L) % 256")
