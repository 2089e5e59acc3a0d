"""Where the chapters are. It stands outside the extension, so that scripts can ask without Sphinx."""

import re
from pathlib import Path

NAMES = "[0-9][0-9]*.ipynb"
DEPTH = "chapters/in-depth/"
PROJECTS = "chapters/projects/"


def path(root: Path) -> list[Path]:
    """Return the chapters of the book in the folder `root`, in order."""
    return sorted((root / "chapters").glob(NAMES))


def chapters(root: Path) -> list[Path]:
    """Return all chapters, each followed by the notebooks in depth that belong to it."""
    return sorted([*path(root), *(root / DEPTH).glob(NAMES)], key=lambda file: file.name)


def projects(root: Path) -> list[Path]:
    """Return the projects of the book, in order."""
    return sorted((root / PROJECTS).glob("p[0-9]*.ipynb"))


def exercised(root: Path) -> list[Path]:
    """Return what has exercises, and what a class is given: the chapters and the projects."""
    return [*chapters(root), *projects(root)]


def answers(notebook: Path) -> Path:
    """Return the notebook that holds the solutions of `notebook`: itself or, of a project, one apart."""
    return notebook.parent / "solutions" / notebook.name if notebook.parent.name == "projects" else notebook


def every(root: Path) -> list[Path]:
    """Return all notebooks of the book."""
    apart = [answers(project) for project in projects(root)]
    return [*exercised(root), *apart, *sorted((root / "book").glob("*.ipynb"))]


def title(cells: list) -> str:
    """Return what a notebook calls itself in its first line."""
    return cells[0].source.splitlines()[0].removeprefix("# ")


def number(name: str) -> str:
    """Return what the figures, equations and exercises of a chapter are numbered by.

    >>> number("04-rope"), number("04b-stretching"), number("p1-port-a-checkpoint")
    ('4', '4B', 'P1')
    """
    return re.match(r"0*(\d+[a-z]?|p\d+)-", name)[1].upper()
