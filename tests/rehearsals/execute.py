"""Run notebooks and tell which fail, JOBS at a time: python -m tests.rehearsals.execute JOBS NOTEBOOK ...

A notebook fails where a cell does, where a check refuses an answer of the book's own, where a number is printed that is
not the stored one, and where a cell complains on stderr that does not say so by its tags.

What one installs, others find. So cells that bring a new line of pip run first, with those above them, and one notebook
at a time.

Kernels are forks of one that has torch, as in the tests: a third of what the cells cost would go into imports. It needs
what Colab has, and runs among its versions.
"""

import asyncio
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from tests import kernels

VALUE = re.compile(r"\b(?:True|False|None|nan|inf)\b|(?<![\w.])[-+−]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:e[-+]?\d+)?")
INSTALLS = "-m pip install"
MOST = 340_000  # characters of an output: a saved copy of a notebook holds it


def texts(cell: NotebookNode, *kinds: str) -> str:
    """What the outputs of a cell hold of these kinds: the name of a stream, or how a type of data begins."""
    parts = [output.text for output in cell.outputs if output.get("name") in kinds]
    data = [item for output in cell.outputs for item in output.get("data", {}).items()]
    return "\n".join(parts + [str(text) for kind, text in data if kind.startswith(kinds)])


def complaints(cell: NotebookNode, stored: NotebookNode) -> list[str]:
    """What is wrong with the outputs of a cell that has run, beside those that the book stores."""
    tags, installs = cell.metadata.get("tags", []), INSTALLS in cell.source
    said, wanted = (texts(one, "stdout", "text/plain") for one in (cell, stored))
    everything = texts(cell, "stdout", "stderr", "text/", "image/", "application/")
    found = []
    if "✗" in texts(cell, "stdout", "text/") or ("○" in said and "solution" in tags) or said.count("✓") != wanted.count("✓"):
        found.append(f"a check says other than in the book: {said[:300]}")
    if (error := texts(cell, "stderr")) and "remove-stderr" not in tags or installs and re.search("ERROR|restart", everything):
        found.append(f"complains: {error or everything:.300}")
    values = [VALUE.findall(one) for one in (said, wanted)]
    if values[0] != values[1] and "nbval-ignore-output" not in tags and not installs:
        found.append(f"prints {values[0][:20]}; the book has {values[1][:20]}")
    if len(everything) > MOST:
        found.append(f"outputs of {len(everything)} characters, of at most {MOST}")
    return [f"cell {cell.id}: {text}" for text in found]


async def fails(path: str, turn: asyncio.Semaphore, cells: int | None = None) -> str | None:
    """The name of a notebook whose first cells, or all, do not run in an empty folder; what it said is printed."""
    async with turn:
        start, told, name = time.perf_counter(), [], Path(path).name
        notebook, book = (nbformat.read(path, as_version=4) for _ in range(2))
        notebook.cells = notebook.cells[:cells]
        with tempfile.TemporaryDirectory() as folder:
            client = NotebookClient(notebook, startup_timeout=300, resources={"metadata": {"path": folder}})
            try:
                await client.async_execute()
                pairs = zip(notebook.cells, book.cells, strict=False)
                code = ((cell, stored) for cell, stored in pairs if cell.cell_type == "code")
                told = [text for pair in code for text in complaints(*pair)]
            except Exception as error:  # noqa: BLE001, any of them is a fault
                told = [str(error)]
        part = "" if cells is None else ", what it installs"
        print(f"{name}{part}: {time.perf_counter() - start:.0f} s", *told, sep="\n", flush=True)
        return name if told else None


def installing(paths: tuple[str, ...]) -> dict[str, int]:
    """The notebooks with a line of pip that those before them do not have, and how many cells it takes to run it."""
    known, found = set(), {}
    for path in paths:
        for count, cell in enumerate(nbformat.read(path, as_version=4).cells, 1):
            lines = {line for line in cell.source.splitlines() if cell.cell_type == "code" and INSTALLS in line}
            if lines - known:
                found[path] = count
            known |= lines
    return found


async def main(jobs: str, *paths: str) -> str | None:
    """Return a sentence when a notebook fails."""
    kernels.pytest_configure()
    turn = asyncio.Semaphore(int(jobs))
    failed = [await fails(path, turn, cells) for path, cells in installing(paths).items()]
    failed += await asyncio.gather(*(fails(path, turn) for path in paths))
    kernels.pytest_unconfigure()
    return f"These do not run: {', '.join(filter(None, failed))}" if any(failed) else None


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
