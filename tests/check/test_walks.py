"""Answers that walk from where they run to the check, which has the reference."""

import inspect
import sys

import pytest

from d2lpos.check.rope import step
from d2lpos.check.rope.step import decode_step
from d2lpos.check.verdict import Check, Outcomes


def by_generator():
    def walk():
        yield walking.gi_frame.f_back

    walking = walk()
    return next(walking)


def by_traceback():
    try:
        1 / 0  # noqa: B018 (for its traceback)
    except ZeroDivisionError as error:
        return error.__traceback__.tb_frame


RAISED = []


def by_an_error_of_a_call_before():
    if RAISED and RAISED[-1].__traceback__:
        return RAISED[-1].__traceback__.tb_frame
    RAISED.append(ValueError())
    raise RAISED[-1]


@pytest.mark.parametrize("walk", [
    by_generator, by_traceback, by_an_error_of_a_call_before, inspect.currentframe, sys._getframe,
    lambda: inspect.stack()[2].frame,
])
def test_no_frame_leads_to_the_reference(walk):
    reached = []

    def answer(*_):
        frame = walk()
        while frame:
            if frame.f_globals is not globals():
                reached.extend([*frame.f_locals.values(), *frame.f_globals.values()])
            frame = frame.f_back

    assert not step(answer)
    assert [part for part in reached if isinstance(part, Check | Outcomes) or part is decode_step] == []
