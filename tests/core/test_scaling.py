from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.rotary.rope import rotate
from d2lpos.rotary.scaling import (
    dynamic_ntk,
    freeze_pairs,
    interlaced,
    linear,
    llama3,
    longrope,
    mscale,
    negated,
    ntk,
    proportional,
    yarn,
)

RULES = {
    "linear": partial(linear, factor=8),
    "ntk": partial(ntk, factor=8),
    "dynamic ntk": partial(dynamic_ntk, factor=8, length=512, current=1024),
    "yarn": partial(yarn, factor=8, length=512),
    "llama3": partial(llama3, factor=8, length=512),
}
each_rule = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
DIMS = st.integers(2, 64).map(lambda half: 2 * half)
BASES = st.floats(50, 1e6)
FACTORS = st.floats(1, 64)
LENGTHS = st.integers(8, 200_000)


# The formulas once more, as the papers write them: from dim and base, in float64 NumPy.


def omega(dim, base):
    return np.array([base ** (-2 * i / dim) for i in range(dim // 2)])


def yarn_by_pairs(dim, base, factor, length, fast, slow, rounded):
    def pair(turns):
        return dim * np.log(length / (2 * np.pi * turns)) / (2 * np.log(base))

    low, high = pair(fast), pair(slow)
    if rounded:
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    scaled = []
    for i, w in enumerate(omega(dim, base)):
        if i <= low:
            scaled.append(w)
        elif i >= high:
            scaled.append(w / factor)
        else:
            gamma = (i - low) / (high - low)
            scaled.append((1 - gamma) * w + gamma * w / factor)
    return np.array(scaled)


def llama3_by_wavelengths(dim, base, factor, length, low=1, high=4):
    scaled = []
    for w in omega(dim, base):
        wavelength = 2 * np.pi / w
        if wavelength < length / high:
            scaled.append(w)
        elif wavelength > length / low:
            scaled.append(w / factor)
        else:
            smooth = (length / wavelength - low) / (high - low)
            scaled.append((1 - smooth) * w / factor + smooth * w)
    return np.array(scaled)


def same(got, want):
    scaled, _ = got
    assert scaled.dtype == torch.float64
    np.testing.assert_allclose(scaled.numpy(), want, rtol=1e-9)


@given(dim=DIMS, base=BASES, factor=FACTORS)
def test_linear_and_ntk(dim, base, factor):
    same(linear(frequencies(dim, base), factor), omega(dim, base) / factor)
    same(ntk(frequencies(dim, base), factor), omega(dim, base * factor ** (dim / (dim - 2))))


@given(dim=DIMS, base=BASES, factor=FACTORS, length=LENGTHS, current=LENGTHS)
def test_dynamic_ntk(dim, base, factor, length, current):
    growth = factor * max(current, length) / length - (factor - 1)
    want = omega(dim, base * growth ** (dim / (dim - 2)))
    same(dynamic_ntk(frequencies(dim, base), factor, length, current), want)


@pytest.mark.parametrize("rounded", [True, False])
@example(
    dim=4, base=4.0, factor=4.0, length=6283, fast=600.0, slow=1.0
)  # the ramp would end at 10, and ends at 3
@given(dim=DIMS, base=BASES, factor=FACTORS, length=LENGTHS, fast=st.floats(8, 64), slow=st.floats(0.5, 4))
def test_yarn(rounded, dim, base, factor, length, fast, slow):
    want = yarn_by_pairs(dim, base, factor, length, fast, slow, rounded)
    same(yarn(frequencies(dim, base), factor, length, fast, slow, truncate=rounded), want)


@given(dim=DIMS, base=BASES, data=st.data())
def test_still(dim, base, data):
    held = data.draw(st.sets(st.integers(0, dim // 2 - 1)))
    want = [0 if i in held else w for i, w in enumerate(omega(dim, base))]
    same(freeze_pairs(frequencies(dim, base), sorted(held)), want)


@given(dim=DIMS, base=BASES, share=st.floats(0, 1), factor=FACTORS)
def test_proportional(dim, base, share, factor):
    want = [w / factor if i < int(share * (dim // 2)) else 0 for i, w in enumerate(omega(dim, base))]
    same(proportional(frequencies(dim, base), share, factor), want)


@given(dim=DIMS, base=BASES, factor=FACTORS, length=LENGTHS, current=LENGTHS)
def test_longrope(dim, base, factor, length, current):
    short, long = np.linspace(1, 2, dim // 2), np.linspace(1, 30, dim // 2)
    got = longrope(frequencies(dim, base), short.tolist(), long.tolist(), length, current, factor)
    np.testing.assert_allclose(got[0], omega(dim, base) / (short if current <= length else long), rtol=1e-6)
    assert got[1] == pytest.approx(np.sqrt(1 + np.log(factor) / np.log(length)))


@given(dim=DIMS, base=BASES, factor=FACTORS, length=LENGTHS, low=st.floats(0.5, 2), high=st.floats(3, 9))
def test_llama3(dim, base, factor, length, low, high):
    want = llama3_by_wavelengths(dim, base, factor, length, low, high)
    same(llama3(frequencies(dim, base), factor, length, low, high), want)


def test_without_a_ramp_llama3_divides_pairs_of_fewer_turns():
    """As in Llama 4 Scout. A pair with exactly that many turns is kept, whatever the dtype."""
    turns = torch.tensor([3, 1, 0.999, 0.01], dtype=torch.float64)
    for dtype in torch.float32, torch.float64:
        before = (turns * 2 * np.pi / 64).to(dtype)
        before[1] = before[1].nextafter(before[0])  # not to hang on how 2π is rounded
        after, factor = llama3(before, factor=16, length=64, low=1, high=1)
        assert (before / after).tolist() == [1, 1, 16, 16] and after.dtype == dtype and factor == 1


def test_the_length_of_longrope_belongs_to_the_short_list():
    divided = [
        longrope(torch.ones(1), [2], [4], length=100, current=n)[0].item() for n in (1, 99, 100, 101, 9999)
    ]
    assert divided == [0.5, 0.5, 0.5, 0.25, 0.25]


def test_attention_factors_that_are_given():
    assert yarn(frequencies(64), 40, 4096, attention_factor=0.5)[1] == 0.5
    one = [1.0] * 32
    assert longrope(frequencies(64), one, one, 4096, 1, 32, attention_factor=0.5)[1] == 0.5
    assert mscale(40) == yarn(frequencies(64), 40, 4096)[1] and mscale(40, 0) == mscale(1) == 1
    assert mscale(40, 0.707) == pytest.approx(1.26080, abs=1e-5)  # DeepSeek-V2's attention takes its square


def test_negated_frequencies_are_negated_positions():
    x, positions = torch.randn(5, 8), torch.arange(5)
    got = rotate(x, angles(positions, negated(frequencies(8))[0]))
    assert torch.equal(got, rotate(x, angles(-positions, frequencies(8))))


# The contract


@each_rule
def test_a_factor_of_one_changes_nothing(rule):
    short = {"current": 512} if "current" in rule.keywords else {}
    scaled, factor = partial(rule, factor=1, **short)(frequencies(64))
    assert torch.equal(scaled, frequencies(64)) and factor == 1


@each_rule
def test_the_dtype_stays(rule):
    got, _ = rule(frequencies(64).float())
    assert got.dtype == torch.float32
    assert_close(got.double(), rule(frequencies(64))[0], rtol=1e-5, atol=0)


def test_interlaced_frequencies_are_those_of_even_pairs_and_then_of_odd_ones():
    omega = frequencies(12)
    assert torch.equal(interlaced(omega)[0], omega[[0, 2, 4, 1, 3, 5]])
