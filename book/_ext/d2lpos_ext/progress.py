"""The page of a reader's progress: all sections and exercises with their links, which `progress.js` marks.

The receipt of an exercise comes of its name, as its check gives it.
"""

import os
import re
from pathlib import Path
from runpy import run_path

import nbformat
from mdit_py_plugins.anchors.index import slugify
from notebooks import checked, number, title

from .cells import EXERCISE, note, tags
from .mistakes import place_mistakes

BLOCK = "```{progress}\n```"
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
CHECK = re.compile(r"check\.(\w+)\(")
RECEIPTS = Path(__file__).parents[3] / "d2lpos" / "check" / "receipts.py"


def expand(text: str, root: Path) -> str:
    """Return a page's Markdown with the list of all that can be done in place of a `{progress}` block."""
    if BLOCK not in text:
        return text
    parts = [_notebook(path, root / "book") for path in [root / "book" / "attention.ipynb", *checked(root)]]
    return text.replace(BLOCK, "\n\n".join(parts))


def receipts(notebook: Path) -> dict[str, str]:
    """Return what each exercise of a notebook is known by: {"ex-attention": "9BZJ9J"}.

    Raises LookupError where one has no check.
    """
    receipt = run_path(str(RECEIPTS))["receipt"]  # as a file: to import the package would take torch
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if "exercise" in tags(cell)]
    found = {note(cell, "id"): receipt(asked[1]) for cell in cells if (asked := CHECK.match(cell.source))}
    if lacking := {note(cell, "id") for cell in cells} - found.keys():
        raise LookupError(f"{notebook.name}: the exercise {min(lacking)} has no check")
    return found


def _notebook(path: Path, folder: Path) -> str:
    cells = nbformat.read(path, as_version=4).cells
    cells = place_mistakes(cells, folder / "mistakes" / f"{path.stem}.json")
    place = os.path.relpath(path, folder)
    words = [cell.source for cell in cells if cell.cell_type == "markdown"]
    entries = [f"[{head}]({place}#{slugify(head)})" for text in words for head in SECTION.findall(text)]
    known = receipts(path)
    heads = [(head, note(cell, "id")) for cell in cells if (head := EXERCISE.match(cell.source))]
    done = [
        f'<li data-receipt="{known[id]}">\n\nExercise {head["number"]}. {head["title"]}\n\n</li>' for head, id in heads
    ]
    before = f"{number(path.name)}. " if path.name[0] in "0123456789p" else ""
    parts = [f'<details class="part"><summary>{before}{title(cells)}</summary>', '<ul class="sections">']
    parts += [f"<li>\n\n{entry}\n\n</li>" for entry in entries]
    return "\n\n".join([*parts, "</ul>", *(['<ul class="passes">', *done, "</ul>"] if done else []), "</details>"])
