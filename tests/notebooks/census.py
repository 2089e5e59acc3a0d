"""What a chapter asks of its reader."""

import re
from dataclasses import dataclass

from lint import FIGURES, last_call
from nbformat import NotebookNode
from notebooks import anchored

TRUE = re.compile(r"(?:[^:]*: *)?\(?True(?:, True)*\)?")
READING, LISTING, LOOKING = 200, 8, 15  # words a minute, seconds for a cell of code and for a picture


@dataclass(frozen=True)
class Census:
    """Counts of what stands before the exercises."""

    words: int  # pieces between blanks, those of formulas, tables and markup too
    pictures: int
    only_true: int  # code cells that show True and nothing else
    listings: int
    minutes: int  # as the chapter says

    @property
    def estimate(self) -> float:
        """Minutes for a reader who stops at each picture and each cell."""
        return minutes(self.words, self.listings, self.pictures)


def minutes(words: int, listings: int, pictures: int) -> float:
    return words / READING + (listings * LISTING + pictures * LOOKING) / 60


def counts(cells: list[NotebookNode]) -> tuple[int, int, int]:
    """Words, listings and pictures."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    pictures = sum(last_call(cell) in FIGURES for cell in code)
    words = sum(len(anchored(cell.source, set()).split()) for cell in cells if cell.cell_type == "markdown")
    return words, len(code) - pictures, pictures


def estimate(cells: list[NotebookNode]) -> float:
    """Minutes for some cells of a chapter."""
    return minutes(*counts(cells))


def census(notebook: NotebookNode) -> Census:
    cells = notebook.cells
    read = cells[: next(at for at, cell in enumerate(cells) if cell.source.startswith("## Exercises"))]
    words, listings, pictures = counts(read)
    code = [cell for cell in read if cell.cell_type == "code"]
    text = "\n\n".join(cell.source for cell in read if cell.cell_type == "markdown")
    minutes = int(re.search(r"\*\*Time:\*\* (\d+) minutes to read", text)[1])
    return Census(words, pictures, sum(map(only_true, code)), listings, minutes)


def only_true(cell: NotebookNode) -> bool:
    shown = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    lines = [line.strip() for line in "\n".join(shown).splitlines() if line.strip()]
    return bool(lines) and all(TRUE.fullmatch(line) for line in lines)
