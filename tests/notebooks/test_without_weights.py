"""Where the weights of trained models cannot be had, a notebook of the path and a project say so in a sentence a cell and run to their end."""

import nbformat
import pytest
from nbclient import NotebookClient
from notebooks import path, projects

from tests.api.names import ROOT

OPENING = [
    file
    for file in [*path(ROOT), *projects(ROOT)]
    if nbformat.read(file, as_version=4).metadata.get("d2lpos", {}).get("weights")
]


@pytest.mark.parametrize("chapter", OPENING, ids=lambda file: file.stem)
def test_each_cell_that_needs_them_says_one_sentence(chapter, tmp_path, monkeypatch):
    monkeypatch.setenv("D2LPOS_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # no network
    notebook = nbformat.read(chapter, as_version=4)
    stored = [len(cell.get("outputs", [])) for cell in notebook.cells]
    NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": chapter.parent}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    errors = [output for output in outputs if output.output_type == "error"]
    assert errors
    for error in errors:
        assert error.ename == "WeightsMissing"
        assert len(error.traceback) == 1
        assert error.traceback[0].startswith("the weights of ")
    assert [len(cell.get("outputs", [])) > 0 for cell in notebook.cells] == [count > 0 for count in stored]
