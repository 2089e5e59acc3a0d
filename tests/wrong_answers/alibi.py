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


@wrong(check.released, "This is the paper's rule", card=True)
def paper_for_all(heads):
    return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)


@wrong(check.released, "begin with the second of the larger sequence")
def second_first(heads):
    below = 2 ** int(math.log2(heads))
    return torch.tensor(power_of_two(below) + power_of_two(2 * below)[1::2][: heads - below])


@wrong(check.released, "The extra slopes are consecutive.")
def consecutive(heads):
    below = 2 ** int(math.log2(heads))
    return torch.tensor(power_of_two(below) + power_of_two(2 * below)[: heads - below])


@wrong(check.released, "This cuts off the sequence")
def rounded_up(heads):
    return torch.tensor(power_of_two(2 ** math.ceil(math.log2(heads)))[:heads])


@wrong(check.released, "The slopes are right, but sorted.")
def sorted_at_the_end(heads):
    return slopes(heads).sort(descending=True)[0]


@wrong(check.released, "The extra slopes come first.")
def extra_slopes_first(heads):
    below = 2 ** int(math.log2(heads))
    return torch.tensor(power_of_two(2 * below)[0::2][: heads - below] + power_of_two(below))


@wrong(check.released, "A power of two is filled up here, too.")
def fills_up_a_power_of_two(heads):
    below = 1
    while 2 * below < heads:
        below *= 2
    return torch.tensor(power_of_two(below) + power_of_two(2 * below)[0::2][: heads - below])


@wrong(check.released, "The sequence begins with 1.")
def counts_from_0(heads):
    def sequence(count):
        return [2 ** (-8 * h / count) for h in range(count)]

    below = 2 ** int(math.log2(heads))
    finer = [x * 2 ** (4 / below) for x in sequence(2 * below)]
    return torch.tensor(sequence(below) + finer[0::2][: heads - below])


@wrong(check.released, "The exponent lost its minus")
def growing(heads):
    return 1 / slopes(heads)


@wrong(check.released, "The ratio is always 1/2.")
def halves(heads):
    return torch.tensor([0.5 ** (h + 1) for h in range(heads)])


@wrong(check.released, "return positive slopes")
def negative(heads):
    return -slopes(heads)


@wrong(check.released, "The order is turned around")
def gentlest_first(heads):
    return torch.tensor(sorted(power_of_two(heads))) if heads in (1, 2, 4, 8, 16) else slopes(heads).flip(0)


@wrong(check.released, "Expected type Tensor, got type list")
def a_list(heads):
    below = 2 ** int(math.log2(heads))
    return power_of_two(below) + power_of_two(2 * below)[0::2][: heads - below]


@wrong(check.released, "float64 is not asked for.")
def double(heads):
    return torch.tensor(a_list(heads), dtype=torch.float64)


@wrong(check.released, "Calls the package's slopes")
def from_the_package(heads):
    return slopes(heads)


# A slope for each side


def distance(q_positions, k_positions):
    return (q_positions[:, None] - k_positions[None, :]).abs()


@wrong(check.two_sided, "Left and right are exchanged")
def exchanged(q_positions, k_positions, left, right):
    after = k_positions > q_positions[:, None]
    slope = torch.where(after, left[:, None, None], right[:, None, None])
    return -slope * distance(q_positions, k_positions)


@wrong(check.two_sided, "far keys must lose")
def gains(q_positions, k_positions, left, right):
    after = k_positions > q_positions[:, None]
    slope = torch.where(after, right[:, None, None], left[:, None, None])
    return slope * distance(q_positions, k_positions)


@wrong(check.two_sided, "Keys after the query gain.")
def no_absolute_value(q_positions, k_positions, left, right):
    offset = k_positions - q_positions[:, None]
    return torch.where(offset > 0, right[:, None, None], left[:, None, None]) * offset


@wrong(check.two_sided, "Keys before the query gain.")
def other_offset(q_positions, k_positions, left, right):
    offset = q_positions[:, None] - k_positions
    return torch.where(offset < 0, right[:, None, None], left[:, None, None]) * offset


@wrong(check.two_sided, "Only the left slope is used.")
def left_only(q_positions, k_positions, left, right):
    return bias(q_positions, k_positions, left)


@wrong(check.two_sided, "Only the right slope is used.")
def right_only(q_positions, k_positions, left, right):
    return bias(q_positions, k_positions, right)


@wrong(check.two_sided, "Rows are keys here.")
def keys_as_rows(q_positions, k_positions, left, right):
    offset = k_positions[:, None] - q_positions
    slope = torch.where(offset > 0, right[:, None, None], left[:, None, None])
    return -slope * offset.abs()


@wrong(check.two_sided, "Both slopes are added.")
def both_added(q_positions, k_positions, left, right):
    return bias(q_positions, k_positions, left) + bias(q_positions, k_positions, right)


@wrong(check.two_sided, "Keys after the query get 0.")
def nothing_after(q_positions, k_positions, left, right):
    return bias(q_positions, k_positions, left).masked_fill(k_positions > q_positions[:, None], 0)


@wrong(check.two_sided, "Keys after the query are hidden.")
def causal(q_positions, k_positions, left, right):
    return bias(q_positions, k_positions, left).masked_fill(k_positions > q_positions[:, None], -torch.inf)


@wrong(check.two_sided, "The axis of heads is missing")
def no_heads(q_positions, k_positions, left, right):
    after = k_positions > q_positions[:, None]
    return -torch.where(after, right[0], left[0]) * distance(q_positions, k_positions)


@wrong(check.two_sided, "Only the first head's slopes are used.")
def first_head_for_all(q_positions, k_positions, left, right):
    after = k_positions > q_positions[:, None]
    one = -torch.where(after, right[0], left[0]) * distance(q_positions, k_positions)
    return one.expand(len(left), -1, -1)


@wrong(check.two_sided, "Positions are taken to be 0, 1, 2")
def counted(q_positions, k_positions, left, right):
    i, j = torch.arange(len(q_positions))[:, None], torch.arange(len(k_positions))
    return torch.where(j > i, right[:, None, None] * (i - j), left[:, None, None] * (j - i))


@wrong(check.two_sided, "positions as they come")
def in_half_precision(q_positions, k_positions, left, right):
    i, j = q_positions[:, None].half(), k_positions.half()
    return torch.where(j > i, right[:, None, None], left[:, None, None]) * -(i - j).abs()


# One row for all queries


@wrong(check.one_row, "The sign is wrong")
def favors_the_first(slopes, k_positions):
    return -slopes.view(-1, 1, 1) * k_positions.view(1, 1, -1)


@wrong(check.one_row, "Every head has the first slope.")
def slope_of_the_first_head(slopes, k_positions):
    return (slopes[0] * k_positions).expand(len(slopes), 1, -1)


@wrong(check.one_row, "The slopes are missing")
def no_slopes(slopes, k_positions):
    return k_positions.float().expand(len(slopes), 1, -1)


@wrong(check.one_row, "the softmax does not see it")
def constant(slopes, k_positions):
    return -slopes[:, None, None] * k_positions.max() + torch.zeros(len(k_positions))


@wrong(check.one_row, "The squared distance")
def squared(slopes, k_positions):
    return slopes[:, None, None] * k_positions**2


@wrong(check.one_row, "This is (H, N).")
def without_queries(slopes, k_positions):
    return slopes[:, None] * k_positions


@wrong(check.one_row, "This is the full bias.")
def all_pairs(slopes, k_positions):
    return bias(k_positions, k_positions, slopes)


@wrong(check.one_row, "The axes are exchanged")
def query_axis_first(slopes, k_positions):
    return torch.outer(slopes, k_positions)[None]


@wrong(check.one_row, "The keys stand on the axis of the queries.")
def keys_on_the_query_axis(slopes, k_positions):
    return slopes[:, None, None] * k_positions[:, None]


@wrong(check.one_row, "Returns whole numbers; slopes are fractions")
def whole_numbers(slopes, k_positions):
    return k_positions.expand(len(slopes), 1, -1)


@wrong(check.one_row, "Returns shape (3,); (H, 1, N) is (1, 1, 3) here")
def without_axes(slopes, k_positions):
    return k_positions * slopes


@wrong(check.one_row, "Positions are taken to be 0, 1, 2")
def by_index(slopes, k_positions):
    return slopes[:, None, None] * torch.arange(len(k_positions))


@wrong(check.one_row, "The distance to the last key in the list.", card=True)
def from_the_end_of_the_list(slopes, k_positions):
    return bias(k_positions[-1:], k_positions, slopes)


@wrong(check.one_row, "positions as they come")
def in_bfloat16(slopes, k_positions):
    return (slopes[:, None, None] * k_positions).bfloat16()


# The window


@wrong(check.window, "Rounded down")
def rounded_down(slope, eps, spread):
    return max(1, int((spread + math.log(1 / eps)) / slope))


@wrong(check.window, "Rounded to the nearest", card=True)
def rounded(slope, eps, spread):
    return max(1, round((spread + math.log(1 / eps)) / slope))


@wrong(check.window, "One too large")
def one_more(slope, eps, spread):
    w = 1
    while math.exp(spread - slope * w) > eps:
        w += 1
    return w + 1


@wrong(check.window, "One too large where the quotient is whole.", card=True)
def cut_off_and_one(slope, eps, spread):
    return max(1, int((spread + math.log(1 / eps)) / slope) + 1)


@wrong(check.window, "a logarithm of base 2")
def base_2(slope, eps, spread):
    return max(1, math.ceil((spread + math.log2(1 / eps)) / slope))


@wrong(check.window, "a logarithm of base 10")
def base_10(slope, eps, spread):
    return max(1, math.ceil((spread + math.log10(1 / eps)) / slope))


@wrong(check.window, "the distance at which the bias is −1")
def one_over_slope(slope, eps, spread):
    return math.ceil(1 / slope)


@wrong(check.window, "Far keys add up")
def one_key_below(slope, eps, spread):
    w = 1
    while (1 - math.exp(-slope)) * math.exp(-slope * w) > eps:
        w += 1
    return w


@wrong(check.window, "ln(eps) is negative")
def wrong_sign(slope, eps, spread):
    return max(1, math.ceil((spread + math.log(eps)) / slope))


@wrong(check.window, "Multiplied by the slope.")
def multiplied(slope, eps, spread):
    return max(1, math.ceil((spread + math.log(1 / eps)) * slope))


@wrong(check.window, "The spread is left out.")
def no_spread(slope, eps, spread):
    return max(1, math.ceil(math.log(1 / eps) / slope))


@wrong(check.window, "The spread is subtracted.")
def spread_subtracted(slope, eps, spread):
    return max(1, math.ceil((math.log(1 / eps) - spread) / slope))


@wrong(check.window, "The spread is not divided by the slope.")
def spread_not_divided(slope, eps, spread):
    return max(1, math.ceil(spread + math.log(1 / eps) / slope))


@wrong(check.window, "The smallest window is one key.")
def no_key(slope, eps, spread):
    return math.ceil((spread + math.log(1 / eps)) / slope)


@wrong(check.window, "This is a float.")
def a_float(slope, eps, spread):
    return float(max(1, math.ceil((spread + math.log(1 / eps)) / slope)))


# The reach of a lead


def all_keys(slope):
    return 1 / (1 - math.exp(-slope))


@wrong(check.reach, "It takes the place of one.")
def against_all_keys(lead, slope):
    return max(0, math.ceil((lead - math.log(all_keys(slope))) / slope))


@wrong(check.reach, "compared with the nearest key alone")
def against_the_nearest(lead, slope):
    return math.ceil(lead / slope)


@wrong(check.reach, "One too small")
def farthest_distance(lead, slope):
    return max(0, math.floor(math.log((1 + math.exp(lead)) / all_keys(slope)) / slope))


@wrong(check.reach, "One too large")
def first_lost(lead, slope):
    d = 0
    while math.exp(-slope * d) * (1 + math.exp(lead)) > all_keys(slope):
        d += 1
    return d + 1


@wrong(check.reach, "The needle pays nothing here.")
def free_of_charge(lead, slope):
    return next((d for d in range(5000) if math.exp(lead) <= all_keys(slope) - math.exp(-slope * d)), 5000)


@wrong(check.reach, "add up to 1/m only nearly")
def an_integral(lead, slope):
    return max(0, math.ceil((math.log(1 + math.exp(lead)) + math.log(slope)) / slope))


@wrong(check.reach, "is an estimate for small slopes and large leads")
def an_estimate(lead, slope):
    return max(0, math.ceil((lead + math.log(slope)) / slope))


@wrong(check.reach, "Input: lead = 0.25, slope = 0.5 Expected 0, got 1")
def cut_off_towards_zero(lead, slope):
    return max(0, int(math.log((1 + math.exp(lead)) / all_keys(slope)) / slope) + 1)


@wrong(check.reach, "Where the bound is negative")
def negative_bound(lead, slope):
    return math.ceil(math.log((1 + math.exp(lead)) * (1 - math.exp(-slope))) / slope)


@wrong(check.reach, "The bound is not divided by the slope.")
def not_divided(lead, slope):
    return max(0, math.ceil(math.log((1 + math.exp(lead)) * (1 - math.exp(-slope)))))


@wrong(check.reach, "This is a float.")
def a_float_of_tokens(lead, slope):
    return max(0.0, float(math.ceil(math.log((1 + math.exp(lead)) * (1 - math.exp(-slope))) / slope)))


# ALiBi inside KERPLE


@wrong(check.almost_alibi, "With r2 = 1 this is far from a line.")
def the_logarithm(slope, far, gap):
    return slope, 1.0


@wrong(check.almost_alibi, "too flat by the factor r2")
def slope_as_r1(slope, far, gap):
    return slope, 2 * gap / slope / far / far


@wrong(check.almost_alibi, "r1 and r2 are exchanged.")
def swapped(slope, far, gap):
    r2 = 2 * gap / (slope * far**2)
    return r2, slope / r2


@wrong(check.almost_alibi, "it grows with the square of far")
def linear_error(slope, far, gap):
    r2 = 2 * gap / (slope * far)
    return slope / r2, r2


@wrong(check.almost_alibi, "The slope is missing in r2")
def without_the_slope(slope, far, gap):
    r2 = 2 * gap / far**2
    return slope / r2, r2


@wrong(check.almost_alibi, "One small r2 for all")
def a_thousandth(slope, far, gap):
    return slope * 1000, 0.001


@wrong(check.almost_alibi, "so r1 is positive")
def negative_r1(slope, far, gap):
    r2 = 2 * gap / (slope * far**2)
    return -slope / r2, r2


@wrong(check.almost_alibi, "got r2 = 0, which is not positive")
def the_limit(slope, far, gap):
    return 1.0, 0.0


@wrong(check.almost_alibi, "Returns type str for r1; a number is asked for")
def as_text(slope, far, gap):
    r2 = 2 * gap / (slope * far**2)
    return f"{slope / r2:.3f}", f"{r2:.3e}"


@wrong(check.almost_alibi, "in between the curve sags")
def agrees_at_the_end(slope, far, gap):
    r2 = 1 / far
    return slope * far / math.log(1 + r2 * far), r2


@wrong(check.almost_alibi, "Returns 3 entries; 2 numbers are asked for: r1, r2")
def three_numbers(slope, far, gap):
    r2 = 2 * gap / (slope * far**2)
    return slope / r2, r2, far


@wrong(check.almost_alibi, "Returns type float; 2 numbers are asked for: r1, r2")
def r2_alone(slope, far, gap):
    return 2 * gap / (slope * far**2)
