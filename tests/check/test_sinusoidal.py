"""The checks of chapter 2: the numbers that they ask for, and right answers written otherwise."""

import math

import numpy as np
import torch

from d2lpos.check import sinusoidal as check
from d2lpos.input.sinusoids import frequencies, sinusoidal
from tests.check.right import accepted


def test_hands_of_nearly_one_speed_collide_at_seven_turns():
    assert check.collision.reference(2, 1e4, 45) == 44
    assert abs(44 / math.tau - 7) < 0.01


def test_answers():
    assert check.collision.answers[0](check.collision.reference(64, 1.001, 500))
    assert check.first_rise.answers[0](check.first_rise.reference(4096, 1e4))
    assert check.first_lost.answers[0](check.first_lost.reference(torch.float32) / 131_072)


def by_phase(positions, d, base):
    feature = torch.arange(d)
    angles = positions[..., None] / base ** ((feature - feature % 2) / d)
    return torch.sin(angles + feature % 2 * math.pi / 2)


def in_numpy(positions, d, base):
    angles = positions.numpy()[..., None] * base ** (-np.arange(0, d, 2) / d)
    code = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return torch.from_numpy(code.reshape(*positions.shape, d).astype(np.float32))


def by_complex_numbers(code, k, base):
    z = torch.complex(code[..., 1::2], code[..., 0::2].clone())
    z = z * torch.polar(torch.ones(z.shape[-1]), k * frequencies(code.shape[-1], base).float())
    return torch.stack([z.imag, z.real], dim=-1).flatten(-2)


def by_angle(code, k, base):
    angles = torch.atan2(code[..., 0::2], code[..., 1::2]) + k * frequencies(code.shape[-1], base).float()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def by_table(d, base, length):
    table = sinusoidal(torch.arange(length), d, base)
    return ((table[1:] - table[0]) ** 2).sum(-1).argmin().item() + 1


def by_walking(d, base):
    def likeness(k):
        return sum(math.cos(k * base ** (-i / d)) for i in range(0, d, 2))

    k = 1
    while likeness(k) <= likeness(k - 1):
        k += 1
    return k


def by_doubling(dtype):
    n = 1
    while torch.tensor(n + 1).to(dtype).long().item() == n + 1:
        n *= 2
    return n + 1


test_accepted = accepted({
    check.encode: [by_phase, in_numpy],
    check.turn: [by_complex_numbers, by_angle],
    check.collision: [by_table],
    check.first_rise: [by_walking],
    check.first_lost: [by_doubling],
})
