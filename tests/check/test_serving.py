"""The checks of 11A: their references another way, and right answers written otherwise."""

import math

import pytest
import torch

from d2lpos import RoPE
from d2lpos.check import plumbing as check
from d2lpos.input import frequencies
from d2lpos.lab.probe import loaded
from d2lpos.lab.reuse import read_through
from d2lpos.transformer.cache import Cache, evict, rebase


@pytest.mark.parametrize(("old", "new"), [([1, 2, 3, 4, 5], [1, 2, 3, 4, 6, 7]), ([1, 2, 3, 4], [1, 2, 3, 4])])
@pytest.mark.parametrize("block", [1, 2, 3])
def test_what_is_shared_is_what_a_model_would_compute_again(old, new, block):
    n = check.shared.reference(old, new, block, (None, None))
    model = loaded("stand-in")

    def keys_and_values(text):
        here = torch.arange(len(text))
        _, computed = read_through(model, torch.tensor([text]), here >= 0, here, here, here <= here[:, None])
        return computed

    for layer, other in zip(keys_and_values(old), keys_and_values(new), strict=True):
        assert all(torch.allclose(a[:, :, :n], b[:, :, :n], atol=1e-5) for a, b in zip(layer, other, strict=True))
    assert n < len(new) and n % block == 0


def test_turned_on_by_the_plan_keys_are_those_of_their_places():
    prompt, lengths, question = 3, [4, 2, 5], 2
    by, rope = check.joined.reference(prompt, lengths, 0, question), RoPE(8)
    x = torch.randn(1, 1, sum(lengths), 8, generator=torch.Generator().manual_seed(0))
    apart = torch.cat([rope.rotate_at(part, torch.arange(part.shape[2])) for part in x.split(lengths, dim=2)], dim=2)
    there = torch.arange(prompt, prompt + sum(lengths))
    torch.testing.assert_close(rope.rotate_further(apart, by[there]), rope.rotate_at(x, there), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("capacity", "keep", "discard"), [(8, 2, 3), (6, 0, 1), (9, 4, 2)])
def test_a_key_that_has_turned_t_times_has_come_t_discards_from_its_first_place(capacity, keep, discard):
    n, rope = 40, RoPE(4)
    cache, came, one = Cache(), [], torch.zeros(1, 1, 1, 4)
    for _ in range(n):
        place = 0 if cache.positions is None else len(cache.positions)
        if place == capacity:
            cache = rebase(
                evict(cache, keep, capacity - keep - discard), torch.arange(capacity - discard), rope
            )
            came = came[:keep] + came[keep + discard :]
            place = capacity - discard
        cache = Cache(*cache.append(one, one, torch.tensor([place])))
        came.append(place)
    moved = [(first - now) / discard for now, first in enumerate(came)]
    assert check.turned.reference(capacity, keep, discard, n) == moved


def test_the_numbers_asked_for():
    half, one = check.turned.answers
    assert max(check.turned.reference(4096, 4, 2046, 20_000)) == half.right
    assert max(check.turned.reference(4096, 4, 1, 9000)) == one.right


@pytest.mark.parametrize(
    ("dtype", "digits"), [(torch.float8_e4m3fn, 4), (torch.bfloat16, 8), (torch.float16, 11), (torch.float32, 24)]
)
def test_a_key_stands_still_where_its_dtype_rounds_it_back(dtype, digits):
    draw = torch.Generator().manual_seed(0)
    stored = (16 * torch.randn(2000, 2, generator=draw, dtype=torch.float64)).to(dtype).double()
    omega = 2.0**-digits * (0.1 + 1.4 * torch.rand(2000, generator=draw, dtype=torch.float64))
    x = torch.view_as_complex(stored) * torch.polar(torch.ones_like(omega), omega)
    back = (torch.view_as_real(x).to(dtype).double() == stored).all(dim=-1)
    assert torch.equal(check.stands_still.reference(stored, omega, digits), back)
    assert back.any() and not back.all()


@pytest.mark.parametrize("digits", [3, 4, 8, 11, 24])
def test_no_key_stands_still_above_the_bound_and_each_of_one_exponent_far_below_it(digits):
    """The theorem of 11A: 2 sin(ω/2) ≤ 2^−p is needed, and sin ω + 1 − cos ω < 2^(−p−1) is enough."""
    draw, edge = torch.Generator().manual_seed(1), 2.0**-digits
    fractions = torch.randint(1, 2 ** (digits - 1), (4000, 2), generator=draw).double() * 2 * edge + 1
    signs = torch.randint(0, 2, fractions.shape, generator=draw) * 2 - 1
    unlike = 2.0 ** torch.randint(-3, 4, fractions.shape, generator=draw)
    above = 2 * math.asin(edge / 2) * (1 + 1e-6 + torch.rand(4000, generator=draw, dtype=torch.float64))
    assert not check.stands_still.reference(fractions * signs * unlike, above, digits).any()
    below = torch.full((4000,), edge / 2 * (1 - edge), dtype=torch.float64)
    assert (below.sin() + 1 - below.cos() < edge / 2).all()
    assert check.stands_still.reference(fractions * signs, below, digits).all()


def test_the_first_pair_that_can_stand_still():
    for base, first in {10_000: (10, 20, 27), 100_000: (8, 16, 22)}.items():
        chord = 2 * (frequencies(64, base) / 2).sin()
        assert [int((chord <= 2.0**-digits).nonzero()[0]) for digits in (4, 8, 11)] == [*first]
        if base == 10_000:
            assert check.stands_still.answers[0].right == first[1]
