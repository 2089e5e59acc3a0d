import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos.input.mlp import FourierFeatures, PositionMLP, fourier_features

P = torch.tensor([[0, 3, 9], [7, 7, 40]])


def network(x, first, second):
    """Both layers in NumPy, with the gelu from the error function."""
    w1, b1, w2, b2 = (t.detach().numpy() for t in (first.weight, first.bias, second.weight, second.bias))
    hidden = x @ w1.T + b1
    return hidden / 2 * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) @ w2.T + b2


@given(position=st.floats(-1e4, 1e4), frequencies=st.lists(st.floats(-2, 2), min_size=1, max_size=5))
def test_fourier_features_are_the_parts_of_unit_complex_numbers(position, frequencies):
    positions = torch.tensor([position], dtype=torch.float64)
    got = fourier_features(positions, torch.tensor(frequencies, dtype=torch.float64)).numpy()
    z = np.exp(1j * position * np.array(frequencies))
    np.testing.assert_allclose(got, [np.concatenate([z.real, z.imag]) / math.sqrt(2 * len(z))], atol=1e-12)
    assert (got**2).sum() == pytest.approx(0.5)


def test_position_mlp():
    encoding = PositionMLP(6, length=20, hidden=5).double()
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    want = x.numpy() + network(P.numpy()[..., None] / 20, encoding.first, encoding.second)
    np.testing.assert_allclose(encoding.embed(x, P).detach().numpy(), want)


def test_fourier_mlp():
    encoding = FourierFeatures(6, n=4, hidden=5).double()
    x = torch.randn(2, 3, 6, dtype=torch.float64)
    angle = P.numpy()[..., None] * encoding.frequencies.detach().numpy()
    features = np.concatenate([np.cos(angle), np.sin(angle)], axis=-1) / math.sqrt(8)
    want = x.numpy() + network(features, encoding.first, encoding.second)
    np.testing.assert_allclose(encoding.embed(x, P).detach().numpy(), want)


def test_gamma_is_the_scale_of_the_frequencies():
    torch.manual_seed(0)
    wide = FourierFeatures(4, n=1000, gamma=1.0).frequencies
    torch.manual_seed(0)
    assert_close(FourierFeatures(4, n=1000, gamma=10.0).frequencies, wide / 10)
    assert 0.9 < wide.std() < 1.1


@pytest.mark.parametrize("make", [lambda: PositionMLP(4, 512), lambda: FourierFeatures(4)])
def test_half_precision_layers_tell_all_positions_apart(make):
    """bfloat16 has no integer between 256 and 258."""
    encoding = make().bfloat16()
    x, near = torch.zeros(1, 2, 4), torch.tensor([256, 257])
    one, other = encoding.embed(x, near)[0]
    assert not torch.equal(one, other)
    assert_close(encoding.embed(x, near), encoding.float().embed(x, near))
    assert encoding.embed(x.bfloat16(), near).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        assert_close(encoding.embed(x, near)[0], torch.stack([one, other]))
