"""A worker gets the cells of a notebook as a whole, and of a long file one test at a time."""

from pathlib import Path

import pytest

from tests.distribution import BY_CHECK, FIRST, SINGLY, place, unit

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", (FIRST, *SINGLY, *BY_CHECK))
def test_what_is_dealt_out_singly_is_there(name):
    file, _, function = name.partition("::")
    assert f"def {function or 'test_'}" in (ROOT / file).read_text("utf-8")


def test_units():
    assert unit("chapters/04-rope.ipynb::Cell 3") == "chapters/04-rope.ipynb"
    assert unit("tests/core/test_laws.py::test_it[a::b]") == "tests/core/test_laws.py"
    page = "tests/site/test_pages.py::test_page_from_file[book/quick]"
    assert unit(page) == page
    check = "tests/check/test_wrong_answers.py"
    assert unit(f"{check}::test_a[widest-A hint.]") == unit(f"{check}::test_b[widest]") != unit(f"{check}::test_b[step]")


def test_the_build_comes_first_and_what_is_dealt_out_singly_last():
    tests = [f"{SINGLY[0]}::test_a", "tests/core/test_laws.py::test_b", "book/own.ipynb::Cell 1", f"{FIRST}::test_c"]
    assert sorted(tests, key=place) == tests[::-1]
