"""Wrong answers to the exercises of chapter 3."""

import torch

from d2lpos.check import learned as check

from . import wrong

# The sketch, mended


wrong(check.add_positions, "The rows are counted from 0.")(
    lambda x, table, positions: x + table[: positions.shape[-1]]
)


@wrong(check.add_positions, "fails 1 of 5 properties Property: negative positions are an IndexError")
def last_one_only(x, table, positions):
    if positions[..., -1].min() < 0:
        raise IndexError("negative")
    return x + table[positions]


@wrong(check.add_positions, "fails 1 of 5 properties Property: x plus the row of each position")
def of_five_rows(x, table, positions):
    if ((positions < 0) | (positions > 4)).any():
        raise IndexError("no such row")
    return x + table[positions]


# Which rows are trained


wrong(check.count_rows, "Padding is counted.")(
    lambda positions, mask, L: torch.stack([(positions == row).sum() for row in range(L)])
)


# Past the end


@wrong(check.row_of, "The factor is L/T.")
def ratio_of_lengths(T, L, remedy):
    p = torch.arange(T).float()
    return p if T <= L else {"last row": p.clamp(max=L - 1), "wrapped": p % L, "stretched": p / (T / L)}[remedy]


# Knots


@wrong(check.knots_at, "The nearest knot is taken.")
def rounds(positions, knots, last):
    places = torch.linspace(0, last, len(knots))
    return knots[(positions[..., None] - places).abs().argmin(dim=-1)]


@wrong(check.knots_at, "fails 1 of 5 properties Property: whole positions")
def floats_only(positions, knots, last):
    assert positions.is_floating_point()
    return check.knots_at.reference(positions, knots, last)


# A probe


def truth(x):
    return torch.arange(x.shape[1]).double().expand(x.shape[:2])


@wrong(check.probe, "This is the mean squared error.")
def squared_error(x):
    x = torch.cat([x.double(), torch.ones(*x.shape[:-1], 1).double()], dim=-1)
    a, b = x[: len(x) // 2], x[len(x) // 2 :]
    line = torch.linalg.lstsq(a.flatten(0, 1), truth(a).flatten()[:, None].double(), driver="gelsd").solution
    return ((b @ line)[..., 0] - truth(b)).square().mean().item()


@wrong(check.row_of, 'Input: T = 2, L = 5, "last row"')
def filled_up(T, L, remedy):
    if remedy == "last row":
        return torch.cat([torch.arange(L), torch.full((T - L,), L - 1)]).float()
    p = torch.arange(T).float()
    return p if T <= L else p % L if remedy == "wrapped" else p * (L - 1) / (T - 1)
