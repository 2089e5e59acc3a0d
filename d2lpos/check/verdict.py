"""A check runs an answer beside the reference, names the first difference, and recognizes known mistakes."""

import copy
import ctypes
import linecache
import os
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import starmap
from traceback import walk_tb
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import _get_current_function_mode_stack
from torch.utils._pytree import tree_map

from ..runtime.threads import one_thread
from .code import LIBRARIES, Lines, changed, is_stub
from .solutions import SOLUTIONS

TOLERANCE = 1e-4  # also the last decimal that numbers show, so that a difference is always visible
PATIENCE = 10.0  # seconds of the processor that an answer may take for one case
CEILING = 20  # times as many seconds of the clock, for an answer that waits or a machine that is busy
PACKAGE = os.path.dirname(os.path.dirname(__file__))  # its lines are none of the answer's
NEGATIONS = frozenset({"no", "not", "none", "without"})
WHOLE = 24  # the most numbers of a tensor that are printed one by one
KINDS = ("time", "memory", "failed", "open", "not attempted", "passed")  # of a verdict, the worst first


class Misconduct(Exception):
    """An answer did what no right result excuses; the message says what."""


class Late(Misconduct):
    """An answer takes too long, most likely for ever."""


class Stop(BaseException):
    """What a late answer is stopped with; no `except Exception` of its own catches it."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a check found. Its text is what a notebook shows; it is true only where every property holds.

    kind: one of KINDS. An answer of which a part is not written yet is "open". One that has not ended, or that found
    no memory, in the first case that fails is of the kind "time" or "memory".
    why: the first property that fails, or what stands in its place in the text; empty where the answer passed.
    error: the name of the exception that the answer raised there; empty where it raised none.
    hint: that of the known mistake that the answer makes; empty where it makes none.
    """

    text: str
    kind: str
    why: str = ""
    error: str = ""
    hint: str = ""

    @property
    def passed(self) -> bool:
        return self.kind == "passed"

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Case:
    """One question to an answer: `ask(answer)` is its outcome, `text` tells the reader what went in.

    exact_dtype: whether the exercise names the dtype or type of the outcome. Elsewhere whole numbers are as good in
    int32 as in int64, fractions in any precision that keeps them, numbers and truth values of torch as Python's, and lists as tuples.
    whole: whether `text` tells all numbers that went in. Of another case, the verdict tells how to get them.
    """

    text: str
    ask: Callable[[Any], Any]
    exact_dtype: bool = False
    whole: bool = False


def call(label: str = "", /, **arguments: Any) -> Case:
    """The case that calls an answer with `arguments`, by position; `label` replaces their description.

    The answer gets copies, twice, with two states of torch's random numbers. It must leave the copies as
    they are and return the same both times. The second time, matrices lie in memory as a transpose leaves them.
    """

    def ask(answer: Callable) -> Any:
        results = []
        for seed in range(2):
            copies = copied(arguments)
            if seed:
                copies = {name: transposed(value) for name, value in copies.items()}
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(seed)
                results.append(answer(*copies.values()))
            for name, value in arguments.items():
                if difference(value, copies[name]):
                    raise Misconduct(f"Changes its argument {name} in place")
        pairs = zip(*results, strict=True) if all(isinstance(one, tuple) for one in results) else [results]
        change = call_or_exception(lambda: next(filter(None, starmap(difference, pairs)), ""))
        # By their text, too: nan is unlike itself, and so are lists that hold more than one type.
        comparable = type(results[0]).__eq__ is not object.__eq__  # a generator equals none but itself
        changed = change and not isinstance(change, Exception) and repr(results[0]) != repr(results[1])
        if changed and comparable:
            raise Misconduct("Returns something else when called again with the same input")
        return results[0]

    shown = [describe(name, value) for name, value in arguments.items() if not callable(value)]
    values = arguments.values()
    whole = len(shown) == len(arguments) and all(not isinstance(x, Tensor) if label else is_whole(x) for x in values)
    return Case(label or ", ".join(shown), ask, whole=whole)


def copied(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments to keep or to spoil. A plain tensor, as most are, has a copy that is made fifty times sooner."""
    plain = [
        value
        for value in arguments.values()
        if type(value) is Tensor and value.is_contiguous() and not value.requires_grad
    ]
    return copy.deepcopy(arguments, {id(value): value.clone() for value in plain})


def transposed(value: Any) -> Any:
    """A tensor with the same numbers, column by column in memory; all else as it is."""
    plain = type(value) is Tensor and value.dim() > 1 and not value.requires_grad
    return value.mT.contiguous().mT if plain else value


@dataclass(frozen=True, eq=False)
class Answer:
    """What an exercise asks besides its function: a number, a name, True or False, or several of them.

    Call it with what the reader has found; it returns a `Verdict` and never raises.

    right: the answer, a set where the order does not matter, or a function that tells whether an answer is right.
    mistakes: a hint in one sentence -> the wrong answer that it explains, or a function that recognizes it.
    within: how far a number may be off, where it is rounded.
    """

    name: str
    right: Any
    mistakes: dict[str, Any]
    within: float = 0

    def __call__(self, value: Any) -> Verdict:
        written = call_or_exception(partial(plain, fold=False), value)
        value = call_or_exception(plain, value)
        blanks = [part is ... or part is None for part in (value if isinstance(value, list) else [value])]
        if all(blanks) and blanks:
            return unwritten(self.name)
        if self._is(self.right, value):
            return Verdict(wrap_text([f"✓ {self.name}: {format_value(value)}"]), "passed")
        hint = next((hint for hint, wrong in self.mistakes.items() if self._is(wrong, value)), "")
        near = f", to within {format_value(self.within)}" if self.within else ""
        wrong = mismatch(self.right, written) or f"It is not {format_value(written)}{near}"
        return refused(f"{self.name}: {wrong}", hint=hint)

    def _is(self, wanted: Any, value: Any) -> bool:
        if callable(wanted):
            return call_or_exception(wanted, value) is True
        return call_or_exception(equal, wanted, value, self.within) is True


@dataclass(frozen=True, eq=False)
class Check:
    """An exercise's check. Call it with an answer; it returns a `Verdict` and never raises.

    properties: what must hold, in words -> the cases that show it, smallest first.
    mistakes: a hint in one sentence -> an answer that makes this mistake, or a tuple of them. One that differs from
    the reference in one place may be told by that change of the source, "before → after". The first hint is
    given whose answer has the same outcomes as the reader's, up to and with the property that fails first. Many
    mistakes share one word or an error: then the two agree in all cases, or fail the same properties.
    answers: what the exercise asks besides; the reader's answers to it follow in the call, in this order.
    cards: wrong answers whose code the chapter's page shows, to ask which property fails; mistakes or others.
    as_good: changes of the reference that no property refuses, as the tests name them, and the reason of each.
    fixed: what is the same in all cases, as the tests name it, and why the exercise does not leave it open.
    Where all of it is right in a solution of the book, the verdict ends by saying whose answer it is.
    """

    name: str
    reference: Any
    properties: dict[str, list[Case]]
    mistakes: dict[str, Any]
    answers: tuple[Answer, ...] = ()
    cards: tuple[Callable, ...] = ()
    as_good: dict[str, str] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    tried: list = field(default_factory=lambda: [None], init=False, repr=False)  # the case that failed last

    def __call__(self, answer: Any, *values: Any) -> Verdict:
        with one_thread():
            verdicts = [self._judge(answer)]
        if values and len(values) != len(self.answers):
            return refused(f"{self.name}: takes {count(len(self.answers), 'answer')}, got {len(values)}")
        verdicts += [ask(one) for ask, one in zip(self.answers, values, strict=False)]
        verdict = together(verdicts)
        if SOLUTIONS.running and verdict and len(values) == len(self.answers):
            return replace(verdict, text=f"{verdict.text}\nThis is the book's answer.")
        return verdict

    def _judge(self, answer: Any) -> Verdict:
        outcomes = answer if isinstance(answer, Outcomes) else Outcomes(answer)
        answer = outcomes.answer
        if (verdict := self._unwritten(answer, outcomes)) is not None:  # it is false
            return verdict
        right = self._outcomes(self.reference)
        disagreements = {name: disagreement(outcomes, right, cases) for name, cases in self.properties.items()}
        failed = [name for name in disagreements if disagreements[name]]
        if not failed:
            headline = f"✓ {self.name}: {count(len(disagreements), 'property holds', 'properties hold')}"
            return Verdict(wrap_text([headline, *(f"  {name}" for name in disagreements)]), "passed")
        first = failed[0]
        wrong = self.tried[0] = next(case for case in self.properties[first] if disagreement(outcomes, right, [case]))
        makes = partial(self._makes, outcomes, until=first, wrong=wrong)
        hint = next((hint for hint, answers in self.by_hint.items() if any(map(makes, answers))), "")
        *shown, text = disagreements[first]
        alike = {lines[-1] for lines in disagreements.values() if lines} == {text}
        if alike and len(failed) == len(disagreements) > 1 and is_other_type(right(wrong), outcomes(wrong)):
            return refused(f"{self.name}: {text}", hint=hint)
        if callable(answer) and not wrong.whole:
            shown.append(f"To try it: {self.name}(*check.{self.name}.example())")
        headline = f"{self.name}: fails {len(failed)} of {len(disagreements)} properties"
        return refused(headline, [f"Property: {first}", *shown, text], first, outcomes(wrong), hint)

    def example(self) -> tuple:
        """Arguments to try an answer with: those of the last call in the case that failed last, or in the first one."""
        calls = []

        def answer(*arguments: Any) -> Any:
            calls.append(copy.deepcopy(arguments))
            return self.reference(*arguments)

        call_or_exception((self.tried[0] or self.cases()[0]).ask, answer)
        return calls[-1] if calls else ()

    @cached_property
    def by_hint(self) -> dict[str, list]:
        """The answers that make each mistake, which are made when a verdict first asks for them."""
        return {
            hint: [changed(self.reference, one) if isinstance(one, str) else one for one in versions(mistake)]
            for hint, mistake in self.mistakes.items()
        }

    def cases(self) -> list[Case]:
        return [case for cases in self.properties.values() for case in cases]

    def _makes(self, outcomes: "Outcomes", mistake: Any, until: str, wrong: Case) -> bool:
        """Whether the answer behaves as this mistake, as far as it has to: see `mistakes`."""
        names = list(self.properties)
        right, mistaken = self._outcomes(self.reference), self._outcomes(mistake)
        outcome = outcomes(wrong)
        if is_telling(outcome, right(wrong)) or isinstance(outcome, Exception):
            names = names[: names.index(until) + 1]
        if any(disagreement(outcomes, mistaken, self.properties[name]) for name in names):
            return False
        return not isinstance(outcome, Exception) or self._failed(outcomes) == self._failed(mistaken)

    def _failed(self, outcomes: "Outcomes") -> list[str]:
        right = self._outcomes(self.reference)
        return [name for name, cases in self.properties.items() if disagreement(outcomes, right, cases)]

    def _outcomes(self, answer: Any) -> "Outcomes":
        """The outcomes of the reference or of a mistake, each asked once for all verdicts."""
        if id(answer) not in self._asked:
            self._asked[id(answer)] = Outcomes(answer)
        return self._asked[id(answer)]

    @cached_property
    def _asked(self) -> dict[int, "Outcomes"]:
        return {}

    def _unwritten(self, answer: Any, outcomes: "Outcomes") -> Verdict | None:
        """The verdict where something is left to write before the answer can be judged."""
        if isinstance(answer, dict | list | tuple):
            entries = list(answer.values() if isinstance(answer, dict) else answer)
            blanks = sum(entry is ... for entry in entries)
            if 0 < blanks < len(entries):
                return unwritten(self.name, f"{blanks} of {len(entries)} still open", "open")
            if isinstance(self.reference, dict) and not blanks:
                lacking = [name for name in self.reference if not isinstance(answer, dict) or name not in answer]
                return refused(f"{self.name}: The entry {lacking[0]!r} is missing") if lacking else None
            return unwritten(self.name) if blanks else None
        outcome = outcomes(self.cases()[0])
        blank = answer is ... or outcome is ... or (outcome is None and is_stub(answer))
        return unwritten(self.name) if blank else None


def unwritten(name: str, left: str = "not attempted yet", kind: str = "not attempted") -> Verdict:
    return Verdict(f"○ {name}: {left}", kind, f"{name}: {left}")


def refused(
    headline: str, lines: Iterable[str] = (), why: str = "", outcome: Any = None, hint: str = ""
) -> Verdict:
    """The verdict on a wrong answer; `outcome` is that of the first case that fails."""
    kind = "time" if isinstance(outcome, Late) else "memory" if is_out_of_memory(outcome) else "failed"
    raised = isinstance(outcome, Exception) and not isinstance(outcome, Misconduct)
    text = wrap_text([f"✗ {headline}", *lines, *[f"Hint: {hint}"] * bool(hint)])
    return Verdict(text, kind, why or headline, type(outcome).__name__ if raised else "", hint)


def together(verdicts: list[Verdict]) -> Verdict:
    """The verdict on all parts of an exercise: their texts, and of the worst one all else."""
    worst = min(verdicts, key=lambda one: KINDS.index(one.kind))
    begun = worst.kind == "not attempted" and any(one.kind != "not attempted" for one in verdicts)
    text = "\n".join(one.text for one in verdicts)
    return replace(worst, text=text, kind="open" if begun else worst.kind)


def is_out_of_memory(error: Any) -> bool:
    """Whether there was too little memory; for tensors on the CPU, torch has no exception of its own that says so."""
    return isinstance(error, MemoryError) or type(error) is RuntimeError and "allocate memory" in str(error)


def is_empty(outcome: Any) -> bool:
    """Whether a stub or a forgotten `return` gave this, so that there is nothing to look into."""
    return outcome is None or outcome is ...


def call_or_exception(function: Callable, *arguments: Any) -> Any:
    """What the function returns, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001 (a reader's answer may raise anything)
        return error


def plain(value: Any, fold: bool = True) -> Any:
    """What a reader has found, whether it came as NumPy's, torch's or Python's, and, with `fold`, in whatever letters."""
    if isinstance(value, Tensor | np.ndarray | np.generic):
        return plain(value.tolist(), fold)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part, fold) for part in value]
    return value.strip().casefold() if fold and isinstance(value, str) else value


def equal(wanted: Any, got: Any, within: float) -> bool:
    """Whether a plain answer is the one that is wanted, to within rounding; a set has no order."""
    if isinstance(wanted, set | frozenset):
        wanted, got = (sorted(part, key=repr) for part in (map(plain, wanted), got))
    if isinstance(wanted, list | tuple):
        pairs = zip(wanted, got, strict=True)
        return isinstance(got, list) and all(equal(one, other, within) for one, other in pairs)
    if isinstance(wanted, str | bool) or isinstance(got, str | bool):
        return type(wanted) is type(got) and plain(wanted) == got
    return abs(wanted - got) <= within


def mismatch(wanted: Any, got: Any) -> str:
    """In which way an answer is not even of the kind that is wanted; empty where it is."""
    if isinstance(wanted, list | tuple | set | frozenset):
        if not isinstance(got, list):
            return f"Expected {count(len(wanted), 'entry', 'entries')}, got {format_value(got)}"
        if len(got) != len(wanted):
            return f"Expected {count(len(wanted), 'entry', 'entries')}, got {len(got)}"
        return next(filter(None, map(mismatch, wanted, got)), "")
    kinds = {bool: "True or False", str: "a name in quotes", int: "a number", float: "a number"}
    for kind, words in kinds.items():
        if isinstance(wanted, kind):
            fits = isinstance(got, int | float) if kind in (int, float) else isinstance(got, kind)
            return (
                ""
                if fits and isinstance(got, bool) == (kind is bool)
                else f"Expected {words}, got {format_value(got)}"
            )
    return ""


def format_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(format_value, value))}]"
    if isinstance(value, int | float):
        return f"{value:.6g}" if isinstance(value, float) else f"{value}"
    return textwrap.shorten(repr(value), 40) if isinstance(value, str) else type(value).__name__


def is_other_type(expected: Any, outcome: Any) -> bool:
    """Whether an outcome is nothing that could be right, whatever the case."""
    return not (is_empty(outcome) or isinstance(outcome, Exception | type(expected)))


def is_telling(outcome: Any, expected: Any) -> bool:
    """Whether two answers hardly share this wrong outcome by chance: it has many numbers, or another type."""
    if is_empty(outcome) or isinstance(outcome, Exception):
        return False
    if isinstance(outcome, Tensor) and isinstance(expected, Tensor):
        other = kind(outcome) != kind(expected) or outcome.shape != expected.shape
        few = 1 if outcome.is_floating_point() else 8 if outcome.dtype == torch.bool else 4
        return other or outcome.numel() > few
    if isinstance(outcome, list) and isinstance(expected, list):
        return len(outcome) > 2 or {*map(type, outcome)} != {*map(type, expected)}
    if isinstance(outcome, tuple) and isinstance(expected, tuple):
        return any(map(is_telling, outcome, expected))
    return not isinstance(outcome, type(expected))


def versions(mistake: Any) -> tuple:
    return mistake if isinstance(mistake, tuple) else (mistake,)


class Outcomes:
    """The outcomes of an answer, each asked once; none any more when one has come too late.

    known: those that have been asked, by case.
    calls: by case, what the calls of the answer returned.
    """

    def __init__(self, answer: Any, known: dict[Case, Any] | None = None):
        self.answer, self.known, self.calls, self.late = answer, known or {}, {}, None

    def __call__(self, case: Case) -> Any:
        if case not in self.known:
            self.known[case] = self.late or self.ask(case)
        return self.known[case]

    def ask(self, case: Case) -> Any:
        alone = Alone(self.answer) if callable(self.answer) else self.answer
        outcome = call_or_exception(with_timeout, PATIENCE, case.ask, alone)
        self.calls[case] = alone.returned if callable(self.answer) else []
        if isinstance(outcome, Exception):
            outcome.__traceback__ = None  # its frames lead to the check
        self.late = outcome if isinstance(outcome, Late) else None
        return outcome


class Alone:
    """An answer as a case calls it: in a thread that holds nothing else, so that no frame leads to the reference.

    The thread has the modes of the one that calls. What the answer raises has the line of its code that raised, as
    `answer_line`, and tensors that it leaves on a GPU come back, because their numbers are asked for.
    """

    def __init__(self, answer: Callable):
        self.answer, self.left, self.returned, self.raised = answer, PATIENCE, [], None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.raised:
            self.raised.__traceback__ = None
        modes, trace = _get_current_function_mode_stack(), sys.gettrace()
        trace = trace if isinstance(getattr(trace, "__self__", None), Lines) else None
        modes.append(torch.set_grad_enabled(torch.is_grad_enabled()))
        results = []
        room = partial(run_alone, self.answer, arguments, named, self.left, modes, trace, results)
        thread = threading.Thread(target=copy_context().run, args=(room,), daemon=True)
        try:
            thread.start()
            thread.join()
        finally:
            if thread.is_alive():
                interrupt(thread.ident)
        outcome, error, spent = results
        self.left -= spent
        self.raised = error
        if error is not None:
            raise error
        if torch.accelerator.is_available():
            outcome = tree_map(brought, outcome)
        self.returned.append(outcome)
        return outcome


def run_alone(
    answer: Callable, arguments: tuple, named: dict, seconds: float, modes: list, trace: Callable | None, results: list
) -> None:
    """Call the answer in this thread, and append what it returns, what it raises, and the seconds that it took."""
    clock = processor_clock()
    begins, outcome, raised = clock(), None, None
    try:
        with ExitStack() as stack:
            for mode in modes:
                stack.enter_context(mode)
            outcome = with_timeout(seconds, traced, trace, answer, arguments, named)
    except Late as error:
        raised = Stop(*error.args)  # so that no `except Exception` of the case catches it
    except BaseException as error:  # noqa: BLE001 (a reader's answer may raise anything)
        raised = error
        with suppress(Exception):
            error.answer_line = answer_line(error)
            error.__traceback__ = None
    results += [outcome, raised, clock() - begins]


def traced(trace: Callable | None, answer: Callable, arguments: tuple, named: dict) -> Any:
    if trace is None:
        return answer(*arguments, **named)
    sys.settrace(trace)
    try:
        return answer(*arguments, **named)
    finally:
        sys.settrace(None)


def answer_line(error: BaseException) -> str:
    """The line of the answer that raised, as "line 2: return 2 * y"; empty where none of its lines did."""
    for frame, number in reversed([*walk_tb(error.__traceback__)]):
        file = frame.f_code.co_filename
        if not file.startswith((*LIBRARIES, PACKAGE)):
            source = textwrap.shorten(linecache.getline(file, number, frame.f_globals), 100)
            return f"line {number}: {source}" if source else f"line {number}"
    return ""


def brought(part: Any) -> Any:
    return part.cpu() if isinstance(part, Tensor) and not part.is_meta else part


def interrupt(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Stop))


def with_timeout(seconds: float, function: Callable, *arguments: Any) -> Any:
    """What the function returns; where it takes longer, it is stopped, and `Late` is raised.

    Seconds are those of the processor, so that no answer is late because the machine is busy. One that waits uses
    none, and is stopped after CEILING times as many by the clock.

    A second thread sends the exception, because signals reach the main thread only, and on some systems none. It
    arrives between two steps of Python: a single call into C that takes longer is not stopped.
    """
    call = Call(seconds)
    try:
        try:
            WATCH.begin(call)
            return function(*arguments)
        finally:
            WATCH.end(call)
            for _ in range(3):
                pass  # one that is on its way arrives here
    except Stop as stop:
        WATCH.free()
        WATCH.end(call)
        raise Late(*stop.args or [f"Has not ended after {call.limit:g} seconds"]) from None


def importing(thread: int) -> bool:
    """Whether a call is amid an import, as torch makes late ones: stopped there, it would leave half a module."""
    frame = sys._current_frames().get(thread)
    while frame and frame.f_code is not with_timeout.__code__:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def processor_clock() -> Callable[[], float]:
    """Tells how long the processor has worked for this thread; where no system tells, for all threads of the process."""
    if not hasattr(time, "pthread_getcpuclockid"):  # macOS and Windows
        return time.process_time
    return partial(time.clock_gettime, time.pthread_getcpuclockid(threading.get_ident()))


class Call:
    """A call in this thread that is stopped after so many seconds of the processor, or CEILING times as many."""

    def __init__(self, seconds: float):
        self.limit, self.thread = seconds, threading.get_ident()
        self.ends = {processor_clock(): seconds, time.monotonic: CEILING * seconds}
        self.begin()

    def begin(self) -> None:
        self.begins = {clock: clock() for clock in self.ends}

    def left(self) -> dict[Callable, float]:
        """By clock, the seconds that it has left."""
        return {clock: self.begins[clock] + end - clock() for clock, end in self.ends.items()}


class Watch:
    """Stops calls, from one thread for all: to start one takes longer than most calls.

    The thread sleeps as long as each of the calls that it knows has left, and ends itself where none is on then.
    """

    def __init__(self):
        self.calls, self.thread, self.wakes = set(), None, 0.0
        self.changes = threading.Condition()

    def begin(self, call: Call) -> None:
        with self.changes:
            self.calls.add(call)
            wakes = time.monotonic() + min(call.left().values())
            if self.thread is None or not self.thread.is_alive():  # as in a fork
                self.wakes = wakes
                self.thread = threading.Thread(target=self.run, daemon=True)
                self.thread.start()
            elif wakes < self.wakes:
                self.changes.notify()

    def end(self, call: Call) -> None:
        with self.changes:
            self.calls.discard(call)

    def free(self) -> None:
        """Release the lock as often as this thread has it: `Stop` may come when it is taken and no `with` would release it."""
        with suppress(RuntimeError):
            while True:
                self.changes.release()

    def run(self) -> None:
        with self.changes:
            while self.calls:
                for call in self.calls:
                    over = [clock for clock, left in call.left().items() if left <= 0]
                    if over and (over[-1] is time.monotonic or not any(importing(one.thread) for one in self.calls)):
                        call.limit = call.ends[over[0]]
                        interrupt(call.thread)
                        call.begin()  # again, where a bare `except` swallows it
                left = min(min(call.left().values()) for call in self.calls)
                self.wakes = time.monotonic() + left
                self.changes.wait(max(left, 0.01))  # a busy processor would bring the end nearer in ever smaller steps
            self.thread = None


WATCH = Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCH.calls.clear)  # those are calls of the parent's threads


def disagreement(outcomes: Outcomes, expected: Outcomes, cases: list[Case]) -> list[str]:
    """The first case in which the two have different outcomes, and how; nothing where they agree in all."""
    for case in cases:
        text = call_or_exception(difference, expected(case), outcomes(case), case.exact_dtype)
        if isinstance(text, Exception):
            text = "Returns something that cannot be compared"
        if text:
            return [*f"Input: {case.text}".splitlines(), unlike(expected, outcomes, case) or text]
    return []


def unlike(expected: Outcomes, outcomes: Outcomes, case: Case) -> str:
    """How the answer's own results are not of the number or shape that is asked for, where a case cannot use them."""
    right, outcome = expected(case), outcomes(case)
    useless = isinstance(outcome, Exception) and not isinstance(outcome, Misconduct) and not hasattr(outcome, "answer_line")
    if useless or isinstance(right, Tensor) and isinstance(outcome, Tensor) and right.shape != outcome.shape:
        pairs = zip(expected.calls[case], outcomes.calls.get(case, ()), strict=False)
        return next(filter(None, (unlike_result(*pair) for pair in pairs)), "")
    return ""


def unlike_result(wanted: Any, got: Any, place: str = "") -> str:
    """How what a call returned is of another shape, or of how many parts, than the reference's; else empty."""
    if isinstance(wanted, tuple):
        size = len(got) if isinstance(got, tuple | list) else 1
        if len(wanted) != size:
            return f"Returns {count(size, 'result')}; {len(wanted)} are asked for"
        places = [f" as result {at + 1}" for at in range(size)]
        return next(filter(None, map(unlike_result, wanted, got, places)), "")
    if isinstance(wanted, Tensor) and isinstance(got, Tensor) and wanted.shape != got.shape:
        return f"Expected shape {tuple(wanted.shape)}{place}, got {tuple(got.shape)}"
    return ""


def difference(expected: Any, got: Any, exact_dtype: bool = False) -> str:
    """How an outcome differs from the expected one, in words; empty where it does not."""
    if isinstance(got, Exception):
        same = type(got) is type(expected) and str(got) == str(expected)
        return "" if same else describe_error(got)
    expected, got = (value.item() if isinstance(value, np.generic) else value for value in (expected, got))
    if got is None and expected is not None:
        return "Expected an answer, got None (is a return missing?)"
    got = got if exact_dtype else in_form(expected, got)
    if not isinstance(got, type(expected)):
        plain = isinstance(got, str | bool | int | float) and mismatch(expected, got)
        return plain or f"Expected type {type(expected).__name__}, got type {type(got).__name__}"
    if isinstance(expected, Tensor):
        return tensor_difference(expected, got, exact_dtype)
    if isinstance(expected, list):
        return list_difference(expected, got)
    if got == expected:
        return ""
    if isinstance(got, str) and {*expected.split()} - NEGATIONS <= {*got.split()} - {expected}:
        return f"Got {got}"  # "more than two", where no more than two are expected
    return f"Expected {expected}, got {got}"


def in_form(expected: Any, got: Any) -> Any:
    """The outcome as the expected one is written: numbers and truth values of torch or NumPy as Python's, a list for a tuple as a tuple."""
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        parts = map(in_form, (*expected, *[expected[-1]] * (len(got) - len(expected))), got) if expected else got
        return tuple(parts) if isinstance(expected, tuple) else type(got)(parts)
    if type(expected) not in (bool, int, float):
        return got
    boxed = isinstance(got, np.generic | np.ndarray | Tensor) and not got.shape
    number = got.item() if boxed else got
    of_kind = isinstance(number, int | float) and isinstance(number, bool) == isinstance(expected, bool)
    same = of_kind and number == type(expected)(number)
    return type(expected)(number) if same else number


def tensor_difference(expected: Tensor, got: Tensor, exact_dtype: bool = False) -> str:
    alike = not exact_dtype and kind(expected) == kind(got)
    for trait in ("dtype", "device", "layout", "shape"):
        wanted, actual = getattr(expected, trait), getattr(got, trait)
        if wanted != actual and not (trait == "dtype" and alike):
            show = tuple if trait == "shape" else str
            return f"Expected {trait} {show(wanted)}, got {show(actual)}"
    dtype = torch.promote_types(expected.dtype, got.dtype)
    expected, got = expected.to(dtype), got.to(dtype)
    if torch.equal(expected, got):
        return ""  # nearly always, and sooner known
    within = TOLERANCE if dtype.is_floating_point or dtype.is_complex else 0
    wrong = ~torch.isclose(got, expected, rtol=within, atol=within, equal_nan=True)
    if not wrong.any():
        return ""
    at = tuple(wrong.nonzero()[0].tolist())
    place = f"At {at}: expected" if at else "Expected"
    return f"{place} {number(expected[at].item())}, got {number(got[at].item())}"


def kind(x: Tensor) -> str:
    """What the numbers of a tensor are, in whatever precision."""
    if x.dtype == torch.bool:
        return "truth values"
    return "complex" if x.is_complex() else "fractions" if x.is_floating_point() else "whole numbers"


def list_difference(expected: list, got: list) -> str:
    """Lists are collections here: their order does not matter."""
    for entry in got:
        if type(entry) is not type(expected[0]):
            return f"Expected a list of {type(expected[0]).__name__}, got one of {type(entry).__name__}"
    missing, left = [], list(got)
    for entry in expected:
        if entry in left:
            left.remove(entry)
        else:
            missing.append(f"missing {entry}")
    extra = [f"{'too often' if entry in expected else 'not expected'} {entry}" for entry in left]
    if not missing and not extra:
        return ""
    return "; ".join([f"Expected {count(len(expected), 'entry', 'entries')}, got {len(got)}", *missing[:1], *extra[:1]])


def describe(name: str, value: Any) -> str:
    """An argument as one would write it; of a tensor with many or with long numbers, the shape."""
    if not isinstance(value, Tensor):
        return f"{name} = {written(value)}"
    kind = str(value.dtype).removeprefix("torch.")
    note = "" if kind in ("float32", "int64") else f" ({kind})"
    if is_whole(value):
        return f"{name} = {written((value.long() if kind == 'bool' else value).tolist())}{note}"
    return f"{name} {tuple(value.shape)}{note}"


def is_whole(value: Any) -> bool:
    """Whether the description of an argument tells all its numbers."""
    if not isinstance(value, Tensor):
        return True
    numbers = value.double()
    return value.numel() <= WHOLE and torch.equal(numbers, (1000 * numbers).round() / 1000)


def written(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return repr(value + 0.0 if isinstance(value, float) else value)


def describe_error(error: Exception) -> str:
    message = textwrap.shorten(str(error).partition("\n")[0], 200)
    if isinstance(error, Misconduct):
        return message
    place = getattr(error, "answer_line", "")
    return f"Raises {type(error).__name__}" + f": {message}" * bool(message) + f"; {place}" * bool(place)


def number(value: Any) -> str:
    """Rounded, so that the text is the same on every processor; all else as it is."""
    if not isinstance(value, float):
        return f"{value}"
    return f"{round(value, 4) + 0.0:.4f}" if abs(value) < 1e6 else f"{value:.3e}"


def count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def wrap_text(lines: list[str]) -> str:
    """At most 70 characters a line; what continues a line is indented under it."""
    wrapped = (textwrap.wrap(line, 70, subsequent_indent="    ", break_on_hyphens=False) for line in lines)
    return "\n".join(part for parts in wrapped for part in parts)
