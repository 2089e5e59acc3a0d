"""The checks of chapter 3: the numbers that they ask for, and right answers in other words."""

import numpy as np
import torch
from sklearn.linear_model import LinearRegression
from torch.nn.functional import embedding, one_hot

from d2lpos.check import learned as check
from tests.check.right import accepted


def test_a_token_between_two_knots_trains_their_numbers():
    knots = torch.zeros(8, 16, requires_grad=True)
    check.knots_at.reference(torch.tensor([200.5]), knots, 511.0).sum().backward()
    assert check.knots_at.answers[0](knots.numel())
    assert check.knots_at.answers[1]((knots.grad != 0).sum())


def by_one_hot(x, table, positions):
    if ((positions < 0) | (positions >= len(table))).any():
        raise IndexError(f"there are {len(table)} rows")
    return one_hot(positions, len(table)).to(table.dtype) @ table + x


def by_loop(positions, mask, L):
    return torch.tensor([int(((positions == row) & mask).sum()) for row in range(L)])


def by_numpy(positions, mask, L):
    return torch.from_numpy(np.bincount(positions[mask].numpy(), minlength=L))


def by_linspace(T, L, remedy):
    p = torch.arange(T)
    if L >= T:
        return p.float()
    if remedy == "stretched":
        return torch.linspace(0, L - 1, T)
    return (p.clamp_max(L - 1) if remedy == "last row" else p.remainder(L)).float()


def by_hats(positions, knots, last):
    """Every knot has a hat that falls to 0 at its neighbors."""
    at = positions.clamp(0, last) / last * (len(knots) - 1)
    hats = (1 - (at[..., None] - torch.arange(len(knots))).abs()).clamp(min=0)
    return hats @ knots


def by_lerp(positions, knots, last):
    gap = last / (len(knots) - 1)
    low = torch.floor(positions / gap).long().clamp(0, len(knots) - 2)
    share = (positions / gap - low).clamp(0, 1)
    return torch.lerp(knots[low], knots[low + 1], share.unsqueeze(-1))


def by_scikit_learn(x):
    half, T = len(x) // 2, x.shape[1]
    p = np.arange(T)
    model = LinearRegression().fit(x[:half].flatten(0, 1).numpy(), np.tile(p, half))
    return float(model.score(x[half:].flatten(0, 1).numpy(), np.tile(p, len(x) - half)))


def in_float32(x):
    a, b = (torch.cat([part, torch.ones(*part.shape[:2], 1)], -1).flatten(0, 1) for part in x.chunk(2))
    p = torch.arange(x.shape[1]).float().repeat(len(x) // 2)
    guess = b @ (torch.linalg.pinv(a) @ p)
    return 1 - ((guess - p) ** 2).sum().item() / ((p - p.mean()) ** 2).sum().item()


test_accepted = accepted({
    check.add_positions: [by_one_hot, lambda x, table, positions: torch.add(embedding(positions, table), x)],
    check.count_rows: [by_loop, by_numpy],
    check.row_of: [by_linspace],
    check.knots_at: [by_hats, by_lerp],
    check.probe: [by_scikit_learn, in_float32],
})
