import math

import pytest
import torch
from torch.testing import assert_close

from d2lpos.transformer.temperature import logarithm, multiply, power, steps


def test_reference_numbers_a_million_tokens_in():
    p = torch.tensor([999_999])
    assert steps(p, 8192, counted=True).item() == pytest.approx(1.4812, abs=1e-4)  # Llama 4
    assert steps(p, 16_384).item() == pytest.approx(1 + 0.1 * math.log(62), abs=1e-5)  # Ministral 3
    assert power(p, 2048).item() == pytest.approx((1 + 1e6 / 2048) ** 0.1)  # Beam
    assert logarithm(p, scale=0.43).item() == pytest.approx(0.43 * math.log(1e6))
    assert logarithm(p, 0.1, length=1000).item() == pytest.approx(1 + 0.1 * math.log(1000))


def test_steps_rise_at_each_multiple_of_the_length():
    p = torch.arange(31)
    rises = (steps(p, 10).diff() > 0).nonzero().flatten() + 1
    assert rises.tolist() == [10, 20, 30]
    rises = (steps(p, 10, counted=True).diff() > 0).nonzero().flatten() + 1
    assert rises.tolist() == [9, 19, 29]
    assert (steps(p, 10)[:10] == 1).all()


def test_what_stands_before_position_0_stays_as_it_is():
    p = torch.tensor([-100, -9, -1])
    assert (steps(p, 8) == 1).all() and (power(p, 8) == 1).all()
    assert (logarithm(p) == math.log(2)).all() and (logarithm(p, length=8) == 1).all()


def test_short_texts_stay_as_they_are():
    p = torch.arange(10)
    assert (logarithm(p, 0.3, length=10) == 1).all()
    assert (logarithm(p)[1:] == (p[1:] + 1.0).log()).all() and logarithm(p)[0] == math.log(2)


@pytest.mark.parametrize(
    "temperature", [logarithm, lambda p: steps(p, 3), lambda p: power(p, 3)], ids=["log", "steps", "power"]
)
def test_dtypes(temperature):
    wide, narrow = temperature(torch.arange(9).double()), temperature(torch.arange(9))
    assert wide.dtype == torch.float64 and narrow.dtype == torch.float32 and (wide.diff() >= 0).all()
    assert_close(wide.float(), narrow)
    q = torch.randn(2, 3, 9, 4, dtype=torch.bfloat16)
    assert torch.equal(multiply(q, torch.arange(9), temperature), (q.float() * narrow[:, None]).bfloat16())


def test_each_row_of_a_batch_has_its_own():
    q, positions = torch.ones(2, 3, 4, 5), torch.tensor([[0, 1, 2, 3], [10, 20, 30, 40]])
    got = multiply(q, positions, lambda p: power(p, 7))
    assert_close(got[1, 2, :, 4], (1 + (positions[1] + 1) / 7) ** 0.1)
    assert_close(got[0, 0, :, 0], (1 + (positions[0] + 1) / 7) ** 0.1)
