"""The checks of the project that reads heads: each reference beside another way to compute the same."""

import pytest
import torch
from scipy.stats import ttest_1samp

from d2lpos import Encoding
from d2lpos.check import heads as check
from d2lpos.check.heads.material import made_up
from d2lpos.check.heads.score import causal, packed
from d2lpos.check.heads.standing_out import indifferent
from d2lpos.transformer.attention import attention_weights, causal_mask

N = 7
HERE = torch.arange(N)


def equal(a, b):
    torch.testing.assert_close(a, b)


def test_all_weights_are_those_of_the_package():
    draw = torch.Generator().manual_seed(0)
    q, k = torch.randn(6, N, 4, generator=draw), torch.randn(2, N, 4, generator=draw)
    wanted = attention_weights(q[None], k[None], HERE, HERE, Encoding(), causal_mask(HERE, HERE))[0]
    equal(check.all_weights.reference(q, k), wanted)


@pytest.mark.parametrize("seen", [causal(N), packed(3, 4)])
@pytest.mark.parametrize("offset", [0, 1, 2])
def test_the_score_is_that_of_a_loop(seen, offset):
    weights = made_up(3, N, seed=1, seen=seen)
    asked = [i for i in range(offset, N) if seen[i, i - offset]]
    wanted = torch.stack([weights[:, i, i - offset] for i in asked]).mean(dim=0)
    equal(check.score.reference(weights, seen, offset), wanted)


def test_the_induction_score_searches_the_text_for_the_same_word():
    text = [3, 1, 4, 3, 1, 4, 3]
    weights = made_up(2, N, seed=2)
    scores = []
    for i, word in enumerate(text):
        earlier = [j for j in range(i) if text[j] == word]
        if earlier:
            scores.append(weights[:, i, earlier[-1] + 1])
    equal(check.induction.reference(weights, 3), torch.stack(scores).mean(dim=0))


def test_the_null_is_the_score_of_equal_weights():
    equal_weights = causal(N) / causal(N).sum(dim=-1, keepdim=True)
    equal(indifferent(HERE[3:]), check.induction.reference(equal_weights, 3))
    equal(indifferent(HERE[1:]), check.score.reference(equal_weights, causal(N), 1))


def test_the_interval_is_that_of_scipy():
    draw = torch.Generator().manual_seed(3)
    before, after = torch.rand(2, 5, 7, generator=draw)
    mean, half = check.worth.reference(before, after, 4)
    interval = ttest_1samp((after - before)[:, 4:].mean(dim=1), 0).confidence_interval(0.95)
    assert interval.low == pytest.approx(mean - half, abs=1e-6)
    assert interval.high == pytest.approx(mean + half, abs=1e-6)
