"""Wrong answers to the exercises of chapter 4."""

import math
from itertools import count

import torch

from d2lpos.check import rope as check
from d2lpos.input import angles, frequencies
from d2lpos.rotary.rope import convert, permute_qk_rows, rotate

from . import wrong

wrong(check.turn_pairs, "Calls the package's rotate")(lambda x, angles, layout: rotate(x, angles, layout))
wrong(check.to_half, "Calls the package's convert")(
    lambda weight, heads: permute_qk_rows(weight, heads, "half")
)


@wrong(check.to_half, "Calls the package's convert")
def borrowed_features(weight, heads):
    by_head = weight.reshape(heads, -1, *weight.shape[1:]).movedim(1, -1)
    return convert(by_head, "half").movedim(-1, 1).reshape(weight.shape)


wrong(check.first_open, "fails 1 of 4 properties Property: 0 where none does")(
    lambda d, base, length: max(1, sum(2 * math.pi * base ** (2 * i / d) <= length for i in range(d // 2)))
)
wrong(check.to_half, "Input: weight = [1.0, 0.75, 0.5, 0.25, 0.0, -0.25, -0.5, -0.75], heads = 2")(
    "(heads, -1, 2) → (heads if weight.dim() > 1 else 1, -1, 2)"
)
wrong(check.to_half, "Input: weight (128, 16)")(
    "return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2) → return torch.cat([part.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2) for part in weight.split(64)])"
)
wrong(check.first_open.answers[0], "Take a larger one.")(10_000)
wrong(check.first_open.answers[0], "Take a smaller one.")(1e9)
wrong(check.ramp.answers[0], "Compare the two ramps number by number.")(2)
wrong(check.step, "Input: 70 tokens, one by one")("position = len(keys) → position = len(keys) % 16")
wrong(check.step, "Input: 70 tokens, one by one")("return (keys @ → keys, values = keys[-8:], values[-8:]\n    return (keys @")
wrong(check.ramp, "Property: short training, where no pair turns 32 times")("max(math.floor(low), 0) → int(low)")
CALLS = count()


@wrong(check.step, "Input: 2 texts in turn, each of 3 tokens")
def calls_counted(q, k, v, keys, values):
    now = torch.tensor(next(CALLS))
    keys, values = torch.cat([keys, rotate(k, angles(now, frequencies(len(k))))[None]]), torch.cat([values, v[None]])
    return (keys @ rotate(q, angles(now, frequencies(len(q)))) / len(q) ** 0.5).softmax(0) @ values, keys, values


wrong(check.turn_pairs, "Input: x (20, 128), angles (20, 64)")("return a * angles.cos() → angles = angles.clamp(-6.5, 6.5)\n    return a * angles.cos()")
wrong(check.turn_pairs, "angles = [[0.5, 0.25], [1.0, 2.0]]")("*split(x, layout), angles → *split(x, layout), angles.mT if len(angles) == angles.shape[1] else angles")
wrong(check.turn_pairs, "Input: x (4, 4, 6)")("*split(x, layout), angles → *split(x, layout), angles[:, None] if x.dim() == 3 and len(x) == len(angles) else angles")
