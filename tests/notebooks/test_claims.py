"""Every claim of the chapters has its place in the ledger, and the ledger holds no other."""

import csv
import re
from pathlib import Path

import nbformat
import pytest
from d2lpos_ext.claims import errata, ledger, read, rows
from d2lpos_ext.ledger import expand
from pybtex.database import parse_file

ROOT = Path(__file__).parents[2]
PAPERS = parse_file(ROOT / "book" / "references.bib").entries.keys()
LEDGER = ledger(ROOT)
CHAPTERS = read(ROOT).values()
DECIDED = [erratum["decided"] for erratum in errata(ROOT)]


@pytest.fixture(scope="module")
def table():
    return [row for chapter in CHAPTERS for row in rows(chapter, LEDGER)]


def test_chapters_and_ledger_hold_the_same_claims(table):
    assert sorted(row.id for row in table if not row.trained) == sorted(LEDGER["claims"])


def test_what_a_trained_model_says_has_a_cell_and_a_reason(table):
    names = [name for name, claim in LEDGER["claims"].items() if "trained" in claim]
    assert sorted(row.id for row in table if row.trained) == sorted(names)


def test_a_measured_number_comes_with_what_was_drawn():
    """In chapters that judge trained models and studies: seeds, passages or sentences."""
    judging = ("04b-", "09-", "09a-", "09b-", "10-", "12-")
    table = [row for path, chapter in read(ROOT).items() if path.name.startswith(judging) for row in rows(chapter, LEDGER)]
    reasons = {row.id: LEDGER["claims"][row.id]["trained" if row.trained else "because"] for row in table}
    measured = {name for name, reason in reasons.items() if re.search(r"(?<!transformers )\b\d\.\d\d", reason)}
    drawn = {name for name, reason in reasons.items() if re.search(r"\b(seeds?|passages?|sentences?)\b", reason)}
    assert len(measured) >= 8 and not measured - drawn


def test_chapter_9_tells_both_verdicts(table):
    [chapter] = (ROOT / "chapters").glob("09-*.ipynb")
    cells = nbformat.read(chapter, as_version=4).cells
    [text] = [cell.source for cell in cells if cell.source.startswith("## What held")]
    pairs = re.findall(r"\| (True|Half true|False|Open) \| (True|Half true|False|Open) \|$", text, re.MULTILINE)
    trained = {row.id: row.verdict for row in table if row.trained}
    assert pairs == [(row.verdict, trained[row.id]) for row in table if row.id in trained and not row.trained]


def test_the_form_names_sources_without_the_marks_of_a_bibliography():
    form, _, _ = expand("```{ledger}\n```", ROOT).partition("</form>")
    assert "Siméoni et al. (2025)" in form and not re.search(r"[{}\\]", form)


def test_sources_are_described_once_and_used():
    named = {name for claim in LEDGER["claims"].values() for name in claim["by"]}
    assert named - PAPERS == LEDGER["sources"].keys()


def test_every_claim_cell_decides_a_row_or_an_erratum(table):
    cells = [cell for chapter in CHAPTERS for cell in chapter.cells]
    decided = {cell.metadata.d2lpos.claim for cell in cells if "claim" in cell.metadata.get("tags", [])}
    wrong = set(re.findall(r"\(#claim-(.+?)\)", "".join(DECIDED)))
    assert decided == {row.cell for row in table if row.cell} | wrong


def test_every_erratum_is_decided():
    with (ROOT / "book" / "parity" / "disputes.csv").open(encoding="utf-8") as lines:
        disputes = {row["What"] for row in csv.DictReader(lines)}
    for text in DECIDED:
        if row := re.search(r"\(parity\.md#where-they-differ\): (.+)\.$", text):
            assert row[1] in disputes
        else:
            assert re.search(r"\(#claim-|\(parity\.md#|Exercise \d", text), text
