"""Each comparison holds, and the book shows what was compared."""

import os
import re

import pytest

from tests.parity.comparison import FOLDER, read
from tests.parity.tables import TABLES

NEWEST = os.environ.get("CONSTRAINTS") == os.devnull  # this run takes the newest versions
HOW = "write the tables anew: python -m tests.parity"
ROWS = [(table, number, row) for table in TABLES for number, row in enumerate(table.rows, 1)]
COMPARISONS = pytest.mark.parametrize(
    ("table", "number", "row"), ROWS, ids=[f"{table.file.stem}-{row.run.__name__}" for table, _, row in ROWS]
)


def without_versions(cells):
    return [re.sub(r" \S+:", ":", cell) for cell in cells] if NEWEST else cells


@COMPARISONS
def test_comparison(table, number, row):
    *theirs, ours = row.distances
    assert ours <= row.tolerance
    assert all(distance > 10 * row.tolerance for distance in theirs), "the library is right by now"


@COMPARISONS
def test_the_book_shows_it(table, number, row):
    header, *written = table.read()
    numbers = slice(2, 2 + len(row.distances))
    written, cells = without_versions(written[number - 1]), without_versions(row.cells)
    assert header == table.header
    assert [*written[:2], *written[numbers.stop :]] == [*cells[:2], *cells[numbers.stop :]], HOW
    for distance, cell in zip(row.distances, written[numbers], strict=True):
        assert distance <= 10 * read(cell), HOW


def test_the_book_shows_nothing_else():
    assert {file: len(file.read_text("utf-8").splitlines()) - 1 for file in FOLDER.iterdir()} == {
        table.file: len(table.rows) for table in TABLES
    }, HOW
    page = FOLDER.with_suffix(".md").read_text("utf-8")
    assert re.findall(r":file: parity/(\w+)\.csv", page) == [table.file.stem for table in TABLES]
