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
HEADING = re.compile(r"^#+ ", re.MULTILINE)
MODEL = re.compile(r"\n*^When you are done, compare with \[[^]]*\]\([^)]*/solutions/[^)]*\)\.$", re.MULTILINE)
HOMELESS = (
    "Where the package is missing, the first cell of each notebook installs it from github.com/OWNER/d2lpos, which is "
    "no address yet: first give the book its home, `make address REPO=owner/name`."
)
OUT = ROOT / "_build" / "handout"


def without_solutions(notebook: NotebookNode, repository: str) -> NotebookNode:
    """Remove the solutions of a chapter, and what its stubs, its checks and the cells behind a prediction have shown.

    A prediction shows its options, which the page has in a form. The handout leaves the folder of the book, so links
    to other pages lead to `repository`; a link to the solutions of a project is left out.
    """
    asked = False  # whether a prediction stands above, in the same section
    notebook.cells = [cell for cell in notebook.cells if "solution" not in cell.metadata.get("tags", [])]
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            asked = "predict" in tags or asked and not HEADING.search(cell.source)
            if "predict" in tags:
                cell.source = with_options(cell.source, cell.metadata.get("d2lpos", {}).get("ask", {}))
            cell.source = MODEL.sub("", cell.source)
            cell.source = OUTSIDE.sub(f"]({repository}/blob/main/", cell.source)
        elif "exercise" in tags or asked:
            cell.update(outputs=[], execution_count=None)
    return notebook


def with_options(source: str, ask: dict) -> str:
    """A prediction with what the page's form asks, in words above the folded answer."""
    if ask.get("kind") == "choice":
        lines = [f"*{ask['legend']}*", ""] if "legend" in ask else []
        lines += [f"- {option}" for option in ask["options"]]
    elif ask.get("kind") == "number":
        unit = f" {ask['unit']}" if "unit" in ask else ""
        lines = [f"*{ask.get('legend', 'Your number')}* Between {ask['from']} and {ask['to']}{unit}."]
    else:
        return source
    text, fold, answer = source.partition("<details>")
    return "\n\n".join([text.strip(), "\n".join(lines), fold + answer])


def write(out: Path) -> Path:
    """Write the handout into a new folder `out`, and a zip of it beside; return the path of the zip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if "/OWNER/" in project["urls"]["Repository"]:
        print(HOMELESS, file=sys.stderr)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in exercised(ROOT):
        notebook = without_solutions(nbformat.read(path, as_version=4), project["urls"]["Repository"])
        target = out / path.relative_to(ROOT / "chapters")
        target.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, target)
    for name in ("LICENSE", "LICENSE-TEXT"):
        shutil.copy(ROOT / name, out)
    shutil.copy(ROOT / "book" / "handout.md", out / "README.md")
    return Path(shutil.make_archive(str(out), "zip", out.parent, out.name))


if __name__ == "__main__":
    print(f"The chapters without solutions are in {OUT} and {write(OUT)}")
