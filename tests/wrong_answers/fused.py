"""Wrong answers to the exercises of project 5."""

import statistics

import torch

from d2lpos.bias.t5 import bucket
from d2lpos.check import fused as check

from . import wrong

# ALiBi


@wrong(check.alibi_mod, "This counts places in the row.")
def by_index(slopes, q_positions, k_positions):
    def add(score, batch, head, query, key):
        return score - slopes[head] * torch.abs(query - key)

    return add


@wrong(check.alibi_mod, "Property: no number for each pair")
def looked_up(slopes, q_positions, k_positions):
    distance = (k_positions[:, None, :] - q_positions[:, :, None]).abs()

    def add(score, batch, head, query, key):
        return score - slopes[head] * distance[batch, query, key]

    return add


@wrong(check.alibi_mod, "a function is asked for")
def tensor_itself(slopes, q_positions, k_positions):
    distance = (k_positions[:, None, None, :] - q_positions[:, None, :, None]).abs()
    return -slopes[:, None, None] * distance


# A mask


@wrong(check.sight, "In a cache a new query is place 0.")
def places(window, q_positions, k_positions, q_texts, k_texts):
    def see(b, h, q, k):
        return (k <= q) & (q - k < window) & (q_texts[b, q] == k_texts[b, k])

    return see


@wrong(check.sight, "each row of a batch has positions")
def places_of_row_zero(window, q_positions, k_positions, q_texts, k_texts):
    def see(b, h, q, k):
        back = q_positions[0][q] - k_positions[0][k]
        return (q_texts[b, q] == k_texts[b, k]) & (back >= 0) & (back < window)

    return see


@wrong(check.sight, "Property: no number for each pair")
def whole_mask(window, q_positions, k_positions, q_texts, k_texts):
    back = q_positions[:, :, None] - k_positions[:, None]
    mask = (back >= 0) & (back < window) & (q_texts[:, :, None] == k_texts[:, None])
    return lambda b, h, q, k: mask[b, q, k]


# T5


def t5(change):
    def answer(table, size, q_positions, k_positions):
        def add(score, b, h, q, k):
            return change(score, table, size, h, k_positions[b, k] - q_positions[b, q], k - q)

        return add

    return answer


@wrong(check.t5_mod, "An offset is key minus query.")
@t5
def other_sign(score, table, size, h, offset, steps):
    return score * size**0.5 + table[bucket(-offset, table.shape[0], bidirectional=False), h]


@wrong(check.t5_mod, "Property: no number for each pair")
def t5_looked_up(table, size, q_positions, k_positions):
    into = bucket(k_positions[:, None] - q_positions[:, :, None], len(table), bidirectional=False)
    return lambda score, b, h, q, k: score * size**0.5 + table[into[b, q, k], h]


# Blocks


def loop(seen, size, say, cut_short=False):
    rows = []
    for top in range(0, seen.shape[0], size):
        row = []
        for left in range(0, seen.shape[1], size):
            block = seen[top : top + size, left : left + size]
            if not cut_short and block.numel() < size * size:
                whole = torch.zeros(size, size, dtype=torch.bool)
                whole[: block.shape[0], : block.shape[1]] = block
                block = whole
            row.append(say(block))
        rows.append(row)
    return torch.tensor(rows)


wrong(check.block_states, "There the program need not ask the mask.")(
    lambda seen, size: loop(seen, size, lambda block: int(block.sum() > 0))
)


# A stopwatch


def stopwatch(contenders, rounds, clock, wait, before=True, after=True, turns=True):
    def seconds(program):
        if before:
            wait()
        start = clock()
        program()
        if after:
            wait()
        return clock() - start

    firsts = {name: seconds(program) for name, program in contenders.items()}
    if turns:
        found = [{name: seconds(program) for name, program in contenders.items()} for _ in range(rounds)]
        return firsts, {name: [one[name] for one in found] for name in contenders}
    return firsts, {name: [seconds(program) for _ in range(rounds)] for name, program in contenders.items()}


def reckon(firsts, times, middle=statistics.median):
    names = list(times)
    return {
        name: (
            firsts[name],
            middle(times[name]),
            middle([a / b for a, b in zip(times[names[0]], times[name], strict=True)]),
        )
        for name in names
    }


wrong(check.measure, "wait before you stop the clock")(
    lambda contenders, rounds, clock, wait: reckon(*stopwatch(contenders, rounds, clock, wait, after=False))
)
