"""Wrong answers to the exercises of chapter 4."""

import math

import torch

from d2lpos.check import rope as check
from d2lpos.input.sinusoids import frequencies
from d2lpos.rotary.rope import convert, permute_qk_rows, rotate

from . import wrong

# Both layouts


def members(x, layout):
    if layout == "half":
        return x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x[..., ::2], x[..., 1::2]


def together(a, c, layout):
    if layout == "half":
        return torch.cat((a, c), dim=-1)
    out = torch.empty(*a.shape[:-1], 2 * a.shape[-1])
    out[..., ::2], out[..., 1::2] = a, c
    return out


wrong(check.turn_pairs, "The two layouts are exchanged.")(
    lambda x, angles, layout: rotate_by_hand(x, angles, "interleaved" if layout == "half" else "half")
)


def rotate_by_hand(x, angles, layout):
    a, c = members(x, layout)
    return together(a * angles.cos() - c * angles.sin(), a * angles.sin() + c * angles.cos(), layout)


wrong(check.turn_pairs, "Calls the package's rotate")(lambda x, angles, layout: rotate(x, angles, layout))


# The best key at an offset


wrong(check.best_key, "This key scores highest at the offset of the other sign.")(
    lambda q, offset, base: rotate(q, offset * frequencies(q.shape[-1], base), "interleaved")
)


# A checkpoint's layout


wrong(check.to_half, "All heads are taken for one.")(
    lambda weight, heads: torch.cat([weight[::2], weight[1::2]])
)
wrong(check.to_half, "Calls the package's convert")(
    lambda weight, heads: permute_qk_rows(weight, heads, "half")
)


@wrong(check.to_half, "Calls the package's convert")
def borrowed_features(weight, heads):
    by_head = weight.reshape(heads, -1, *weight.shape[1:]).movedim(1, -1)
    return convert(by_head, "half").movedim(-1, 1).reshape(weight.shape)


# A cache


def attended(q, keys, values):
    scores = keys @ q / math.sqrt(len(q))
    return torch.softmax(scores, dim=0) @ values


def grown(cache, new):
    return torch.cat([cache, new.unsqueeze(0)])


@wrong(check.step, "Nothing turns.")
def no_positions(q, k, v, keys, values):
    keys, values = grown(keys, k), grown(values, v)
    return attended(q, keys, values), keys, values


# Open circles


def waves(d, base):
    return [2 * math.pi * base ** (2 * i / d) for i in range(d // 2)]


wrong(check.first_open, "This is the last pair that closes.")(
    lambda d, base, length: max((i for i, wave in enumerate(waves(d, base)) if wave <= length), default=-1)
)
wrong(check.first_open, "fails 1 of 4 properties Property: 0 where none does")(
    lambda d, base, length: max(1, sum(wave <= length for wave in waves(d, base)))
)


# YaRN's ramp


def where(turns, d, base, length):
    return d / 2 * math.log(length / (turns * 2 * math.pi), base)


def line(lo, hi, d):
    return torch.clamp((torch.arange(d // 2) - lo) / (hi - lo), 0, 1)


wrong(check.ramp, "lo and hi are whole")(
    lambda d, base, length: line(max(where(32, d, base, length), 0), where(1, d, base, length), d)
)


wrong(check.first_open.answers[0], "Take a larger one.")(10_000)
wrong(check.first_open.answers[0], "Take a smaller one.")(1e9)
wrong(check.ramp.answers[0], "Compare the two ramps number by number.")(2)
