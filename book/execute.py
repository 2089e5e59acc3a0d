"""Run chapters and store their outputs: `python book/execute.py [notebook …]`; without arguments, all."""

import argparse
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHAPTERS = Path(__file__).parents[1] / "chapters"


def execute(path: Path, timeout: int) -> None:
    """Run one notebook in its own folder and write it back, without what differs from run to run.

    Cell ids stay; execution times and widget states are not stored, the kernel's version is dropped, and the
    pieces that a stream arrives in become one. So running an unchanged notebook again leaves no difference.
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        resources={"metadata": {"path": path.parent}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    client.execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata.kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(notebook, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(CHAPTERS.glob("*.ipynb")))
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one cell (default: 300)")
    arguments = parser.parse_args()
    for path in arguments.notebooks:
        start = time.perf_counter()
        execute(path, arguments.timeout)
        print(f"{path.name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
