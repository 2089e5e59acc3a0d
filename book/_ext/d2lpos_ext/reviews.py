"""Questions that come back: copied from the notebook where each stands into later chapters, and onto a page of all."""

import re
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from notebooks import path, title

from .cells import REVIEW, tags, translate

BLOCK = "```{reviews}\n```"
LINK = re.compile(r"\[Question ([\d.]+)\]\(([^)#]+)[^)]*\)")


def questions(notebook: Path) -> dict[str, NotebookNode]:
    """Return the cells that ask a chapter's questions, by number: {"4.1": …}."""
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if "review" in tags(cell)]
    return {number: cell for cell in cells if (number := REVIEW.match(cell.source)["number"])}


def bring_back(cells: list[NotebookNode], folder: Path) -> list[NotebookNode]:
    """Put below a cell that asks for earlier questions, by links to their notebooks in `folder`, copies of these.

    Raises LookupError for a question that its notebook does not have.
    """
    page = []
    for cell in cells:
        page.append(cell)
        if "review" in tags(cell) and not REVIEW.match(cell.source)["number"]:
            page += [again(questions(folder / file)[number]) for number, file in LINK.findall(cell.source)]
    return page


def again(cell: NotebookNode) -> NotebookNode:
    copy = deepcopy(cell)
    copy.metadata.d2lpos["again"] = True
    return copy


def expand(text: str, root: Path) -> str:
    """Return a page's Markdown with all questions, chapter by chapter, in place of a `{reviews}` block."""
    if BLOCK not in text:
        return text
    parts = []
    for file in path(root):
        parts.append(f"## [{title(nbformat.read(file, as_version=4).cells)}](../chapters/{file.name}#five-questions-to-keep)")
        asked, _ = translate([again(cell) for cell in questions(file).values()])
        parts += [cell.source for cell in asked]
    return text.replace(BLOCK, "\n\n".join(parts))
