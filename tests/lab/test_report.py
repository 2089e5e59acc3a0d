"""The tables of a study of dropout say what was decided, and a figure is drawn where it can be read."""

import pytest

from d2lpos.lab import STUDIES
from d2lpos.lab.report import decisions, pages
from tests.lab.results import result

STUDY = "dropout-masked"


@pytest.fixture
def records():
    """Runs without dropout end at 2 nats, those with it at 2.5, and those that spare special tokens at 2."""
    made = []
    for run in STUDIES[STUDY].runs(range(3)):
        loss = (2 if run.dropout in ("none", "protected") else 2.5) + run.seed / 10 + run.drop / 1000
        row = {"step": 1, "train": loss, "seen": loss, "validation": loss, "test": loss}
        made.append(result(run) | {"curve": [row]})
    return made


@pytest.mark.parametrize(("study", "drawn"), [
    ("crowd", True),
    ("settings", False),
    ("resolution", False),
    ("addition", True),
])
def test_lines_that_cannot_be_told_apart_are_not_drawn(study, drawn):
    texts = pages(study, list(map(result, STUDIES[study].runs(range(2)))))
    assert (f"{study}.svg" in texts) == drawn and {f"{study}-test.csv", f"{study}-about.csv"} <= set(texts)


def test_what_was_decided(records):
    rows = decisions(records)
    assert pages(STUDY, records)[f"{STUDY}-verdicts.csv"].splitlines()[0] == ",".join(rows)
    assert list(rows) == ["Encoding", "Moment", "Dropout", "Rate", "Difference", "p", "Verdict"]
    assert len(rows) == 2 * 2 * 7
    some = rows[(rows["Encoding"] == "learned") & (rows["Moment"] == "last")].set_index("Dropout")
    assert some.loc["sum"].tolist() == ["learned", "last", 0.05, "+0.500 ± 0.000", "< 0.001", "worse"]
    assert some.loc["protected", ["Difference", "Verdict"]].tolist() == ["+0.000 ± 0.000", "no difference"]
