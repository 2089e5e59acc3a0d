"""The ledger of claims: words and verdicts from the chapters, and from `claims.yml` the reasons and who makes each claim."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml
from notebooks import chapters

from .cells import VERDICT, note, tags


class Row(NamedTuple):
    """A verdict. The sources are those of `claims.yml`, or keys of `references.bib`; an open one lacks a cell.

    The verdict of a claim in a trained model has no sources of its own: `trained` stands for it.
    """

    id: str
    claim: str
    verdict: str
    evidence: str
    sources: list[str]
    cell: str | None  # the claim by which the deciding cell is known
    trained: bool = False


def read(root: Path) -> dict[Path, nbformat.NotebookNode]:
    """Return the notebooks of the book in the folder `root`, in order."""
    return {path: nbformat.read(path, as_version=4) for path in chapters(root)}


def ledger(root: Path) -> dict[str, dict]:
    """Return `claims.yml`: the sources by name; by claim, the names of those and the reason of its verdict.

    Under `trained` stands what a trained model says of the claim.
    """
    return yaml.safe_load((root / "book" / "claims.yml").read_text("utf-8"))


def errata(root: Path) -> list[dict[str, str]]:
    """Return `errata.yml`."""
    return yaml.safe_load((root / "book" / "errata.yml").read_text("utf-8"))


def rows(chapter: nbformat.NotebookNode, known: dict[str, dict]) -> Iterator[Row]:
    """Yield the verdicts of a chapter, in order. A cell may decide several.

    A verdict on another chapter's claim, in a trained model, has `metadata.d2lpos.trained` in place of `verdict`.
    Raises LookupError for a claim that `known`, the ledger, does not have, and for a trained one without its reason.
    """
    decides = None
    for cell in chapter.cells:
        if "verdict" in tags(cell):
            trained = note(cell, "trained")
            name = trained or note(cell, "verdict")
            if name not in known["claims"]:
                raise LookupError(f"book/claims.yml lacks this claim: {name}")
            head = VERDICT.match(cell.source)
            claim, entry = cell.source[head.end() :], known["claims"][name]
            if trained and "trained" not in entry:
                raise LookupError(
                    f"book/claims.yml does not say what a trained model says of this claim: {name}"
                )
            decided_by = None if head["verdict"] == "Open" else decides
            because = entry["trained" if trained else "because"]
            yield Row(
                name, claim, head["verdict"], because, [] if trained else entry["by"], decided_by,
                bool(trained),
            )
        elif "caption" not in tags(cell):
            decides = note(cell, "claim")
