"""Wrong answers to the exercises of chapter 10."""


import torch

from d2lpos.check import longer as check
from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.rotary.rope import rotate
from d2lpos.rotary.scaling import yarn

from . import wrong

# A lead in a crowd


wrong(check.weight, "fails 1 of 3 properties Property: few keys")(
    lambda lead, keys, scale: torch.where(keys == 1, 1.0, 1 / (1 + keys ** (1 - scale * lead)))
)
wrong(check.weight, "fails 1 of 3 properties Property: one key gets all")(
    lambda lead, keys, scale: torch.sigmoid(scale * lead * keys.log() - (keys - 1).clamp(min=1).log())
)


# Evict and re-base


def new(kept):
    return torch.arange(len(kept))


wrong(check.rebase, "fails 1 of 3 properties Property: positions with gaps")(
    lambda keys, positions, kept, omega: rotate(keys[kept], angles(new(kept) - (positions[0] + kept), omega))
)


# A window with first tokens, by blocks


def offsets(length):
    return torch.arange(length)[:, None] - torch.arange(length)


def visible(length, window, first):
    back = offsets(length)
    return (back >= 0) & ((back < window) | (torch.arange(length) < first))


def cut(seen, size):
    n = len(seen) // size
    return seen.reshape(n, size, n, size).transpose(1, 2).flatten(2)


def graded(seen, size):
    tiles = cut(seen, size)
    return tiles.any(dim=-1).int() + tiles.all(dim=-1).int()


@wrong(check.blocks, "fails 1 of 3 properties Property: causal, where the window is as long as the text")
def a_window_over_all(length, size, window, first):
    if window >= length:
        return torch.full((length // size, length // size), 2)
    return graded(visible(length, window, first), size)


wrong(check.blocks, "fails 1 of 3 properties Property: a window, which need not end with a block")(
    lambda length, size, window, first: graded(visible(length, max(window // size, 1) * size, first), size)
)
wrong(check.blocks, "fails 1 of 3 properties Property: first tokens, which all later queries see")(
    lambda length, size, window, first: graded(visible(length, window, -(-first // size) * size), size)
)


# Which setting is wrong?


@wrong(check.diagnose, "Allow a difference of a percent.")
def too_exactly(found, dim, base, factor, length):
    omega = frequencies(dim, base)
    once = yarn(omega, factor, length)[0]
    known = {
        "right": once,
        "length": yarn(omega, factor, length * factor)[0],
        "twice": yarn(once, factor, length)[0],
        "base": yarn(frequencies(dim, 10_000.0), factor, length)[0],
        "off": omega,
    }
    return next((name for name, one in known.items() if torch.allclose(found, one)), None)


# How large a base?


def sums(dim, length, base):
    return torch.cos(torch.arange(length)[:, None] * frequencies(dim, base)).sum(dim=1)


def first_with(fits, bases):
    for base in bases:
        if fits(base):
            return base
    return None


def fits(dim, length, base):
    return bool((sums(dim, length, base) >= 0).all())


wrong(check.smallest_base, "Only the farthest distance is asked.")(
    lambda dim, length, bases: first_with(lambda base: sums(dim, length, base)[-1] >= 0, bases)
)


# Lost in the middle


def looked_at(length, slope):
    back = offsets(length)
    return torch.softmax(torch.where(back < 0, -torch.inf, -slope * back), dim=-1)


def rows(matrix, layers):
    """All layers together."""
    result = torch.eye(len(matrix))
    for _ in range(layers):
        result = result @ matrix
    return result


wrong(check.shares, "Nothing is kept.")(
    lambda layers, length, slope: rows(looked_at(length, slope), layers)[-1]
)
wrong(check.weight.answers[0], "ln is the natural logarithm.")(5)


@wrong(check.blocks, "Property: first tokens, which all later queries see")
def told_by_the_corners(length, size, window, first):
    q, k = torch.arange(length)[:, None], torch.arange(length)
    seen = (k <= q) & ((q - k < window) | (k < first))
    tiles = seen.unflatten(0, (-1, size)).unflatten(2, (-1, size))[:, [0, -1]][..., [0, -1]]
    return tiles.any(dim=(1, 3)).long() + tiles.all(dim=(1, 3))
