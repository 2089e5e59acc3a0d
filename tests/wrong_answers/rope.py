"""Wrong answers to the exercises of chapter 4."""

import math

import torch

from d2lpos.check import rope as check
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


def waves(d, base):
    return [2 * math.pi * base ** (2 * i / d) for i in range(d // 2)]


wrong(check.first_open, "fails 1 of 4 properties Property: 0 where none does")(
    lambda d, base, length: max(1, sum(wave <= length for wave in waves(d, base)))
)


@wrong(check.to_half, "Input: weight = [1.0, 0.75, 0.5, 0.25, 0.0, -0.25, -0.5, -0.75], heads = 2")
def heads_of_a_weight_only(weight, heads):
    if weight.dim() == 1:
        return torch.cat([weight[0::2], weight[1::2]])
    return weight.view(heads, -1, 2, weight.shape[1]).transpose(1, 2).flatten(0, 2)


wrong(check.first_open.answers[0], "Take a larger one.")(10_000)
wrong(check.first_open.answers[0], "Take a smaller one.")(1e9)
wrong(check.ramp.answers[0], "Compare the two ramps number by number.")(2)
