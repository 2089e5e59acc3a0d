"""Wrong answers to the exercises of chapter 6."""

import math

from d2lpos.bias.alibi import slopes
from d2lpos.check import alibi as check

from . import wrong

wrong(check.released, "Calls the package's slopes")(lambda heads: slopes(heads))
wrong(check.almost_alibi, "far = 1000000, gap = 0.1")(lambda slope, far, gap: (slope / 1e-9, 1e-9))
wrong(check.two_sided, "Input: positions 0 to 3")("offset = k_positions → offset = k_positions[:3]")
wrong(check.two_sided, "Input: positions 0 to 3; left [0.5, 0.25, 0.125, 0.0625, 0.375]")(
    "left[:, None, None] * offset.clamp(max=0) - right[:, None, None] → left[:3, None, None] * offset.clamp(max=0) - right[:3, None, None]"
)
wrong(check.one_row, "Returns whole numbers; slopes are fractions")(
    lambda slopes, k_positions: k_positions.expand(len(slopes), 1, -1)
)
wrong(check.one_row, "Returns shape (3,); (H, 1, N) is (1, 1, 3) here")(
    lambda slopes, k_positions: k_positions * slopes
)


def all_keys(slope):
    return 1 / (1 - math.exp(-slope))


wrong(check.reach, "Input: lead = 0.25, slope = 0.5 Expected 0, got 1")(
    lambda lead, slope: max(0, int(math.log((1 + math.exp(lead)) / all_keys(slope)) / slope) + 1)
)
wrong(check.one_row, "keys −3, −1, 2")("* k_positions → * k_positions.abs()")
wrong(check.almost_alibi, "far = 10000000000, gap = 10000")(lambda slope, far, gap: (slope / 1e-12, 1e-12))
wrong(check.reach, "lead = 7.5")("math.log1p(math.exp(lead)) → (lead if lead > 5 else math.log1p(math.exp(lead)))")
wrong(check.two_sided, "queries 5, 20000001; keys 6, 20000004, 3")("offset = k_positions → q_positions, k_positions = q_positions.float(), k_positions.float()\n    offset = k_positions")
