"""Wrong answers that are no mistake of a check's own table, one module a chapter or project.

A wrong answer has the check that must refuse it, words that its diagnosis must hold, and the answer.

    wrong(check.permute_mask, "Returns something else when called again")(
        lambda mask, order: mask[..., torch.randperm(len(order))]
    )

`wrong` decorates the function of an answer that takes more than one line. What is wrong in one place of the reference alone is told by
that change, "before → after".
They fail cases that no mistake of a check and no mutant of its reference fails alone, or get words of their own. Besides, one
mistake of each check without right answers in `tests/check/` stands here, written as a student would, so that its hint does not hang on
how the check writes it.
"""

from typing import Any, NamedTuple

from d2lpos.check.code import changed
from d2lpos.check.verdict import Check


class WrongAnswer(NamedTuple):
    check: Check
    diagnosis: str
    answer: Any


WRONG_ANSWERS: list[WrongAnswer] = []


def wrong(check: Check, diagnosis: str):
    """Register what it decorates, or is called with, as a wrong answer."""

    def register(answer: Any) -> Any:
        if isinstance(check, Check) and isinstance(answer, str):
            answer = changed(check.reference, answer)
        WRONG_ANSWERS.append(WrongAnswer(check, diagnosis, answer))
        return answer

    return register
