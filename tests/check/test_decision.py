"""The checks of the project that settles a claim: each reference beside another way to compute the same."""

import pytest
import torch
from scipy.stats import nct, t, ttest_1samp, ttest_rel

from d2lpos.check import decision as check
from d2lpos.check.cases import quarters


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_interval_is_that_of_scipy(n):
    ours, theirs = quarters(n, seed=n), quarters(n, seed=n + 20)
    wanted = ttest_rel(ours, theirs).confidence_interval(0.95)
    assert check.interval.reference(ours, theirs).tolist() == pytest.approx([wanted.low, wanted.high], abs=1e-5)


def test_each_verdict_is_right_for_every_mean_that_the_interval_holds():
    least = 0.5
    fits = {
        "better": lambda mean: mean < -least,
        "worse": lambda mean: mean > least,
        "no difference": lambda mean: -least < mean < least,
    }
    ends = torch.arange(-8, 9) / 8
    for low, high in ((low.item(), high.item()) for low in ends for high in ends if low < high):
        held = torch.linspace(low, high, 65)
        right = [word for word, fit in fits.items() if all(map(fit, held.tolist()))]
        assert [check.decide.reference(low, high, least)] == (right or ["undecided"])


@pytest.mark.parametrize(("spread", "gap"), [(1.0, 1.0), (1.0, 0.5), (2.0, 0.5), (0.12, 0.09)])
def test_so_many_seeds_find_the_gap_in_four_of_five_studies(spread, gap):
    n = check.seeds.reference(spread, gap)
    power = nct.sf(t.ppf(0.975, n - 1), n - 1, gap / spread * n**0.5)
    assert power == pytest.approx(0.8, abs=0.02)


def test_holm_goes_step_by_step():
    """As Holm wrote it: the smallest of those left is tested at 0.05 over how many are left, up to the first that fails."""
    p = torch.tensor([0.012, 0.04, 0.001, 0.03, 0.2])
    rejected, left = set(), sorted(range(5), key=lambda at: p[at])
    while left and p[left[0]] <= 0.05 / len(left):
        rejected.add(left.pop(0))
    assert {at for at, corrected in enumerate(check.holm.reference(p)) if corrected <= 0.05} == rejected == {0, 2}


def test_peeking_is_a_test_after_each_seed():
    studies = quarters(64, 9, seed=5)
    ever = [any(ttest_1samp(one[:n], 0).pvalue < 0.05 for n in range(3, 10)) for one in studies]
    assert check.peeking.reference(studies, 3) == sum(ever) / 64
