"""What cases that several chapters share can see."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from d2lpos.check.cases import by_hand, no_loop, positions_and_mask, several, two_tensors
from d2lpos.check.verdict import Misconduct

FEW, MANY = [torch.ones(2)] * 4, [torch.ones(2)] * 64


def through_map(rows):
    """A loop in C: Python makes no steps in it, but torch is asked for each row."""
    return list(map(torch.sin, rows))


def in_python(rows):
    """A loop that asks nothing of torch."""
    total = 0
    for _ in rows:
        total += 1
    return total


def at_once(rows):
    return torch.stack(rows).sin()


def with_a_branch(rows):
    """More is written for many rows than for few, and nothing again and again."""
    if len(rows) > 8:
        first = rows[0]
        last = rows[-1]
        both = first, last
        both = both[::-1]
    return torch.stack(rows).sin()


def beside_many_lines(rows):
    """A loop of Python hides behind a longer one that is always the same."""
    for _ in range(100):
        pass
    return [float(row[0]) for row in map(np.asarray, rows)]


def test_a_branch_is_no_loop_and_a_loop_beside_many_lines_is_one():
    case = no_loop("no loop", "4 rows", (FEW,), (MANY,))
    assert case.ask(with_a_branch) == "no more operations than for 4 rows"
    assert case.ask(beside_many_lines) == "more operations than for 4 rows"


def test_a_loop_is_told_from_one_call_for_all():
    case = no_loop("no loop", "4 rows", (FEW,), (MANY,))
    assert case.ask(through_map) == case.ask(in_python) == "more operations than for 4 rows"
    assert case.ask(at_once) == "no more operations than for 4 rows"


def test_who_calls_the_package_is_told():
    package = SimpleNamespace(inner=lambda x: x + 1)
    case = by_hand("by hand", package, "inner", "outer", (1,), (5,))
    assert case.ask(lambda x: x + 1) == "written by hand"
    with pytest.raises(Misconduct, match="Calls the package's outer, which is what you are to write"):
        case.ask(lambda x: package.inner(x) if x > 1 else x + 1)  # in the last call alone
    assert package.inner(1) == 2


@pytest.mark.parametrize(
    "outcome",
    [(1, 2.5), [1.0, 2.5], np.array([1, 2.5]), torch.tensor([1, 2.5]), (np.float32(1), torch.tensor(2.5))],
)
def test_several_numbers_come_in_any_form(outcome):
    numbers = several(outcome, "one", "other")
    assert numbers == [1, 2.5] and [type(part) for part in numbers] == [int, float]


@pytest.mark.parametrize(("outcome", "words"), [
    (7, "Returns type int; 2 numbers are asked for: one, other"),
    (torch.tensor(7), "Returns type Tensor; 2 numbers"),
    (np.ones(3), "Returns 3 entries; 2 numbers"),
    ([1], "Returns 1 entry; 2 numbers"),
    ([1, "2"], "Returns type str for other; a number is asked for"),
    ([True, 2], "Returns type bool for one"),
])
def test_what_is_not_several_numbers_is_named(outcome, words):
    with pytest.raises(Misconduct, match=f"^{words}"):
        several(outcome, "one", "other")


HERE, SEEN = torch.arange(2, dtype=torch.int32), torch.ones(2, 2) > 0


@pytest.mark.parametrize(("outcome", "words"), [
    (HERE, "Two tensors are asked for: positions and mask"),
    ((HERE, SEEN, SEEN), "Two tensors are asked for"),
    ((HERE, SEEN.tolist()), "Two tensors are asked for"),
    ((HERE, SEEN[None]), r"Returns shapes \(2,\) and \(1, 2, 2\); positions and mask are \(2,\) and \(2, 2\) here"),
    ((HERE.float(), SEEN), "Positions are torch.float32; whole numbers are asked for"),
    ((HERE > 0, SEEN), "Positions are torch.bool"),
    ((HERE, SEEN.long()), "The mask is torch.int64; it is to be Boolean"),
])
def test_what_is_not_positions_and_a_mask_is_named(outcome, words):
    with pytest.raises(Misconduct, match=f"^{words}"):
        positions_and_mask(outcome, (2,), (2, 2))


def test_positions_of_any_whole_type_are_int64_and_fractions_stay():
    assert positions_and_mask([HERE, SEEN], (2,), (2, 2))[0].dtype == torch.int64
    assert [part.dtype for part in two_tensors((HERE, SEEN.double()), "u and w", (2,), (2, 2))] == [torch.int64, torch.float64]
