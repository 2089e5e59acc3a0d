"""The page of symbols and the chapters name the same ones."""

import re
from collections import defaultdict
from pathlib import Path
from string import ascii_uppercase

import nbformat
import pytest
from notebooks import chapters, number

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "notation.md").read_text("utf-8")
OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")


def formulas(text):
    """The formulas of a text, with no space but that between letters."""
    space = re.compile(r"\\,|\s+(?![A-Za-z])|(?<![A-Za-z])\s+")
    return [space.sub("", formula) for formula in re.findall(r"\$+([^$]+)\$+", text)]


def holds(text, symbol):
    """Whether a symbol is in formulas; a letter is not in a command, as g is in log, nor in upright words."""
    letters = re.findall(r"\\[A-Za-z]+|[A-Za-z]", re.sub(r"\\text\{[^}]*\}", "", text))
    return symbol in (letters if len(symbol) == 1 else text)


def prose(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


ATTENTION = prose(nbformat.read(ROOT / "book" / "attention.ipynb", as_version=4))
CHAPTERS = defaultdict(list)  # each with what belongs to it in depth
for file in chapters(ROOT):
    CHAPTERS[number(file.name).rstrip(ascii_uppercase)] += prose(nbformat.read(file, as_version=4))
SECTIONS = {
    section.splitlines()[0]: section
    for section in re.split("^##+ ", PAGE, flags=re.MULTILINE)
    if "| Symbol |" in section
}


@pytest.mark.parametrize("title", SECTIONS)
def test_each_symbol_is_in_its_chapter(title):
    section = SECTIONS[title]
    chapter = re.search(r"chapter (\d+)", section)[1]
    before = ATTENTION if "[A]" in section else []
    there = " ".join(formulas("\n".join([*before, *CHAPTERS[chapter]])))
    symbols = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| $")]
    parts = [part for cell in symbols for symbol in formulas(cell) for part in OUTSIDE_BRACKETS.split(symbol)]
    assert len(parts) >= len(symbols) > 0
    assert [part for part in parts if not holds(there, part)] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_symbol_that_a_chapter_adds_is_on_the_page(chapter):
    added = "\n".join(cell for cell in CHAPTERS[chapter] if cell.startswith("**Notation added.**"))
    assert added
    page = " ".join(formulas(PAGE))
    assert [symbol for symbol in formulas(added) if not holds(page, symbol.split("=")[0])] == []


LINKS = dict(re.findall(r"^\[(\w+)\]: (\S+)$", PAGE, re.MULTILINE))
TERMS = re.findall(r"^([^\n:]+)\n: (.+)$", PAGE[PAGE.index("## Terms") : PAGE.index("## Code")], re.MULTILINE)


@pytest.mark.parametrize(("term", "meaning"), TERMS, ids=[term for term, _ in TERMS])
def test_each_term_is_on_the_page_that_it_names(term, meaning):
    named = re.findall(r"\]\[(\w+)\]", meaning)
    places = [LINKS[name] for name in named] + re.findall(r"\]\(([^)]+\.ipynb)", meaning)
    assert places
    read = [nbformat.read(ROOT / "book" / place, as_version=4) for place in places]
    words = re.findall(r"\w+", "\n".join(cell for notebook in read for cell in prose(notebook)).lower())
    stems = [word[:5].rstrip("s") for word in re.findall(r"\w+", term.lower())]
    assert [stem for stem in stems if not any(word.startswith(stem) for word in words)] == []
