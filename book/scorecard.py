"""Write the scorecard of `scorecard.yml` into the chapters: `python book/scorecard.py`."""

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
from d2lpos_ext.cells import tags
from d2lpos_ext.scorecard import card, slice_of
from notebooks import path

if __name__ == "__main__":
    for chapter in path(ROOT):
        notebook = nbformat.read(chapter, as_version=4)
        for cell in notebook.cells:
            if "scorecard" in tags(cell):
                cell.source = slice_of(cell, card(ROOT))
        nbformat.write(notebook, chapter)
