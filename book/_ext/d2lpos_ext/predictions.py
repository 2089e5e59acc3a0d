"""The page of all predictions: a question and a link for each, and out of sight what `predicted.js` shows of it."""

import os
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from notebooks import every, title

from .asks import anchor, form
from .cells import PREDICT, note, tags

BLOCK = "```{predictions}\n```"
SENTENCE = re.compile(r"(?<=[.?!])\s+")


def expand(text: str, root: Path) -> str:
    """Return a page's Markdown with the list of predictions in place of a `{predictions}` block."""
    return text.replace(BLOCK, "\n\n".join(_parts(root))) if BLOCK in text else text


def question(cell: NotebookNode) -> str:
    """Return what a prediction asks, in a line: its legend, or the first question of its text.

    Raises ValueError where it has neither.
    """
    ask, text = note(cell, "ask"), PREDICT.sub("", cell.source).partition("<details>")[0]
    asked = [ask.get("legend"), *(one.strip() for one in SENTENCE.split(text) if one.strip().endswith("?"))]
    if not any(asked):
        raise ValueError(f"prediction {ask['id']} has no sentence that ends in a question mark, and no legend")
    return next(filter(None, asked))


def _parts(root: Path) -> list[str]:
    parts = []
    for path in every(root):
        cells = nbformat.read(path, as_version=4).cells
        asked = [cell for cell in cells if "predict" in tags(cell) and note(cell, "ask")]
        if asked:
            place = os.path.relpath(path, root / "book")
            parts += [f"## [{title(cells)}]({place})", '<ul class="predictions">', *map(_entry, asked), "</ul>"]
    return parts


def _entry(cell: NotebookNode) -> str:
    ask = note(cell, "ask")
    answer_form = form(ask, name="prediction")
    return f"<li>\n\n[{question(cell)}](#{anchor(ask['id'])})\n\n{answer_form}\n\n</li>"
