import cmath

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos import Attention, RoPE
from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.rotary.mrope import MRoPE, blocks
from d2lpos.rotary.pope import PoPE
from d2lpos.rotary.rope import convert, permute_qk_rows, rotate, rotate_fast

LAYOUTS = pytest.mark.parametrize("layout", ["half", "interleaved"])


def turn(x, position, layout="half", base=10_000.0):
    position = torch.tensor(position, dtype=torch.float64)
    return rotate(x, angles(position, frequencies(x.shape[-1], base)), layout)


def by_complex_numbers(x, position, layout):
    """The same turn as a product of complex numbers."""
    pairs = x.unflatten(-1, (2, -1)).mT if layout == "half" else x.unflatten(-1, (-1, 2))
    dim = x.shape[-1]
    factors = [cmath.exp(1j * position * 10_000 ** (-2 * i / dim)) for i in range(dim // 2)]
    factors = torch.tensor(factors, dtype=torch.complex128)
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * factors)
    return (turned.mT if layout == "half" else turned).flatten(-2)


@LAYOUTS
@given(position=st.integers(-500, 500), half=st.integers(1, 8), seed=st.integers(0, 99))
def test_equals_a_product_of_complex_numbers(layout, position, half, seed):
    x = torch.randn(3, 2 * half, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    assert_close(turn(x, position, layout), by_complex_numbers(x, position, layout), atol=1e-9, rtol=0)


@LAYOUTS
def test_the_encoding_turns_each_token_by_its_own_position(layout):
    q, k = torch.randn(2, 3, 4, 8, dtype=torch.float64), torch.randn(2, 3, 5, 8, dtype=torch.float64)
    here = torch.tensor([[0.0, 1, 2, 3], [9, 7, 5, 0.5]], dtype=torch.float64)
    there = torch.tensor([4.0, 3, 2, 1, 0], dtype=torch.float64)
    turned_q, turned_k = RoPE(8, base=100.0, layout=layout).rotate(q, k, here, there)
    for i in range(2):
        for token in range(4):
            assert_close(turned_q[i, :, token], turn(q[i, :, token], here[i, token].item(), layout, 100.0))
        for token in range(5):
            assert_close(turned_k[i, :, token], turn(k[i, :, token], there[token].item(), layout, 100.0))


# Layouts


@pytest.mark.parametrize("rotary", [None, 4])
@pytest.mark.parametrize(("layout", "other"), [("half", "interleaved"), ("interleaved", "half")])
def test_a_converted_checkpoint_gives_the_same_output(layout, other, rotary):
    layer = Attention(32, 4, RoPE(8, layout=other, rotary=rotary)).double()
    converted = Attention(32, 4, RoPE(8, layout=layout, rotary=rotary)).double()
    state = layer.state_dict()
    for name in "project.weight", "project.bias":
        q, k, v = state[name].chunk(3)
        q, k = (permute_qk_rows(rows, 4, layout, rotary) for rows in (q, k))
        state[name] = torch.cat([q, k, v])
    x, positions = torch.randn(2, 6, 32, dtype=torch.float64), torch.arange(6)
    converted.load_state_dict(layer.state_dict())
    assert (converted(x, positions) - layer(x, positions)).abs().max() > 1e-3
    converted.load_state_dict(state)
    assert_close(converted(x, positions), layer(x, positions))


# Partial rotary, scaling and two axes


def halves(frequencies):
    """A rule that is easy to follow: half of each frequency, and an attention factor of 3."""
    return frequencies / 2, 3.0


@LAYOUTS
def test_scaled_frequencies_turn_and_the_factor_stretches(layout):
    q, k = torch.randn(2, 1, 2, 5, 8, dtype=torch.float64)
    positions = torch.arange(5.0, dtype=torch.float64)
    scaled = RoPE(8, layout=layout, scaling=halves).rotate(q, k, positions, positions)
    plain = RoPE(8, layout=layout).rotate(q, k, positions / 2, positions / 2)
    for got, want in zip(scaled, plain, strict=True):
        assert_close(got, 3 * want)
    logits, unstretched = (q @ k.mT for q, k in (scaled, plain))
    assert_close(logits, 9 * unstretched)


def test_two_axes_turn_two_halves_of_the_pairs():
    q, k = torch.randn(2, 2, 3, 6, 8, dtype=torch.float64)
    grid = torch.cartesian_prod(torch.arange(2.0), torch.arange(3.0)).double()
    rope = RoPE(8, base=100.0, layout="interleaved", scaling=halves, axes=2)
    turned, _ = rope.rotate(q, k, grid, grid)
    alone = RoPE(4, base=100.0, layout="interleaved", scaling=halves)
    want, _ = alone.rotate(q[..., :4], q[..., :4], grid[:, 0], grid[:, 0])
    assert_close(turned[..., :4], want)
    want, _ = alone.rotate(q[..., 4:], q[..., 4:], grid[:, 1], grid[:, 1])
    assert_close(turned[..., 4:], want)
    half = RoPE(8, base=100.0, scaling=halves, axes=2)
    assert_close(half.rotate_at(convert(q, "half"), grid), convert(turned, "half"))


# The fast form

TURNS = angles(torch.arange(5), frequencies(8))


def same_as_readable(x, turns=TURNS, layout="half", scale=1.0):
    """Equal to the readable one, in the same dtype, up to the rounding of float32; x stays as it was."""
    before = x.clone()
    got, want = rotate_fast(x, turns, layout, scale), rotate(x, turns, layout, scale)
    assert got.shape == want.shape and got.dtype == want.dtype and torch.equal(x, before)
    step = max(torch.finfo(x.dtype).eps, torch.finfo(turns.dtype).eps if x.dtype == torch.float64 else 0)
    assert_close(got, want, rtol=2 * step, atol=2 * step * x.abs().max().item())


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_in_every_dtype(layout, dtype):
    same_as_readable(torch.randn(2, 5, 8).to(dtype), TURNS, layout, scale=1.3)
    same_as_readable(torch.randn(2, 5, 8).to(dtype), TURNS.double(), layout)


VIEWS = {
    "heads split from features": lambda: torch.randn(2, 5, 24).unflatten(-1, (3, 8)).transpose(1, 2),
    "a part of the features": lambda: torch.randn(5, 12)[:, :8],
    "a part that begins in the middle of a pair": lambda: torch.randn(5, 9)[:, 1:],
    "rows of odd length": lambda: torch.randn(5, 11)[:, :8],
    "an odd place in memory": lambda: torch.randn(41)[1:].view(5, 8),
    "every second feature": lambda: torch.randn(5, 16)[:, ::2],
    "features before the sequence": lambda: torch.randn(8, 5).mT,
    "one row for all": lambda: torch.randn(8).expand(5, 8),
    "one number for all": lambda: torch.randn(()).expand(5, 8),
    "one vector, and angles for five": lambda: torch.randn(8),
}


@LAYOUTS
@pytest.mark.parametrize("view", VIEWS)
def test_from_any_view_of_memory(layout, view):
    same_as_readable(VIEWS[view](), TURNS, layout)


@LAYOUTS
def test_gradients_of_both_arguments_are_right(layout):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    turns = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    fast = lambda x, turns: rotate_fast(x, turns, layout, 1.3)
    assert torch.autograd.gradcheck(fast, (x, turns))
    assert torch.autograd.gradgradcheck(fast, (x, turns))


FAR = [131_072, 2**24 - 2, 2**31 + 1]


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("make", [
    pytest.param(lambda: RoPE(64), id="all features"),
    pytest.param(lambda: RoPE(64, base=500_000.0, layout="interleaved", rotary=32), id="half of the features"),
    pytest.param(lambda: MRoPE(64, blocks([16, 8, 8])), id="m-rope"),
    pytest.param(lambda: PoPE(64, 2), id="pope"),
])
def test_a_score_sees_its_offset_wherever_it_stands(make, far):
    """float32 holds these positions, and not their angles."""
    kind = make()
    q, k = torch.randn(2, 1, 2, 1, 64)

    def score(position):
        here, there = (torch.full((1,) if kind.axes == 1 else (1, kind.axes), p) for p in (position, position - 1))
        turned_q, turned_k = kind.rotate(q, k, here, there)
        return turned_q @ turned_k.mT

    error = (score(far) - score(1)).abs().flatten() / (q.norm(dim=-1) * k.norm(dim=-1)).flatten()
    assert error.max() < 1e-6


@pytest.mark.parametrize(("far", "dtype"), [(FAR[1], torch.float32), (FAR[2], torch.int64)])
def test_a_compiled_turn_is_right_where_positions_cannot_be_looked_at(far, dtype):
    q, here, rope = torch.randn(1, 1, 1, 64), torch.tensor([far], dtype=dtype), RoPE(64)
    compiled = torch.compile(rope.rotate_at, backend="eager", fullgraph=True)
    assert_close(compiled(q, here).double(), rope.rotate_at(q.double(), here.double()), atol=1e-6, rtol=0)
