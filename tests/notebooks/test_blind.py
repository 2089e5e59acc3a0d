"""What follows a prediction is in a box, which the page empties until the question is answered."""

from pathlib import Path

import nbformat
import pytest
from d2lpos_ext.cells import END, TOLD, heading, note, tags, translate
from notebooks import every

BOOK = {path: nbformat.read(path, as_version=4).cells for path in every(Path(__file__).parents[2])}


@pytest.mark.parametrize("path", BOOK, ids=lambda path: path.stem)
def test_what_follows_a_prediction_is_covered(path):
    page, _ = translate(nbformat.read(path, as_version=4).cells)
    sources = [cell.source for cell in page]
    for at, cell in enumerate(page[:-1]):
        if "predict" in tags(cell):
            assert sources[at + 1].startswith((TOLD, "</div>")) or heading(page[at + 1].source) == 0 or note(cell, "told")
    assert sum(source.startswith(TOLD) for source in sources) == len(ends(page))


def ends(page) -> list[int]:
    """Where the covers end: no heading and no half of a figure is inside."""
    boxes, figures, cells_at = [], 0, []
    for at, cell in enumerate(page):
        if cell.source.startswith((TOLD, '<div class="claim"')):
            boxes.append(cell.source.startswith(TOLD))
        figures += cell.source.startswith("<figure") - (cell.source == END)
        if cell.source == "</div>" and boxes.pop():
            cells_at.append(at)
            assert not figures
        assert not (any(boxes) and cell.cell_type == "markdown" and heading(cell.source) is not None)
    return cells_at
