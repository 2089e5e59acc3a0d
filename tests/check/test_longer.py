"""The checks of chapter 10: their references another way, and right answers written otherwise."""

import math

import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask

from d2lpos.check import longer as check
from d2lpos.check.longer.blocks import pairs
from d2lpos.check.longer.diagnose import settings
from d2lpos.check.longer.smallest_base import least_sum
from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.rotary.rope import rotate
from d2lpos.rotary.scaling import yarn
from tests.check.right import accepted, right

# What the references are worth


def test_the_least_lead_keeps_a_half_and_less_does_not():
    least, scale = right(check.weight, "least_lead"), 1 / math.log(32)
    crowds = torch.tensor([2, 32, 1024, 10**6, 10**12])
    assert (check.weight.reference(least, crowds, scale) > 0.49999).all()  # a half and 1/4N, in float32
    assert check.weight.reference(0.99 * least, crowds, scale)[-1] < 0.45
    assert check.weight.reference(1.01 * least, crowds, scale)[-1] > 0.55


def test_moved_keys_are_those_that_were_never_elsewhere():
    keys, old = torch.randn(7, 8, dtype=torch.float64), torch.tensor([3, 4, 5, 9, 10, 20, 21])
    left, omega = torch.tensor([0, 1, 4, 6]), frequencies(8)
    turned = rotate(keys, angles(old.double(), omega))
    moved = check.rebase.reference(turned, old, left, omega)
    assert torch.allclose(moved, rotate(keys[left], angles(torch.arange(4).double(), omega)))


def test_flex_attention_skips_these_blocks():
    def mask(b, h, q, k):
        return (k <= q) & ((q - k < 40) | (k < 5))

    states = check.blocks.reference(128, 16, 40, 5)
    made = create_block_mask(mask, None, None, 128, 128, device="cpu", BLOCK_SIZE=16)
    assert torch.equal(made.to_dense()[0, 0].bool(), states > 0)
    assert torch.equal(made.full_kv_num_blocks[0, 0].long(), (states == 2).sum(dim=1))


def test_the_share_of_blocks_that_are_skipped():
    states = check.blocks.reference(4096, 128, 1024, 4)
    assert (states == 0).double().mean() == right(check.blocks, "skipped")
    hints = list(check.blocks.answers[0].mistakes.values())
    assert [(states > 0).double().mean(), 1 - (states == 2).double().mean()] == [hints[0], hints[4]]
    assert (check.blocks.reference(4096, 128, 1024, 0) == 0).double().mean() == hints[1]
    assert 1 - pairs(4096, 1024, 4).double().mean() == pytest.approx(hints[5], abs=1e-4)


MODELS = [
    (128, 500_000.0, 8, 8192),
    (64, 1_000_000.0, 4, 4096),
    (128, 100_000.0, 32, 4096),
    (80, 1e7, 2, 32_768),
]


@pytest.mark.parametrize("model", MODELS)
def test_settings_differ_by_far_more_than_rounding(model):
    known = settings(*model)
    for name, one in known.items():
        assert check.diagnose.reference(one, *model) == name
        for other in known.keys() - {name}:
            assert (one / known[other]).log().abs().max() > 0.1


@pytest.mark.parametrize("model", MODELS)
def test_a_second_rule_divides_the_same_pairs_again(model):
    """Because the fastest two pairs stay, from which the rule reads the base."""
    known = settings(*model)
    assert torch.equal(known["right"][:2], known["off"][:2])
    assert torch.allclose(known["twice"] / known["right"], known["right"] / known["off"])


def test_twice_the_sum_of_cosines_is_the_trace_of_the_turn():
    """So it is what a key that is the query leads by, on average over queries whose numbers have variance 1."""
    for distance in (0, 1, 37):
        turned = rotate(torch.eye(16, dtype=torch.float64), distance * frequencies(16))
        cosines = (distance * frequencies(16)).cos().sum()
        assert torch.allclose(turned.trace(), 2 * cosines)


def test_no_base_of_the_cases_is_near_the_limit():
    """float32 finds the same, since its rounding moves no sum by as much."""
    asked = []
    for cases in check.smallest_base.properties.values():
        for case in cases:
            case.ask(lambda *arguments: asked.append(arguments))
    for dim, length, bases in asked:
        places = torch.arange(length).float()[:, None]
        for base in bases:
            exact = least_sum(dim, length, base)
            rough = (places * frequencies(dim, base).float()).cos().sum(dim=-1).min()
            assert abs(exact) > 0.02
            assert abs(rough - exact) < 0.01


def test_bases_for_32768_tokens():
    sums = {
        base: round(least_sum(128, 32_768, base).item(), 2)
        for base in (500_000, 630_000, 640_000, 1_000_000, 1_200_000, 1_500_000, 2_000_000)
    }
    assert {base for base, one in sums.items() if one >= 0} == right(check.smallest_base, "large_enough")
    assert (sums[630_000], sums[640_000]) == (0.08, -1.94)


def test_which_toll_favors_the_middle():
    thirds = {
        slope: [part.sum().item() for part in check.shares.reference(24, 240, float(slope)).chunk(3)]
        for slope in (0, 0.01, 0.03, 0.1, 1)
    }
    middle = {slope: parts[1] for slope, parts in thirds.items()}
    best, second = sorted(middle, key=middle.get, reverse=True)[:2]
    assert best == right(check.shares, "middle")
    assert middle[best] > 0.6
    assert middle[second] < 0.05
    assert thirds[0][0] > 0.999
    assert thirds[1][2] > 0.999


def test_two_kinds_of_heads_lose_the_middle():
    here = torch.arange(240).double()
    past = here <= here[:, None]
    heads = [
        torch.where(past, slope * (here - here[:, None]), -torch.inf).softmax(dim=-1) for slope in (0, 1)
    ]
    shares = torch.linalg.matrix_power((sum(heads) / 2 + torch.eye(240)) / 2, 6)[-1]
    assert [round(part.sum().item(), 2) for part in shares.chunk(3)] == [0.48, 0.2, 0.32]


# Right answers, written otherwise


def without_logs(lead, keys, scale):
    return 1 / (1 + (keys - 1) * keys.double() ** (-scale * lead))


def by_logaddexp(lead, keys, scale):
    mine = scale * lead * torch.log(keys.double())
    return torch.exp(mine - torch.logaddexp(mine, torch.log(keys.double() - 1)))


def by_complex_numbers(keys, positions, kept, omega):
    a, b = keys[kept].double().chunk(2, dim=-1)
    turns = torch.outer(torch.arange(len(kept)) - positions[kept], omega)
    turned = torch.complex(a, b) * torch.exp(1j * turns)
    return torch.cat([turned.real, turned.imag], dim=-1)


def key_by_key(keys, positions, kept, omega):
    moved = [rotate(keys[at], (n - positions[at]) * omega) for n, at in enumerate(kept)]
    return torch.stack(moved)


def by_distances(length, size, window, first):
    """From the nearest and the farthest pair of each block."""
    n = length // size
    kinds = torch.zeros(n, n, dtype=torch.int32)
    for r in range(n):
        for c in range(r + 1):
            nearest = max((r - c) * size - size + 1, 0)
            oldest = max(c * size, first)  # the first key that the window has to reach
            reached = oldest >= (c + 1) * size or (r + 1) * size - 1 - oldest < window
            kinds[r, c] = nearest < window or c * size < first
            kinds[r, c] += (r > c or size == 1) and reached
    return kinds


def by_loops(length, size, window, first):
    mask = np.array(
        [[j <= i and (i - j < window or j < first) for j in range(length)] for i in range(length)]
    )
    n = length // size
    tiles = mask.reshape(n, size, n, size)
    return torch.from_numpy(np.where(tiles.all((1, 3)), 2, np.where(tiles.any((1, 3)), 1, 0)))


def nearest(found, dim, base, factor, length):
    omega = frequencies(dim, base)
    once = yarn(omega, factor, length)[0]
    candidates = {
        "off": omega,
        "base": yarn(frequencies(dim), factor, length)[0],
        "twice": once**2 / omega,
        "length": yarn(omega, factor, factor * length)[0],
        "right": once,
    }
    distance = {name: (found / one).log().square().sum() for name, one in candidates.items()}
    return min(distance, key=distance.get)


def step_by_step(found, dim, base, factor, length):
    """Without candidates for all: looks at a fast pair, the slowest, and those between."""
    omega = frequencies(dim, base)
    if abs(found[1] / omega[1] - 1) > 0.01:
        return "base"
    divided = (omega[-1] / found[-1]).item()
    if divided < 1.1:
        return "off"
    if divided > 1.1 * factor:
        return "twice"
    once = yarn(omega, factor, length)[0]
    return "right" if (found / once - 1).abs().max() < 0.01 else "length"


def all_bases_at_once(dim, length, bases):
    omega = torch.stack([frequencies(dim, base) for base in bases])
    least = torch.cos(torch.arange(length)[:, None, None] * omega).sum(dim=-1).amin(dim=0)
    fits = (least >= 0).nonzero().flatten()
    return torch.tensor(bases)[fits[0]] if len(fits) else None


def in_numpy(dim, length, bases):
    for base in bases:
        omega = base ** -(np.arange(0, dim, 2) / dim)
        if np.cos(np.outer(np.arange(length), omega)).sum(axis=1).min() >= 0:
            return np.float64(base)
    return None


def row_by_row(layers, length, slope):
    row = torch.zeros(length, dtype=torch.float64)
    row[-1] = 1
    here = torch.arange(length)
    scores = torch.where(here <= here[:, None], slope * here.double(), -torch.inf)
    for _ in range(layers):
        row = (row + row @ scores.softmax(dim=-1)) / 2
    return row


def one_hot_through(layers, length, slope):
    x, here = torch.eye(length), torch.arange(length)
    toll = -slope * (here[:, None] - here).float()
    weights = (toll + torch.full((length, length), -torch.inf).triu(1)).softmax(dim=-1)
    for _ in range(layers):
        x = 0.5 * x + 0.5 * weights @ x
    return x[-1]


test_accepted = accepted({
    check.weight: [without_logs, by_logaddexp],
    check.rebase: [by_complex_numbers, key_by_key],
    check.blocks: [by_distances, by_loops],
    check.diagnose: [nearest, step_by_step],
    check.smallest_base: [all_bases_at_once, in_numpy],
    check.shares: [row_by_row, one_hot_through],
})
