"""The cards "Find the mistake" say what the checks say, and their questions have one answer."""

import json

import pytest
import torch
from notebooks import path

from d2lpos.check.verdict import Check, call
from tests.check.cards import FOLDER, ROOT, WIDE, card, cards, written

KEPT = {file.stem: file.read_text("utf-8") for file in FOLDER.iterdir()}


@pytest.fixture(scope="module")
def by_chapter():
    return cards()


def test_files_are_what_the_checks_say_today(by_chapter):
    assert KEPT == {stem: written(content) for stem, content in by_chapter.items()}, "run python -m tests.check.cards"


def test_each_chapter_has_three():
    assert all(len(json.loads(KEPT[file.stem])) >= 3 for file in path(ROOT))


@pytest.mark.parametrize("stem", KEPT)
def test_code_is_short_and_names_no_mistake(stem):
    for content in json.loads(KEPT[stem]):
        lines = content["code"].splitlines()
        assert len(lines) <= 16 and max(map(len, lines)) <= WIDE
        assert content["ask"]["id"].split(".")[-1] not in content["code"], "the wrong answer's own name gives it away"
        assert "#" not in content["code"], "a comment gives it away"


CASES = {name: [call(x=torch.tensor([float(x)]))] for x, name in enumerate(("zero", "one", "two"))}


def asked(answer, names):
    return card(Check("double", lambda x: 2 * x, {name: CASES[name] for name in names}, {}), answer, "double", "1.1")


def square(x):
    return x * x


def more(x):
    return 2 * x + (x > 0)


def test_a_card_asks_for_the_one_property_that_fails():
    content = asked(square, ("zero", "one", "two"))
    assert content["code"] == "def double(x):\n    return x * x"
    assert content["ask"]["options"] == ["zero", "one", "two"] and content["ask"]["right"] == 1
    assert content["ask"]["overlooks"] == dict.fromkeys("02", "This one holds, in 1 case that the check tries.")
    assert "Property: one" in content["says"]


def test_of_two_properties_both_may_fail():
    ask = asked(more, ("one", "two"))["ask"]
    assert ask["options"] == ["one", "two", "both"] and ask["right"] == 2 and set(ask["overlooks"]) == {"0", "1"}


def test_a_card_with_two_answers_is_refused():
    with pytest.raises(ValueError, match="more fails 2 of 3 properties"):
        asked(more, ("zero", "one", "two"))
