"""Where the chapters are. It stands outside the extension, so that scripts can ask without Sphinx."""

import re
from pathlib import Path

NAMES = "[0-9][0-9]*.ipynb"
DEPTH = "chapters/in-depth/"


def path(root: Path) -> list[Path]:
    """Return the chapters of the book in the folder `root`, in order."""
    return sorted((root / "chapters").glob(NAMES))


def chapters(root: Path) -> list[Path]:
    """Return all chapters, each followed by the notebooks in depth that belong to it."""
    return sorted([*path(root), *(root / DEPTH).glob(NAMES)], key=lambda file: file.name)


def every(root: Path) -> list[Path]:
    """Return all notebooks of the book."""
    return [*chapters(root), *sorted((root / "book").glob("*.ipynb"))]


def number(name: str) -> str:
    """Return what the figures, equations and exercises of a chapter are numbered by.

    >>> number("04-rope"), number("04b-stretching")
    ('4', '4B')
    """
    return re.match(r"0*(\d+[a-z]?)-", name)[1].upper()
