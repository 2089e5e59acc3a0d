"""The page of a reader's progress: all sections and exercises with their links, which `progress.js` marks.

The receipt of an exercise is read from the stored output of its solution.
"""

import os
import re
from pathlib import Path

import nbformat
from mdit_py_plugins.anchors.index import slugify
from notebooks import answers, exercised, number, title

from .cells import EXERCISE, note, tags
from .mistakes import place_mistakes

BLOCK = "```{progress}\n```"
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
RECEIPT = re.compile(r"^Receipt: (\w+)", re.MULTILINE)


def expand(text: str, root: Path) -> str:
    """Return a page's Markdown with the list of all that can be done in place of a `{progress}` block."""
    if BLOCK not in text:
        return text
    parts = [_notebook(path, root / "book") for path in [root / "book" / "attention.ipynb", *exercised(root)]]
    return text.replace(BLOCK, "\n\n".join(parts))


def receipts(notebook: Path) -> dict[str, str]:
    """Return what each exercise of a notebook is known by: {"ex-attention": "9BZJ9J"}.

    Raises LookupError where the stored output of a solution has no receipt.
    """
    found = {}
    for cell in nbformat.read(answers(notebook), as_version=4).cells:
        if cell.cell_type == "code" and "solution" in tags(cell):
            told = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
            if not (receipt := RECEIPT.search(told)):
                raise LookupError(f"{notebook.name}: the solution of {note(cell, 'id')} shows no receipt")
            found[note(cell, "id")] = receipt[1]
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
