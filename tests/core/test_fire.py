import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from d2lpos.bias.fire import FIRE, normalized_log_distance

Q = torch.zeros(1, 2, 6, 4, dtype=torch.float64)
P = torch.arange(6)


def number(value):
    return torch.tensor(value, dtype=torch.float64)


@given(i=st.integers(0, 5000), j=st.integers(0, 5000), c=st.floats(0.01, 10), threshold=st.floats(1, 1000))
def test_formula(i, j, c, threshold):
    got = normalized_log_distance(number([i]), number([j]), number(c), number(threshold)).item()
    assert got == pytest.approx(np.log(c * abs(i - j) + 1) / np.log(c * max(i, threshold) + 1))
    assert got >= 0 and (j > i or got <= 1)


def test_score_in_numpy():
    encoding = FIRE(3, hidden=5, c=0.4, threshold=4.0).double()
    q, k = torch.zeros(2, 3, 2, 4).double(), torch.zeros(2, 3, 5, 4).double()
    here, there = torch.tensor([[0.0, 7], [40, 3]]).double(), torch.tensor([0.0, 1, 5, 9, 30]).double()
    far = np.abs(here.numpy()[..., None] - there.numpy())
    shares = np.log(0.4 * far + 1) / np.log(0.4 * np.maximum(here.numpy(), 4)[..., None] + 1)
    w1, b1, w2, b2 = (
        t.detach().numpy() for layer in (encoding.first, encoding.second) for t in (layer.weight, layer.bias)
    )
    want = np.maximum(shares[..., None] @ w1.T + b1, 0) @ w2.T + b2
    got = encoding.score(q, k, here, there)
    np.testing.assert_allclose(got.detach().numpy(), np.moveaxis(want, -1, 1), rtol=1e-6)


def test_signs_of_c_and_threshold_mean_nothing():
    encoding = FIRE(2, threshold=3.0).double()
    want = encoding.score(Q, Q, P, P)
    with torch.no_grad():
        encoding.c.neg_()
        encoding.threshold.neg_()
    assert torch.equal(encoding.score(Q, Q, P, P), want)


@pytest.mark.parametrize("name", ["c", "threshold"])
def test_what_is_learned_may_pass_through_zero(name):
    encoding, scores = FIRE(2).double(), []
    for value in 0.0, 1e-6, -1e-9:
        with torch.no_grad():
            getattr(encoding, name).fill_(value)
        scores.append(encoding.score(Q, Q, P, P))
        scores[-1].sum().backward()
        assert scores[-1].isfinite().all() and all(p.grad.isfinite().all() for p in encoding.parameters())
    torch.testing.assert_close(torch.stack(scores[1:]), torch.stack(scores[:1] * 2))
