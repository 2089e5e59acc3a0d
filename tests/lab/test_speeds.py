import csv
from pathlib import Path

import pytest

from d2lpos.lab import speeds

TABLES = Path(__file__).parents[2] / "book" / "benchmarks"


@pytest.mark.parametrize("path", sorted(TABLES.glob("*-cpu.csv")), ids=lambda path: path.stem)
def test_a_table_of_the_page(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    table = speeds(path.stem.removesuffix("-cpu"))
    assert table["Contender"].tolist() == [row["Contender"] for row in rows]
    assert table["ms"].tolist() == [float(row["ms"]) for row in rows]


def test_another_contest():
    with pytest.raises(ValueError, match=r"^contest must be one of alibi, .*training; got 'chess'$"):
        speeds("chess")


def test_another_device():
    with pytest.raises(ValueError, match=r"^device must be one that something is published for; got 'gpu'$"):
        speeds("t5", device="gpu")
