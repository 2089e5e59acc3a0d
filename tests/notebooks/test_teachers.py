"""The page for teachers tells the minutes that the notebooks tell."""

import re
from pathlib import Path

import pytest
from d2lpos_ext.exercises import exercises, tabulate
from notebooks import chapters

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
    numbers = re.findall(r"Exercise (\d+[A-Z]?\.\d+)", line)
    assert sum(MINUTES[number] for number in numbers) == int(re.findall(r"\d+", line)[-1])


def test_lecture_has_ninety_minutes():
    lecture = PAGE.partition("## One lecture")[2].partition("\n## ")[0]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", lecture, re.MULTILINE))) == 90
    assert "Ninety minutes" in lecture
