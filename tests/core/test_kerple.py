import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from d2lpos import ALiBi
from d2lpos.bias.alibi import slopes
from d2lpos.bias.kerple import KERPLE, logarithmic, power

R = st.floats(0.01, 2)


@given(offset=st.floats(-1e4, 1e4), r1=R, r2=R)
def test_formulas(offset, r1, r2):
    """The logarithm as the integral of 1/(1 + r2·x), the power as repeated by exp and log in NumPy."""
    x = torch.tensor(offset, dtype=torch.float64)
    a, b = torch.tensor(r1, dtype=torch.float64), torch.tensor(r2, dtype=torch.float64)
    distance = np.abs(np.float64(offset))
    nodes, weights = np.polynomial.legendre.leggauss(60)
    ends = np.concatenate([[0], np.geomspace(1e-3, 1, 40)]) * distance
    middles, halves = (ends[1:] + ends[:-1])[:, None] / 2, np.diff(ends)[:, None] / 2
    integral = (weights * halves * r2 / (1 + r2 * (middles + halves * nodes))).sum()
    assert logarithmic(x, a, b).item() == pytest.approx(-r1 * integral, rel=1e-9, abs=1e-9)
    want = -r1 * np.exp2(r2 * np.log2(distance)) if distance else 0
    assert power(x, a, b).item() == pytest.approx(want, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("heads", [2, 12])
def test_the_power_form_starts_as_alibi(heads):
    q, p = torch.zeros(1, heads, 9, 4), torch.arange(9)
    assert_close(KERPLE(heads, "power").score(q, q, p, p), ALiBi(heads).score(q, q, p, p))
    assert_close(KERPLE(heads).score(q, q, p, p)[:, 0, 1], -slopes(heads) * np.log(2))


@pytest.mark.parametrize("formula", [logarithmic, power])
@given(r1=R, r2=R, seed=st.integers(0, 999))
def test_is_conditionally_positive_definite(formula, r1, r2, seed):
    """The paper's theorem: for weights that sum to 0, Σ w_i w_j bias(i − j) ≥ 0."""
    generator = torch.Generator().manual_seed(seed)
    p = torch.rand(8, generator=generator, dtype=torch.float64) * 100
    w = torch.randn(8, generator=generator, dtype=torch.float64)
    w -= w.mean()
    bias = formula(p - p[:, None], torch.tensor(r1).double(), torch.tensor(r2).double())
    assert w @ bias @ w >= -1e-6


@pytest.mark.parametrize("form", ["logarithmic", "power"])
def test_each_head_has_its_own_curve(form):
    encoding = KERPLE(3, form)
    with torch.no_grad():
        encoding.r1.copy_(torch.tensor([1.0, -2, 3]))
        encoding.r2.copy_(torch.tensor([0.5, -1.5, 9]))
    q, k = torch.zeros(2, 3, 2, 4), torch.zeros(2, 3, 5, 4)
    here, there = torch.tensor([[0, 7], [40, 3]]), torch.tensor([0, 1, 5, 9, 30])
    score = encoding.score(q, k, here, there)
    assert score.shape == (2, 3, 2, 5)
    for head, (r1, r2) in enumerate([(1, 0.5), (2, 1.5), (3, 9 if form == "logarithmic" else 2)]):
        far = np.abs(there.numpy() - here.numpy()[..., None]).astype(np.float64)
        want = -r1 * np.log1p(r2 * far) if form == "logarithmic" else -r1 * far**r2
        np.testing.assert_allclose(score[:, head].detach().numpy(), want, rtol=1e-5)
