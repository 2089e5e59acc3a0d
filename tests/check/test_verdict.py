"""What a check says, word for word."""

import numpy as np
import pytest
import torch

from d2lpos.check.verdict import Case, Check, call

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
    "colors",
    reference=lambda: [("red", 1), ("green", 2)],
    properties={"all": [call()]},
    mistakes={},
)
ratio = Check("ratio", reference=lambda: 0.5, properties={"all": [call()]}, mistakes={})
table = Check(
    "table",
    reference={"sky": "blue", "is far": True},
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
    assert repr(colors(colors.reference)) == "✓ colors: 1 property holds\n  all"


@pytest.mark.parametrize("answer", [..., stub, returns_dots, lambda x: ..., [...], {"sky": ..., "sea": ...}])
def test_not_attempted(answer):
    verdict = double(answer)
    assert repr(verdict) == "○ double: not attempted yet"
    assert not verdict.passed and not verdict


@pytest.mark.parametrize("answer", [[1, ..., 3], {"sky": "blue", "sea": ..., "sun": "red"}])
def test_partly_attempted(answer):
    verdict = double(answer)
    assert repr(verdict) == "○ double: 1 of 3 still open"
    assert not verdict.passed and not verdict


FIRST = """✗ double: fails 2 of 2 properties
Property: twice as much
Input: x = [1.0, -2.0]
"""


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        (lambda x: 3 * x, "At (0,): expected 2.0000, got 3.0000"),
        (lambda x: x + 1, "At (1,): expected -4.0000, got -1.0000"),
        (lambda x: 2 * x * 1.0003, "At (0,): expected 2.0000, got 2.0006"),
        (lambda x: -1e-9 * x, "At (0,): expected 2.0000, got 0.0000"),
        (lambda x: x / 0, "At (0,): expected 2.0000, got inf"),
        (lambda x: x * torch.nan, "At (0,): expected 2.0000, got nan"),
        (lambda x: 1e9 * x, "At (0,): expected 2.0000, got 1.000e+09"),
        (lambda x: x / 2, "At (0,): expected 2.0000, got 0.5000\nHint: This is half."),
        (lambda x: 2 * x[:1], "Expected shape (2,), got (1,)"),
        (lambda x: 2 * x.double(), "Expected dtype torch.float32, got torch.float64"),
        (lambda x: 2 * x.to("meta"), "Expected device cpu, got meta"),
        (lambda x: (2 * x).to_sparse(), "Expected layout torch.strided, got torch.sparse_coo"),
        (lambda x: 2 * x.numpy(), "Expected type Tensor, got type ndarray"),
        (forgets_to_return, "Expected an answer, got None (is a return missing?)"),
        (lambda x: 2 * y, "Raises NameError: name 'y' is not defined"),  # noqa: F821 (on purpose)
        (lambda: 1, "Raises TypeError: <lambda>() takes 0 positional arguments but 1 was"),
        (in_place, "Changes its argument x in place"),
        (noisy, "Returns something else when called again with the same input"),
        (drifting(), "Returns something else when called again with the same input"),
    ],
)
def test_diagnosis(answer, diagnosis):
    assert repr(double(answer)).startswith(FIRST + diagnosis)


def test_not_a_number_is_no_other_number_each_time():
    verdict = repr(ratio(lambda: float("nan")))
    assert verdict.splitlines()[-1] == "Expected 0.5, got nan"


def test_long_lines_are_wrapped():
    def fails(x):
        raise ValueError("a\nb" if x.dim() > 2 else " ".join(["word"] * 100))

    lines = repr(double(fails)).splitlines()
    assert max(map(len, lines)) <= 70
    assert lines[4].startswith("    word")
    assert lines[-1].endswith("[...]")


def test_the_hint_explains_what_passed_too():
    """Two mistakes give infinity for a large number; one of them would have failed before."""
    verdict = repr(double(lambda x: torch.where(x > 1000, x * x, 2 * x)))
    assert verdict == (
        "✗ double: fails 1 of 2 properties\nProperty: large numbers\nInput: x = 1e30\n"
        "Expected 2.000e+30, got inf\nHint: This is the square of a large number."
    )
    assert "Hint" not in repr(double(lambda x: torch.where(x > 1000, 7.0, 2 * x)))


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ([("green", 2)], "Expected 2 entries, got 1; missing ('red', 1)"),
        ([("red", 1), ("green", 2), ("blue", 3)], "Expected 2 entries, got 3; not expected ('blue', 3)"),
        ([("red", 1), ("green", 2), ("red", 1)], "Expected 2 entries, got 3"),
        (["red", "green"], "Expected a list of tuple, got one of str"),
        ([(np.ones(2), 1)], "Returns something that cannot be compared"),
    ],
)
def test_lists(entries, text):
    assert repr(colors(lambda: entries)).splitlines()[-1] == text


def test_lists_have_no_order():
    assert colors(lambda: [("green", 2), ("red", 1)])


def test_other_answers_than_functions():
    assert table({"is far": True, "sky": "blue"})
    assert table({"is far": np.True_, "sky": "blue"})
    assert repr(table({"is far": np.False_, "sky": "blue"})).endswith("Expected True, got False")
    assert repr(table({"is far": True, "sky": np.True_})).endswith("Expected type str, got type bool")
    assert repr(table({"is far": True, "sky": "red"})).endswith("Expected blue, got red")
    assert repr(table({"is far": 1, "sky": "blue"})).endswith("Expected type bool, got type int")


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
