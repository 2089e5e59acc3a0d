"""Run notebooks and store their outputs: `python book/execute.py [notebook …]`; without arguments, all."""

import argparse
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

BOOK = Path(__file__).parent
sys.path.append(str(BOOK / "_ext"))
from notebooks import anchored, asked, every, linked, promise

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# What authors write. The rest of the metadata is the trace of some editor or kernel.
KEPT = {"myst", "d2lpos"}
KEPT_IN_CELLS = {"tags", "d2lpos", "cellView", "jupyter"}
CHAR_MODELS = re.compile("(<script data-readers>).*?(</script>)", re.DOTALL)  # the models that a page has as its files
WIDGET = "application/vnd.jupyter.widget-view+json"


def execute(path: Path, timeout: int) -> None:
    """Run one notebook in its own folder and write it back, without what differs from run to run.

    Times, widget states, versions and the traces of editors go; the pieces that a stream comes in become one.
    So running an unchanged notebook again leaves no difference. The line **Time:** gets the minutes of the exercises, and a
    heading that a link leads to gets its anchor.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=timeout, startup_timeout=timeout, resources={"metadata": {"path": path.parent}},
        record_timing=False, store_widget_state=False, coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
    ).execute()
    notebook.metadata = METADATA | {key: notebook.metadata[key] for key in KEPT & notebook.metadata.keys()}
    minutes, anchors = asked(notebook.cells), linked(path, BOOK.parent)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = anchored(promise(cell.source, minutes), anchors)
        cell.metadata = {key: cell.metadata[key] for key in KEPT_IN_CELLS & cell.metadata.keys()}
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.pop(WIDGET, None)  # it is dead without its kernel; the page's own slider stays
            if "text/html" in data:
                data["text/html"] = CHAR_MODELS.sub(r"\1\2", data["text/html"])
    nbformat.write(notebook, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=every(BOOK.parent))
    parser.add_argument(
        "--timeout", type=int, default=300, help="seconds for a cell or the start (default: 300)"
    )
    arguments = parser.parse_args()
    for path in arguments.notebooks:
        start = time.perf_counter()
        execute(path, arguments.timeout)
        print(f"{path.name}: {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
