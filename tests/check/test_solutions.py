"""After *Run all*, a solution has shown that it is right, and the reader's answer is still the reader's."""

import json

import pytest

from d2lpos.check.solutions import HEAD, stored
from tests.check.test_chapters import EXERCISED, code

SCRIPT = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
told = []
for source in json.loads(sys.argv[1]):
    told.append(repr(shell.run_cell(source).result))
print("told", json.dumps(told))
"""
STUB = "def permute_mask(mask, order):\n    ..."
CHECK = "check.permute_mask(permute_mask)"
RIGHT = "def permute_mask(mask, order):\n    return mask[..., order, :][..., order]"
SETUP = "from d2lpos.check import permutation as check"
SOLUTION = f"{HEAD} 1.4\nhelper = 1\n{RIGHT}\n\n{CHECK}"


@pytest.fixture
def run(python):
    """What each of these cells shows in a notebook of their own."""

    def shown(*cells: str) -> list[str]:
        done = python("-c", SCRIPT, json.dumps(cells))
        return json.loads(done.stdout.rpartition("told ")[2])

    return shown


def test_a_solution_shows_its_own_verdict_and_leaves_the_stub(run):
    *_, solution, check, helper = run(SETUP, STUB, CHECK, SOLUTION, CHECK, "'helper' in globals()")
    assert solution.startswith("✓") and solution.endswith("\nThis is the book's answer.")
    assert (check, helper) == ("○ permute_mask: not attempted yet", "False")


def test_a_solution_leaves_a_readers_answer_and_says_which_is_the_books(run):
    *_, check, other = run(SETUP, RIGHT, SOLUTION, CHECK, RIGHT + "\n" + CHECK)
    assert check == other and check.startswith("✓") and "book" not in check


def test_a_solution_that_fails_leaves_the_readers_answer(run):
    assert run(SETUP, STUB, f"{HEAD} 1.4\n{RIGHT}\n1 / 0", CHECK)[2:] == ["None", "○ permute_mask: not attempted yet"]


@pytest.mark.parametrize("path", EXERCISED, ids=lambda path: path.stem)
def test_no_cell_needs_what_a_solution_defines(path):
    """Names go when a solution ends, so that a second cell of the same solution would not find them."""
    ids = [cell.metadata.d2lpos.id for cell in code(path, "solution")]
    assert len(ids) == len(set(ids))
    assert all(cell.source.startswith(HEAD) for cell in code(path, "solution"))


@pytest.mark.parametrize(("source", "names"), [
    ("a = b.c = 1\nfor d in x:\n    e, (f, *g) = d", {"a", "d", "e", "f", "g"}),
    ("@w\ndef a(b):\n    c = 1\nclass D:\n    e = 1", {"a", "D"}),
    ("with x as y:\n    z: int = 1", {"y", "z"}),
    ("if (n := 1):\n    %time x", set()),
])
def test_names_that_a_cell_defines(source, names):
    assert stored(source) == names
