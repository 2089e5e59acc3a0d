"""Every claim of the chapters has its place in the ledger, and the ledger holds no other."""

from pathlib import Path

import nbformat
from pybtex.database import parse_file

from book.claims import CHAPTERS, ledger, rows

ROOT = Path(__file__).parents[2]
PAPERS = parse_file(ROOT / "book" / "references.bib").entries.keys()
LEDGER = ledger()


def test_chapters_and_ledger_hold_the_same_claims():
    assert sorted({row.id for row in rows()}) == sorted(LEDGER["claims"])


def test_open_claims_are_open():
    assert sorted(row.id for row in rows() if row.verdict == "Open") == sorted(LEDGER["open"].values())


def test_sources_are_described_once_and_used():
    named = {name for names in LEDGER["claims"].values() for name in names}
    assert named - PAPERS == LEDGER["sources"].keys()


def test_every_claim_cell_decides_a_row():
    cells = [cell for path in CHAPTERS for cell in nbformat.read(path, as_version=4).cells]
    decided = {cell.metadata.d2lpos.claim for cell in cells if "claim" in cell.metadata.get("tags", [])}
    assert decided == {row.id for row in rows() if row.verdict != "Open"}
