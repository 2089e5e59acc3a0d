"""Each wrong answer is refused with its diagnosis, and no hint of a check is there in vain."""

import re
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest
import torch

import tests.wrong_answers
from d2lpos.check import verdict
from tests.check.exercises import CHECKS, EXERCISES
from tests.check.mutants import PATIENCE, of_right_answers
from tests.wrong_answers import WRONG_ANSWERS

for module in iter_modules(tests.wrong_answers.__path__):
    import_module(f"tests.wrong_answers.{module.name}")

ANSWERS = [answer for check in CHECKS for answer in check.answers]
HINTS = [(answer, hint) for answer in ANSWERS for hint in answer.mistakes]
MISTAKES = [(check, hint, mistake) for check in CHECKS for hint, answers in check.by_hint.items() for mistake in answers]
GARBAGE = [
    None,
    -3,
    "text",
    {},
    [],
    int,
    lambda: None,
    lambda *arguments: arguments[0],
    lambda *arguments: 1 / 0,
    lambda *arguments: "text",
    lambda *arguments: [torch.ones(2)],
    lambda *arguments: [(torch.ones(2),)],
    lambda *arguments: np.ones((2, 2)),
    lambda *arguments: torch.tensor(torch.nan),
    lambda *arguments: torch.ones(3, 3).to_sparse(),
    lambda *arguments: torch.ones(3, 3, device="meta"),
]


def name(value):
    return getattr(value, "name", None) or getattr(value, "__name__", None)


def flat(verdict):
    return " ".join(repr(verdict).split())


def against(check):
    """All wrong answers to a check: its mistakes, its cards, and those of `tests/wrong_answers/`."""
    wrong = [wrong.answer for wrong in WRONG_ANSWERS if wrong.check is check]
    if check in ANSWERS:  # a number or a name, or a function that recognizes it
        return [*wrong, *(value for value in check.mistakes.values() if not callable(value))]
    return [*wrong, *check.cards, *(mistake for one, _, mistake in MISTAKES if one is check)]


JUDGED = {}


def judged(check, answer):
    """The verdict, found once for all tests."""
    key = check, id(answer)
    if key not in JUDGED:
        JUDGED[key] = check(answer)
    return JUDGED[key]


@pytest.mark.parametrize(("check", "diagnosis", "answer"), WRONG_ANSWERS, ids=name)
def test_refused_with_its_diagnosis(check, diagnosis, answer):
    verdict = judged(check, answer)
    assert not verdict
    assert repr(verdict).startswith(f"✗ {check.name}: ")
    assert diagnosis in flat(verdict)


@pytest.mark.parametrize(("check", "hint", "mistake"), MISTAKES, ids=name)
def test_a_mistake_gets_its_own_hint(check, hint, mistake):
    verdict = judged(check, mistake)
    assert not verdict
    assert verdict.hint == hint and flat(verdict).endswith(f"Hint: {hint}"), (
        "add a case that tells the two mistakes apart, in the property that fails or before"
    )


@pytest.mark.parametrize(("module", "check"), EXERCISES, ids=name)
def test_a_mistake_is_recognized_however_it_is_written(module, check, monkeypatch):
    """A hint that came only because the mistake is compared with itself would be worth nothing."""
    monkeypatch.setattr(verdict, "PATIENCE", PATIENCE)
    by_hand = (judged(check, wrong.answer) for wrong in WRONG_ANSWERS if wrong.check is check)
    if any(one.hint for one in by_hand):
        return
    chapter = import_module(f"tests.check.test_{module.__name__.split('.')[2]}")
    assert any(check(mutant.answer).hint for mutant in of_right_answers(check, chapter)), (
        f"write {check.name} in another way, among the right answers of its chapter, or one of its mistakes in "
        "tests/wrong_answers/"
    )


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_knows_four_to_eight_mistakes(check):
    assert 4 <= len(check.mistakes) <= 8, "take the mistakes that students make"


@pytest.mark.parametrize("answer", [answer for answer in ANSWERS if not callable(answer.right)], ids=name)
def test_what_is_right_passes(answer):
    assert answer(answer.right)
    assert answer(np.array(answer.right) if not isinstance(answer.right, set) else list(answer.right)[::-1])


@pytest.mark.parametrize("answer", ANSWERS, ids=name)
def test_garbage_is_no_answer(answer):
    for value in [..., *GARBAGE, *against(answer)]:
        verdict = answer(value)
        assert not verdict
        assert repr(verdict)[0] == ("○" if value in (..., None) else "✗")
        assert [line for line in repr(verdict).splitlines() if len(line) > 70] == []


@pytest.mark.parametrize(("answer", "hint"), HINTS, ids=name)
def test_a_wrong_number_or_name_gets_this_hint(answer, hint):
    assert any(judged(answer, wrong).hint == hint for wrong in against(answer)), (
        "add a wrong answer that gets this hint, or leave the mistake out"
    )


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_wrong_answers_and_garbage_are_refused_in_a_short_text_that_is_always_the_same(check):
    assert judged(check, check.reference)
    for answer in [*GARBAGE, *against(check)]:
        verdict = judged(check, answer)
        text = repr(verdict)
        assert not verdict and text[0] in "✗○"
        words = re.search(r"Expected (.*), got (.*)", flat(verdict).partition(" Hint: ")[0])
        assert not words or not {*words[1].split()} - {"no", "not"} <= {*words[2].split()}, "a tautology"
        assert text == repr(check(answer))
        assert [line for line in text.splitlines() if len(line) > 70] == []
