"""A scorecard grows from chapter to chapter; what two chapters say of one encoding is the same."""

from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))


def scorecard(path: Path) -> dict[tuple[str, str], str]:
    """What stands in each cell of the table, by column and row."""
    cells = nbformat.read(path, as_version=4).cells
    tables = [cell.source for cell in cells if "scorecard" in cell.metadata.get("tags", [])]
    assert len(tables) == 1, f"{path.name} has {len(tables)} cells tagged scorecard, and needs one"
    lines = [line.strip().strip("|") for line in tables[0].splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    assert all(len(row) == len(head) for row in rows), path.name
    return {(column, row[0]): cell for row in rows for column, cell in zip(head[1:], row[1:], strict=True)}


@pytest.mark.parametrize(("before", "after"), list(pairwise(CHAPTERS)), ids=lambda path: path.stem[:2])
def test_a_chapter_keeps_what_the_scorecard_said(before, after):
    old, new = scorecard(before), scorecard(after)
    changed = {place: (cell, new.get(place)) for place, cell in old.items() if new.get(place) != cell}
    assert changed == {}, f"copy the scorecard of {before.name} into {after.name} as it is"
    assert len(new) > len(old), f"{after.name} adds no column to the scorecard of {before.name}"
