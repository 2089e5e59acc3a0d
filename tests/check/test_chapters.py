"""In every chapter the stubs are not attempted, the solutions pass, and no check lacks its exercise."""

import ast
import re
from itertools import groupby
from pathlib import Path
from pkgutil import iter_modules

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

import d2lpos.check
from d2lpos.check.verdict import Check

CHAPTERS = sorted((Path(__file__).parents[2] / "chapters").glob("*.ipynb"))


def run(cell, namespace):
    """The value of the cell's last expression, as a notebook would show it."""
    tree = ast.parse(TransformerManager().transform_cell(cell.source))
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name("shown", ast.Store())], tree.body[-1].value)
    exec(compile(ast.fix_missing_locations(tree), "cell", "exec"), namespace)  # noqa: S102 (our own cells)
    return namespace.get("shown")


def code(chapter, tag):
    cells = nbformat.read(chapter, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code" and tag in cell.metadata.get("tags", [])]


def verdicts(chapter, tag):
    """The verdict of each run of cells with this tag and one id, in a namespace with the setup cell only."""
    for _, cells in groupby(code(chapter, tag), lambda cell: cell.metadata.d2lpos.id):
        namespace = setup(chapter)
        yield [run(cell, namespace) for cell in cells][-1]


def setup(chapter):
    namespace = {}
    run(code(chapter, "setup")[0], namespace)
    return namespace


def test_every_module_of_checks_belongs_to_a_chapter():
    modules = {f"d2lpos.check.{module.name}" for module in iter_modules(d2lpos.check.__path__)}
    used = {setup(chapter)["check"].__name__ for chapter in CHAPTERS if code(chapter, "exercise")}
    assert used == modules - {"d2lpos.check.cases", "d2lpos.check.verdict"}


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_stubs_are_not_attempted(chapter):
    lines = [line for verdict in verdicts(chapter, "exercise") for line in repr(verdict).splitlines()]
    assert [line for line in lines if not line.startswith("○")] == []


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_solutions_pass_all_checks(chapter):
    found = list(verdicts(chapter, "solution"))
    assert all(found), [verdict for verdict in found if not verdict]
    checks = [value for value in vars(setup(chapter)["check"]).values() if isinstance(value, Check)]
    names = {part.name for check in checks for part in (check, *check.answers)}
    assert set(re.findall(r"^✓ (\w+):", "\n".join(map(repr, found)), re.MULTILINE)) == names
