"""The checks of chapter 6: their references against attention itself, and right answers written otherwise."""

import math

import numpy as np
import pytest
import torch

from d2lpos import ALiBi
from d2lpos.bias.alibi import ramp, slopes
from d2lpos.bias.kerple import logarithmic
from d2lpos.check import alibi as check
from d2lpos.transformer.attention import attention_weights, causal_mask
from tests.check.right import accepted


@pytest.mark.parametrize("right", [0.5, 0.25, 0.0])
def test_only_equal_sides_leave_the_mirror(right):
    p, mirror = torch.arange(5), torch.arange(4, -1, -1)
    got = check.two_sided.reference(p, p, torch.tensor([0.5]), torch.tensor([right]))
    assert torch.equal(got[:, mirror][..., mirror], got) == (right == 0.5)


@pytest.mark.parametrize("heads", range(9))
def test_enough(heads):
    """Attention with this many heads of two slopes turns around with its text, or not."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 8, 5, 4, dtype=torch.float64)
    right = torch.where(torch.arange(8) < heads, slopes(8) / 2, slopes(8)).double()
    p = torch.arange(5)
    logits = check.two_sided.reference(p, p, slopes(8).double(), right)
    output, turned = (
        (logits + (a @ b.mT)).softmax(dim=-1) @ c
        for a, b, c in ((q, k, v), (q.flip(2), k.flip(2), v.flip(2)))
    )
    assert torch.allclose(turned.flip(2), output) == (heads < check.two_sided.answers[0].right)


def test_wide_and_best():
    assert check.window.answers[0].right == check.window.reference(1 / 256, 0.01, 20)
    eight = [2.0**-power for power in range(1, 9)]
    best = [max(eight, key=lambda slope: check.reach.reference(lead, slope)) for lead in (3, 5, 10)]
    assert list(check.reach.answers[0].right) == best


def test_one_row_gives_the_weights_of_the_full_bias():
    p = torch.tensor([3, 4, 9, 12])
    q, k = torch.randn(2, 1, 4, 4, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mask = causal_mask(p, p)
    logits = q @ k.mT / math.sqrt(8) + check.one_row.reference(slopes(4), p)
    weights = logits.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    torch.testing.assert_close(weights, attention_weights(q, k, p, p, ALiBi(4), mask))


def last_row(scores, slope):
    """The weights of the last query, in float64."""
    n = len(scores)
    return (scores + ramp(torch.arange(n) - n + 1, torch.tensor(slope)).double()).softmax(dim=-1)


@pytest.mark.parametrize("slope", [0.5, 1 / 16, 1 / 256])
@pytest.mark.parametrize("eps", [0.5, 0.1, 0.01])
def test_window_of_equal_scores(slope, eps):
    w, weights = check.window.reference(slope, eps, 0.0), last_row(torch.zeros(20_000).double(), slope)
    assert weights[:-w].sum() <= eps
    assert w == 1 or weights[: 1 - w].sum() > eps


@pytest.mark.parametrize("slope", [0.5, 1 / 16])
def test_window_of_the_worst_scores(slope):
    """Far keys have all the spread, near keys nothing: the bound holds."""
    w = check.window.reference(slope, 0.01, 4.0)
    scores = torch.zeros(5000).double()
    scores[:-w] = 4
    assert last_row(scores, slope)[:-w].sum() <= 0.01


@pytest.mark.parametrize("lead", [0.0, 2.0, 5.0, 8.0])
@pytest.mark.parametrize("slope", [0.5, 1 / 16, 1 / 256])
def test_reach(lead, slope):
    wins = 0
    for distance in range(1000):
        scores = torch.zeros(20_000).double()
        scores[-1 - distance] = lead
        if last_row(scores, slope)[-1 - distance] <= 0.5:
            break
        wins += 1
    assert check.reach.reference(lead, slope) == wins


@pytest.mark.parametrize(("slope", "far", "gap"), [(2.0, 4, 0.1), (1 / 256, 2000, 0.001), (0.5, 10_000, 1.0)])
def test_almost_alibi(slope, far, gap):
    r1, r2 = (torch.tensor(r, dtype=torch.float64) for r in check.almost_alibi.reference(slope, far, gap))
    distance = torch.arange(far + 1).double()
    assert 0 < (logarithmic(distance, r1, r2) + slope * distance).max() <= gap


def released_by_recursion(heads):
    if math.log2(heads).is_integer():
        return 2 ** (-8 / heads * torch.arange(1, heads + 1))
    below = 2 ** math.floor(math.log2(heads))
    return torch.cat([released_by_recursion(below), released_by_recursion(2 * below)[::2]])[:heads]


def two_sided_by_choice(q_positions, k_positions, left, right):
    i, j = q_positions[:, None], k_positions[None, :]
    return torch.where(j < i, left.view(-1, 1, 1), right.view(-1, 1, 1)) * -(i - j).abs().double().float()


def two_sided_in_numpy(q_positions, k_positions, left, right):
    offset = k_positions.numpy() - q_positions.numpy()[:, None]
    slope = np.where(offset > 0, right.numpy()[:, None, None], left.numpy()[:, None, None])
    return torch.from_numpy(-slope * np.abs(offset))


def one_row_from_the_end(slopes, k_positions):
    return slopes.double().view(-1, 1, 1) * (k_positions - k_positions.max())


def window_by_walking(slope, eps, spread):
    w = 1
    while math.exp(spread - slope * w) > eps:
        w += 1
    return w


def reach_by_walking(lead, slope):
    rivals, count = 1 / -math.expm1(-slope), 0
    while math.exp(lead - slope * count) > rivals - math.exp(-slope * count):
        count += 1
    return count


def a_smaller_r2(slope, far, gap):
    r2 = gap / (10 * slope * far**2)
    return [slope / r2, r2]


def tensors(slope, far, gap):
    r2 = torch.tensor(2 * gap / (slope * far**2))
    return slope / r2, r2


test_accepted = accepted({
    check.released: [released_by_recursion],
    check.two_sided: [two_sided_by_choice, two_sided_in_numpy],
    check.one_row: [
        one_row_from_the_end, lambda slopes, k: torch.einsum("h,n->hn", slopes, k.float())[:, None] + 7,
    ],
    check.window: [window_by_walking],
    check.reach: [reach_by_walking],
    check.almost_alibi: [a_smaller_r2, tensors],
})
