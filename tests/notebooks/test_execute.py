"""`make notebooks` stores outputs, and leaves out what differs from run to run."""

import subprocess
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.ipynb")


def test_execution_brings_back_what_is_stored(tmp_path):
    stored = nbformat.read(GOOD, as_version=4)
    notebook = nbformat.read(GOOD, as_version=4)
    notebook.metadata.widgets = {"state": {}}
    notebook.metadata.language_info.version = "3.0"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
            cell.metadata["execution"] = {"iopub.execute_input": "2020-01-01T00:00:00Z"}
    path = tmp_path / "good.ipynb"
    nbformat.write(notebook, path)
    subprocess.run([sys.executable, ROOT / "book" / "execute.py", path], check=True)

    executed = nbformat.read(path, as_version=4)
    clock = executed.cells.pop(), stored.cells.pop()  # its output is another one each time
    assert executed == stored
    assert all("since the clock began" in cell.outputs[0].text for cell in clock)
