"""Stored outputs are compared: one changed digit fails the run."""

import re
from functools import partial
from pathlib import Path

import nbformat
import pytest
from nbval.plugin import get_sanitize_patterns

from conftest import same_picture

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.ipynb")


@pytest.fixture
def compare(pytester):
    """Run the comparison, as the book's own test run does, on the notebooks in the folder `pytester.path`."""
    return partial(
        pytester.runpytest_inprocess,
        *("--nbval", "-p", "conftest", "-p", "no:tests.kernels", "-p", "no:cacheprovider", "-rf"),
    )


def test_unchanged_outputs_pass_and_ignored_ones_are_told(pytester, compare):
    (pytester.path / GOOD.name).write_bytes(GOOD.read_bytes())
    run = compare()
    assert run.ret == 0
    printed = str(run.stdout)
    assert "11 cells compared, 1 ignored" in printed
    assert "good.ipynb::Cell 11: A clock never shows the same time twice." in printed


@pytest.mark.parametrize(
    ("cell", "old", "new"), [(1, "Three", "Four"), (3, "3.75", "3.76"), (7, "1 property", "2 property")]
)
def test_a_changed_digit_or_picture_fails(cell, old, new, pytester, compare):
    notebook = nbformat.read(GOOD, as_version=4)
    [output] = [cell for cell in notebook.cells if cell.cell_type == "code"][cell].outputs
    texts = output if "text" in output else output.data
    key = next(kind for kind, text in texts.items() if old in text)
    texts[key] = texts[key].replace(old, new, 1)
    nbformat.write(notebook, pytester.path / GOOD.name)
    run = compare()
    assert run.ret == 1
    failed = re.findall(r"^FAILED (\S+::Cell \d+)", str(run.stdout), re.MULTILINE)
    assert failed == [f"{GOOD.name}::Cell {cell}"]


def picture(d: str = "M201.35 11.7L-215 3", word: str = "0.85", fill: str = "#101010") -> str:
    return f'<svg aria-label="{word}"><path d="{d}" style="fill: {fill}" /><text x="3.1" y="4">{word}</text></svg>'


@pytest.mark.parametrize("d", ["M201.34 11.7L-215 3", "M201.35 11.71L-215.01 2.99"])
def test_a_hundredth_of_a_point_is_what_another_processor_rounds(d):
    assert same_picture(picture(), picture(d))


@pytest.mark.parametrize(
    "other",
    [
        {"d": "M201.37 11.7L-215 3"},
        {"d": "M201.35 11.7M-215 3"},
        {"d": "M201.35-1 11.7L-215 3"},
        {"word": "0.86"},
        {"fill": "#101011"},
    ],
    ids=str,
)
def test_what_differs_more_is_another_picture(other):
    assert not same_picture(picture(), picture(**other))


def test_replacements_hide_no_numbers():
    patterns = get_sanitize_patterns((ROOT / "tests" / "notebooks" / "sanitize.cfg").read_text("utf-8"))

    def sanitize(text: str) -> str:
        for regex, replacement in patterns:
            text = re.sub(regex, replacement, text)
        return text

    assert sanitize("<object at 0x7f1c2a3b4c5d>") == "<object at ADDRESS>"
    assert sanitize('<img src="data:image/png;base64,iVBORw0KGgo=">') == '<img src="PNG">'
    assert sanitize("3.75, 1e-05, 0x1f, base64") == "3.75, 1e-05, 0x1f, base64"
