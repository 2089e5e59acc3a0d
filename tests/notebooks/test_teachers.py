"""The page for teachers tells the minutes that the notebooks tell."""

import re
from pathlib import Path

import nbformat
import pytest
from d2lpos_ext.exercises import exercises, tabulate
from notebooks import chapters

from tests.notebooks.census import census, estimate

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.ipynb")
PAGE = (ROOT / "book" / "teachers.md").read_text("utf-8")
MINUTES = {head["number"]: int(head["minutes"]) for head in exercises(chapters(ROOT))}
SET = [line for line in PAGE.splitlines() if re.search(r"Exercise \d", line)]


def test_table_of_exercises():
    text = tabulate("Before.\n\n```{exercises}\n```\n\nAfter.\n", [GOOD])
    assert text == (
        "Before.\n\n"
        "| Exercise | Minutes | Difficulty |\n"
        "|:--|--:|:--|\n"
        "| Exercise 1.1. Turn it around | 5 | easy |\n"
        "| Exercise 1.2. Turn it twice, or $2n$ times | 10 | medium |\n\n"
        "After.\n"
    )


@pytest.mark.parametrize("line", SET)
def test_minutes_add_up(line):
    minutes = [MINUTES[number] for number in re.findall(r"Exercise (\d+[A-Z]?\.\d+)", line)]
    if choice := re.search(r"(\d+) or (\d+) \|$", line):
        assert minutes == [int(one) for one in choice.groups()]
    else:
        assert sum(minutes) == int(re.findall(r"\d+", line)[-1])


def test_lecture_has_ninety_minutes():
    lecture = PAGE.partition("## One lecture")[2].partition("\n## ")[0]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", lecture, re.MULTILINE))) == 90
    assert "Ninety minutes" in lecture


# The plan, hour by hour.
HOURS = PAGE.partition("### Hour by hour")[2].partition("\n\n|")[2].partition("\n\n")[0].splitlines()[2:]
SESSIONS = {row.split(" | ")[0].strip("| "): row.strip("| ").split(" | ") for row in HOURS}
READ = dict(re.findall(r"^\| (\d+) \| \[[^]]+\]\(\.\./(chapters/\d\d-[\w-]+\.ipynb)\)", PAGE, re.MULTILINE))
LED = re.findall(r"chapters/in-depth/[\w-]+\.ipynb", SET[4])
DEPTH = dict(zip(["5, other code", "5, stretching"], LED, strict=True))
CHAPTERS = {session: ROOT / name for session, name in (READ | DEPTH).items()}


def tagged(notebook, tag: str) -> list[int]:
    return [at for at, cell in enumerate(notebook.cells) if tag in cell.metadata.get("tags", [])]


def test_the_plan_has_every_session_with_a_chapter():
    assert (
        set(SESSIONS) == set(CHAPTERS) == {"5, other code", "5, stretching", *map(str, {*range(1, 10)} - {5})}
    )


@pytest.mark.parametrize("session", SESSIONS)
def test_an_hour_has_fifty_minutes(session):
    _, _, *hour, _ = SESSIONS[session]
    assert sum(int(re.match(r"\d+", phase)[0]) for phase in hour) == 50


@pytest.mark.parametrize("session", SESSIONS)
def test_the_plan_gives_the_time_that_reading_and_exercises_take(session):
    notebook = nbformat.read(CHAPTERS[session], as_version=4)
    before, after, exercises = map(int, re.findall(r"(?:read|exercises) (\d+)", " ".join(SESSIONS[session])))
    question = tagged(notebook, "predict")[0]
    assert before - 1 < estimate(notebook.cells[:question]) <= before
    end = next(at for at, cell in enumerate(notebook.cells) if cell.source.startswith("## Exercises"))
    assert before + after >= estimate(notebook.cells[:end])
    if session in READ:
        assert before + after == census(notebook).minutes
        [set_] = [line for line in SET if line.startswith(f"| {session} |")]
        assert exercises == int(set_.strip("| ").split(" | ")[-1])
    else:
        assert exercises == MINUTES["4A.1" if "code" in session else "4.4"]
