"""A table of all exercises for the page for teachers, read from the notebooks."""

import re
from collections.abc import Iterable
from pathlib import Path

import nbformat

from .cells import EXERCISE

BLOCK = "```{exercises}\n```"
HEAD = "| Exercise | Minutes | Difficulty |\n|:--|--:|:--|\n"


def exercises(notebooks: Iterable[Path]) -> list[re.Match]:
    """Return what the exercises' first lines say: number, title, minutes and difficulty."""
    cells = [cell for path in notebooks for cell in nbformat.read(path, as_version=4).cells]
    return [head for cell in cells if (head := EXERCISE.match(cell.source))]


def tabulate(text: str, notebooks: Iterable[Path]) -> str:
    """Return a page's Markdown with the table of exercises in place of an `{exercises}` block."""
    if BLOCK not in text:
        return text
    row = r"| Exercise \g<number>. \g<title> | \g<minutes> | \g<difficulty> |"
    return text.replace(BLOCK, HEAD + "\n".join(head.expand(row) for head in exercises(notebooks)))
