"""Run notebooks and tell which fail, JOBS at a time: python -m tests.rehearsals.execute JOBS NOTEBOOK ...

Their kernels are forks of one that has torch, as in the tests: a third of what the cells cost would go into imports. It
needs what Colab has, and runs among its versions.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests import kernels


async def fails(path: Path, turn: asyncio.Semaphore) -> str | None:
    """The name of a notebook whose cells do not all run, in an empty folder; what it said is printed."""
    async with turn:
        start, told = time.perf_counter(), ""
        with tempfile.TemporaryDirectory() as folder:
            notebook = nbformat.read(path, as_version=4)
            client = NotebookClient(notebook, startup_timeout=300, resources={"metadata": {"path": folder}})
            try:
                await client.async_execute()
            except Exception as error:  # noqa: BLE001, any of them is a fault
                told = str(error)
        print(
            f"{path.name}: {time.perf_counter() - start:.0f} s", *[told] if told else [], sep="\n", flush=True
        )
        return path.name if told else None


async def main(jobs: str, *paths: str) -> str | None:
    """Return a sentence when a notebook fails."""
    kernels.pytest_configure()
    turn = asyncio.Semaphore(int(jobs))
    failed = await asyncio.gather(*(fails(Path(path), turn) for path in paths))
    kernels.pytest_unconfigure()
    return f"These do not run: {', '.join(filter(None, failed))}" if any(failed) else None


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
