import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos import Sinusoidal
from d2lpos.input.sinusoids import angles, frequencies, sinusoidal

POSITIONS = st.floats(-1e4, 1e4)


def vector(position, dim, base=10_000.0, layout="interleaved"):
    """One row, number by number: the phase of a unit complex number that turns base^(2i/dim) times slower."""
    turns = [
        complex(math.cos(a), math.sin(a)) for a in (position / base ** (2 * i / dim) for i in range(dim // 2))
    ]
    if layout == "interleaved":
        return [part for z in turns for part in (z.imag, z.real)]
    return [z.imag for z in turns] + [z.real for z in turns]


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
@given(position=POSITIONS, half=st.integers(1, 8), base=st.floats(1.5, 1e6))
def test_formula(layout, position, half, base):
    got = sinusoidal(torch.tensor([position], dtype=torch.float64), 2 * half, base, layout)
    np.testing.assert_allclose(got.numpy(), [vector(position, 2 * half, base, layout)], atol=1e-10)


@given(half=st.integers(2, 64), base=st.floats(1.5, 1e6))
def test_with_its_endpoint_the_last_frequency_is_one_over_the_base(half, base):
    got = frequencies(2 * half, base, endpoint=True)
    np.testing.assert_allclose(got, np.geomspace(1, 1 / base, half), rtol=1e-9)
    positions = torch.arange(5, dtype=torch.float64)
    table = sinusoidal(positions, 2 * half, base, "concatenated", endpoint=True)
    assert torch.equal(table[:, half:], angles(positions, got).cos())
    placed = Sinusoidal(2 * half, base, "concatenated", endpoint=True).embed(
        torch.zeros(1, 5, 2 * half), torch.arange(5)
    )
    assert_close(placed[0].double(), table, atol=1e-5, rtol=0)


def test_dtypes():
    assert sinusoidal(torch.arange(3), 4).dtype == torch.float32
    assert sinusoidal(torch.arange(3).double(), 4).dtype == torch.float64
    x = torch.zeros(1, 400, 4, dtype=torch.bfloat16)
    assert torch.equal(
        Sinusoidal(4).embed(x, torch.arange(400))[0], sinusoidal(torch.arange(400), 4).bfloat16()
    )


@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
def test_the_encoding_adds_its_table(layout):
    x, positions = torch.randn(2, 5, 6), torch.tensor([[0, 1, 2, 3, 4], [7, 5, 3, 1, 0]])
    encoding = Sinusoidal(6, base=100.0, layout=layout)
    assert_close(encoding.embed(x, positions) - x, sinusoidal(positions, 6, 100.0, layout))
    assert not encoding.state_dict()
