"""Wrong answers to the exercises of chapter 12."""


import torch

from d2lpos.check import ruler as check
from d2lpos.rotary.rope import rotate

from . import wrong

# A gate at each word


@wrong(check.forget, "The key's own gate counts here.")
def own_gate_too(gates):
    T = gates.shape[1]
    bias = torch.full((len(gates), T, T), -torch.inf)
    for i in range(T):
        for j in range(i + 1):
            bias[:, i, j] = gates[:, j : i + 1].log().sum(dim=-1)
    return bias


# Count, and look between


@wrong(check.contextual, "and is not divided by √d.")
def divided_again(q, k, table):
    gates = torch.sigmoid(q @ k.T / q.shape[1] ** 0.5).tril()
    p = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=len(table) - 1)
    rows = table[p.floor().long()].lerp(table[p.ceil().long()], p.frac()[..., None])
    return torch.einsum("id,ijd->ij", q, rows).tril() / q.shape[1] ** 0.5


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
