"""Wrong answers to the exercises of 11A."""

import torch

from d2lpos.check import serving as check

from . import wrong

# What two requests may share


@wrong(check.shared, "have seen that token")
def equal_anywhere(old, new, block, adapters):
    if adapters[0] != adapters[1]:
        return 0
    equal = sum(1 for a, b in zip(old, new, strict=False) if a == b)
    return min(equal, len(new) - 1) // block * block


# Documents in one row


@wrong(check.joined, "the prompt takes them up")
def first_of_the_row(prompt, lengths, first, question):
    found = [-1] * prompt
    for length in lengths:
        start = len(found)
        found += [-1 if prompt + place < first else start for place in range(length)]
    return torch.tensor(found + [-1] * question)


# How often a key turns


@wrong(check.turned, "do not turn")
def everything_moves(room, keep, discard, n):
    counts = []
    for _ in range(n):
        if len(counts) == room:
            del counts[keep : keep + discard]
            counts = [count + 1 for count in counts]
        counts.append(0)
    return counts
