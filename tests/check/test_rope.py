"""The checks of chapter 4: what their references rest on, and right answers written otherwise."""

import math
from functools import partial

import pytest
import torch

from d2lpos.check import rope as check
from d2lpos.input import angles as angles_of
from d2lpos.input import frequencies
from d2lpos.rotary.rope import rotate
from d2lpos.rotary.scaling import yarn
from tests.check.right import accepted


@pytest.mark.parametrize("offset", [7, -7])
def test_no_other_key_scores_higher(offset):
    q = torch.randn(8, dtype=torch.float64)
    best = check.best_key.reference(q, offset, 100.0)
    others = torch.randn(1000, 8, dtype=torch.float64)
    others *= q.norm() / others.norm(dim=-1, keepdim=True)
    turn = partial(rotate, angles=offset * frequencies(8, 100.0), layout="interleaved")
    assert torch.allclose(turn(best) @ q, q @ q)
    assert (turn(others) @ q).max() < q @ q


@pytest.mark.parametrize(("d", "base", "length"), [(16, 1e4, 64), (64, 1e4, 4096), (128, 5e5, 8192)])
def test_ramp(d, base, length):
    omega = frequencies(d, base)
    gamma = check.ramp.reference(d, base, length)
    assert torch.allclose(yarn(omega, factor=8, length=length)[0], omega * (1 - gamma + gamma / 8))


@pytest.mark.parametrize(("base", "half"), [(4.3e8, False), (4.4e8, True), (8.2e8, True), (8.3e8, False)])
def test_bases_that_close_half_of_the_pairs(base, half):
    answer = check.first_open.answers[0]
    assert bool(answer(base)) == half
    assert (check.first_open.reference(128, base, 131_072) == 32) == half


def test_a_smaller_beta_changes_nothing():
    omega = frequencies(16, 1e4)
    ramps = [yarn(omega, factor=8, length=64, beta_fast=fast)[0] for fast in (32, 4)]
    assert check.ramp.answers[0]((ramps[0] != ramps[1]).sum())


def by_complex_numbers(x, angles, layout):
    a, b = (x[..., ::2], x[..., 1::2]) if layout == "interleaved" else x.chunk(2, -1)
    z = torch.complex(a, b) * torch.exp(1j * angles)
    if layout == "half":
        return torch.cat([z.real, z.imag], dim=-1)
    return torch.view_as_real(z).flatten(-2)


def by_rotate_half(x, angles, layout):
    if layout == "half":
        both, (a, b) = torch.cat([angles, angles], -1), x.chunk(2, -1)
        return x * both.cos() + torch.cat([-b, a], -1) * both.sin()
    both = angles.repeat_interleave(2, dim=-1)
    swapped = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
    return x.double() * both.double().cos() + swapped * both.double().sin()


def by_half_turns(q, offset, base):
    """In float32, and through the other layout."""
    d = q.shape[-1]
    order = [*range(0, d, 2), *range(1, d, 2)]
    turned = rotate(q[..., order].float(), angles_of(torch.tensor(-offset), frequencies(d, base)))
    return turned[..., torch.tensor(order).argsort()]


def by_index(weight, heads):
    d = len(weight) // heads
    order = [h * d + j for h in range(heads) for j in (*range(0, d, 2), *range(1, d, 2))]
    return weight[order]


def by_one_head_at_a_time(weight, heads):
    parts = [torch.cat([part[::2], part[1::2]]) for part in weight.chunk(heads)]
    return torch.cat(parts)


def with_the_newest_in_front(q, k, v, keys, values):
    angle = angles_of(torch.tensor(len(keys)), frequencies(len(q)))
    keys, values = torch.cat([rotate(k, angle)[None], keys]), torch.cat([v[None], values])
    return torch.softmax(keys @ rotate(q, angle) / len(q) ** 0.5, 0) @ values, keys, values


def from_position_one(q, k, v, keys, values):
    angle = angles_of(torch.tensor(len(keys) + 1), frequencies(len(q)))
    keys = torch.vstack([keys, rotate(k, angle)])
    values = torch.vstack([values, v])
    weights = torch.softmax(rotate(q, angle) @ keys.T / len(q) ** 0.5, dim=-1)
    return (weights[:, None] * values).sum(0), keys, values


def keys_kept_unturned(q, k, v, keys, values):
    keys, values = torch.cat([keys, k[None]]), torch.cat([values, v[None]])
    places = torch.arange(len(keys))
    turned = rotate(keys, angles_of(places, frequencies(len(q))))
    query = rotate(q, angles_of(places[-1], frequencies(len(q))))
    return (turned @ query / math.sqrt(len(q))).softmax(-1) @ values, keys, values


def by_walking(d, base, length):
    i = 0
    while i < d // 2 and 2 * math.pi * base ** (2 * i / d) <= length:
        i += 1
    return i


def by_formula(d, base, length):
    return min(max(math.ceil(d / 2 * math.log(length / math.tau, base)), 0), d // 2)


def from_the_package(d, base, length):
    omega = frequencies(d, base)
    return (1 - yarn(omega, factor=2, length=length)[0] / omega) * 2


def by_interpolation(d, base, length):
    lo, hi = (math.log(length / (2 * math.pi * r)) / math.log(base) * d / 2 for r in (32, 1))
    lo, hi = max(math.floor(lo), 0), math.ceil(hi)
    return torch.tensor([min(max((i - lo) / (hi - lo), 0.0), 1.0) for i in range(d // 2)])


test_accepted = accepted({
    check.turn_pairs: [by_complex_numbers, by_rotate_half],
    check.best_key: [by_half_turns],
    check.to_half: [by_index, by_one_head_at_a_time],
    check.step: [from_position_one, with_the_newest_in_front, keys_kept_unturned],
    check.first_open: [by_walking, by_formula],
    check.ramp: [from_the_package, by_interpolation],
})
