"""Answers that a check must refuse, one module a chapter or project.

A wrong answer takes three lines: the check that must refuse it, words that its diagnosis must hold, the answer.

    @wrong(check.permute_mask, "Only the keys are permuted.")
    def keys_only(mask, order):
        return mask[..., order]

Write it as a student would, not as the check's own table of mistakes does. With `card=True` the chapter's page asks which
property it fails: one of three or more, or one or both of two. Its code must speak for itself.
"""

from typing import Any, NamedTuple

from d2lpos.check.verdict import Check


class WrongAnswer(NamedTuple):
    check: Check
    diagnosis: str
    answer: Any
    card: bool = False


WRONG_ANSWERS: list[WrongAnswer] = []


def wrong(check: Check, diagnosis: str, card: bool = False):
    """Register what it decorates, or is called with, as a wrong answer."""

    def register(answer: Any) -> Any:
        WRONG_ANSWERS.append(WrongAnswer(check, diagnosis, answer, card))
        return answer

    return register
