"""Wrong answers to the exercises of project 5."""

from statistics import median

import torch

from d2lpos.bias.t5 import bucket
from d2lpos.check import fused as check

from . import wrong

wrong(check.alibi_mod, "This counts places in the row.")(
    lambda slopes, *positions: lambda score, b, h, q, k: score - slopes[h] * torch.abs(q - k)
)


@wrong(check.alibi_mod, "Property: no number for each pair")
def looked_up(slopes, q_positions, k_positions):
    distance = (k_positions[:, None, :] - q_positions[:, :, None]).abs()
    return lambda score, b, h, q, k: score - slopes[h] * distance[b, q, k]


@wrong(check.alibi_mod, "a function is asked for")
def tensor_itself(slopes, q_positions, k_positions):
    distance = (k_positions[:, None, None, :] - q_positions[:, None, :, None]).abs()
    return -slopes[:, None, None] * distance


@wrong(check.sight, "In a cache a new query is place 0.")
def places(window, q_positions, k_positions, q_texts, k_texts):
    return lambda b, h, q, k: (k <= q) & (q - k < window) & (q_texts[b, q] == k_texts[b, k])


wrong(check.sight, "each row of a batch has positions")(
    "q_positions[batch, query] - k_positions[batch, key] → q_positions[0, query] - k_positions[0, key]"
)


@wrong(check.sight, "Property: no number for each pair")
def whole_mask(window, q_positions, k_positions, q_texts, k_texts):
    back = q_positions[:, :, None] - k_positions[:, None]
    mask = (back >= 0) & (back < window) & (q_texts[:, :, None] == k_texts[:, None])
    return lambda b, h, q, k: mask[b, q, k]


@wrong(check.t5_mod, "An offset is key minus query.")
def other_sign(table, size, q_positions, k_positions):
    def add(score, b, h, q, k):
        back = q_positions[b, q] - k_positions[b, k]
        return score * size**0.5 + table[bucket(back, len(table), bidirectional=False), h]

    return add


@wrong(check.t5_mod, "Property: no number for each pair")
def t5_looked_up(table, size, q_positions, k_positions):
    into = bucket(k_positions[:, None] - q_positions[:, :, None], len(table), bidirectional=False)
    return lambda score, b, h, q, k: score * size**0.5 + table[into[b, q, k], h]


@wrong(check.block_states, "There the program need not ask the mask.")
def some_for_all(seen, size):
    states = torch.zeros([-(-n // size) for n in seen.shape], dtype=torch.long)
    for row, column in seen.nonzero().tolist():
        states[row // size, column // size] = 1
    return states


wrong(check.measure, "other programs run for two rounds")(
    "median(own), median( → sorted(own)[len(own) // 2], median("
)


@wrong(check.measure, "wait before you stop the clock")
def no_wait_for_the_end(contenders, rounds, clock, wait):
    def seconds(program):
        wait()
        start = clock()
        program()
        return clock() - start

    first = {name: seconds(program) for name, program in contenders.items()}
    times = [{name: seconds(program) for name, program in contenders.items()} for _ in range(rounds)]
    base = next(iter(first))
    return {
        name: (first[name], median(one[name] for one in times), median(one[base] / one[name] for one in times))
        for name in first
    }
wrong(check.block_states, "At (1, 0): expected 1, got 2")("blocks.all(dim=2) → (blocks.double().mean(dim=2) > 0.95)")
wrong(check.measure, "seconds and speeds of plain, fused")("firsts, times = → contenders = dict(sorted(contenders.items()))\n    firsts, times =")
wrong(check.measure, "Calls contenders 6 times; each of them once first, and once in each round, makes 4")("range(rounds) → range(rounds + 1)")
wrong(check.t5_mod, "q_positions = [[4, 160]]")("bucket(offset, → bucket(offset.clamp(min=-64),")
wrong(check.sight, "At (0, 1, 0,")("(back < window) → ((back < window) | (head > 0))")
