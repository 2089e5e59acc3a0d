import math

import pytest
import torch
from torch.testing import assert_close

from d2lpos import ALiBi
from d2lpos.content.fox import FoX
from d2lpos.transformer import Mask, attend, segment_mask

B, H, N, D = 2, 3, 7, 4
HERE = torch.arange(N)


@pytest.fixture
def fox():
    return FoX(H * D, H).double()


@pytest.fixture
def x():
    return torch.randn(B, N, H * D, dtype=torch.float64)


def equal_gates(gate):
    """What is read where every token of every head has this gate."""
    return torch.full((B, H, N, 1), math.log(gate), dtype=torch.float64)


def test_formula(fox, x):
    """Σ log sigmoid(w · x_t + b) over the tokens behind the key, up to the query, one by one."""
    q = torch.zeros(B, H, N, D, dtype=torch.float64)
    got = fox.score(q, q, HERE, HERE, fox.hidden_features(x))
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, (B, H, N, N))).tolist():
        logits = [(x[b, t] @ fox.gate.weight[h] + fox.gate.bias[h]).item() for t in range(j + 1, i + 1)]
        assert got[b, h, i, j].item() == pytest.approx(-sum(math.log1p(math.exp(-z)) for z in logits))


def test_equal_gates_are_alibi_to_the_last_digit(fox):
    q, k, v = torch.randn(3, B, H, N, D, dtype=torch.float64)
    slopes = torch.tensor([0.5, 0.25, 0.0625], dtype=torch.float64)
    hidden = (-slopes[:, None, None]).expand(B, H, N, 1)
    past = HERE <= HERE[:, None]
    alibi = ALiBi(H, slopes=slopes)
    ours, theirs = fox.score(q, q, HERE, HERE, hidden), alibi.score(q, q, HERE, HERE)
    assert torch.equal(ours[0][:, past], theirs.double()[:, past])
    arguments = q, k, v, HERE, HERE
    got = attend(*arguments, fox, Mask(HERE), hidden_features=hidden)
    assert torch.equal(got, attend(*arguments, alibi, Mask(HERE)))


def test_gates_of_another_text_count_for_nothing(fox):
    """Neither in a row with it, nor where a mask hides it in between."""
    q = torch.zeros(B, H, N, D, dtype=torch.float64)
    segments = torch.tensor([0, 1, 0, 1, 0, 0, 1])
    got = fox.score(q, q, HERE, HERE, equal_gates(0.5), segment_mask(segments, segments))
    assert_close(got[0, 0, 5] / math.log(0.5), torch.tensor([3.0, 3, 2, 2, 1, 0, 0]).double())


def test_half_precision_gates_are_summed_wide():
    fox = FoX(8, 1).bfloat16()
    torch.nn.init.zeros_(fox.gate.weight)
    torch.nn.init.constant_(fox.gate.bias, 8.0)  # a gate of 0.99966
    q, at = torch.zeros(1, 1, 3000, 8, dtype=torch.bfloat16), torch.arange(3000)
    hidden = fox.hidden_features(torch.zeros(1, 3000, 8, dtype=torch.bfloat16))
    got = fox.score(q[:, :, :1], q, at[-1:], at, hidden)
    assert got.dtype == torch.float32
    assert got[0, 0, 0, 0].item() == pytest.approx(-2999 * math.log1p(math.exp(-8)), rel=1e-4)
