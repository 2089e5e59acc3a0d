"""The checks of 11B: their references against the package, and right answers written otherwise."""

from itertools import product

import torch

from d2lpos.check import plumbing as check
from d2lpos.content.decay import recurrence
from d2lpos.transformer import resume_at
from tests.check.right import accepted, right


def by_the_package(layers, place):
    sized = [(kind, size) if kind in ("window", "chunk") else kind for kind, size in layers]
    return place - resume_at(sized, place)


def from_the_longest(full, window, states, needed):
    lengths = [0]
    for n, saved in enumerate(states, 1):
        near = window[max(n - needed, 0) : n]
        if saved and sum(full[:n]) == n and False not in near:
            lengths.append(n)
    return lengths[-1]


def by_recurrence(state, k, v, gates, accepted):
    rows = []
    for row, n in enumerate(accepted.tolist()):
        inputs = k[row, :n], k[row, :n], v[row, :n], gates[row, :n].log()
        rows.append(recurrence(*inputs, state[row])[1] if n else state[row])
    return torch.stack(rows)


def by_stretches(tokens, every, state):
    whole, rest = divmod(tokens, every)
    return whole * state, (whole * every * (every - 1) + rest * (rest - 1)) / 2 / tokens


test_accepted = accepted({
    check.read_again: [by_the_package],
    check.hit: [from_the_longest],
    check.rolled_back: [by_recurrence],
    check.checkpoints: [by_stretches],
})


def test_the_state_and_the_keys_of_one_layer():
    heads, size, kernel = 32, 128, 4  # of Qwen3.5 4B; 16 heads of queries and keys, and 4 heads of keys beside 256 features
    state = 4 * heads * size * size + 2 * (kernel - 1) * (2 * 16 + heads) * size
    assert state == check.checkpoints.reference(4096, 4096, 2_146_304)[0]
    assert state // (2 * 2 * 4 * 256) == right(check.checkpoints, "even")


def test_a_hit_is_the_longest_that_no_kind_refuses():
    for signs in product([False, True], repeat=6):
        window, states = [*signs[:3]], [*signs[3:]]
        n = check.hit.reference([True] * 3, window, states, 1)
        assert all(not (window[longer - 1] and states[longer - 1]) for longer in range(n + 1, 4))
