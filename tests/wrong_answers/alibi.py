"""Wrong answers to the exercises of chapter 6."""

import math

import torch

from d2lpos.bias.alibi import bias, slopes
from d2lpos.check import alibi as check

from . import wrong

# Slopes for any head count


def power_of_two(heads):
    start = 2 ** (-8 / heads)
    return [start * start**i for i in range(heads)]


wrong(check.released, "This cuts off the sequence")(
    lambda heads: torch.tensor(power_of_two(2 ** math.ceil(math.log2(heads)))[:heads])
)


wrong(check.released, "Calls the package's slopes")(lambda heads: slopes(heads))
wrong(check.almost_alibi, "far = 1000000, gap = 0.1")(lambda slope, far, gap: (slope / 1e-9, 1e-9))


# A slope for each side


wrong(check.two_sided, "Only the left slope is used.")(
    lambda q_positions, k_positions, left, right: bias(q_positions, k_positions, left)
)


@wrong(check.two_sided, "Input: queries 0, 1, 2; keys 0, 1;")
def three_keys(q_positions, k_positions, left, right):
    columns = []
    for j in range(3):
        away = (k_positions[j] - q_positions).view(1, -1)
        columns.append(torch.where(away > 0, -right[:, None] * away, left[:, None] * away))
    return torch.stack(columns, dim=-1)


@wrong(check.two_sided, "Input: positions 0 to 3; left [0.5, 0.25, 0.125, 0.0625, 0.375]")
def three_heads(q_positions, k_positions, left, right):
    offset = k_positions - q_positions[:, None]
    return torch.stack([torch.where(offset > 0, -r, m) * offset for m, r in zip(left[:3], right[:3], strict=True)])


# One row for all queries


wrong(check.one_row, "The sign is wrong")(
    lambda slopes, k_positions: -slopes.view(-1, 1, 1) * k_positions.view(1, 1, -1)
)
wrong(check.one_row, "Returns whole numbers; slopes are fractions")(
    lambda slopes, k_positions: k_positions.expand(len(slopes), 1, -1)
)
wrong(check.one_row, "Returns shape (3,); (H, 1, N) is (1, 1, 3) here")(
    lambda slopes, k_positions: k_positions * slopes
)


# The window


wrong(check.window, "Rounded down")(
    lambda slope, eps, spread: max(1, int((spread + math.log(1 / eps)) / slope))
)


# The reach of a lead


def all_keys(slope):
    return 1 / (1 - math.exp(-slope))


wrong(check.reach, "It takes the place of one.")(
    lambda lead, slope: max(0, math.ceil((lead - math.log(all_keys(slope))) / slope))
)
wrong(check.reach, "Input: lead = 0.25, slope = 0.5 Expected 0, got 1")(
    lambda lead, slope: max(0, int(math.log((1 + math.exp(lead)) / all_keys(slope)) / slope) + 1)
)


# ALiBi inside KERPLE


wrong(check.almost_alibi, "With r2 = 1 this is far from a line.")(lambda slope, far, gap: (slope, 1.0))
