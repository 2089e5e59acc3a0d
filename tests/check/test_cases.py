"""What cases that several chapters share can see."""

import torch

from d2lpos.check.cases import Count, no_loop

FEW, MANY = [torch.ones(2)] * 4, [torch.ones(2)] * 64


def through_map(rows):
    """A loop in C: Python makes no steps in it, but torch is asked for each row."""
    return list(map(torch.sin, rows))


def at_once(rows):
    return torch.stack(rows).sin()


def counted(answer, rows):
    count = Count()
    count.ask(answer, rows)
    return count


def test_what_is_asked_of_torch_counts():
    few, many = counted(through_map, FEW), counted(through_map, MANY)
    assert (few.calls, many.calls) == (4, 64)
    assert few.steps == many.steps
    assert many.exceeds(few)


def test_a_loop_is_told_from_one_call_for_all():
    case = no_loop("no loop", "4 rows", (FEW,), (MANY,))
    assert case.ask(through_map) == "more than the operations of 4 rows"
    assert case.ask(at_once) == "no more than the operations of 4 rows"
