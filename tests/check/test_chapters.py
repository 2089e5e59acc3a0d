"""In every chapter the stubs are not attempted, the solutions pass, and no check lacks its exercise."""

import ast
import re
from functools import cache
from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from notebooks import answers, checked

from d2lpos.pretrained.smollm2 import opened
from tests.check.exercises import CHECKS
from tests.weights import need

CHAPTERS = checked(Path(__file__).parents[2])


def run(cell, namespace):
    """The value of the cell's last expression, as a notebook would show it."""
    tree = ast.parse(TransformerManager().transform_cell(cell.source))
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("shown", ast.Store())], tree.body[-1].value)
    exec(compile(ast.fix_missing_locations(tree), "cell", "exec"), namespace)  # noqa: S102 (our own cells)
    return namespace.get("shown")


def code(chapter, tag):
    cells = nbformat.read(answers(chapter) if tag == "solution" else chapter, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code" and tag in cell.metadata.get("tags", [])]


def verdicts(chapter, tag):
    """The verdict of each run of cells with this tag and one id, in a namespace with the setup cell only."""
    for _, cells in groupby(code(chapter, tag), lambda cell: cell.metadata.d2lpos.id):
        namespace = dict(setup(chapter))
        yield [run(cell, namespace) for cell in cells][-1]


@cache
def setup(chapter):
    """What the setup cell brings, and the trained models where the chapter opens some."""
    namespace = {}
    run(code(chapter, "setup")[0], namespace)
    notebook = nbformat.read(chapter, as_version=4)
    if weights := notebook.metadata.get("d2lpos", {}).get("weights", []):
        for name in weights:
            need(name)
        models = next(cell for cell in notebook.cells if "= at_hand(load" in cell.source)
        run(models, namespace)
    return namespace


@pytest.fixture
def once(monkeypatch):
    """SmolLM2's file is opened once, whichever cell opens it: that takes seconds."""
    monkeypatch.setattr("gguf.GGUFReader", opened)


EXERCISED = [chapter for chapter in CHAPTERS if code(chapter, "exercise")]


def test_every_check_belongs_to_one_exercise():
    checks = {part.name for check in CHECKS for part in (check, *check.answers)}
    called = [
        name
        for chapter in EXERCISED
        for cell in code(chapter, "exercise")
        for check, *answers in re.findall(r"^check\.(\w+)\(\w+(?:, (.+))?\)$", cell.source, re.MULTILINE)
        for name in (check, *filter(None, ", ".join(answers).split(", ")))
    ]
    assert sorted(called) == sorted(checks)


def test_a_check_compares_a_dtype_or_a_type_only_where_its_exercise_names_one():
    exact = {
        check.name
        for check in CHECKS
        for cases in check.properties.values()
        for case in cases
        if case.exact_dtype
    }
    named = set()
    for chapter in EXERCISED:
        cells = nbformat.read(chapter, as_version=4).cells
        asked = [cell for cell in cells if "exercise" in cell.metadata.get("tags", [])]
        for _, parts in groupby(asked, lambda cell: cell.metadata.d2lpos.id):
            words = "\n".join(cell.source for cell in parts)
            if re.search(r"\bdtype\b|float32|int64|torch\.long|\ban? (Python )?`?(int|float)\b", words):
                named.update(re.findall(r"^check\.(\w+)\(", words, re.MULTILINE))
    assert exact and exact <= named


@pytest.mark.parametrize("chapter", EXERCISED, ids=lambda path: path.stem)
def test_stubs_are_not_attempted(chapter, once):
    lines = [line for verdict in verdicts(chapter, "exercise") for line in repr(verdict).splitlines()]
    assert [line for line in lines if not line.startswith("○")] == []


@pytest.mark.parametrize("chapter", EXERCISED, ids=lambda path: path.stem)
def test_solutions_pass_all_checks(chapter, once):
    passed = list(verdicts(chapter, "solution"))
    assert passed
    assert all(passed), [verdict for verdict in passed if not verdict]
