"""A project tells its hours, is graded by its rubric, has a place for the reader's result, and keeps its solutions apart."""

import re

import nbformat
import pytest
from d2lpos_ext.cells import EXERCISE, tags
from notebooks import answers, projects

from tests.api.names import ROOT

PROJECTS = projects(ROOT)
TIME = re.compile(
    r"^\*\*Time:\*\* up to (two|three) hours, (\d+) minutes of them for the exercises\.$", re.MULTILINE
)
HOURS = {"two": 2, "three": 3}
POINTS = re.compile(r"^\| (.+) \| (\d+) \|$", re.MULTILINE)


def cells(path):
    return nbformat.read(path, as_version=4).cells


def words(path):
    return "\n\n".join(cell.source for cell in cells(path) if cell.cell_type == "markdown")


def section(path, title):
    return words(path).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.stem)
def test_it_tells_its_hours_and_the_exercises_fit_into_them(project):
    hours, minutes = TIME.search(words(project)).groups()
    heads = [head for cell in cells(project) if (head := EXERCISE.match(cell.source))]
    assert sum(int(head["minutes"]) for head in heads) == int(minutes) <= 60 * HOURS[hours]
    assert "\n**You need** [" in words(project)


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.stem)
def test_its_end_is_a_place_for_the_result_and_a_rubric_of_twenty_points(project):
    assert re.findall("^## (.+)", words(project), re.MULTILINE)[-2:] == ["Your result", "Rubric"]
    assert "..." in "".join(
        cell.source for cell in cells(project)[at(project, "## Your result") :] if cell.cell_type == "code"
    )
    rows = POINTS.findall(section(project, "Rubric"))
    assert sum(int(points) for _, points in rows) == 20
    numbers = [
        EXERCISE.match(cell.source)["number"] for cell in cells(project) if EXERCISE.match(cell.source)
    ]
    graded = [number for what, _ in rows for number in re.findall(r"Exercise (P\d+\.\d+)", what)]
    assert sorted(graded) == sorted(numbers)
    explained = [int(points) for what, points in rows if "Exercise" not in what]
    assert sum(explained) >= 10, "a check proves that code is right, not that its author knows why"


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.stem)
def test_its_solutions_stand_apart_and_begin_with_the_same_imports(project):
    assert not any("solution" in tags(cell) for cell in cells(project))
    [mine], [theirs] = (
        [cell.source for cell in cells(path) if "setup" in tags(cell)] for path in (project, answers(project))
    )
    assert mine == theirs


def test_every_notebook_of_solutions_belongs_to_a_project():
    paths = sorted((ROOT / "chapters" / "projects" / "solutions").glob("*"))
    assert [path for path in paths if path.suffix == ".ipynb"] == sorted(map(answers, PROJECTS)) != []


def at(path, text):
    return next(i for i, cell in enumerate(cells(path)) if cell.source.startswith(text))
