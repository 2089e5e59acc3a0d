"""The ledger says of a measured number what was drawn: seeds, passages or sentences."""

import re
from pathlib import Path

import pytest
from d2lpos_ext.claims import ledger, read, rows

ROOT = Path(__file__).parents[2]
KNOWN = ledger(ROOT)
JUDGED = ("04b-", "09-", "09a-", "09b-", "10-", "12-")  # chapters that judge trained models and studies
REASONS = {
    (row.id, kind): KNOWN["claims"][row.id][kind]
    for path, chapter in read(ROOT).items()
    if path.name.startswith(JUDGED)
    for row in rows(chapter, KNOWN)
    for kind in ("trained" if row.trained else "because",)
}
MEASURED = {claim: reason for claim, reason in REASONS.items() if re.search(r"(?<!transformers )\b\d\.\d\d", reason)}


def test_some_claims_rest_on_measured_numbers():
    assert len(MEASURED) >= 8


@pytest.mark.parametrize("claim", MEASURED, ids=" ".join)
def test_a_measured_number_comes_with_what_was_drawn(claim):
    assert re.search(r"\b(seeds?|passages?|sentences?)\b", MEASURED[claim])
