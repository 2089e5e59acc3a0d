"""Wrong answers to the exercises of chapter 2."""

import torch

from d2lpos.check import sinusoidal as check
from d2lpos.input.sinusoids import sinusoidal

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


wrong(check.encode, "Calls the package's sinusoidal")(
    lambda positions, d, base: sinusoidal(positions, d, base)
)


@wrong(check.encode, "fails 1 of 5 properties Property: sine and cosine of p · base^(−2i/d), in turn Input: positions [2, 90], d = 64")
def four_hands(positions, d, base):
    hands = torch.tensor([0.0, 1.0, 2.0, 3.0])[: d // 2]
    return interleaved(positions.unsqueeze(-1) / base ** (2 * hands / d))


# From PE(p) to PE(p + k)


def speeds(code, base):
    d = code.shape[-1]
    return base ** (-torch.arange(0, d, 2) / d)


@wrong(check.turn, "The position is looked up among whole numbers.")
def by_search(code, k, base):
    table = interleaved(torch.arange(3000).unsqueeze(-1) * speeds(code, base)).to(code)
    p = torch.cdist(code.reshape(-1, code.shape[-1]), table).argmin(dim=-1).reshape(code.shape[:-1])
    return interleaved((p + k).unsqueeze(-1) * speeds(code, base))


# The offset that looks most like none


def likeness(d, base, offsets):
    omega = base ** (-torch.arange(0, d, 2).double() / d)
    return torch.stack([torch.cos(k * omega).sum() for k in offsets])


wrong(check.collision, "Offset 0 is counted.")(
    lambda d, base, length: likeness(d, base, range(length)).argmax().item()
)


# Where the kernel rises


wrong(check.first_rise, "This is where the kernel is lowest.")(
    lambda d, base: likeness(d, base, range(1000)).argmin().item()
)


# What a number format can count


wrong(check.first_lost, "One too large")(lambda dtype: int(2 / torch.finfo(dtype).eps) + 2)
wrong(check.collision.answers[0], "That is beyond the length.")(710)
