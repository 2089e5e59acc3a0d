"""The checks of the project that stretches a model: each reference beside another way to compute the same."""

import math
from functools import partial

import pytest
import torch
from scipy.stats import ttest_1samp

from d2lpos import RoPE
from d2lpos.check import stretch as check
from d2lpos.input.sinusoids import frequencies
from d2lpos.rotary.scaling import linear, llama3, longrope, ntk, unscaled

OMEGA = frequencies(16)


@pytest.mark.parametrize("longer", [64, 128, 256, 512])
@pytest.mark.parametrize("rule", [unscaled, partial(ntk, factor=4), partial(linear, factor=4)])
def test_new_angles_are_those_of_a_loop(longer, rule):
    slower = rule(OMEGA)[0]
    shares = check.new_angles.reference(OMEGA, slower, 64, longer)
    for share, omega, turn in zip(shares.tolist(), OMEGA.tolist(), slower.tolist(), strict=True):
        arc = min(64 * omega, 2 * math.pi)
        assert share == sum(n * turn % (2 * math.pi) >= arc for n in range(longer)) / longer


@pytest.mark.parametrize(("dim", "base", "length"), [(16, 1e4, 64), (64, 1e4, 128), (128, 5e5, 8192)])
def test_the_base_is_the_smallest_that_shows_no_open_pair_a_new_angle(dim, base, length):
    longer = 4 * length
    larger = check.larger_base.reference(dim, base, length, longer)
    was_open = length * frequencies(dim, base) < 2 * math.pi
    arcs = length * frequencies(dim, base)[was_open]
    assert (longer * frequencies(dim, larger)[was_open] <= arcs * (1 + 1e-9)).all()
    assert (longer * frequencies(dim, 0.99 * larger)[was_open] > arcs).any()


def test_the_rule_is_that_of_llama_3_with_the_sharpening_of_longrope():
    slower, sharper = check.own_rule.reference(OMEGA, 4.0, 64, 1.0, 4.0)
    torch.testing.assert_close(slower, llama3(OMEGA, factor=4, length=64)[0])
    lists = [1] * 8
    assert sharper == pytest.approx(longrope(OMEGA, lists, lists, length=64, current=65, factor=4)[1])


def test_the_rule_keeps_the_contract_of_scaling_rules():
    rule = partial(check.own_rule.reference, factor=4.0, length=64, low=1.0, high=4.0)
    q = k = torch.ones(1, 1, 2, 16)
    turned, _ = RoPE(16, scaling=rule).rotate(q, k, torch.arange(2), torch.arange(2))
    assert turned.norm().item() == pytest.approx(rule(OMEGA)[1] * q.norm().item())


def test_a_budget_buys_what_a_causal_mask_lets_see():
    budgets = check.bought.reference(1000, torch.tensor([8, 30]), torch.tensor([0.5, 0.5]), 10)
    for (rows, pairs, new), length in zip(budgets.tolist(), [8, 30], strict=True):
        assert rows == 500 // length
        assert pairs == rows * torch.ones(length, length).tril().sum()
        assert new == rows * sum(place >= 10 for place in range(length))


@pytest.mark.parametrize("margin", [0.01, 0.1, 0.2, 0.3, 0.6])
def test_the_word_is_that_of_the_interval_of_scipy(margin):
    draw = torch.Generator().manual_seed(0)
    before, after = torch.rand(2, 5, 2, generator=draw)
    low, high = ttest_1samp((after - before).mean(dim=1), 0).confidence_interval(0.95)
    wanted = "kept" if high < margin else "lost" if low > margin else "undecided"
    assert check.kept.reference(before, after, margin) == wanted
