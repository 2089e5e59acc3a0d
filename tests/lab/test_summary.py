"""Tables of records, against numbers that were computed by hand or by SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp, ttest_rel

from d2lpos.lab import Run, frame, interval, paired, summary
from d2lpos.lab.summary import below_zero
from tests.lab.results import result

COLUMNS = (
    "task encoding causal trained seed reading length split loss accuracy loss_last accuracy_last seconds"
)
COLUMNS = [*COLUMNS.split(), "device", "key"]


def small(encoding="none", seed=0, **fields):
    return Run("order", encoding, seed=seed, length=8, tested=(8, 16), **fields)


@pytest.fixture
def table():
    """Three seeds of two encodings at two lengths."""
    return frame(result(small(encoding, seed)) for encoding in ("none", "rope") for seed in range(3))


def test_a_frame_has_columns_for_fields_that_differ_and_says_what_none_stands_for():
    runs = [small(), small(dim=32), small(causal=True), small(shortest=4)]
    table = frame(map(result, runs)).drop_duplicates("key")
    assert list(table) == [*COLUMNS[:4], "shortest", "dim", *COLUMNS[4:]]
    assert table["causal"].tolist() == [False, False, True, False]
    assert table["shortest"].tolist() == [8, 8, 8, 4]


def test_records_of_another_time_can_be_read(table):
    record = result(small("rope"))
    record["run"]["readings"] = ["backwards"]
    del record["run"]["precision"]
    assert frame([record]).equals(frame([result(small("rope"))]))


DRAWS = pd.MultiIndex.from_product([["pride", "code"], [0, 1, 2]], names=["text", "seed"])


def test_an_interval_is_what_scipy_says_of_independent_draws():
    values = pd.Series([3.0, 1.0, 2.0, 6.0, 4.0, 8.0], DRAWS)
    mean, low, high, n = interval(values["code"])
    assert (mean, n) == (6, 3)
    assert (low, high) == pytest.approx(ttest_1samp(values["code"], 0).confidence_interval(), abs=1e-12)
    assert interval(values, drawn=["text", "seed"])[3] == 6


@pytest.mark.parametrize(("drawn", "words"), [
    ("seed", "which seed tells apart; got 6 numbers of 3 draws"),
    ("text", "which text tells apart; got 6 numbers of 2 draws"),
    ("needle", "drawn must be one of text, seed; got 'needle'"),
])
def test_numbers_of_one_draw_count_once_or_not_at_all(drawn, words):
    with pytest.raises(ValueError, match=words):
        interval(pd.Series(range(6), DRAWS), drawn)


@pytest.mark.parametrize(("values", "verdict"), [
    ([-3.0, -2.9, -3.1], "holds"), ([-3.0, -1.0, 1.0], "open"), ([3.0, 1.0, -1.0], "open"), ([3.0, 2.9, 3.1], "fails"),
])  # fmt: skip
def test_a_sentence_is_decided_by_its_interval_over_passages_of_all_texts(values, verdict):
    passages = pd.MultiIndex.from_tuples([("pride", 0), ("code", 0), ("code", 1)], names=["text", "seed"])
    assert below_zero(pd.Series(values, passages))[3:] == (3, verdict)


def test_rows_without_a_value_are_left_out(table):
    assert set(summary(table, value="loss_last")["length"]) == {16}


def test_paired_is_what_scipy_says(table):
    differences = paired(table)
    assert differences[["encoding", "length", "n"]].values.tolist() == [["rope", 8, 3], ["rope", 16, 3]]
    for row in differences.itertuples():
        at = table[table["length"] == row.length].sort_values("seed")
        sides = [at.loc[at["encoding"] == name, "loss"] for name in ("rope", "none")]
        low, high = ttest_rel(*sides).confidence_interval()
        assert (row.mean, row.low, row.high) == pytest.approx(
            (np.mean(sides[0].values - sides[1].values), low, high), abs=1e-12
        )


@pytest.mark.parametrize(("call", "words"), [
    (lambda t: summary(t, by=["size"]), f"by must be one of {', '.join(COLUMNS)}; got 'size'"),
    (
        lambda t: summary(t, by=["encoding"]),
        "by must tell rows of one seed apart; there are several where encoding is 'none'",
    ),
    (lambda t: paired(t, against="t5"), "against must be one of none, rope; got 't5'"),
    (
        lambda t: paired(t[t["key"] != t["key"].iloc[-1]], by=["length"]),
        "the seeds of encoding 'rope' are [0, 1], those of 'none' are [0, 1, 2] where length is 8",
    ),
])
def test_bad_calls(table, call, words):
    with pytest.raises(ValueError) as error:
        call(table)
    assert str(error.value).endswith(words)
