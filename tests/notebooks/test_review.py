"""Each chapter keeps five questions, whose numbers are computed, and each question can come back."""

import math
import re
from collections import Counter

import nbformat
import pytest
import torch
from d2lpos_ext.cells import OPTION, note, tags
from d2lpos_ext.reviews import bring_back, questions
from nbformat.v4 import new_markdown_cell
from notebooks import number, path

import d2lpos
from tests.api.names import ROOT

CHAPTERS = {int(number(file.name)): file for file in path(ROOT)}
ASKED = {file: questions(file) for file in CHAPTERS.values()}
EVERY = {name: cell for asked in ASKED.values() for name, cell in asked.items()}
ASKS = {name: note(cell, "ask") for name, cell in EVERY.items()}
NUMBERS = {name: ask for name, ask in ASKS.items() if ask["kind"] == "number"}
CHOICES = {name: ask for name, ask in ASKS.items() if ask["kind"] == "choice"}
AGO = (1, 3, 6)  # how many chapters ago a question stood that comes back


def options(name):
    return OPTION.findall(EVERY[name].source.partition("<details>")[0])


def earlier(file):
    """The questions that a chapter asks again."""
    cells = nbformat.read(file, as_version=4).cells
    source = "".join(cell.source for cell in cells if cell.source.startswith("**From before.**"))
    return re.findall(r"\[Question ((\d+)\.\d)\]\((\S+?)#five-questions-to-keep\)", source)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_five_questions_stand_behind_the_exercises(chapter):
    cells = nbformat.read(CHAPTERS[chapter], as_version=4).cells
    at = next(i for i, cell in enumerate(cells) if cell.source.startswith("## Five questions to keep"))
    below = [bool(tags(cell) and "review" in tags(cell)) for cell in cells[at + 1 :]]
    assert [f"{chapter}.{count}" for count in range(1, 6)] == list(ASKED[CHAPTERS[chapter]])
    assert [i for i, own in enumerate(below) if own] == list(range(5 + bool(earlier(CHAPTERS[chapter]))))
    assert any(cell.source.startswith("## Exercises") for cell in cells[:at])


@pytest.mark.parametrize("name", EVERY)
def test_a_question_folds_its_answer_and_can_stand_on_any_page(name):
    _, answer = EVERY[name].source.split("\n\n<details><summary>Compare with the answer</summary>\n\n")
    assert answer.endswith("\n\n</details>")
    assert not re.search(r"\]\(|\b(Figure|Table|Exercise|Theorem|Equation) ", EVERY[name].source)


@pytest.mark.parametrize("name", CHOICES)
def test_one_option_is_right_and_each_other_overlooks_something(name):
    ask, count = CHOICES[name], len(options(name))
    assert 3 <= count <= 4
    wrong = {str(option) for option in range(count)} - {str(ask["right"])}
    assert ask["overlooks"].keys() == wrong and len(wrong) == count - 1
    assert all(text.endswith(".") for text in [*options(name), *ask["overlooks"].values()])


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_what_its_expression_says(name):
    ask = NUMBERS[name]
    computed = eval(ask["by"], {"d2lpos": d2lpos, "math": math, "torch": torch})
    assert abs(computed - ask["right"]) <= max(ask.get("within", 0), 1e-9)
    assert ask["from"] < ask["right"] < ask["to"]
    assert ask["overlooks"].keys() == {"below", "above"}
    answer = re.search(r"</summary>\n\n(?:About )?(\d+(?:\.\d+)?)", EVERY[name].source)[1]
    assert math.isclose(float(answer), ask["right"], abs_tol=0.05)


def test_each_chapter_asks_for_a_number():
    assert {name.partition(".")[0] for name in NUMBERS} == set(map(str, CHAPTERS))


def test_the_place_of_the_right_option_gives_nothing_away():
    places = Counter(ask["right"] for ask in CHOICES.values())
    assert max(places.values()) <= len(CHOICES) / 2
    for asked in ASKED.values():
        assert len({CHOICES[name]["right"] for name in asked if name in CHOICES}) > 1
    longest = sum(
        max(range(len(options(name))), key=lambda i: len(options(name)[i])) == ask["right"]
        for name, ask in CHOICES.items()
    )
    assert longest <= len(CHOICES) / 2


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_questions_of_one_three_and_six_chapters_ago_come_back(chapter):
    back = earlier(CHAPTERS[chapter])
    assert [int(own) for _, own, _ in back] == [chapter - ago for ago in AGO if chapter > ago]
    assert all(name in EVERY and CHAPTERS[int(own)].name == file for name, own, file in back)


def test_no_question_comes_back_in_two_chapters():
    names = [name for file in CHAPTERS.values() for name, _, _ in earlier(file)]
    assert len(names) == len(set(names)) == sum(len(CHAPTERS) - ago for ago in AGO)


def test_a_question_that_is_not_there_stops_the_build():
    cell = new_markdown_cell(
        f"**From before.** [Question 1.9]({CHAPTERS[1].name}#x)", metadata={"tags": ["review"]}
    )
    with pytest.raises(LookupError, match="1.9"):
        bring_back([cell], CHAPTERS[1].parent)
