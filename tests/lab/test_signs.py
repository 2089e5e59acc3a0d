"""What is counted of placements of dropout, by hand."""

from itertools import product
from math import comb

import pytest

from d2lpos.lab import moments, signs
from tests.lab.test_verdict import arm


def both(differences, drop=0.1, name="sum"):
    """Records without dropout, which end at 2, and of an arm that differs."""
    other = [2 + difference for difference in differences]
    return arm("none", 0.0, [2.0] * len(other), [2.0] * len(other)) + arm(name, drop, other, other)


def test_p_values_by_counting():
    """All patterns of signs: as many of one sign, or as large a sum of ranks, on either side."""
    differences = [0.3, -0.1, 0.5, 0.7, -0.2, 0.4]
    not_chosen = arm("sum", 0.3, [9.0] * 6, [9.0] * 6)
    (row, _) = signs(moments(both(differences) + not_chosen)).itertuples()
    assert row.drop == 0.1 and (row.better, row.worse, row.mean) == (2, 4, pytest.approx(sum(differences) / 6))
    assert row.sign == pytest.approx(2 * sum(comb(6, k) for k in range(3)) / 2**6)
    ranks, observed = range(1, 7), 3 + 4 + 5 + 6
    sums = [sum(r for r, up in zip(ranks, ups, strict=True) if up) for ups in product((0, 1), repeat=6)]
    assert row.rank == pytest.approx(2 * sum(total >= observed for total in sums) / len(sums))


def test_equal_seeds_have_no_sign():
    (row, _) = signs(moments(both([0.0, 0.1, 0.2]))).itertuples()
    assert (row.better, row.worse, row.sign, row.mean) == (0, 2, 0.5, pytest.approx(0.1))
    (row, _) = signs(moments(both([0.0, 0.0]))).itertuples()
    assert (row.better, row.worse, row.sign, row.rank) == (0, 0, 1, 1)


def test_bad_calls():
    with pytest.raises(ValueError, match="^against must be one of none, sum; got 'token'$"):
        signs(moments(both([0.1, 0.2])), against="token")
    with pytest.raises(ValueError, match="^the seeds of all placements must match where"):
        signs(moments(both([0.1, 0.2])[:-1]))
