"""Wrong answers by rule: a check's reference answer, each time with one small change.

The change is made in the source of the reference, in whatever functions and constants of the check's module it uses,
or in what it returns. `mutants` yields them all; `survives` tells whether the check accepts one.
"""

import ast
import copy
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, reduce
from inspect import getsource
from itertools import pairwise
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from d2lpos.check.verdict import Check, attempt, difference, within

PATIENCE = 0.3  # seconds of the processor for a case; references take milliseconds
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
COUNTERPARTS = [
    ("sin", "cos"),
    ("min", "max"),
    ("amin", "amax"),
    ("argmin", "argmax"),
    ("floor", "ceil"),
    ("round", "floor"),
    ("any", "all"),
    ("sum", "mean"),
    ("zeros_like", "ones_like"),
    ("zeros", "ones"),
    ("float", "double"),
    ("float32", "float64"),
    ("long", "float"),
    ("cat", "stack"),
    ("exp", "log"),
    ("sqrt", "square"),
    ("std", "var"),
    ("repeat", "repeat_interleave"),
    ("permutations", "combinations"),
]
OTHERS = {a: b for pair in COUNTERPARTS for a, b in (pair[::-1], pair)}
TELLING = (  # what is enough of the source to find a change
    *(ast.Call, ast.Subscript, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.List, ast.Dict),
    *(ast.arguments, ast.stmt),
)
TRANSPOSED = {"T", "mT", "real", "imag"}


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
    for case, expected in outcomes(check):
        found = attempt(within, PATIENCE, case.ask, answer)
        if attempt(difference, expected, found):
            return False
    return True


@cache
def outcomes(check: Check) -> list:
    cases = [case for cases in check.properties.values() for case in cases]
    return [(case, attempt(case.ask, check.reference)) for case in cases]


def mutants(check: Check, module: ModuleType) -> Iterator[Mutant]:
    """All mutants of the check's reference, which is written in `module`; no two have the same name."""
    found = Counter()
    for mutant in (*of_source(check, module), *of_results(check)):
        found[mutant.name] += 1
        again = f" ({found[mutant.name]})" if found[mutant.name] > 1 else ""
        yield mutant._replace(name=mutant.name + again)


# Changes in the source ---------------------------------------------------------------------------------------


def of_source(check: Check, module: ModuleType) -> Iterator[Mutant]:
    if not callable(check.reference):
        return
    used = source(check, module)
    codes = {name: compiled(statement) for name, statement in used.items()}
    for name, statement in used.items():
        for path, change in changed(statement):
            answer = attempt(lambda: run({**codes, name: compiled(statement)}, module))  # noqa: B023 (called now)
            if not isinstance(answer, SyntaxError):
                yield Mutant(change, answer, (name, path))


def source(check: Check, module: ModuleType) -> dict[str, ast.stmt]:
    """The statements that make the reference, in the order of the module; the last defines it."""
    statements = definitions(module)
    reference = ast.Assign([ast.Name("reference", ast.Store())], copy.deepcopy(written(check, statements)))
    return {**needed(reference, statements), "reference": reference}


def run(codes: dict[str, CodeType], module: ModuleType, **names: Any) -> Any:
    """The reference that the definitions make."""
    namespace = vars(module) | names
    for code in codes.values():
        exec(code, namespace)  # noqa: S102 (our own sources)
    return namespace["reference"]


def is_left_to_another(check: Check, module: ModuleType, place: tuple) -> bool:
    if not place or runs(check, module, *place):
        return False
    others = [one for one in vars(module).values() if isinstance(one, Check) and one is not check]
    return any(runs(other, module, *place) for other in others)


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
    seen = []
    codes = {one: compiled(statement) for one, statement in used.items()}
    answer = run(codes, module, watched=lambda value: seen.append(True) or value)
    for case, _ in outcomes(check):
        attempt(case.ask, answer)
    return bool(seen)


def compiled(statement: ast.stmt) -> CodeType:
    return compile(ast.fix_missing_locations(ast.Module([statement], [])), "mutant", "exec")


@cache
def definitions(module: ModuleType) -> dict[str, ast.stmt]:
    """The statements that define the names of a module."""
    found = {}
    for statement in ast.parse(getsource(module)).body:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = statement
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            found[statement.targets[0].id] = statement
    return found


def written(check: Check, statements: dict[str, ast.stmt]) -> ast.expr:
    """The expression that stands in the source as the reference of this check."""
    for statement in statements.values():
        match statement:
            case ast.Assign(value=ast.Call(ast.Name("Check"), [ast.Constant(check.name), *_], keywords)):
                return next(part.value for part in keywords if part.arg == "reference")
    raise LookupError(f"no Check({check.name!r}, …, reference=…) in the source")


def needed(statement: ast.stmt, statements: dict[str, ast.stmt]) -> dict[str, ast.stmt]:
    """The definitions that a statement uses, and those that these use, in the order of the source."""
    found, left = {}, [statement]
    while left:
        nodes = list(ast.walk(left.pop()))
        own = {node.arg for node in nodes if isinstance(node, ast.arg)}
        for name in {node.id for node in nodes if isinstance(node, ast.Name)} - own:
            if name in statements and name not in found:
                found[name] = copy.deepcopy(statements[name])
                left.append(found[name])
    return dict(sorted(found.items(), key=lambda item: item[1].lineno))


def changed(statement: ast.stmt) -> Iterator[tuple]:
    """Change the statement in place, in one way after the other; yield where, and the name of each change."""
    for holder, key, node, above, path in list(places(statement)):
        shown = next(part for part in (node, *reversed(above)) if isinstance(part, TELLING))
        before = ast.unparse(shown)
        for other in changes(node, above):
            holder[key] = other
            after = ast.unparse(other if shown is node else shown)
            if after != before:
                yield (*path, *left_out(node, other)), f"{before} → {after}".replace("\n", " ")
        holder[key] = node


def left_out(node: ast.AST, other: ast.AST) -> tuple:
    """The way from a node to the branch that a change leaves out: it matters where that branch is taken."""
    if not isinstance(node, ast.IfExp):
        return ()
    return ("orelse",) * (other is node.body) + ("body",) * (other is node.orelse)


def places(parent: ast.AST, above: tuple = (), way: tuple = (), near: tuple = ()) -> Iterator[tuple]:
    """Each node below `parent`: what holds it, the node, those above it, and the way to the nearest value."""
    above = (*above, parent)
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "decorator_list", "ctx", "op", "ops"):
            continue
        listed = isinstance(value, list)
        holder = value if listed else vars(parent)
        for key, node in list(enumerate(value)) if listed else [(field, value)]:
            if isinstance(node, ast.AST):
                here = (*way, field, key) if listed else (*way, field)
                value_at = here if has_value(node, parent) else near
                value_at = (*here, "test") if isinstance(node, ast.If | ast.While) else value_at
                yield holder, key, node, above, value_at
                yield from places(node, above, here, value_at)


def has_value(node: ast.AST, parent: ast.AST) -> bool:
    if not isinstance(node, ast.expr) or isinstance(node, ast.Slice | ast.Starred):
        return False
    index = isinstance(node, ast.Tuple) and isinstance(parent, ast.Subscript)
    return not index and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def changes(node: ast.AST, above: tuple) -> Iterator[ast.AST]:
    """What may stand in place of a node: one small mistake each."""
    match node:
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from map(ast.Constant, (value + 1, value - 1))
            if value and not isinstance(above[-1], ast.UnaryOp):
                yield ast.Constant(-value)
        case ast.Constant(float(value)):
            yield from map(ast.Constant, (-value, value + 1, value / 2 if abs(value) > 0.01 else 100 * value))
        case ast.Constant(str(value)) if not isinstance(above[-1], ast.Expr):
            yield ast.Constant(value + "?")
        case ast.Name(name, ast.Load()) if name in parameters(above):
            yield from (ast.Name(other, ast.Load()) for other in parameters(above) if other != name)
        case ast.UnaryOp():
            yield node.operand
        case ast.BinOp(left, kind, right):
            if type(kind) in OPERATORS:
                yield ast.BinOp(left, OPERATORS[type(kind)](), right)
            yield from (left, right)
            if not isinstance(kind, ast.Add | ast.Mult):
                yield ast.BinOp(right, kind, left)
        case ast.BoolOp(kind, values):
            yield ast.BoolOp(OPERATORS[type(kind)](), values)
            yield from without_one(values, lambda rest: ast.BoolOp(kind, rest) if rest[1:] else rest[0])
        case ast.Compare(left, [kind], right):
            yield from (ast.Compare(left, [other()], right) for other in COMPARISONS[type(kind)])
        case ast.IfExp(test, body, orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.If(test, body, orelse):
            yield from (ast.If(other, body, orelse) for other in (negated(test), *map(ast.Constant, (0, 1))))
        case ast.While(test, body, orelse):
            yield from (ast.While(other, body, orelse) for other in (negated(test), ast.Constant(0)))
        case ast.Attribute(value, name):
            if name in OTHERS:
                yield ast.Attribute(value, OTHERS[name], node.ctx)
            if name in TRANSPOSED:
                yield value
        case ast.Call():
            yield from changed_calls(node)
        case ast.Subscript(value, index):
            yield value
            if isinstance(index, ast.Tuple):
                yield from without_one(
                    index.elts, lambda rest: ast.Subscript(value, ast.Tuple(rest, ast.Load()), node.ctx)
                )
        case ast.Slice(lower, upper, step):
            if not isinstance(lower, ast.Constant) or lower.value:
                yield ast.Slice(None, upper, step)
            yield from (ast.Slice(lower, None, step), ast.Slice(lower, upper))
            for one in (ast.Add(), ast.Sub()):
                if lower and not isinstance(lower, ast.Constant):
                    yield ast.Slice(ast.BinOp(lower, one, ast.Constant(1)), upper, step)
                if upper and not isinstance(upper, ast.Constant):
                    yield ast.Slice(lower, ast.BinOp(upper, one, ast.Constant(1)), step)
        case ast.Tuple(parts, ast.Load()) if not isinstance(above[-1], ast.Subscript):
            yield from (ast.Tuple(other, ast.Load()) for other in swapped(parts))
        case ast.List(parts, ast.Load()):
            yield from (ast.List(other, ast.Load()) for other in swapped(parts))
            yield from without_one(parts, lambda rest: ast.List(rest, ast.Load()))
        case ast.Dict(keys, values):
            yield from (ast.Dict(keys, other) for other in swapped(values))
        case ast.comprehension(target, source, [_, *_]):
            yield ast.comprehension(target, source, [], 0)
        case ast.AugAssign(target, kind, value):
            yield from (ast.Pass(), ast.AugAssign(target, OPERATORS[type(kind)](), value))
        case ast.Assign([ast.Name(name)]) if name in parameters(above):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def changed_calls(node: ast.Call) -> Iterator[ast.expr]:
    function, given, named = node.func, node.args, node.keywords
    if isinstance(function, ast.Attribute) and not is_module(function.value):
        yield function.value  # the call is forgotten
    elif len(given) == 1 and not isinstance(given[0], ast.Starred | ast.GeneratorExp):
        yield given[0]
    if isinstance(function, ast.Name) and function.id in OTHERS:
        yield ast.Call(ast.Name(OTHERS[function.id], ast.Load()), given, named)
    yield from (ast.Call(function, other, named) for other in swapped(given))
    yield from without_one(named, lambda rest: ast.Call(function, given, rest))
    if len(given) > 1 or named:
        yield from without_one(given, lambda rest: ast.Call(function, rest, named))


def is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "math", "np")


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def swapped(parts: list) -> Iterator[list]:
    """The list with two neighbors exchanged."""
    for i, (one, next_one) in enumerate(pairwise(parts)):
        yield [*parts[:i], next_one, one, *parts[i + 2 :]]


def without_one(parts: list, build: Callable[[list], ast.AST]) -> Iterator[ast.AST]:
    return (build(parts[:i] + parts[i + 1 :]) for i in range(len(parts)))


def parameters(above: tuple) -> list[str]:
    """The arguments of the innermost function around a node."""
    for node in reversed(above):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return [part.arg for part in node.args.args]
    return []


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
        for case, _ in outcomes(check):
            attempt(case.ask, altered(check.reference, lambda found: results.append(found) or found))
        for label, change in RESULTS.items():
            if any(change(found) is not found for found in results):
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


def cast(dtype: torch.dtype, back: bool = False) -> Callable:
    def change(x: Tensor) -> Tensor:
        if x.dtype in (dtype, torch.bool) or (back and not x.is_floating_point()):
            return x
        return x.to(dtype).to(x.dtype) if back else x.to(dtype)

    return of_type(Tensor, change)


RESULTS: dict[str, Callable] = {
    "in float64": cast(torch.float64),
    "in float32": cast(torch.float32),
    "in float16": cast(torch.float16),
    "in int64": cast(torch.int64),
    "rounded as float16": cast(torch.float16, back=True),
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
    "with the last entry twice": of_type(list, lambda entries: entries + entries[-1:]),
    "in reverse": of_type(tuple, lambda parts: parts[::-1]),
    "in upper case": of_type(str, str.upper),
}
