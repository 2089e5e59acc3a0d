from functools import partial

import pytest
import torch
from torch.testing import assert_close

from d2lpos import ShawKeys
from d2lpos.content.inkling import Inkling
from d2lpos.transformer.temperature import logarithm

B, H, N, D, RANK, EXTENT = 2, 3, 7, 4, 5, 4
HERE = torch.arange(N)
PAST = HERE <= HERE[:, None]
Q = torch.zeros(B, H, N, D, dtype=torch.float64)


@pytest.fixture
def inkling():
    encoding = Inkling(H * D, H, RANK, EXTENT).double()
    torch.nn.init.normal_(encoding.profiles)
    return encoding


@pytest.fixture
def x():
    return torch.randn(B, N, H * D, dtype=torch.float64)


def test_formula(inkling, x):
    got = inkling.score(Q, Q, HERE, HERE, inkling.hidden_features(x))
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, (B, H, N, N))).tolist():
        mixture = inkling.weights.weight[h * RANK : (h + 1) * RANK] @ x[b, i]
        want = mixture @ inkling.profiles[:, i - j] if 0 <= i - j < EXTENT else torch.zeros(()).double()
        assert_close(got[b, h, i, j], want)


def test_with_the_query_for_the_mixture_it_is_shaws_term_up_to_the_extent(inkling):
    q = torch.randn(B, H, N, D, dtype=torch.float64)
    wide = Inkling(H * D, H, rank=D, extent=N).double()
    shaw = ShawKeys(D, clip=N - 1).double()
    with torch.no_grad():
        wide.profiles.copy_(shaw.keys[:N].flip(0).mT / D**0.5)
    assert_close(wide.score(q, q, HERE, HERE, q), shaw.score(q, q, HERE, HERE).where(PAST, 0))


def test_a_temperature_multiplies_what_is_added(inkling, x):
    heat = partial(logarithm, scale=0.5, length=3)
    hot = Inkling(H * D, H, RANK, EXTENT, temperature=heat).double()
    hot.load_state_dict(inkling.state_dict())
    want = inkling.score(Q, Q, HERE, HERE, inkling.hidden_features(x)) * heat(HERE)[:, None]
    assert_close(hot.score(Q, Q, HERE, HERE, hot.hidden_features(x)), want)


def test_it_begins_as_nothing(x):
    fresh = Inkling(H * D, H, RANK, EXTENT).double()
    assert not fresh.score(Q, Q, HERE, HERE, fresh.hidden_features(x)).any()
