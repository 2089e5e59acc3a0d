"""The ledger of claims: the rows of the chapters' tables, and from `claims.yml` who makes each claim."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml


class Row(NamedTuple):
    """A row of a chapter's table. The sources are those of `claims.yml`, or keys of `references.bib`."""

    id: str
    claim: str
    verdict: str
    evidence: str
    sources: list[str]


def chapters(root: Path) -> dict[Path, nbformat.NotebookNode]:
    """Return the notebooks of the book in the folder `root`, in order."""
    return {path: nbformat.read(path, as_version=4) for path in sorted(root.glob("chapters/*.ipynb"))}


def ledger(root: Path) -> dict[str, dict]:
    """Return `claims.yml`: the sources by name, their names by claim, ids of open claims by their words."""
    return yaml.safe_load((root / "book" / "claims.yml").read_text("utf-8"))


def errata(root: Path) -> list[dict[str, str]]:
    """Return `errata.yml`."""
    return yaml.safe_load((root / "book" / "errata.yml").read_text("utf-8"))


def rows(chapter: nbformat.NotebookNode, known: dict[str, dict]) -> Iterator[Row]:
    """Yield the claims of a chapter as they stand in its table. A claim may have several rows.

    Raises LookupError for a claim that `known`, the ledger, does not have.
    """

    def find(part: str, name: str) -> str | list[str]:
        if name not in known[part]:
            raise LookupError(f"book/claims.yml lacks this claim in its part `{part}`: {name}")
        return known[part][name]

    for cell in chapter.cells:
        if "claims" in cell.metadata.get("tags", []):
            ids = iter(cell.metadata.d2lpos.claims)
            lines = [line.strip(" |") for line in cell.source.splitlines() if line.startswith("|")]
            for claim, verdict, evidence in (line.split(" | ") for line in lines[2:]):
                name = find("open", claim) if verdict == "Open" else next(ids)
                yield Row(name, claim, verdict, evidence, find("claims", name))
