"""The page of symbols and the chapters name the same ones."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "notation.md").read_text("utf-8")
OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")


def formulas(text):
    """The formulas of a text, without the spaces that TeX does not show."""
    return [re.sub(r"\s|\\,", "", formula) for formula in re.findall(r"\$+([^$]+)\$+", text)]


def prose(path):
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"]


CHAPTERS = {path.name[1]: prose(path) for path in sorted(ROOT.glob("chapters/*.ipynb"))}
SECTIONS = {
    section.splitlines()[0]: section
    for section in re.split("^##+ ", PAGE, flags=re.MULTILINE)
    if "| Symbol |" in section
}


@pytest.mark.parametrize("title", SECTIONS)
def test_each_symbol_is_in_its_chapter(title):
    section = SECTIONS[title]
    chapter = re.search(r"chapter (\d)", section)[1]
    there = " ".join(formulas("\n".join([*prose(ROOT / "book" / "attention.ipynb"), *CHAPTERS[chapter]])))
    symbols = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| $")]
    parts = [part for cell in symbols for symbol in formulas(cell) for part in OUTSIDE_BRACKETS.split(symbol)]
    assert len(parts) >= len(symbols) > 0
    assert [part for part in parts if part not in there] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_symbol_that_a_chapter_adds_is_on_the_page(chapter):
    (added,) = (cell for cell in CHAPTERS[chapter] if cell.startswith("**Notation added.**"))
    page = " ".join(formulas(PAGE))
    assert [symbol for symbol in formulas(added) if symbol.split("=")[0] not in page] == []
