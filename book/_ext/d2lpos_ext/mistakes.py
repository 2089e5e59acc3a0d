"""Cards "Find the mistake": wrong answers to a chapter's exercises, from book/mistakes/, with what the check says of each."""

import json
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from .asks import form
from .cells import FENCE, tags

HEAD = """## Find the mistake

Each of these answers to an exercise looks right, and its check refuses it. Functions that it calls and does not define do
what their names say. Which property fails?
"""
CARD = (Path(__file__).parents[2] / "_templates" / "mistake.txt").read_text("utf-8").removesuffix("\n")


def place_mistakes(cells: list[NotebookNode], file: Path) -> list[NotebookNode]:
    """Return a notebook's cells with the cards of `file`, if there is one, below the last exercise."""
    if not file.exists():
        return cells
    last = max(at for at, cell in enumerate(cells) if {"exercise", "solution"} & {*tags(cell)})
    cards = map(card, json.loads(file.read_text("utf-8")))
    return [*cells[: last + 1], *map(new_markdown_cell, [HEAD, *cards]), *cells[last + 1 :]]


def card(content: dict[str, Any]) -> str:
    """Return the MyST of one card."""
    legend = "Which property fails, or do both?" if "both" in content["ask"]["options"] else "Which property fails?"
    asked = form(content["ask"], "mistakes", legend, hidden=False)
    return CARD.format(fence=FENCE, form=asked, **content)
