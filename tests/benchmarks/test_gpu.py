"""The page "On a GPU": its tables are its records, and its words say what they hold. No time is measured here."""

import json
from pathlib import Path

from tests.rehearsals.gpu import headline, markdown

BOOK = Path(__file__).parents[2] / "book"
ABOUT, *RECORDS = map(json.loads, (BOOK / "gpu" / "h100.jsonl").read_text("utf-8").splitlines())
ROWS = {(record["name"], row["Contender"]): row for record in RECORDS for row in record.get("rows", [])}


def speed(name: str, contender: str) -> float:
    return float(ROWS[name, contender]["Speed"].split()[0])


def test_the_tables_are_the_records():
    text = "\n".join([headline(ABOUT), "", *map(markdown, RECORDS)]) + "\n"
    assert (BOOK / "gpu" / "h100.md").read_text("utf-8") == text


def test_ours_are_short_where_a_line_says_so():
    for record in RECORDS:
        if record.get("bound"):
            ours = [speed(record["name"], row["Contender"]) for row in record["rows"] if "`" in row["Contender"]]
            assert record["short"] == (max(ours) < record["bound"])
            assert ("Short of its bound" in markdown(record)) == record["short"]
