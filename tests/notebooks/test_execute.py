"""`make notebooks` stores outputs, and leaves out what differs from run to run."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from notebooks import promise

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.ipynb")


def test_execution_brings_back_what_is_stored(tmp_path):
    stored = nbformat.read(GOOD, as_version=4)
    notebook = nbformat.read(GOOD, as_version=4)
    notebook.metadata.widgets = {"state": {}}
    notebook.metadata.language_info.version = "3.0"
    notebook.cells[0].source = notebook.cells[0].source.replace("about 15 minutes", "about an hour")
    notebook.cells[5].source = notebook.cells[5].source.replace('<a id="break-it-first"></a>', "")
    assert notebook.cells[0] != stored.cells[0] and notebook.cells[5] != stored.cells[5]
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


READ = "**You need** chapter 1.\\\n**Time:** 20 minutes to read"
EVENING = "**Time:** up to two hours"


@pytest.mark.parametrize(("line", "minutes", "promised"), [
    (f"{READ}, and about an hour for the exercises.", [8, 10, 5], f"{READ}, and about 25 minutes for the exercises."),
    (f"{READ}, and about 25 minutes for the exercises.", [12], f"{READ}, and about 10 minutes for the exercise."),
    (f"{READ}.", [2], f"{READ}, and about 5 minutes for the exercise."),
    (f"{READ}, and about 5 minutes for the exercise.", [], f"{READ}."),
    (f"{EVENING}.", [16, 35], f"{EVENING}, 51 minutes of them for the exercises."),
    ("**Time:** twenty minutes, and what your study takes.", [], "**Time:** twenty minutes, and what your study takes."),
])
def test_a_chapter_promises_the_minutes_of_its_exercises(line, minutes, promised):
    assert promise(line, minutes) == promise(promised, minutes) == promised
