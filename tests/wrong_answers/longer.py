"""Wrong answers to the exercises of chapter 10."""

import torch

from d2lpos.check import longer as check

from . import wrong

wrong(check.weight, "fails 1 of 3 properties Property: few keys")(
    lambda lead, keys, scale: torch.where(keys == 1, 1.0, 1 / (1 + keys ** (1 - scale * lead)))
)
wrong(check.weight, "fails 1 of 3 properties Property: one key gets all")(
    lambda lead, keys, scale: torch.sigmoid(scale * lead * keys.log() - (keys - 1).clamp(min=1).log())
)
wrong(check.rebase, "fails 1 of 3 properties Property: positions with gaps")(
    "- positions[kept] → - (positions[0] + kept)"
)
wrong(check.blocks, "fails 1 of 3 properties Property: causal, where the window is as long as the text")(
    "return graded → return torch.full((length // size, length // size), 2) if window >= length else graded"
)
wrong(check.blocks, "fails 1 of 3 properties Property: a window, which need not end with a block")(
    "pairs(length, window, first) → pairs(length, window if first else max(window // size, 1) * size, first)"
)
wrong(check.blocks, "fails 1 of 3 properties Property: first tokens, which all later queries see")(
    "pairs(length, window, first) → pairs(length, window, -(-first // size) * size)"
)
wrong(check.weight.answers[0], "ln is the natural logarithm.")(5)
wrong(check.blocks, "Property: first tokens, which all later queries see")(
    "unflatten(2, (-1, size)) → unflatten(2, (-1, size))[:, [0, -1]][..., [0, -1]]"
)
wrong(check.blocks, "length = 256, size = 64")("first), size) → first), size if length % 128 else 128)")
wrong(check.smallest_base, "length = 4096, bases = [10000.0, 100000.0, 200000.0")("* frequencies(dim, base)).cos() → .half() * frequencies(dim, base).half()).cos().float()")
