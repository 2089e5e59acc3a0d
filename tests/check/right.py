"""Right answers: a check accepts each, however it is written."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from d2lpos.check.verdict import Check


def right(check: Check, name: str) -> Any:
    """What is asked besides the function, by its name."""
    return next(answer.right for answer in check.answers if answer.name == name)


def accepted(answers: dict[Check, Iterable]) -> Callable:
    """The test that each check accepts its answers."""

    @pytest.mark.parametrize(("check", "answer"), [(check, answer) for check in answers for answer in answers[check]])
    def test(check, answer):
        verdict = check(answer)
        assert verdict, verdict

    return test
