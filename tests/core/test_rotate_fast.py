"""The fast rotation is the readable one, whatever x looks like in memory."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lpos.rope import rotate, rotate_fast
from d2lpos.sinusoidal import angles, frequencies

LAYOUTS = pytest.mark.parametrize("layout", ["half", "interleaved"])
TURNS = angles(torch.arange(5), frequencies(8))


def same(x, turns=TURNS, layout="half", scale=1.0):
    """Equal to the readable one, in the same dtype, up to the rounding of float32."""
    got, want = rotate_fast(x, turns, layout, scale), rotate(x, turns, layout, scale)
    assert got.shape == want.shape and got.dtype == want.dtype
    step = max(torch.finfo(x.dtype).eps, torch.finfo(turns.dtype).eps if x.dtype == torch.float64 else 0)
    torch.testing.assert_close(got, want, rtol=2 * step, atol=2 * step * x.abs().max().item())


@LAYOUTS
@given(seed=st.integers(0, 999), pairs=st.integers(1, 5), length=st.integers(0, 4), scale=st.floats(0.5, 2))
def test_both_give_the_same(layout, seed, pairs, length, scale):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, length, 2 * pairs, generator=generator)
    turns = 100 * torch.randn(length, pairs, generator=generator)
    if x.numel():
        same(x, turns, layout, scale)
    assert rotate_fast(x, turns, layout).shape == x.shape


@LAYOUTS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_in_every_dtype(layout, dtype):
    same(torch.randn(2, 5, 8).to(dtype), TURNS, layout)
    same(torch.randn(2, 5, 8).to(dtype), TURNS.double(), layout)


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
}


@LAYOUTS
@pytest.mark.parametrize("view", VIEWS)
def test_from_any_view_of_memory(layout, view):
    same(VIEWS[view](), TURNS, layout)


@LAYOUTS
def test_x_stays_as_it_was(layout):
    x = torch.randn(5, 8)
    before = x.clone()
    rotate_fast(x, TURNS, layout)
    assert torch.equal(x, before)


@LAYOUTS
def test_gradients_of_both_arguments_are_right(layout):
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    turns = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    fast = lambda x, turns: rotate_fast(x, turns, layout, 1.3)  # noqa: E731
    assert torch.autograd.gradcheck(fast, (x, turns))
    assert torch.autograd.gradgradcheck(fast, (x, turns))


@LAYOUTS
def test_a_compiler_sees_the_readable_formula(layout):
    compiled = torch.compile(rotate_fast, backend="eager", fullgraph=True)
    x = torch.randn(2, 5, 8)
    assert torch.equal(compiled(x, TURNS, layout), rotate(x, TURNS, layout))
