"""Wrong answers by rule: a check's reference answer, each time with one small change.

The change is made in the source of the reference, in whatever functions and constants of the check's module it uses, in
what it is called with, or in what it returns. In the source, an expression may also be taken for what it is in the first case, as
by an answer that goes by the example alone. `mutants` yields them all; `survives` tells whether the check accepts one.
"""

import ast
import copy
import math
import operator
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, reduce
from inspect import getsource, isfunction
from itertools import chain
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from d2lpos.check.verdict import Case, Check, call_or_exception, difference, kind, with_timeout
from tests.check.exercises import EXERCISES
from tests.mutation.rules import Change, changed, has_value, imports, names, places

PATIENCE = 0.3  # seconds of the processor for a case; references take milliseconds
TELLING = (  # what is enough of the source to find a change
    *(ast.Call, ast.Subscript, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Dict),
    *(ast.arguments, ast.stmt),
)


class Mutant(NamedTuple):
    """An answer, what was changed in it, as "before → after", and the place of the change in the source."""

    name: str
    answer: Any
    place: tuple = ()  # the name of a definition, and the way from there to the changed expression


def survivors(check: Check, module: ModuleType) -> Iterator[str]:
    """The mutants of the check's reference that the check accepts, by name.

    A line that this check never runs, because it belongs to another check of the module, is left to that one.
    """
    for mutant in mutants(check, module):
        if survives(check, mutant.answer) and not is_left_to_another(check, module, mutant.place):
            yield mutant.name


def survives(check: Check, answer: Any) -> bool:
    """Whether the check accepts the answer. It is asked no further than to its first wrong outcome."""
    return next(failures(check, answer), None) is None


def failures(check: Check, answer: Any) -> Iterator[str]:
    """For each wrong outcome of the answer, the property whose case it is."""
    for name, case, expected in outcomes(check):
        outcome = call_or_exception(with_timeout, PATIENCE, case.ask, answer)
        if call_or_exception(difference, expected, outcome, case.exact_dtype):
            yield name


def fails_alone(check: Check, answer: Any) -> str | None:
    """The property that the answer fails, if it fails no other."""
    first = None
    for name in failures(check, answer):
        if name != (first := first or name):
            return None
    return first


@cache
def outcomes(check: Check) -> list[tuple[str, Case, Any]]:
    """Each case, the property that it belongs to, and what the reference makes of it."""
    return [
        (name, case, call_or_exception(case.ask, check.reference))
        for name, cases in check.properties.items()
        for case in cases
    ]


def mutants(check: Check, module: ModuleType) -> Iterator[Mutant]:
    """All mutants of the check's reference, which is written in `module`; no two have the same name."""
    names = Counter()
    for mutant in (*of_source(check, module), *of_arguments(check), *of_results(check)):
        names[mutant.name] += 1
        again = f" ({names[mutant.name]})" if names[mutant.name] > 1 else ""
        yield mutant._replace(name=mutant.name + again)


# Changes in the source ---------------------------------------------------------------------------------------


def of_source(check: Check, module: ModuleType) -> Iterator[Mutant]:
    if not callable(check.reference):
        return
    used = source(check, module)
    first = in_the_first_case(check, module, used)

    def more(node: ast.AST) -> Iterator[ast.AST]:
        match node:
            case ast.Compare(left, [ast.Eq()], [right]) if not isinstance(right, ast.Constant):  # of these Python warns
                yield ast.Compare(left, [ast.Is()], [right])
        if node in first:
            yield ast.parse(repr(first[node]), mode="eval").body

    yield from of_statements(used, module, more)


def of_right_answers(check: Check, module: ModuleType) -> Iterator[Mutant]:
    """The check's answers in the table of right ones that a module of tests has."""
    for table in ast.walk(parsed(module)):
        if isinstance(table, ast.Dict):
            for key, answers in zip(table.keys, table.values, strict=True):
                if key and ast.unparse(key) == f"check.{check.name}":
                    for answer in answers.elts:
                        reference = ast.Assign([ast.Name("reference", ast.Store())], copy.deepcopy(answer))
                        used = {**needed(reference, definitions(module)), "reference": reference}
                        yield from of_statements(used, module, lambda _: ())


def of_statements(used: dict[str, ast.stmt], module: ModuleType, more: Callable) -> Iterator[Mutant]:
    """What the last of the statements defines, with each change of one of them."""
    codes = {name: compiled(statement) for name, statement in used.items()}
    for name, statement in used.items():
        for path, change in named_changes(statement, imports(parsed(module)), more):
            answer = call_or_exception(lambda: run({**codes, name: compiled(statement)}, module))  # noqa: B023 (called now)
            if not isinstance(answer, SyntaxError):
                yield Mutant(change, answer, (name, path))


def source(check: Check, module: ModuleType) -> dict[str, ast.stmt]:
    """The statements that make the reference, in the order of the module; the last defines it."""
    statements = definitions(module)
    reference = ast.Assign([ast.Name("reference", ast.Store())], copy.deepcopy(written(check, statements)))
    return {**needed(reference, statements), "reference": reference}


def in_the_first_case(check: Check, module: ModuleType, used: dict[str, ast.stmt]) -> dict[ast.AST, Any]:
    """What each expression of a function is in the first case that evaluates it, where it is the same all through the case.

    Numbers, words and short sequences of them count, such as a size or a shape. What a helper always gets is no mistake.
    """
    nodes, codes, values, varied = [], {}, {}, set()
    entry = getattr(used["reference"].value, "id", "")
    for name, statement in used.items():
        watched = copy.deepcopy(statement)
        for (_, _, node, _, _), (holder, key, _, above, _) in [*zip(places(statement), places(watched), strict=True)][::-1]:
            if is_computed(node, above):
                number = ast.Constant(len(nodes))
                nodes.append(node)
                varied |= {node} if name in ("reference", entry) or not isinstance(node, ast.Name) else set()
                holder[key] = ast.Call(ast.Name("watched", ast.Load()), [number, holder[key]], [])
        codes[name] = compiled(watched)

    now: dict[int, list] = {}

    def watch(number: int, value: Any) -> Any:
        now.setdefault(number, []).append(tuple(value) if isinstance(value, torch.Size) else value)
        return value

    answer = run(codes, module, watched=watch)
    for _, case, _ in outcomes(check):
        now.clear()
        call_or_exception(case.ask, answer)
        varied |= {nodes[at] for at, one in now.items() if at in values and not alike(one + values[at])}
        values = now | values
    return {nodes[at]: one[0] for at, one in values.items() if nodes[at] in varied and alike(one)}


def is_computed(node: ast.AST, above: tuple) -> bool:
    """Whether it is an expression in a function, of an argument or another name of the function.

    An argument that may be left out is none: most references leave it out, for wrong answers that do not.
    """
    functions = [part for part in above if isinstance(part, ast.FunctionDef | ast.Lambda)]
    words = any(isinstance(part, ast.JoinedStr | ast.pattern) for part in (*above, node))
    called = isinstance(above[-1], ast.Call) and node is above[-1].func
    if not functions or words or called or isinstance(above[-1], ast.FunctionDef) or not has_value(node, above[-1]):
        return False
    own = {part.arg for one in functions for part in one.args.args[: len(one.args.args) - len(one.args.defaults)]}
    own |= {
        part.id
        for part in ast.walk(functions[0])
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return not own.isdisjoint(names(node))


def alike(values: list) -> bool:
    return all(is_plain(value) and value == values[0] for value in values)


def is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return len(value) <= 8 and all(map(is_plain, value))
    return type(value) in (int, str) or (type(value) is float and math.isfinite(value))


def run(codes: dict[str, CodeType], module: ModuleType, **names: Any) -> Any:
    """The reference that the definitions make."""
    namespace = dict(chain.from_iterable(vars(part).items() for part in files(module))) | names
    for code in codes.values():
        exec(code, namespace)  # noqa: S102 (our own sources)
    return namespace["reference"]


def is_left_to_another(check: Check, module: ModuleType, place: tuple) -> bool:
    if not place or runs(check, module, *place):
        return False
    others = [(one, other) for one, other in EXERCISES if other is not check and files(one)[0] is files(module)[0]]
    return any(runs(other, one, *place) for one, other in others)


@cache
def runs(check: Check, module: ModuleType, name: str, path: tuple) -> bool:
    """Whether the reference evaluates, in some case, the expression at a place of a definition."""
    used = source(check, module) if callable(check.reference) else {}
    if name not in used or name == "reference" or not path:
        return name in used
    *way, last = path
    holder = reduce(
        lambda held, step: held[step] if isinstance(held, list) else getattr(held, step), way, used[name]
    )
    held = holder if isinstance(holder, list) else vars(holder)
    held[last] = ast.Call(ast.Name("watched", ast.Load()), [held[last]], [])
    executed = []
    codes = {one: compiled(statement) for one, statement in used.items()}
    answer = run(codes, module, watched=lambda value: executed.append(True) or value)
    for _, case, _ in outcomes(check):
        call_or_exception(case.ask, answer)
    return bool(executed)


def compiled(statement: ast.stmt) -> CodeType:
    return compile(ast.fix_missing_locations(ast.Module([statement], [])), "mutant", "exec")


@cache
def files(module: ModuleType) -> list[ModuleType]:
    """An exercise's module, behind the material that it shares with others of its chapter."""
    shared = sys.modules.get(f"{module.__package__}.material")
    return [shared, module] if shared else [module]


@cache
def parsed(module: ModuleType) -> ast.Module:
    return ast.parse("\n".join(map(getsource, files(module))))


@cache
def definitions(module: ModuleType) -> dict[str, ast.stmt]:
    """The statements that define the names of a module."""
    by_name = {}
    for statement in parsed(module).body:
        if isinstance(statement, ast.FunctionDef):
            by_name[statement.name] = statement
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            by_name[statement.targets[0].id] = statement
    return by_name


def written(check: Check, statements: dict[str, ast.stmt]) -> ast.expr:
    """The expression that stands in the source as the reference of this check."""
    for statement in statements.values():
        match statement:
            case ast.Assign(value=ast.Call(ast.Name("Check"), [ast.Constant(check.name), *_], keywords)):
                return next(part.value for part in keywords if part.arg == "reference")
    raise LookupError(f"no Check({check.name!r}, …, reference=…) in the source")


def needed(statement: ast.stmt, statements: dict[str, ast.stmt]) -> dict[str, ast.stmt]:
    """The definitions that a statement uses, and those that these use, in the order of the source."""
    used, left = {}, [statement]
    while left:
        nodes = list(ast.walk(left.pop()))
        own = {node.arg for node in nodes if isinstance(node, ast.arg)}
        own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for name in {node.id for node in nodes if isinstance(node, ast.Name)} - own:
            if name in statements and name not in used:
                used[name] = copy.deepcopy(statements[name])
                left.append(used[name])
    return dict(sorted(used.items(), key=lambda item: item[1].lineno))


def named_changes(statement: ast.stmt, imported: set[str], more: Callable) -> Iterator[tuple]:
    """Change the statement in place, in one way after the other; yield where, and the name of each change."""
    for change in changed(ast.fix_missing_locations(statement), TELLING, imported, more):
        after = ast.unparse(change.became)
        if after != change.before and not is_a_tolerance_doubled(change):
            name = f"{change.before} → {after}".replace("\n", " ")
            yield (*change.way, *left_out(change.node, change.other)), name


def is_a_tolerance_doubled(change: Change) -> bool:
    """No case can tell: what a reference forgives is far from its bounds."""
    one, other = (getattr(node, "value", None) for node in (change.node, change.other))
    return isinstance(one, float) and 0 < one <= 0.01 and other == 2 * one


def left_out(node: ast.AST, other: ast.AST) -> tuple:
    """The way from a node to the branch that a change leaves out: it matters where that branch is taken."""
    if not isinstance(node, ast.IfExp):
        return ()
    return ("orelse",) * (other is node.body) + ("body",) * (other is node.orelse)


# Changes in what comes in --------------------------------------------------------------------------------------


def of_arguments(check: Check) -> Iterator[Mutant]:
    """The reference, called with something else in place of one argument; and one that spoils its arguments."""
    if not callable(check.reference):
        return
    calls = []
    for _, case, _ in outcomes(check):
        call_or_exception(case.ask, lambda *arguments: calls.append(arguments) or check.reference(*arguments))
    for at in range(max(map(len, calls), default=0)):
        for label, change in ARGUMENTS.items():
            if any(changes_it(change, call[at]) for call in calls if len(call) > at):
                yield Mutant(f"argument {at} {label}", with_argument(check.reference, at, change))
        if any(isinstance(call[at], Tensor | list | dict) for call in calls if len(call) > at):
            yield Mutant(f"argument {at} spoiled", spoiling(check.reference, at))
        first = of_function(first_for_all(0))
        if any(isfunction(call[at]) for call in calls if len(call) > at) and changes_what_it_gives(check, at):
            yield Mutant(f"argument {at} giving its first row for all", with_argument(check.reference, at, first))


def changes_it(change: Callable, value: Any) -> bool:
    """Whether something else comes out. What is no different in any case, such as what is always sorted, has a test of its own."""
    other = change(value)
    return other is not value and bool(difference(value, other))


def with_argument(reference: Callable, at: int, change: Callable) -> Callable:
    return lambda *arguments: reference(*arguments[:at], *map(change, arguments[at : at + 1]), *arguments[at + 1 :])


def of_function(change: Callable) -> Callable:
    """The change of a function that an answer gets: what it returns is changed."""
    return lambda value: altered(value, change) if isfunction(value) else value


def changes_what_it_gives(check: Check, at: int) -> bool:
    """Whether the function at this place returns several rows in some case."""
    given = []
    watched = with_argument(check.reference, at, of_function(lambda result: given.append(result) or result))
    for _, case, _ in outcomes(check):
        call_or_exception(case.ask, watched)
    return any(isinstance(result, Tensor) and first_for_all(0)(result) is not result for result in given)


def spoiling(reference: Callable, at: int) -> Callable:
    def answer(*arguments: Any) -> Any:
        result, value = reference(*arguments), arguments[at]
        if isinstance(value, Tensor):
            value.detach().zero_()
        elif isinstance(value, list | dict):
            value.clear()
        return result

    return answer


# Changes in what is returned ---------------------------------------------------------------------------------


def of_results(check: Check) -> Iterator[Mutant]:
    """What any answer may return instead; a table gets wrong entries."""
    if isinstance(check.reference, dict):
        values = list(check.reference.values())
        for name, value in check.reference.items():
            for other in [not value] if isinstance(value, bool) else [v for v in values if v != value]:
                yield Mutant(f"{name}: {value} → {other}", check.reference | {name: other})
    if callable(check.reference):
        results = []
        for _, case, _ in outcomes(check):
            call_or_exception(case.ask, altered(check.reference, lambda result: results.append(result) or result))
        for label, change in RESULTS.items():
            if any(change(result) is not result for result in results):
                yield Mutant(f"returned {label}", altered(check.reference, change))


def altered(reference: Callable, change: Callable) -> Callable:
    return lambda *arguments: change(reference(*arguments))


def of_type(kind: Any, change: Callable) -> Callable:
    """The change, for values of this type and for each in a tuple of them; all others stay as they are."""

    def apply(value: Any) -> Any:
        if isinstance(value, tuple) and kind is not tuple:
            parts = tuple(map(apply, value))
            return value if all(map(operator.is_, parts, value)) else parts
        return change(value) if type(value) is kind else value

    return apply


def first_for_all(axis: int) -> Callable:
    return of_type(Tensor, lambda x: x.narrow(axis, 0, 1).expand_as(x) if x.dim() and x.shape[axis] > 1 else x)


ARGUMENTS: dict[str, Callable] = {
    "with its first row for all": first_for_all(0),
    "with the first of each row for all": first_for_all(-1),
    "sorted": of_type(Tensor, lambda x: x.sort(dim=-1).values if x.dim() and not x.is_complex() else x),
    "without signs": of_type(Tensor, lambda x: x if x.is_complex() or x.dtype == torch.bool else x.abs()),
    "in whole numbers": of_type(Tensor, lambda x: x.round() if x.is_floating_point() else x),
    "in a whole number": of_type(float, lambda x: x if math.isinf(x) else float(round(x))),
    "sorted as a list": of_type(list, lambda x: sorted(x, key=str)),
    "without what comes again": of_type(list, lambda x: [v for i, v in enumerate(x) if v not in x[:i]]),
}


RESULTS: dict[str, Callable] = {
    "with its first row for all": first_for_all(0),
    "with the first of each row for all": first_for_all(-1),
    "as its mean": of_type(Tensor, lambda x: x.mean().expand_as(x) if x.is_floating_point() and x.dim() else x),
    "as fractions": of_type(Tensor, lambda x: x.float() if kind(x) == "whole numbers" else x),
    "as whole numbers": of_type(Tensor, lambda x: x.long() if kind(x) == "fractions" else x),
    "rounded as float16": of_type(Tensor, lambda x: x.half().to(x.dtype) if x.is_floating_point() else x),
    "without dimensions of size 1": of_type(Tensor, lambda x: x.squeeze() if 1 in x.shape else x),
    "with one more dimension": of_type(Tensor, lambda x: x[None]),
    "flipped along the last axis": of_type(Tensor, lambda x: x.flip(-1) if x.dim() else x),
    "flipped along the first axis": of_type(Tensor, lambda x: x.flip(0) if x.dim() else x),
    "without gradients": of_type(Tensor, lambda x: x.detach() if x.requires_grad else x),
    "as another number": of_type(int, lambda n: n + 1),
    "as a float": of_type(int, float),
    "with the other sign": of_type(float, lambda x: -x),
    "as a tensor of one number": of_type(int, torch.tensor),
    "negated": of_type(bool, operator.not_),
    "as an integer": of_type(bool, int),
    "without the first entry": of_type(list, lambda entries: entries[1:]),
    "backward": of_type(list, lambda entries: entries[::-1] if len(entries) > 1 else entries),
    "with the last entry twice": of_type(list, lambda entries: entries + entries[-1:]),
    "in reverse": of_type(tuple, lambda parts: parts[::-1]),
    "in upper case": of_type(str, str.upper),
}
