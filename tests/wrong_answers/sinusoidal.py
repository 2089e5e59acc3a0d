"""Wrong answers to the exercises of chapter 2."""

import math

import numpy as np
import torch

from d2lpos.check import sinusoidal as check
from d2lpos.input.sinusoids import frequencies, sinusoidal

from . import wrong

# The encoding


def interleaved(angles):
    code = torch.zeros(*angles.shape[:-1], 2 * angles.shape[-1])
    code[..., 0::2] = torch.sin(angles)
    code[..., 1::2] = torch.cos(angles)
    return code


@wrong(check.encode, "The exponent has lost its minus")
def faster_and_faster(positions, d, base):
    return interleaved(positions.unsqueeze(-1) * torch.pow(base, torch.arange(0, d, 2) / d))


@wrong(check.encode, "All sines come first.")
def sines_first(positions, d, base):
    angles = positions.unsqueeze(-1) / base ** (torch.arange(0, d, 2) / d)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


@wrong(check.encode, "The cosines stand at the even places.")
def cosine_first(positions, d, base):
    code = interleaved(positions.unsqueeze(-1) / base ** (torch.arange(0, d, 2) / d))
    return code.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


@wrong(check.encode, "Every feature has its own frequency.")
def a_frequency_for_each_feature(positions, d, base):
    angles = positions.unsqueeze(-1) / base ** (torch.arange(d) / d)
    code = torch.zeros_like(angles)
    code[..., 0::2] = torch.sin(angles[..., 0::2])
    code[..., 1::2] = torch.cos(angles[..., 1::2])
    return code


@wrong(check.encode, "The exponent is −i/d.")
def half_the_exponent(positions, d, base):
    return interleaved(positions.unsqueeze(-1) / base ** (torch.arange(d // 2) / d))


@wrong(check.encode, "The exponent is −4i/d")
def twice_the_exponent(positions, d, base):
    return interleaved(positions.unsqueeze(-1) * base ** (-2 * torch.arange(0, d, 2) / d))


@wrong(check.encode, "The exponents run from 0 to −1.")
def ends_at_the_base(positions, d, base):
    step = math.log(base) / max(d // 2 - 1, 1)
    return interleaved(positions.unsqueeze(-1) * torch.exp(-step * torch.arange(d // 2)))


@wrong(check.encode, "The base is always 10000 here.")
def fixed_base(positions, d, base):
    return interleaved(positions.unsqueeze(-1) * torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d)))


@wrong(check.encode, "Positions count from 0")
def counts_from_one(positions, d, base):
    return interleaved((positions + 1).unsqueeze(-1) / base ** (torch.arange(0, d, 2) / d))


@wrong(check.encode, "Positions are made whole.")
def whole_positions(positions, d, base):
    return interleaved(
        torch.floor(positions.abs()).copysign(positions).unsqueeze(-1) / base ** (torch.arange(0, d, 2) / d)
    )


@wrong(check.encode, "Exactly one axis of positions is expected.")
def outer_product(positions, d, base):
    return interleaved(torch.outer(positions, 1 / base ** (torch.arange(0, d, 2) / d)))


@wrong(check.encode, "fails 1 of 5 properties Property: positions that are no whole numbers")
def by_table(positions, d, base):
    table = interleaved(torch.arange(100).unsqueeze(-1) / base ** (torch.arange(0, d, 2) / d))
    return table[positions]


@wrong(check.encode, "−arange(0, d, 2) // d rounds down.")
def floor_division(positions, d, base):
    return interleaved(positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2) // d))


@wrong(check.encode, "Hand by hand is slow.")
def a_loop(positions, d, base):
    columns = []
    for i in range(d // 2):
        angle = positions * base ** (-2 * i / d)
        columns += [angle.sin(), angle.cos()]
    return torch.stack(columns, dim=-1)


@wrong(check.encode, "Calls the package's sinusoidal")
def borrowed(positions, d, base):
    return sinusoidal(positions, d, base)


# From PE(p) to PE(p + k)


def speeds(code, base):
    d = code.shape[-1]
    return base ** (-torch.arange(0, d, 2) / d)


def turned(code, angles):
    out = torch.empty_like(code)
    s, c = code[..., ::2], code[..., 1::2]
    out[..., ::2] = s * torch.cos(angles) + c * torch.sin(angles)
    out[..., 1::2] = c * torch.cos(angles) - s * torch.sin(angles)
    return out


@wrong(check.encode, "Hand by hand is slow.")
def hand_by_hand_in_numpy(positions, d, base):
    code = np.zeros((*positions.shape, d), dtype=np.float32)
    for i in range(d // 2):
        angles = positions.numpy() / base ** (2 * i / d)
        code[..., 2 * i], code[..., 2 * i + 1] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(code)


@wrong(check.encode, "Hand by hand is slow.")
def number_by_number(positions, d, base):
    def feature(p, i):
        angle = p / base ** ((i - i % 2) / d)
        return math.cos(angle) if i % 2 else math.sin(angle)

    code = [[feature(p, i) for i in range(d)] for p in positions.flatten().tolist()]
    return torch.tensor(code).reshape(*positions.shape, d)


@wrong(check.turn, "The hands turn the other way")
def counterclockwise(code, k, base):
    angles = k * speeds(code, base)
    out = torch.empty_like(code)
    s, c = code[..., ::2], code[..., 1::2]
    out[..., ::2] = s * torch.cos(angles) - c * torch.sin(angles)
    out[..., 1::2] = s * torch.sin(angles) + c * torch.cos(angles)
    return out


@wrong(check.turn, "This is PE(k).")
def forgets_the_code(code, k, base):
    return interleaved(torch.full(code.shape[:-1], k).unsqueeze(-1) * speeds(code, base))


@wrong(check.turn, "Codes do not add")
def adds_codes(code, k, base):
    return code + interleaved(k * speeds(code, base))


@wrong(check.turn, "The first half is paired with the second.")
def halves(code, k, base):
    angles = k * speeds(code, base)
    s, c = torch.chunk(code, 2, dim=-1)
    return torch.cat([s * angles.cos() + c * angles.sin(), c * angles.cos() - s * angles.sin()], dim=-1)


@wrong(check.turn, "The cosine turns with the new sine.")
def overwrites_the_sine(code, k, base):
    angles = k * speeds(code, base)
    out = code.clone()
    out[..., ::2] = out[..., ::2] * angles.cos() + out[..., 1::2] * angles.sin()
    out[..., 1::2] = out[..., 1::2] * angles.cos() - out[..., ::2] * angles.sin()
    return out


@wrong(check.turn, "All hands turn by the same angle k.")
def one_angle_for_all(code, k, base):
    return turned(code, torch.tensor(k))


@wrong(check.turn, "The base is always 10000 here.")
def base_of_the_paper(code, k, base):
    return turned(code, k * speeds(code, 10_000))


@wrong(check.turn, "Nothing turns where k is negative", card=True)
def tick_by_tick(code, k, base):
    for _ in range(k):
        code = turned(code, speeds(code, base))
    return code


@wrong(check.turn, "The sign of k is lost.")
def distance_only(code, k, base):
    return turned(code, abs(k) * speeds(code, base))


@wrong(check.turn, "The position is looked up among whole numbers.")
def by_search(code, k, base):
    table = interleaved(torch.arange(3000).unsqueeze(-1) * speeds(code, base)).to(code)
    p = torch.cdist(code.reshape(-1, code.shape[-1]), table).argmin(dim=-1).reshape(code.shape[:-1])
    return interleaved((p + k).unsqueeze(-1) * speeds(code, base))


@wrong(check.turn, "The features are the last axis", card=True)
def first_axis(code, k, base):
    angles = k * base ** (-torch.arange(0, len(code), 2) / len(code))
    angles = angles.reshape(-1, *[1] * (code.dim() - 1))
    out = code.clone()
    out[::2] = code[::2] * angles.cos() + code[1::2] * angles.sin()
    out[1::2] = code[1::2] * angles.cos() - code[::2] * angles.sin()
    return out


@wrong(check.turn, "fails 1 of 5 properties Property: dimensions in front")
def pairs_by_view(code, k, base):
    s, c = code.view(-1, 2).unbind(1)
    angles = k * speeds(code, base)
    return torch.stack([s * angles.cos() + c * angles.sin(), c * angles.cos() - s * angles.sin()], 1).view(-1)


@wrong(check.turn, "cos(α + β) has a minus")
def plus_in_the_cosine(code, k, base):
    s, c = code[..., 0::2], code[..., 1::2]
    S, C = (k * speeds(code, base)).sin(), (k * speeds(code, base)).cos()
    return torch.stack([s * C + c * S, c * C + s * S], dim=-1).flatten(-2)


@wrong(check.turn, "sin(α + β) has a plus")
def minus_in_the_sine(code, k, base):
    s, c = code[..., 0::2], code[..., 1::2]
    S, C = (k * speeds(code, base)).sin(), (k * speeds(code, base)).cos()
    return torch.stack([s * C - c * S, c * C - s * S], dim=-1).flatten(-2)


@wrong(check.turn, "All new sines come first.")
def sines_then_cosines(code, k, base):
    s, c = code[..., 0::2], code[..., 1::2]
    S, C = (k * speeds(code, base)).sin(), (k * speeds(code, base)).cos()
    return torch.cat([s * C + c * S, c * C - s * S], dim=-1)


@wrong(check.turn, "The slowest hand does not know", card=True)
def position_recovered(code, k, base):
    p = torch.atan2(code[..., -2], code[..., -1]) / frequencies(code.shape[-1], base)[-1]
    return sinusoidal(p + k, code.shape[-1], base)


# The offset that looks most like none


def likeness(d, base, offsets):
    omega = base ** (-torch.arange(0, d, 2).double() / d)
    return torch.stack([torch.cos(k * omega).sum() for k in offsets])


@wrong(check.collision, "Offset 0 is counted.")
def counts_itself(d, base, length):
    return likeness(d, base, range(length)).argmax().item()


@wrong(check.collision, "least alike")
def farthest(d, base, length):
    return 1 + likeness(d, base, range(1, length)).argmin().item()


@wrong(check.collision, "One too small")
def place_in_the_list(d, base, length):
    return likeness(d, base, range(1, length)).argmax().item()


@wrong(check.collision, "Only the fastest hand is compared.", card=True)
def seconds_only(d, base, length):
    return max(range(1, length), key=math.cos)


@wrong(check.collision, "Opposite codes count as alike here.")
def absolute(d, base, length):
    return 1 + likeness(d, base, range(1, length)).abs().argmax().item()


@wrong(check.collision, "Offset length is counted")
def one_too_far(d, base, length):
    return 1 + likeness(d, base, range(1, length + 1)).argmax().item()


@wrong(check.collision, "The largest offset, length − 1, is left out.")
def one_too_few(d, base, length):
    return 1 + likeness(d, base, range(1, length - 1)).argmax().item()


@wrong(check.collision, "The base is always 10000 here.")
def base_forgotten(d, base, length):
    return 1 + likeness(d, 10_000.0, range(1, length)).argmax().item()


@wrong(check.collision, "The search ends early.")
def at_most_512(d, base, length):
    return 1 + likeness(d, base, range(1, min(512, length))).argmax().item()


@wrong(check.collision, "This is a tensor.")
def zero_dimensional(d, base, length):
    return 1 + likeness(d, base, range(1, length)).argmax()


@wrong(check.collision, "This is a pair of positions.")
def two_positions(d, base, length):
    return 0, 1 + likeness(d, base, range(1, length)).argmax().item()


@wrong(check.collision, "The answer is always 1 here.")
def zero_wins(d, base, length):
    return likeness(d, base, range(length)).argmax().item() + 1


@wrong(check.collision, "Absolute differences are added up.")
def city_blocks(d, base, length):
    table = sinusoidal(torch.arange(length), d, base)
    return (table[1:] - table[0]).abs().sum(dim=-1).argmin().item() + 1


@wrong(check.collision, "Only the largest difference counts.")
def largest_difference(d, base, length):
    table = sinusoidal(torch.arange(length), d, base)
    return (table[1:] - table[0]).abs().amax(dim=-1).argmin().item() + 1


# Where the kernel rises


@wrong(check.first_rise, "This is the last offset of the fall.")
def bottom(d, base):
    k = 0
    while likeness(d, base, [k + 1]) <= likeness(d, base, [k]):
        k += 1
    return k


@wrong(check.first_rise, "One too large")
def one_late(d, base):
    values = likeness(d, base, range(1, 1000)).tolist()
    return next(k for k in range(1, 999) if values[k] > values[k - 1]) + 2


@wrong(check.first_rise, "This is where the kernel is lowest.")
def lowest(d, base):
    return likeness(d, base, range(1000)).argmin().item()


@wrong(check.first_rise, "The kernel falls from offset 0 to 1.")
def sines(d, base):
    def value(k):
        return sum(math.sin(k * base ** (-i / d)) for i in range(0, d, 2))

    k = 1
    while value(k) <= value(k - 1):
        k += 1
    return k


@wrong(check.first_rise, "The kernel falls from offset 0 to 1.")
def wrong_comparison(d, base):
    k = 1
    while likeness(d, base, [k]) > likeness(d, base, [k - 1]):
        k += 1
    return k


@wrong(check.first_rise, "Only the fastest hand is counted.")
def one_hand(d, base):
    k = 1
    while math.cos(k) <= math.cos(k - 1):
        k += 1
    return k


@wrong(check.first_rise, "The base is always 10000 here.")
def always_10000(d, base):
    values = likeness(d, 1e4, range(1000))
    return (values.diff() > 0).nonzero()[0].item() + 1


@wrong(check.first_rise, "The search ends early")
def within_a_hundred(d, base):
    values = likeness(d, base, range(101))
    return (values.diff() > 0).nonzero()[0].item() + 1


@wrong(check.first_rise, "The search still ends too early.")
def within_three_hundred(d, base):
    values = likeness(d, base, range(301))
    return (values.diff() > 0).nonzero()[0].item() + 1


# What a number format can count


@wrong(check.first_lost, "The format holds this one.")
def last_held(dtype):
    n = 1
    while torch.tensor(n + 1).to(dtype).long() == n + 1:
        n *= 2
    return n


@wrong(check.first_lost, "One too large")
def two_more(dtype):
    return int(2 / torch.finfo(dtype).eps) + 2


@wrong(check.first_lost, "The gap is 2 only past 2/eps.")
def from_eps(dtype):
    return round(1 / torch.finfo(dtype).eps) + 1


@wrong(check.first_lost, "This is the largest number of the format.")
def largest(dtype):
    return int(torch.finfo(dtype).max)


@wrong(check.first_lost, "Most of the bits are not for counting.")
def all_bits(dtype):
    return 2 ** torch.finfo(dtype).bits


@wrong(check.first_lost, "This holds for bfloat16 only.")
def remembered(dtype):
    return 257


@wrong(check.first_lost, "This is a float.")
def division(dtype):
    return 2 / torch.finfo(dtype).eps + 1


@wrong(check.first_lost, "This is a tensor.")
def first_difference(dtype):
    numbers = 2 ** torch.arange(30) + 1
    return numbers[numbers.to(dtype).long() != numbers][0]


@wrong(check.first_lost, "The search ends early.")
def up_to_256(dtype):
    n = 1
    while n < 256 and torch.tensor(n).to(dtype).item() == n:
        n += 1
    return n


@wrong(check.first_lost, "Not every format is known.")
def by_name(dtype):
    if dtype == torch.bfloat16:
        return 257
    if dtype == torch.float16:
        return 2049
    if dtype == torch.float32:
        return 16777217


@wrong(check.first_lost, "The search ends before float32 does.")
def up_to_5000(dtype):
    n = 1
    while n < 5000 and torch.tensor(n).to(dtype).item() == n:
        n += 1
    return n


@wrong(check.first_lost, "Nothing comes back for float32")
def table_of_four(dtype):
    limits = {torch.bfloat16: 257, torch.float16: 2049, torch.float8_e4m3fn: 17, torch.float8_e5m2: 9}
    return limits.get(dtype)


@wrong(check.first_lost, "Both sides are compared in the small format.")
def compared_in_the_small_format(dtype):
    n = torch.arange(1, 10_000)
    return n[n.to(dtype) != n][0].item()


wrong(check.collision.answers[0], "That is beyond the length.")(710)
wrong(check.collision.answers[0], "It is not 45")(45)
wrong(check.first_lost.answers[0], "It is not 127, to within 0.01")(127)
