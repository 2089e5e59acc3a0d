"""Stored outputs are compared: one changed digit fails the run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import get_sanitize_patterns

ROOT = Path(__file__).parents[2]
BOOK = sorted([*ROOT.glob("chapters/*.ipynb"), *ROOT.glob("book/*.ipynb")])
GOOD = Path(__file__).with_name("good.ipynb")


def compare(folder: Path) -> subprocess.CompletedProcess:
    """Run the comparison, as the book's own test run does, on the notebooks in a folder."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "-rf",
        ".",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    return subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)


def change_digit(text: str) -> str:
    return re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), text, count=1)


def with_changed_digit(path: Path) -> tuple[nbformat.NotebookNode, int]:
    """Return a notebook up to its first output with a digit, that digit changed, and the cell's number."""
    notebook = nbformat.read(path, as_version=4)
    count = -1
    for index, cell in enumerate(notebook.cells):
        count += cell.cell_type == "code"
        for output in cell.get("outputs", []):
            texts, key = (output, "text") if "text" in output else (output.get("data", {}), "text/plain")
            if re.search(r"\d", texts.get(key, "")):
                texts[key] = change_digit(texts[key])
                notebook.cells = notebook.cells[: index + 1]
                return notebook, count
    pytest.fail(f"{path.name} stores no number")


def test_unchanged_outputs_pass_and_ignored_ones_are_told(tmp_path):
    (tmp_path / "good.ipynb").write_bytes(GOOD.read_bytes())
    run = compare(tmp_path)
    assert run.returncode == 0, run.stdout
    assert "11 cells compared, 1 ignored" in run.stdout
    assert "good.ipynb::Cell 11: A clock never shows the same time twice." in run.stdout


@pytest.mark.parametrize("path", [GOOD, *BOOK], ids=lambda path: path.name)
def test_changed_digit_fails(path, tmp_path):
    notebook, cell = with_changed_digit(path)
    nbformat.write(notebook, tmp_path / path.name)
    run = compare(tmp_path)
    assert run.returncode == 1, run.stdout
    failed = re.findall(r"^FAILED (\S+::Cell \d+)", run.stdout, re.MULTILINE)
    assert failed == [f"{path.name}::Cell {cell}"], run.stdout


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/plain"])
def test_changed_picture_fails(kind, tmp_path):
    notebook = nbformat.read(GOOD, as_version=4)
    data = next(
        output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output
    )
    data[kind] = data[kind].replace("Three", "Four")
    nbformat.write(notebook, tmp_path / "good.ipynb")
    run = compare(tmp_path)
    assert run.returncode == 1, run.stdout
    assert f"mismatch '{kind}'" in run.stdout


def test_replacements_hide_no_numbers():
    patterns = get_sanitize_patterns((ROOT / "tests" / "notebooks" / "sanitize.cfg").read_text("utf-8"))

    def sanitize(text: str) -> str:
        for regex, replacement in patterns:
            text = re.sub(regex, replacement, text)
        return text

    assert sanitize("<object at 0x7f1c2a3b4c5d>") == "<object at ADDRESS>"
    assert sanitize('<img src="data:image/png;base64,iVBORw0KGgo=">') == '<img src="PNG">'
    assert sanitize("3.75, 1e-05, 0x1f, base64") == "3.75, 1e-05, 0x1f, base64"
