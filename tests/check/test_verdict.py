"""What a check says, word for word."""

import sys
import threading
import time
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
import torch

from d2lpos.check import verdict as module
from d2lpos.check.cases import exact_dtype
from d2lpos.check.verdict import (
    Answer,
    Case,
    Check,
    Late,
    call,
    describe,
    difference,
    is_telling,
    with_timeout,
)

PAIR = torch.tensor([1.0, -2.0])
double = Check(
    "double",
    reference=lambda x: 2 * x,
    properties={
        "twice as much": [call(x=PAIR), call(x=torch.ones(2, 3))],
        "large numbers": [call("x = 1e30", x=torch.tensor(1e30))],
    },
    mistakes={
        "This is half.": lambda x: x / 2,
        "This is limited to 1000.": lambda x: (2 * x).clamp(max=1000),
        "This is the square of a large number.": lambda x: x * x if x.max() > 1000 else 2 * x,
    },
)
colors = Check(
    "colors", reference=lambda: [("red", 1), ("green", 2)], properties={"all": [call()]}, mistakes={},
)
ratio = Check("ratio", reference=lambda: 0.5, properties={"all": [call()]}, mistakes={})
table = Check(
    "table", reference={"sky": "blue", "is far": True},
    properties={"sky": [Case("the sky", lambda t: t["sky"])], "far": [Case("it", lambda t: t["is far"])]},
    mistakes={},
)


def stub(x):
    """Twice x."""
    ...  # noqa: PIE790 (as in a chapter)


def returns_dots(x):
    half = ...
    return half


def forgets_to_return(x):
    2 * x


def in_place(x):
    return x.mul_(2)


def noisy(x):
    return x * torch.randn(x.shape)


def drifting():
    calls = []

    def answer(x):
        calls.append(x)
        return len(calls) * x

    return answer


def test_passed():
    verdict = double(lambda x: x + x)
    assert repr(verdict) == "✓ double: 2 properties hold\n  twice as much\n  large numbers"
    assert verdict.passed and bool(verdict)
    assert (verdict.kind, verdict.why, verdict.error, verdict.hint) == ("passed", "", "", "")
    assert repr(colors(colors.reference)) == "✓ colors: 1 property holds\n  all"


@pytest.mark.parametrize("answer", [..., stub, returns_dots, lambda x: ..., [...], {"sky": ..., "sea": ...}])
def test_not_attempted(answer):
    verdict = double(answer)
    assert repr(verdict) == "○ double: not attempted yet"
    assert verdict.kind == "not attempted" and not verdict.passed and not verdict


@pytest.mark.parametrize("answer", [[1, ..., 3], {"sky": "blue", "sea": ..., "sun": "red"}])
def test_partly_attempted(answer):
    verdict = double(answer)
    assert repr(verdict) == "○ double: 1 of 3 still open"
    assert (verdict.kind, verdict.why) == ("open", "double: 1 of 3 still open")
    assert not verdict.passed and not verdict


TRY = "To try it: double(*check.double.example())"
FIRST = """✗ double: fails 2 of 2 properties
Property: twice as much
Input: x = [1.0, -2.0]
"""


@pytest.mark.parametrize(("answer", "diagnosis"), [
    (lambda x: 3 * x, "At (0,): expected 2.0000, got 3.0000"),
    (lambda x: x + 1, "At (1,): expected -4.0000, got -1.0000"),
    (lambda x: 2 * x * 1.0003, "At (0,): expected 2.0000, got 2.0006"),
    (lambda x: -1e-9 * x, "At (0,): expected 2.0000, got 0.0000"),
    (lambda x: x / 0, "At (0,): expected 2.0000, got inf"),
    (lambda x: x * torch.nan, "At (0,): expected 2.0000, got nan"),
    (lambda x: 1e6 * x, "At (0,): expected 2.0000, got 1.000e+06"),
    (lambda x: 999_999 * x, "At (0,): expected 2.0000, got 999999.0000"),
    (lambda x: x / 2, "At (0,): expected 2.0000, got 0.5000\nHint: This is half."),
    (lambda x: 2 * x[:1], "Expected shape (2,), got (1,)"),
    (lambda x: (2 * x).long(), "Expected dtype torch.float32, got torch.int64"),
    (lambda x: 2 * x.to("meta"), "Expected device cpu, got meta"),
    (lambda x: (2 * x).to_sparse(), "Expected layout torch.strided, got torch.sparse_coo"),
    (lambda x: 2 * x.numpy() if x.dim() < 2 else 2 * x, "Expected type Tensor, got type ndarray"),
    (forgets_to_return, "Expected an answer, got None (is a return missing?)"),
    (lambda x: 2 * y, "Raises NameError: name 'y' is not defined; line "),  # noqa: F821 (on purpose)
    (lambda: 1, "Raises TypeError: <lambda>() takes 0 positional arguments but 1 was"),
    (in_place, "Changes its argument x in place"),
    (drifting(), "Returns something else when called again with the same input"),
])
def test_diagnosis(answer, diagnosis):
    assert repr(double(answer)).startswith(FIRST + diagnosis)


def test_a_pair_of_which_one_part_changes_is_noticed():
    drift = drifting()
    verdict = Check("pair", lambda x: (x, x), {"all": [call(x=PAIR)]}, {})(lambda x: (x, drift(x)))
    assert repr(verdict).endswith("Returns something else when called again with the same input")


def test_not_a_number_is_no_other_number_each_time():
    verdict = repr(ratio(lambda: float("nan")))
    assert verdict.splitlines()[-1] == "Expected 0.5, got nan"


def test_the_hint_explains_what_passed_too():
    """Two mistakes give infinity for a large number; one of them would have failed before."""
    verdict = repr(double(lambda x: torch.where(x > 1000, x * x, 2 * x)))
    assert verdict == (
        f"✗ double: fails 1 of 2 properties\nProperty: large numbers\nInput: x = 1e30\n{TRY}\n"
        "Expected 2.000e+30, got inf\nHint: This is the square of a large number."
    )
    assert double(lambda x: torch.where(x > 1000, 7.0, 2 * x)).hint == ""


@pytest.mark.parametrize(("entries", "text"), [
    ([("green", 2)], "Expected 2 entries, got 1; missing ('red', 1)"),
    ([("red", 1), ("green", 2), ("blue", 3)], "Expected 2 entries, got 3; not expected ('blue', 3)"),
    ([("red", 1), ("green", 2), ("red", 1)], "Expected 2 entries, got 3; too often ('red', 1)"),
    ([("a", 3), ("b", 4)], "Expected 2 entries, got 2; missing ('red', 1); not expected ('a', 3)"),
    (["red", "green"], "Expected a list of tuple, got one of str"),
    ([(np.ones(2), 1)], "Returns something that cannot be compared"),
])
def test_lists(entries, text):
    assert repr(colors(lambda: entries)).splitlines()[-1] == text


def test_lists_have_no_order():
    assert colors(lambda: [("green", 2), ("red", 1)])
    assert difference([0, 0, 1], [0, 1, 1]) == "Expected 3 entries, got 3; missing 0; too often 1"


def test_other_answers_than_functions():
    assert table({"is far": True, "sky": "blue"})
    assert table({"is far": np.True_, "sky": "blue"})
    assert repr(table({"is far": np.False_, "sky": "blue"})).endswith("Expected True, got False")
    assert repr(table({"is far": True, "sky": np.True_})).endswith("Expected a name in quotes, got True")
    assert repr(table({"is far": True, "sky": "red"})).endswith("Expected blue, got red")
    assert repr(table({"is far": 1, "sky": "blue"})).endswith("Expected True or False, got 1")


def test_the_reader_is_not_disturbed():
    """Neither random numbers nor threads nor arguments change for what comes after a check."""
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    threads = torch.get_num_threads()
    double(noisy)
    double(in_place)
    assert torch.equal(torch.randn(3), expected)
    assert torch.get_num_threads() == threads
    assert PAIR.tolist() == [1.0, -2.0]


def test_an_interrupt_is_not_swallowed():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        double(interrupted)


# In the terms of who wrote the answer ------------------------------------------------------------------------

pair = Check(
    "pair",
    reference=lambda x: (x.sum(), x),
    properties={"in sum": [Case("a pair", lambda f: torch.add(*f(PAIR))), Case("again", lambda f: torch.add(*f(PAIR)))]},
    mistakes={},
)
few = Check("few", lambda: None, {"all": [Case("it", lambda f: f() or "no more than two")]}, {})


def raises_below(x):
    return x.view(3)


@pytest.mark.parametrize(("check", "answer", "text"), [
    (pair, lambda x: (x.sum(), x[None]), "Expected shape (2,) as result 2, got (1, 2)"),
    (pair, lambda x: x.sum(), "Returns 1 result; 2 are asked for"),
    (pair, lambda x: [x, x, x], "Returns 3 results; 2 are asked for"),
    (few, lambda: "more than two", "Got more than two"),
    (double, raises_below, "Raises RuntimeError: shape '[3]' is invalid for input of size 2; line {}: return x.view(3)"),
])
def test_a_message_speaks_of_what_the_answer_returns(check, answer, text):
    line = raises_below.__code__.co_firstlineno + 1
    assert " ".join(repr(check(answer)).split()).endswith(text.format(line))


@pytest.mark.parametrize(("check", "answer", "text"), [
    (double, lambda x: [x], "double: Expected type Tensor, got type list"),
    (double, lambda x: x.dim() < 2, "double: Expected type Tensor, got type bool"),
    (table, {"sky": 1, "is far": 1}, None),
    (table, {"sky": "blue"}, "table: The entry 'is far' is missing"),
])
def test_what_is_wrong_in_all_cases_is_one_sentence(check, answer, text):
    verdict = check(answer)
    assert (repr(verdict) == f"✗ {text}" and verdict.why == text) if text else "Property: sky" in repr(verdict)


def test_inputs_can_be_tried():
    double(lambda x: 2 * x if x.max() < 1000 else x)
    [x] = double.example()
    assert x == torch.tensor(1e30)
    x.zero_()
    assert double.example()[0] == torch.tensor(1e30)
    assert torch.equal(*map(torch.stack, (pair.example(), (PAIR,)))) and table.example() == ()


# A verdict is asked for its kind, and its text is for a reader ----------------------------------------------


def raises(error):
    def answer(x):
        raise error

    return answer


@pytest.mark.parametrize(("answer", "kind", "error"), [
    (lambda x: x / 2, "failed", ""),
    (in_place, "failed", ""),
    (lambda x: 2 * x if x.dim() < 2 else 1 / 0, "failed", "ZeroDivisionError"),
    (raises(KeyError("allocate memory: MemoryError")), "failed", "KeyError"),
    (raises(ValueError("Has not ended after 9 seconds")), "failed", "ValueError"),
    (raises(RuntimeError("shapes differ")), "failed", "RuntimeError"),
    (raises(MemoryError()), "memory", "MemoryError"),
    (lambda x: torch.empty(10**15), "memory", "RuntimeError"),
])
def test_a_verdict_tells_what_an_answer_took_and_raised(answer, kind, error):
    verdict = double(answer)
    assert (verdict.kind, verdict.why, verdict.error) == (kind, "twice as much", error)


@pytest.mark.parametrize(("answers", "kind", "why", "hint"), [
    ((lambda: 1, 27, ...), "open", "names: not attempted yet", ""),
    ((..., 27, ["rope", "alibi"]), "open", "reads: not attempted yet", ""),
    ((..., 28, ...), "failed", "whole: It is not 28", "One too many."),
    ((lambda: 2, 28, ...), "failed", "all", ""),
    ((lambda: 1 / 0, ..., ...), "failed", "all", ""),
    ((lambda: 1, 27), "failed", "reads: takes 2 answers, got 1", ""),
])
def test_of_several_parts_the_worst_one_counts(answers, kind, why, hint):
    verdict = reads(*answers)
    assert (verdict.kind, verdict.why, verdict.hint) == (kind, why, hint)


# A hint names only what the answer does ---------------------------------------------------------------------

guess = Check(
    "guess",
    reference=lambda n: n > 2,
    properties={"small": [call(n=n) for n in (1, 2)], "large": [call(n=n) for n in (3, 4, 5)]},
    mistakes={
        "This is never true.": lambda n: False,
        "Of two, one is enough.": (lambda n: n > 1, lambda n: n > 0),
        "This is an integer.": lambda n: int(n > 2),
        "An even number fails.": lambda n: 1 / (n % 2) > 0,
        "The first one fails.": lambda n: 1 / (n - 1) < 1,
    },
)


@pytest.mark.parametrize(("answer", "hint"), [
    (lambda n: False, "This is never true."),
    (lambda n: n > 4, ""),  # the same word for 3, and another for 5
    (lambda n: n > 1, "Of two, one is enough."),
    (lambda n: n > 0, "Of two, one is enough."),
    (lambda n: n == 2, ""),
    (lambda n: 1 if n < 3 else 0, ""),
    (lambda n: 7 * int(n > 2), "This is an integer."),
    (lambda n: int(n > 2), "This is an integer."),
    (lambda n: 1 / (n % 2) > 0, "An even number fails."),
    (lambda n: 1 / (n % 2) > 0 if n < 3 else True, ""),  # the same error, and nothing wrong with 4
    (lambda n: 1 / (n - 1) < 1, "The first one fails."),
    (lambda n: 1 / (n - 1) < 1 / 2, ""),  # the same error, and 3 is wrong, too
])
def test_a_hint_is_given_where_the_mistake_is_made(answer, hint):
    assert guess(answer).hint == hint


@pytest.mark.parametrize(("expected", "got", "differs"), [
    (torch.ones(2), torch.ones(2).double(), ""),
    (torch.ones(2).double(), torch.tensor([1, 1.5]), "At (1,): expected 1.0000, got 1.5000"),
    (torch.arange(3), torch.arange(3).int(), ""),
    (torch.arange(3), torch.arange(3).float(), "Expected dtype torch.int64, got torch.float32"),
    (torch.tensor(1_000_000), torch.tensor(1_000_001), "Expected 1000000, got 1000001"),
])
def test_numbers_are_compared_and_no_dtypes(expected, got, differs):
    assert difference(expected, got) == differs


def test_a_dtype_that_the_exercise_names_is_compared():
    check = Check("half", lambda x: x / 2, {"all": [exact_dtype(call(x=PAIR))]}, {})
    assert check(lambda x: x * 0.5)
    assert "Expected dtype torch.float32, got torch.float64" in repr(check(lambda x: x.double() / 2))


OTHER = {torch.float32: torch.int64, torch.int64: torch.float32, torch.bool: torch.int64}


@pytest.mark.parametrize(("dtype", "few"), [(torch.float32, 1), (torch.int64, 4), (torch.bool, 8)])
def test_few_numbers_may_be_the_same_by_chance(dtype, few):
    right = torch.zeros(few, dtype=dtype)
    assert not is_telling(torch.ones(few, dtype=dtype), right)
    assert is_telling(torch.ones(few + 1, dtype=dtype), torch.zeros(few + 1, dtype=dtype))
    assert is_telling(torch.ones(few, dtype=OTHER[dtype]), right)


def test_of_two_mistakes_that_the_answer_makes_the_first_is_told():
    alike = {"This is never true.": lambda n: False, "This is always false.": lambda n: False}
    check = Check("guess", lambda n: n > 2, {"all": [call(n=1), call(n=3)]}, alike)
    verdict = check(lambda n: False)
    assert verdict.hint == "This is never true."
    assert repr(verdict).count("Hint: ") == 1


# Inputs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "text"), [
    (torch.tensor([[0.25, -1.5], [2.0, -0.0]]), "x = [[0.25, -1.5], [2.0, 0.0]]"),
    (torch.tensor([1, 2]), "x = [1, 2]"),
    (torch.tensor([True, False]), "x = [1, 0] (bool)"),
    (torch.tensor(0.5).double(), "x = 0.5 (float64)"),
    (torch.tensor([float("-inf")]), "x = [-inf]"),
    (torch.ones(25), "x (25,)"),
    (torch.tensor([1 / 3]).half(), "x (1,) (float16)"),
    (3, "x = 3"),
    ("half", "x = 'half'"),
])
def test_small_inputs_are_told_whole(value, text):
    assert describe("x", value) == text


# An answer that never ends ----------------------------------------------------------------------------------


def forever(x):
    while True:
        x = x + 0


def deaf(x):
    """Catches what it can, as long as it is Python's own."""
    while True:
        try:
            forever(x)
        except Exception:  # noqa: S112, BLE001 (what it does wrong)
            continue


@pytest.mark.parametrize("answer", [forever, deaf])
def test_an_answer_that_never_ends_is_stopped(answer, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    threads, began = threading.active_count(), time.monotonic()
    verdict = double(answer)
    assert verdict.kind == "time" and repr(verdict) == FIRST + "Has not ended after 0.2 seconds"
    assert time.monotonic() - began < 10  # once, not once a case
    for thread in threading.enumerate()[threads:]:
        thread.join(5)
    assert threading.active_count() <= threads


def test_an_answer_is_not_stopped_amid_an_import(monkeypatch, tmp_path):
    (tmp_path / "slow_to_import.py").write_text("from time import *\nend = thread_time() + 0.5\nwhile thread_time() < end: pass\nwhole = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    assert double(lambda x: forever(x) if __import__("slow_to_import").whole else x).kind == "time"
    assert sys.modules.pop("slow_to_import").whole
    (tmp_path / "asks.py").write_text("from d2lpos.check.permutation import attention\ntext = repr(attention(lambda *x: [... for _ in iter(int, 1)]))")
    assert "after 0.2 seconds" in __import__("asks").text  # though the one who asks is amid an import
    del sys.modules["asks"]


def test_one_late_case_shows_behind_others(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    text = repr(double(lambda x: forever(x) if x.max() > 1000 else 2 * x))
    assert text.endswith(f"Property: large numbers\nInput: x = 1e30\n{TRY}\nHas not ended after 0.2 seconds")


def test_seconds_are_those_of_the_processor(monkeypatch):
    """A right answer on a busy machine waits for its turn, which is not its fault; one that waits for ever is stopped."""
    assert with_timeout(0.05, lambda: time.sleep(0.2) or 1) == 1
    monkeypatch.setattr(module, "CEILING", 3)
    with pytest.raises(Late, match=r"^Has not ended after 0\.15 seconds$"):
        with_timeout(0.05, lambda: [time.sleep(0.01) for _ in range(1000)])


class Unlucky(threading.Condition):
    """Where an answer ends just as its time does, Stop comes when the lock is taken and nothing would release it yet."""

    def __enter__(self):
        super().__enter__()
        if module.WATCH.calls and threading.current_thread() is threading.main_thread():  # as the call ends
            module.WATCH.calls.clear()
            raise module.Stop


def test_an_answer_that_ends_as_it_is_stopped_leaves_no_lock_behind(monkeypatch):
    watch = module.Watch()
    monkeypatch.setattr(module, "WATCH", watch)
    watch.changes = Unlucky()
    with pytest.raises(Late):
        with_timeout(60, lambda: None)
    taken = []
    other = threading.Thread(target=lambda: taken.append(watch.changes.acquire(timeout=5)))
    other.start()
    other.join()
    assert taken == [True]


def test_other_threads_use_none_of_an_answers_seconds():
    """On Linux; elsewhere their work counts."""
    if not hasattr(time, "pthread_getcpuclockid"):
        pytest.skip("this system does not tell how long the processor has worked for a thread")
    ended = threading.Event()
    others = [threading.Thread(target=lambda: [sha256(bytes(2**20)) for _ in iter(ended.is_set, True)]) for _ in range(2)]
    for thread in others:
        thread.start()
    try:
        assert with_timeout(0.2, lambda: time.sleep(0.5) or 1) == 1
    finally:
        ended.set()


def test_nothing_arrives_late():
    """An answer that ends as its time does is either stopped or not; no exception comes behind."""
    for _ in range(20):
        ended = time.monotonic() + 0.02
        try:
            with_timeout(0.02, lambda until: [None for _ in iter(lambda: time.monotonic() < until, False)], ended)
        except Late:
            continue
        sum(range(1000))


# Numbers and names ------------------------------------------------------------------------------------------

whole = Answer("whole", 27, {"One too many.": 28, "This is negative.": lambda n: n < 0})
ratio_of_two = Answer("ratios", (6.2, 19.0), {"They are exchanged.": (19.0, 6.2)}, within=0.1)
names = Answer("names", {"RoPE", "ALiBi"}, {"ALiBi is missing.": {"RoPE"}})
flag = Answer("flag", True, {})
even = Answer("even", lambda n: n % 2 == 0, {"This is odd.": lambda n: n % 2 == 1})
reads = Check("reads", reference=lambda: 1, properties={"all": [call()]}, mistakes={}, answers=(whole, names))


@pytest.mark.parametrize(("answer", "given"), [
    *((whole, given) for given in (27, 27.0, np.int64(27), np.float32(27), torch.tensor(27), Fraction(27))),
    *(
        (ratio_of_two, given)
        for given in ([6.2, 19], (6.25, 18.95), np.array([6.2, 19]), torch.tensor([6.2, 19]))
    ),
    *((names, given) for given in (["alibi", "rope "], ("RoPE", "ALiBi"), {"ROPE", "ALIBI"})),
    *((flag, given) for given in (True, np.True_, torch.tensor(True))),
    *((even, given) for given in (4, np.int64(0), 2.0)),
])
def test_what_is_right_in_any_form(answer, given):
    verdict = answer(given)
    assert verdict and repr(verdict).startswith(f"✓ {answer.name}: ")


@pytest.mark.parametrize(("answer", "given", "text"), [
    (whole, 28, "It is not 28\nHint: One too many."),
    (whole, -3, "It is not -3\nHint: This is negative."),
    (whole, 26.5, "It is not 26.5"),
    (whole, float("nan"), "It is not nan"),
    (whole, "27", "Expected a number, got '27'"),
    (whole, True, "Expected a number, got True"),
    (whole, [27], "Expected a number, got [27]"),
    (whole, np.sin, "Expected a number, got ufunc"),
    (ratio_of_two, (19, 6.2), "It is not [19, 6.2], to within 0.1\nHint: They are exchanged."),
    (ratio_of_two, [6.2], "Expected 2 entries, got 1"),
    (ratio_of_two, 6.2, "Expected 2 entries, got 6.2"),
    (ratio_of_two, ["a", 19], "Expected a number, got 'a'"),
    (names, ["RoPE", "t5"], "It is not ['RoPE', 't5']"),
    (names, {"RoPE"}, "Expected 2 entries, got 1\nHint: ALiBi is missing."),
    (flag, 1, "Expected True or False, got 1"),
    (even, 3, "It is not 3\nHint: This is odd."),
])
def test_what_is_wrong_with_a_number_or_name(answer, given, text):
    assert repr(answer(given)) == f"✗ {answer.name}: {text}"


@pytest.mark.parametrize("given", [..., None, [..., ...], (...,)])
def test_nothing_is_answered_yet(given):
    verdict = names(given)
    assert not verdict
    assert repr(verdict) == "○ names: not attempted yet"


def test_a_check_asks_for_all_its_answers():
    assert repr(reads(lambda: 1, 27, ["rope", "alibi"])) == (
        "✓ reads: 1 property holds\n  all\n✓ whole: 27\n✓ names: ['rope', 'alibi']"
    )
    assert repr(reads(..., ..., ...)) == (
        "○ reads: not attempted yet\n○ whole: not attempted yet\n○ names: not attempted yet"
    )
    assert not reads(lambda: 1, 27, ...)
    assert not reads(lambda: 2, 27, {"rope", "alibi"})
    assert reads(..., ..., ...).kind == "not attempted"
    assert repr(reads(lambda: 1, 27)) == "✗ reads: takes 2 answers, got 1"
    assert reads(lambda: 1)
