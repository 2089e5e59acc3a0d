"""A check runs an answer beside the reference, names the first difference, and recognizes known mistakes."""

import copy
import dis
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..threads import one_thread

TOLERANCE = 1e-4  # also the last decimal that numbers show, so that a difference is always visible
IDLE = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}  # the bytecode of `...`


class Misconduct(Exception):
    """An answer did what no right result excuses; the message says what."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a check found. Its text is what a notebook shows; it is true only where every property holds."""

    text: str
    passed: bool

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Case:
    """One question to an answer: `ask(answer)` is its outcome, `text` tells the reader what went in."""

    text: str
    ask: Callable[[Any], Any]


def call(label: str = "", /, **arguments: Any) -> Case:
    """The case that calls an answer with `arguments`, by position; `label` replaces their description.

    The answer gets copies, twice, with two states of torch's random numbers. It must leave the copies as
    they are and return the same both times.
    """

    def ask(answer: Callable) -> Any:
        results = []
        for seed in range(2):
            given = copy.deepcopy(arguments)
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(seed)
                results.append(answer(*given.values()))
            for name, value in arguments.items():
                if difference(value, given[name]):
                    raise Misconduct(f"Changes its argument {name} in place")
        change = attempt(difference, *results)
        # By their text, too: nan is unlike itself, and so are lists that hold more than one type.
        comparable = type(results[0]).__eq__ is not object.__eq__  # a generator equals none but itself
        changed = change and not isinstance(change, Exception) and repr(results[0]) != repr(results[1])
        if changed and comparable:
            raise Misconduct("Returns something else when called again with the same input")
        return results[0]

    shown = [f"{name} {describe(value)}" for name, value in arguments.items() if not callable(value)]
    return Case(label or ", ".join(shown), ask)


@dataclass(frozen=True, eq=False)
class Check:
    """An exercise's check. Call it with an answer; it returns a `Verdict` and never raises.

    properties: what must hold, in words -> the cases that show it, smallest first.
    mistakes: a hint in one sentence -> an answer that makes this mistake. The first hint is given whose answer
    has the same outcomes as the reader's, up to and with the property that fails first.
    """

    name: str
    reference: Any
    properties: dict[str, list[Case]]
    mistakes: dict[str, Any]

    def __call__(self, answer: Any) -> Verdict:
        with one_thread():
            return self._judge(answer)

    def _judge(self, answer: Any) -> Verdict:
        if left := self._left(answer):
            return Verdict(f"○ {self.name}: {left}", False)
        given = cache(lambda case: attempt(case.ask, answer))  # asked once, whatever it is compared with
        found = {name: disagreement(given, self.reference, cases) for name, cases in self.properties.items()}
        failed = [name for name in found if found[name]]
        if not failed:
            count = len(found)
            headline = f"✓ {self.name}: {count} {'property holds' if count == 1 else 'properties hold'}"
            return Verdict(lay_out([headline, *(f"  {name}" for name in found)]), True)
        first = failed[0]
        hints = [hint for hint, mistake in self.mistakes.items() if self._agree(given, mistake, until=first)]
        lines = [f"Property: {first}", *found[first], *(f"Hint: {hint}" for hint in hints[:1])]
        headline = f"✗ {self.name}: fails {len(failed)} of {len(found)} properties"
        return Verdict(lay_out([headline, *lines]), False)

    def _agree(self, given: Callable, mistake: Any, until: str) -> bool:
        """Whether the two have the same outcomes in all cases of the properties up to `until`."""
        names = list(self.properties)
        counted = names[: names.index(until) + 1]
        return not any(disagreement(given, mistake, self.properties[name]) for name in counted)

    def _left(self, answer: Any) -> str:
        """What is left to write before the answer can be judged, in words; empty where nothing is."""
        if isinstance(answer, dict | list | tuple):
            entries = list(answer.values() if isinstance(answer, dict) else answer)
            blanks = sum(entry is ... for entry in entries)
            if 0 < blanks < len(entries):
                return f"{blanks} of {len(entries)} still open"
            return "not attempted yet" if blanks else ""
        outcome = attempt(next(iter(self.properties.values()))[0].ask, answer)
        blank = answer is ... or outcome is ... or (outcome is None and is_stub(answer))
        return "not attempted yet" if blank else ""


def is_stub(function: Any) -> bool:
    """Whether the body does nothing, unlike a body that works and forgets its `return`."""
    if not hasattr(function, "__code__"):
        return False
    return all(step.opname in IDLE for step in dis.get_instructions(function))


def nothing(outcome: Any) -> bool:
    """Whether a stub or a forgotten `return` gave this, so that there is nothing to look into."""
    return outcome is None or outcome is ...


def attempt(function: Callable, *arguments: Any) -> Any:
    """What the function returns, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 (a reader's answer may raise anything)
        return error


def disagreement(given: Callable, reference: Any, cases: list[Case]) -> list[str]:
    """The first case in which the two differ, and how; nothing where they agree in all cases."""
    for case in cases:
        text = attempt(difference, attempt(case.ask, reference), given(case))
        if isinstance(text, Exception):
            text = "Returns something that cannot be compared"
        if text:
            return [*f"Input: {case.text}".splitlines(), text]
    return []


def difference(expected: Any, got: Any) -> str:
    """How an outcome differs from the expected one, in words; empty where it does not."""
    if isinstance(got, Exception):
        same = type(got) is type(expected) and str(got) == str(expected)
        return "" if same else describe_error(got)
    expected, got = (
        value.item() if isinstance(value, np.bool_ | np.integer) else value for value in (expected, got)
    )
    if got is None and expected is not None:
        return "Expected an answer, got None (is a return missing?)"
    if not isinstance(got, type(expected)):
        return f"Expected type {type(expected).__name__}, got type {type(got).__name__}"
    if isinstance(expected, Tensor):
        return tensor_difference(expected, got)
    if isinstance(expected, list):
        return list_difference(expected, got)
    return "" if got == expected else f"Expected {expected}, got {got}"


def tensor_difference(expected: Tensor, got: Tensor) -> str:
    for trait in ("dtype", "device", "layout", "shape"):
        wanted, found = getattr(expected, trait), getattr(got, trait)
        if wanted != found:
            show = tuple if trait == "shape" else str
            return f"Expected {trait} {show(wanted)}, got {show(found)}"
    wrong = ~torch.isclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    if not wrong.any():
        return ""
    at = tuple(wrong.nonzero()[0].tolist())
    place = f"At {at}: expected" if at else "Expected"
    return f"{place} {number(expected[at].item())}, got {number(got[at].item())}"


def list_difference(expected: list, got: list) -> str:
    """Lists are collections here: their order does not matter."""
    for entry in got:
        if type(entry) is not type(expected[0]):
            return f"Expected a list of {type(expected[0]).__name__}, got one of {type(entry).__name__}"
    missing = [f"missing {entry}" for entry in expected if entry not in got]
    extra = [f"not expected {entry}" for entry in got if entry not in expected]
    if not missing and not extra and len(got) == len(expected):
        return ""
    return "; ".join([f"Expected {len(expected)} entries, got {len(got)}", *missing[:1], *extra[:1]])


def describe(value: Any) -> str:
    """An argument in a few words: up to nine whole numbers by their values, other tensors by their shape."""
    if not isinstance(value, Tensor):
        return str(value)
    small = not value.is_floating_point() and value.numel() <= 9
    return str(value.long().tolist() if small else tuple(value.shape))


def describe_error(error: Exception) -> str:
    message = textwrap.shorten(str(error).partition("\n")[0], 200)
    return message if isinstance(error, Misconduct) else f"Raises {type(error).__name__}: {message}"


def number(value: float) -> str:
    """Rounded, so that the text is the same on every processor."""
    if isinstance(value, bool | int) or not abs(value) < 1e6:
        return f"{value}" if isinstance(value, int) else f"{value:.3e}"
    return f"{round(value, 4) + 0.0:.4f}"


def lay_out(lines: list[str]) -> str:
    """At most 70 characters a line; what continues a line is indented under it."""
    wrapped = (textwrap.wrap(line, 70, subsequent_indent="    ", break_on_hyphens=False) for line in lines)
    return "\n".join(part for parts in wrapped for part in parts)
