"""What is decided of placements of dropout, against numbers that were computed by hand or by SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from d2lpos.lab import Run, moments, verdicts
from d2lpos.lab.studies import PLACED
from tests.lab.results import result

NONE = Run("masked small", "learned", steps=30)
SEEDS = range(10)


def record(dropout="none", drop=0.0, seed=0, best=2.0, last=2.5, validation=None):
    """A record whose validation loss is least in the second row of three: `validation`, or the test loss."""
    validation = best if validation is None else validation
    run = replace(NONE, dropout=dropout, drop=drop, seed=seed)
    curve = [
        {"step": 10, "train": 3.0, "seen": 2.9, "validation": validation + 1, "test": 1.0},
        {"step": 20, "train": 2.0, "seen": 1.9, "validation": validation, "test": best},
        {"step": 30, "train": 1.0, "seen": 0.9, "validation": validation + 0.5, "test": last},
    ]
    return result(run) | {"curve": curve}


def arm(dropout, drop, best, last, validation=None):
    pairs = zip(best, last, strict=True)
    return [record(dropout, drop, s, b, e, validation) for s, (b, e) in enumerate(pairs)]


def noise(seed, mean=0.0, sd=0.001):
    drawn = np.random.default_rng(seed).standard_normal(len(SEEDS))
    return mean + sd * (drawn - drawn.mean())


def test_the_moments_of_a_run():
    table = moments([record("sum", 0.1, seed=3, best=2.0, last=2.5, validation=1.7)])
    common = {"task": "masked small", "encoding": "learned", "dropout": "sum", "drop": 0.1, "seed": 3}
    assert table.to_dict("records") == [
        common | {"moment": "best", "step": 20, "validation": 1.7, "test": 2.0, "gap": pytest.approx(0.1)},
        common | {"moment": "last", "step": 30, "validation": 2.2, "test": 2.5, "gap": pytest.approx(1.6)},
    ]


def test_the_validation_chooses_the_rate_and_the_test_does_not():
    base = arm("none", 0.0, noise(0, 2), noise(1, 2))
    tempting = arm("sum", 0.1, noise(2, 1), noise(3, 1), validation=5.0)
    chosen = arm("sum", 0.3, noise(4, 3), noise(5, 3), validation=4.0)
    table = verdicts(moments(base + tempting + chosen))
    assert table["drop"].tolist() == [0.3, 0.3] and (table["mean"] > 0.9).all()


def test_differences_and_p_values_are_what_scipy_says():
    base, sides = noise(0, 2, 0.05), {name: noise(i, 2 + 0.03 * (i % 2), 0.05) for i, name in enumerate(PLACED, 1)}
    records = arm("none", 0.0, base, base)
    for name, side in sides.items():
        records += arm(name, 0.1, side, side)
    table = verdicts(moments(records))
    table = table[table["moment"] == "best"].set_index("dropout")
    tests = {name: ttest_rel(side, base) for name, side in sides.items()}
    order = sorted(PLACED, key=lambda name: tests[name].pvalue)
    least = 0.0
    for left, name in zip(range(len(order), 0, -1), order, strict=True):
        least = max(least, min(1.0, left * tests[name].pvalue))
        low, high = tests[name].confidence_interval()
        row = table.loc[name]
        assert (row["mean"], row["low"], row["high"], row["p"]) == pytest.approx(
            ((sides[name] - base).mean(), low, high, least), rel=1e-9
        )
    assert tests[order[0]].pvalue < table.loc[order[0], "p"] < 1 == table["p"].max()  # the correction does something here


@pytest.mark.parametrize(("by", "sd", "verdict"), [
    (0.0, 0.001, "no difference"),
    (0.005, 0.001, "no difference"),  # it is sure, and too small to matter
    (0.1, 0.001, "worse"),
    (-0.1, 0.001, "better"),
    (0.012, 0.001, "worse"),
    (0.0, 0.1, "undecided"),
    (0.02, 0.1, "undecided"),
])
def test_verdicts(by, sd, verdict):
    base, other = noise(0, 2, 0.0), noise(1, 2 + by, sd)
    table = verdicts(moments(arm("none", 0.0, base, base) + arm("sum", 0.1, other, other)))
    assert table["verdict"].tolist() == [verdict, verdict]
