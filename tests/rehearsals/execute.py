"""Run notebooks and tell which fail, JOBS at a time: python -m tests.rehearsals.execute JOBS NOTEBOOK ...

What one installs, others find. So cells that bring a new line of `%pip` run first, with those above them, and one notebook
at a time.

Kernels are forks of one that has torch, as in the tests: a third of what the cells cost would go into imports. It needs
what Colab has, and runs among its versions.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests import kernels


async def fails(path: str, turn: asyncio.Semaphore, cells: int | None = None) -> str | None:
    """The name of a notebook whose first cells, or all, do not run in an empty folder; what it said is printed."""
    async with turn:
        start, told, name = time.perf_counter(), [], Path(path).name
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = notebook.cells[:cells]
        with tempfile.TemporaryDirectory() as folder:
            client = NotebookClient(notebook, startup_timeout=300, resources={"metadata": {"path": folder}})
            try:
                await client.async_execute()
            except Exception as error:  # noqa: BLE001, any of them is a fault
                told = [str(error)]
        part = "" if cells is None else ", what it installs"
        print(f"{name}{part}: {time.perf_counter() - start:.0f} s", *told, sep="\n", flush=True)
        return name if told else None


def installing(paths: tuple[str, ...]) -> dict[str, int]:
    """The notebooks with a line of %pip that those before them do not have, and how many cells it takes to run it."""
    known, found = set(), {}
    for path in paths:
        for count, cell in enumerate(nbformat.read(path, as_version=4).cells, 1):
            lines = {line for line in cell.source.splitlines() if cell.cell_type == "code" and "%pip" in line}
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
