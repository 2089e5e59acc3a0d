"""Decay: what a token wrote fades with every token that follows, and no number says how far away it is.

Linear attention with gates: y_i = Σ_(j ≤ i) a_(j+1) ⋯ a_i (q_i · k_j) v_j, with a gate a_t in 0 … 1 for each token. It
is FoX without softmax: the gates multiply the products of queries and keys, where FoX adds their logarithms. Where
all gates are e⁻ᵐ, it is ALiBi with the slope m. Gates are arguments, as logarithms. A head of RetNet has a constant
one, 1 − 2^(−5 − h) for h = 0, 1, …, and its queries and keys turn besides: Sun et al. 2023 (arXiv 2307.08621). Mamba-2
reads one from each token: Dao and Gu 2024 (arXiv 2405.21060).

`matrix`, `recurrence` and `chunks` compute the same numbers. `delta` also erases: it is the gated delta rule of
Yang et al. 2025 (arXiv 2412.06464).

Code differs in its conventions. Ours: a token's gate falls on what was written before it, so a token reads its own
value in full. Nothing is divided by √d; RetNet's code divides the keys, and gated DeltaNet's in transformers the
queries. A state has a row for each feature of keys, as there; the paper on the delta rule writes its transpose.

q and k are (…, T, d), v is (…, T, e), log_gates are (…, T), a state is (…, d, e), and leading axes, such as batch and
head, broadcast. Sums and states have at least float32, and outputs the dtype of v. A gate of 0, whose logarithm is
−inf, forgets all that was written before: at the first token of each packed text, it keeps the texts apart. Each
function raises TypeError where an argument is no floating-point tensor, ValueError where axes do not fit or where
log_gates are above 0.
"""

from collections.abc import Iterator
from functools import reduce

import torch
from torch import Tensor

from ..positions.arguments import check_axes, check_positive
from ..positions.looks import values

__all__ = ["chunks", "decays", "delta", "matrix", "recurrence"]

AXES = {"q": "T d", "k": "T d", "v": "T e", "log_gates": "T", "beta": "T", "state": "d e"}


def decays(log_gates: Tensor) -> Tensor:
    """What is left at token i of what token j wrote: a_(j+1) ⋯ a_i, and 0 for j > i; (…, T) gives (…, T, T).

    >>> decays(torch.tensor([0.9, 0.5, 0.1]).log())
    tensor([[1.0000, 0.0000, 0.0000],
            [0.5000, 1.0000, 0.0000],
            [0.0500, 0.1000, 1.0000]])
    """
    check_inputs(log_gates=log_gates)
    return decay_mask(log_gates.to(torch.promote_types(log_gates.dtype, torch.float32)))


def decay_mask(gates: Tensor) -> Tensor:
    """`decays` of logarithms that are checked, in their own dtype."""
    here = torch.arange(gates.shape[-1], device=gates.device)
    behind = here[:, None] > here
    # Each key has a sum of its own: a difference of two would be NaN behind a gate of 0, and coarse late in a text.
    sums = torch.where(behind, gates[..., :, None], 0).cumsum(dim=-2)  # (…, T, T)
    return sums.masked_fill(behind.mT, -torch.inf).exp()


def matrix(q: Tensor, k: Tensor, v: Tensor, log_gates: Tensor) -> Tensor:
    """(decays ∘ q kᵀ) v, all tokens at once, with T² numbers a head; gives y, (…, T, e).

    >>> ones, halves = torch.ones(4, 1), torch.full((4,), 0.5).log()
    >>> matrix(ones, ones, ones, halves).mT
    tensor([[1.0000, 1.5000, 1.7500, 1.8750]])
    """
    (wide_q, wide_k, wide_v, gates), _ = fitted(None, q=q, k=k, v=v, log_gates=log_gates)
    return ((decay_mask(gates[..., 0]) * (wide_q @ wide_k.mT)) @ wide_v).to(v.dtype)


def recurrence(
    q: Tensor, k: Tensor, v: Tensor, log_gates: Tensor, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Token by token: S becomes a S + k vᵀ, and y is Sᵀ q; gives y, (…, T, e), and the last state, (…, d, e).

    state is what an earlier piece of the text left, or zeros. It is as large after a long text as after a short one.

    >>> ones, halves = torch.ones(4, 1), torch.full((4,), 0.5).log()
    >>> y, state = recurrence(ones[:3], ones[:3], ones[:3], halves[:3])
    >>> recurrence(ones[3:], ones[3:], ones[3:], halves[3:], state)[0]
    tensor([[1.8750]])
    """
    rows, state = fitted(state, q=q, k=k, v=v, log_gates=log_gates)
    outputs = [rows[2][..., :0, :]]
    for q_t, k_t, v_t, log_gate in pieces(rows, 1):
        state = log_gate.exp() * state + k_t.mT @ v_t  # (…, d, 1) @ (…, 1, e)
        outputs.append(q_t @ state)
    return torch.cat(outputs, dim=-2).to(v.dtype), state


def chunks(
    q: Tensor, k: Tensor, v: Tensor, log_gates: Tensor, size: int, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """By `matrix` within each `size` tokens, by a state from there to the next; gives what `recurrence` does.

    With size = 1 it is the recurrence, with size = T the matrix. Raises ValueError where size is not positive, too.

    >>> ones, halves = torch.ones(4, 1), torch.full((4,), 0.5).log()
    >>> chunks(ones, ones, ones, halves, size=2)[0].mT
    tensor([[1.0000, 1.5000, 1.7500, 1.8750]])
    """
    check_positive(size=size)
    rows, state = fitted(state, q=q, k=k, v=v, log_gates=log_gates)
    outputs = [rows[2][..., :0, :]]
    for q_c, k_c, v_c, gates in pieces(rows, size):
        left, from_start = decay_mask(gates[..., 0]), gates.cumsum(dim=-2).exp()
        outputs.append((left * (q_c @ k_c.mT)) @ v_c + from_start * (q_c @ state))
        state = from_start[..., -1:, :] * state + (left[..., -1, :, None] * k_c).mT @ v_c
    return torch.cat(outputs, dim=-2).to(v.dtype), state


def delta(
    q: Tensor, k: Tensor, v: Tensor, log_gates: Tensor, beta: Tensor, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """The gated delta rule: S becomes a (I − β k kᵀ) S + β k vᵀ, and y is Sᵀ q; gives what `recurrence` does.

    A key of length 1 with β = 1 gets a new value in place of its old one, and what stands at a right angle to it
    stays. beta is (…, T). Keys are taken as they are; models give them length 1 before.

    >>> keys, gates = torch.eye(2)[[0, 1, 0]], torch.zeros(3)
    >>> values, beta = torch.tensor([[5.0], [6.0], [7.0]]), torch.ones(3)
    >>> delta(keys, keys, values, gates, beta)[1].mT
    tensor([[7., 6.]])
    """
    rows, state = fitted(state, q=q, k=k, v=v, log_gates=log_gates, beta=beta)
    outputs = [rows[2][..., :0, :]]
    for q_t, k_t, v_t, log_gate, beta_t in pieces(rows, 1):
        state = log_gate.exp() * state
        state = state + beta_t * k_t.mT @ (v_t - k_t @ state)
        outputs.append(q_t @ state)
    return torch.cat(outputs, dim=-2).to(v.dtype), state


def pieces(rows: list[Tensor], size: int) -> Iterator[list[Tensor]]:
    """`size` tokens of each, from the first to the last."""
    for start in range(0, rows[0].shape[-2], size):
        yield [x[..., start : start + size, :] for x in rows]


def fitted(state: Tensor | None, **inputs: Tensor) -> tuple[list[Tensor], Tensor]:
    """All as (…, T, features), with the same leading axes and dtype, and the state to begin with."""
    check_inputs(**inputs | ({} if state is None else {"state": state}))
    if state is None:
        state = inputs["q"].new_zeros(inputs["q"].shape[-1], inputs["v"].shape[-1])
    tensors = [*(x[..., None] if AXES[name] == "T" else x for name, x in inputs.items()), state]
    wide = reduce(torch.promote_types, (x.dtype for x in tensors), torch.float32)
    leading = [tuple(x.shape[:-2]) for x in tensors]
    try:
        lead = torch.broadcast_shapes(*leading)
    except RuntimeError:
        names = ", ".join(inputs)
        raise ValueError(f"leading axes of {names} and state must broadcast; got {leading}") from None
    *rows, state = (x.to(wide).expand(*lead, -1, -1) for x in tensors)
    return rows, state


def check_inputs(**inputs: Tensor) -> None:
    """Raise a TypeError or ValueError as the module says."""
    check_axes(AXES, **inputs)
    log_gates = values(inputs["log_gates"])
    if log_gates is not None and not (fading := log_gates <= 0).all():
        worst = log_gates[~fading][0].item()
        raise ValueError(f"log_gates must be at most 0, because a gate is at most 1; got {worst}")
