"""Wrong answers to the exercises of chapter 12."""

import math

import torch

from d2lpos.check import ruler as check
from d2lpos.rotary.rope import rotate

from . import wrong

# A gate at each word


def spans(gates):
    """The tokens t behind the key j, up to the query i; three nested loops, as one writes them first."""
    heads, T = gates.shape
    for h in range(heads):
        for i in range(T):
            for j in range(i + 1):
                yield h, i, j


def filled(gates, sum_of):
    bias = torch.full((*gates.shape, gates.shape[-1]), -torch.inf)
    for h, i, j in spans(gates):
        bias[h, i, j] = sum_of(gates[h], i, j)
    return bias


wrong(check.forget, "The key's own gate counts here.")(
    lambda gates: filled(gates, lambda gate, i, j: gate[j : i + 1].log().sum())
)


# Count, and look between


def interpolated(q, p, table):
    """q_i · (the row between floor and ceil), for each i and j."""
    low = p.floor().long()
    high = (low + 1).clamp(max=len(table) - 1)
    rows = table[low] + (p - low)[..., None] * (table[high] - table[low])
    return (q[:, None] * rows).sum(dim=-1).tril()


def gated(q, k):
    return torch.sigmoid(q @ k.T / q.shape[1] ** 0.5)


def counts(gates):
    T = len(gates)
    p = torch.zeros(T, T)
    for i in range(T):
        for j in range(i + 1):
            p[i, j] = gates[i, j : i + 1].sum()
    return p


def place(q, k, table):
    return counts(gated(q, k)).clamp(max=len(table) - 1)


wrong(check.contextual, "and is not divided by √d.")(
    lambda q, k, table: interpolated(q, place(q, k, table), table) / math.sqrt(q.shape[-1])
)


# Two mirrors


def unit(angle):
    return torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)


wrong(check.mirrors, "Which of the two comes first?")(lambda angle: (unit(0 * angle), unit(-angle / 2)))
wrong(check.mirrors, "Two tensors are asked for: u and w")(
    lambda angle: torch.stack([unit(0 * angle), unit(angle / 2)])
)
wrong(check.mirrors, "Returns shapes (2, 3) and (2, 3); u and w are (3, 2) and (3, 2)")(
    lambda angle: (unit(0 * angle).T, unit(angle / 2).T)
)


# One number, three ways


@wrong(check.recurrent, "Nothing decays here.")
def plain_linear_attention(q, k, v, gates, state):
    states = state + (k[:, :, None] * v[:, None]).cumsum(dim=0)
    return torch.einsum("td,tde->te", q, states), states[-1]


@wrong(check.recurrent, "Two tensors are asked for: y and the state")
def y_alone(q, k, v, gates, state):
    y = []
    for t in range(len(q)):
        state = gates[t] * state + torch.outer(k[t], v[t])
        y.append(q[t] @ state)
    return torch.stack(y)


# Absorb, or not


def content(q, c, up):
    return torch.stack([c @ (up[h] @ q[h]) for h in range(len(q))])


def clock(q_r, k_r, angle):
    return rotate(q_r, angle[-1]) @ rotate(k_r, angle).T


wrong(check.scores, "share one root: that of d + d_r.")(
    lambda q, c, up, q_r, k_r, angle: (content(q, c, up) + clock(q_r, k_r, angle)) / q.shape[-1] ** 0.5
)
