"""The cases of a check differ: what never changes over them, an answer could take for granted."""

import re
from collections.abc import Iterator
from itertools import combinations, groupby, pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from notebooks import checked
from torch import Tensor

from d2lpos.check.verdict import Check, call, call_or_exception, difference
from tests.check.exercises import CHECKS

TOKENS = {"T", "N", "n", "length", "tokens", "rows", "sequence", "queries", "query", "keys", "key", "times", "nodes"}
SHAPE = re.compile(r"\(((?:…|[^(),]{1,22})(?:, [^(),]{1,22})*),?\)")  # as a statement writes it: (…, T, d)


def statements() -> dict[str, str]:
    """What is asked, by the name of the check."""
    words = {}
    for chapter in checked(Path(__file__).parents[2]):
        cells = [
            cell
            for cell in nbformat.read(chapter, as_version=4).cells
            if "exercise" in cell.metadata.get("tags", [])
        ]
        for _, parts in groupby(cells, lambda cell: cell.metadata.d2lpos.id):
            text = "\n".join(cell.source for cell in parts)
            words.update(dict.fromkeys(re.findall(r"^check\.(\w+)\(", text, re.MULTILINE), text))
    return words


STATEMENTS = statements()


def unchanging(check: Check, statement: str) -> set[str]:
    """Traits of the arguments that are the same in all calls, but for the sizes of which the statement tells."""
    names = re.search(rf"def {check.name}\((.*?)\)", statement, re.DOTALL)[1].replace(",", " ").split()
    calls = [dict(zip(names, arguments, strict=True)) for arguments in compared(check)]
    same_traits = set()
    for traits in (sizes, scalars, always):
        by_call = [dict(traits(arguments)) for arguments in calls]
        for name in set().union(*by_call):
            values = [traits[name] for traits in by_call if name in traits]
            if same(values) and (traits is always or len(values) == len(calls)):
                same_traits.add(name if traits is always else f"{name} is {values[0]}")
    same_traits |= {*equal_sizes(calls), *short_texts(calls, statement)}
    return {trait for trait in same_traits if not is_told(trait, calls, statement)}


def same(values: list) -> bool:
    return len({repr(value) for value in values}) == 1 and values[0] is not False


def compared(check: Check) -> Iterator[tuple]:
    """The arguments in the cases that compare what comes out, and not an error or the number of steps."""
    for cases in check.properties.values():
        for case in cases:
            calls: list[tuple] = []
            expected = call_or_exception(
                case.ask, lambda *arguments, calls=calls: calls.append(arguments) or check.reference(*arguments)
            )
            empty = call_or_exception(case.ask, lambda *_: None)
            if not isinstance(expected, Exception) and call_or_exception(difference, expected, empty):
                yield from calls


# Traits ------------------------------------------------------------------------------------------------------


def inner(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The arguments, and what those hold that have names for it, such as a configuration."""
    for name, value in arguments.items():
        yield name, value
        if isinstance(value, dict):
            yield from ((f"{name}[{key!r}]", one) for key, one in value.items())


def sizes(arguments: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for name, value in inner(arguments):
        if isinstance(value, Tensor):
            yield from ((f"{name}.shape[-{axis}]", value.shape[-axis]) for axis in range(1, value.dim() + 1))
        if isinstance(value, list):
            yield f"len({name})", len(value)


def scalars(arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in inner(arguments):
        if isinstance(value, int | float | str | torch.dtype) or value is None:
            yield name, value


def always(arguments: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """What could be false of an argument, and whether it is true."""
    held = [part for value in arguments.values() if isinstance(value, list | tuple) for part in value]
    equal = [
        (one, other)
        for one, other in combinations(held, 2)
        if one == other and isinstance(one, int | float | str)
    ]
    if equal:
        yield "entries that are equal are one object", all(one is other for one, other in equal)
    for (one, a), (other, b) in combinations(arguments.items(), 2):
        if paired := in_pairs(a, b):
            yield f"{one} is at least {other}", all(x >= y for x, y in paired)
            yield f"{one} is at most {other}", all(x <= y for x, y in paired)
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape != (1,):
            yield f"{one} equals {other} where both have one shape", torch.equal(a, b)
    for name, value in arguments.items():
        if isinstance(value, dict) and len(value) > 1:
            yield f"the keys of {name} rise", all(one <= other for one, other in pairwise(value))
        if isinstance(value, float) or isinstance(value, Tensor) and value.is_floating_point():
            yield f"{name} is whole", bool(torch.as_tensor(value).frac().eq(0).all())
        if isinstance(value, Tensor) and value.dim() > 1:
            yield f"{name} is contiguous", value.is_contiguous() or 1 >= sum(size > 1 for size in value.shape)
            norms = value.double().norm(dim=-1)
            if value.is_floating_point() and value.shape[-2] > 1:
                yield f"rows of {name} have one norm", bool((norms - norms[..., :1]).abs().max() < 1e-6)
        row = value.tolist() if isinstance(value, Tensor) and value.dim() == 1 else value
        if isinstance(row, list) and len(set(map(repr, row))) > 1 and not isinstance(row[0], list | Tensor):
            yield f"{name} rises", all(one <= other for one, other in pairwise(row))
            yield f"{name} falls", all(one >= other for one, other in pairwise(row))
        if isinstance(row, list) and len(row) > 1:
            yield f"entries of {name} are equal", len(set(map(repr, row))) == 1


def in_pairs(one: Any, other: Any) -> list[tuple[float, float]]:
    """The numbers of two tensors of one shape, or of what two dictionaries have under one key, side by side."""
    if all(isinstance(x, Tensor) and x.is_floating_point() for x in (one, other)) and one.shape == other.shape:
        return [*zip(one.flatten().tolist(), other.flatten().tolist(), strict=True)]
    if isinstance(one, dict) and isinstance(other, dict):
        return [(one[key], other[key]) for key in one.keys() & other.keys() if isinstance(one[key], float)]
    return []


def equal_sizes(calls: list[dict]) -> Iterator[str]:
    """Two sizes, or a size and a number, that are equal in every call."""
    by_call = []
    for arguments in calls:
        numbers = {name: value for name, value in scalars(arguments) if type(value) is int}
        by_call.append(
            numbers | {name: size for name, size in sizes(arguments) if "[" not in name.split(".shape")[0]}
        )
    for one, other in combinations(sorted(set.intersection(*map(set, by_call))), 2):
        if all(numbers[one] == numbers[other] for numbers in by_call):
            yield f"{one} is {other}"


def short_texts(calls: list[dict], statement: str) -> Iterator[str]:
    """No axis of tokens is as long as a window that an answer might have."""
    lengths = [
        size
        for arguments in calls
        for name, size in (*sizes(arguments), *scalars(arguments))
        if written(name, arguments, statement) & TOKENS
    ]
    if max(lengths, default=16) < 16:
        yield "texts are short"


# What the statement tells ------------------------------------------------------------------------------------


def is_told(trait: str, calls: list[dict], statement: str) -> bool:
    """Whether the statement says that something rises, or writes a size as a number or two with one letter: (T, d), (N, d)."""
    if trait.endswith(" rises") and re.search(r"\b(rise|rising)\b", statement):
        return True
    one, _, other = trait.partition(" is ")
    return bool(written(one, calls[0], statement) & written(other, calls[0], statement))


def written(size: str, arguments: dict[str, Any], statement: str) -> set[str]:
    """What stands for a size in the shapes of the statement that have as many axes as the tensor; a number for itself."""
    axis = re.fullmatch(r"(\w+)\.shape\[-(\d+)\]", size)
    if not axis:
        return {size}
    dims, at = arguments[axis[1]].dim(), int(axis[2])
    shapes = [shape.split(", ") for shape in SHAPE.findall(statement.replace("`", ""))]
    return {
        shape[-at] for shape in shapes if at <= len(shape) and (len(shape) == dims or shape[0] == "…")
    } - {"…"}


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if callable(check.reference)], ids=lambda check: check.name
)
def test_cases_differ_in_all_that_the_exercise_leaves_open(check):
    same_traits = unchanging(check, STATEMENTS[check.name])
    assert same_traits == set(check.fixed), (
        "add cases that differ in this, or say in `fixed` where the exercise says that it is so"
    )


def test_what_never_changes_is_found():
    check = Check("double", lambda x, m: 2 * x, {"all": [call(x=torch.ones(m, 4), m=m) for m in (2, 3)]}, {})
    rows = {"rows of x have one norm", "x is whole"}
    assert unchanging(check, "def double(x, m)") == rows | {"x.shape[-1] is 4", "m is x.shape[-2]"}
    assert unchanging(check, "`x` is `(m, 4)`.\ndef double(x, m)") == rows
    assert unchanging(check, "`x` is `(T, 4)`.\ndef double(x, m)") == rows | {"m is x.shape[-2]", "texts are short"}


def test_errors_and_steps_compare_no_sizes():
    check = Check("root", lambda x: x.sqrt() if x.dim() else 1 / 0, {"all": [call(x=torch.tensor(4.0))]}, {})
    assert not list(compared(check))
