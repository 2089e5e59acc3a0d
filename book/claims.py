"""The ledger of claims: the rows of the chapters' tables, and from `claims.yml` who makes each claim."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml

BOOK = Path(__file__).parent
CHAPTERS = sorted(BOOK.parent.glob("chapters/*.ipynb"))


class Row(NamedTuple):
    """A row of a chapter's table. The sources are those of `claims.yml`, or keys of `references.bib`."""

    id: str
    chapter: Path
    claim: str
    verdict: str
    evidence: str
    sources: list[str]


def ledger() -> dict[str, dict]:
    """Return `claims.yml`: the sources by name, their names by claim, ids of open claims by their words."""
    return yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))


def rows() -> Iterator[Row]:
    """Yield the claims of all chapters as they stand in the tables. A claim may have several rows.

    Raises KeyError for a claim that is not in `claims.yml`.
    """
    known = ledger()
    for chapter in CHAPTERS:
        for cell in nbformat.read(chapter, as_version=4).cells:
            if "claims" in cell.metadata.get("tags", []):
                ids = iter(cell.metadata.d2lpos.claims)
                lines = [line.strip(" |") for line in cell.source.splitlines() if line.startswith("|")]
                for claim, verdict, evidence in (line.split(" | ") for line in lines[2:]):
                    name = known["open"][claim] if verdict == "Open" else next(ids)
                    yield Row(name, chapter, claim, verdict, evidence, known["claims"][name])
