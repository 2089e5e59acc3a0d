"""Write the chapters and projects without their solutions, for a class: `python book/handout.py`."""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import exercised

OUTSIDE = re.compile(r"\]\((?:\.\./)+(?!\d\d|in-depth/|projects/)")  # a link to what is no chapter
OUT = ROOT / "_build" / "handout"


def without_solutions(notebook: NotebookNode, repository: str) -> NotebookNode:
    """Remove the solutions of a chapter, and what its stubs and checks have shown.

    The handout leaves the folder of the book, so links to other pages lead to `repository`.
    """
    notebook.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = OUTSIDE.sub(f"]({repository}/blob/main/", cell.source)
        elif "exercise" in cell.metadata.get("tags", []):
            cell.update(outputs=[], execution_count=None)
    return notebook


def write(out: Path) -> Path:
    """Write the handout into a new folder `out`, and a zip of it beside; return the path of the zip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in exercised(ROOT):
        notebook = without_solutions(nbformat.read(path, as_version=4), project["urls"]["Repository"])
        given = out / path.relative_to(ROOT / "chapters")
        given.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, given)
    for name in ("LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, out)
    shutil.copy(ROOT / "book" / "handout.md", out / "README.md")
    return Path(shutil.make_archive(str(out), "zip", out.parent, out.name))


if __name__ == "__main__":
    print(f"The chapters without solutions are in {OUT} and {write(OUT)}")
