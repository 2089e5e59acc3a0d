"""Mutants by rule: code with one small mistake, wherever a rule finds room for it.

`mutants` makes them of a source file. `tests/check/mutants.py` makes them of the reference of a check.
"""

import ast
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.MatMult: ast.Mult, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
COUNTERPARTS = [
    ("sin", "cos"), ("min", "max"), ("amin", "amax"), ("argmin", "argmax"), ("minimum", "maximum"),
    ("floor", "ceil"), ("round", "floor"), ("any", "all"), ("sum", "mean"), ("zeros_like", "ones_like"),
    ("zeros", "ones"), ("float32", "float64"), ("long", "float"), ("cat", "stack"), ("exp", "log"),
    ("log", "log10"), ("sqrt", "square"), ("std", "var"), ("repeat", "repeat_interleave"),
    ("permutations", "combinations"),
]  # fmt: skip
COUNTERPARTS += [pair[::-1] for pair in COUNTERPARTS] + [("double", "float"), ("log1p", "log")]
TRANSPOSED = {"T", "mT", "real", "imag"}
SYMMETRIC = {"max", "maximum", "min", "minimum", "promote_types", "transpose"}  # in any order
CHOOSING = SYMMETRIC - {"transpose"} | {"where", "lerp"}  # these return an argument, or what is between two
# How a picture looks, and not what it says.
LOOKS = {"alpha", "capsize", "dpi", "elinewidth", "fontsize", "linewidth"}
LOOKS |= {"markeredgewidth", "markersize", "zorder"}
NOTHING = ast.parse("__import__('contextlib').nullcontext()", mode="eval").body
SAME = ast.parse("lambda f: f", mode="eval").body
LAST = ast.parse("-1", mode="eval").body


class Mutant(NamedTuple):
    """One mistake: the lines it touches, as they are and as they become, and the file with it."""

    first: int  # line of the statement
    last: int
    old: str
    new: str
    text: str

    def __str__(self) -> str:
        return f"{self.first}: {self.old}  →  {self.new}"


def mutants(source: str) -> list[Mutant]:
    """All mutants of a source file, in its order. No two are the same text."""
    data, tree = source.encode(), ast.parse(source)
    starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]
    by_text: dict[str, Mutant] = {source: None}
    for change in changed(tree, (ast.expr, ast.stmt), imports(tree)):
        if change.is_left_out():
            continue
        place = change.shown
        first, last = starts[place.lineno - 1], starts[place.end_lineno]
        start, end = first + place.col_offset, starts[place.end_lineno - 1] + place.end_col_offset
        text = data[:start] + put(change.became).encode() + data[end:]
        lines = data[first:last], text[first : last + len(text) - len(data)]
        old, new = (" ".join(part.decode().split()) for part in lines)
        nodes = (change.node, *reversed(change.above))
        statement = next(node for node in nodes if isinstance(node, ast.stmt))
        mutant = Mutant(statement.lineno, place.end_lineno, old, new, text.decode())
        by_text.setdefault(mutant.text, mutant)
    return list(by_text.values())[1:]


def named(words: str, made: list[Mutant]) -> list[Mutant]:
    """Those that bring these words into a line that had them not; for "a → b", those that put b for a."""
    old, arrow, new = words.partition(" → ")
    if arrow:
        return [mutant for mutant in made if old in mutant.old and mutant.old.replace(old, new) == mutant.new]
    return [mutant for mutant in made if words in mutant.new and words not in mutant.old]


def put(node: ast.AST) -> str:
    """Its text, fit for any place."""
    text = ast.unparse(ast.fix_missing_locations(node))
    bare = ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript | ast.Slice | ast.stmt
    return text if isinstance(node, bare | ast.Tuple | ast.List | ast.ListComp | ast.Dict) else f"({text})"


class Change(NamedTuple):
    """A node, what stands in its place, what is above it, and the way to the nearest value.

    To tell the change, one shows a larger part of the code, the text it had before, and what it became.
    """

    node: ast.AST
    other: ast.AST
    above: tuple
    way: tuple
    shown: ast.AST
    before: str
    became: ast.AST

    def is_left_out(self) -> bool:
        """Whether no test of a package needs to notice it: words, pictures, imports, what has no order."""
        if any(isinstance(part, ast.Raise) for part in self.above):
            return True
        if any(map(is_words, (*self.above, self.node))):
            return True
        match self.node, self.other:
            case ast.Call(function, args, options), ast.Call(same, other, left) if function is same:
                exchanged = called(self.node) in SYMMETRIC and other != args and len(other) == len(args)
                return exchanged or any(option.arg in LOOKS for option in options if option not in left)
            case ast.Name(one), ast.Name(other) if {one, other} <= set(known := parameters(self.above)):
                return abs(known.index(one) - known.index(other)) > 1  # neighbors are enough of them
        return False


def is_words(node: ast.AST) -> bool:
    """Whether a node is for readers, importers or the eye alone."""
    match node:
        case ast.Expr(ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.Assign([ast.Name("__all__")]):
            return True
        case ast.keyword(name):
            return name in LOOKS
        case ast.Constant(str(text)):
            return any(map(str.isspace, text))  # with a space it is a message
    return False


def imports(tree: ast.AST) -> set[str]:
    """The names that stand for modules."""
    names_of_each = (node.names for node in ast.walk(tree) if isinstance(node, ast.Import))
    return {alias.asname or alias.name for names in names_of_each for alias in names}


def changed(
    tree: ast.AST, shows: tuple, imported: set[str], more: Callable = lambda node: ()
) -> Iterator[Change]:
    """Change a tree in place, in one way after the other, and show the nearest part of one of these types.

    more: what else may stand in place of a node.
    """
    for holder, key, node, above, way in list(places(tree)):
        shown = next(part for part in (node, *reversed(above)) if isinstance(part, shows))
        before = ast.unparse(shown)
        for other in [*changes(node, above, imported), *more(node)]:
            holder[key] = other
            yield Change(node, other, above, way, shown, before, other if shown is node else shown)
        holder[key] = node


def places(parent: ast.AST, above: tuple = (), way: tuple = (), near: tuple = ()) -> Iterator[tuple]:
    """Each node below `parent`: what holds it, the node, those above it, and the way to the nearest value."""
    above = (*above, parent)
    for field, value in ast.iter_fields(parent):
        if field in ("annotation", "returns", "ctx", "op", "ops"):
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


def changes(node: ast.AST, above: tuple, imported: set[str]) -> Iterator[ast.AST]:
    """What may stand in place of a node: one small mistake each."""
    match above[-1]:
        case ast.If(test) | ast.While(test) if node is test:
            numbers = (0, 1) if isinstance(above[-1], ast.If) else (0,)  # a loop would not end
            yield from (negated(node), *map(ast.Constant, numbers))
        case ast.comprehension(ifs=tests) if node in tests:
            yield negated(node)
        case ast.withitem(held, None) if node is held:
            yield NOTHING
        case ast.FunctionDef() | ast.ClassDef() if node in above[-1].decorator_list:
            yield SAME
    match node:
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value)):
            yield from map(ast.Constant, (value + 1, value - 1))
            if value and not isinstance(above[-1], ast.UnaryOp):
                yield ast.Constant(-value)
        case ast.Constant(float(value)):
            other = value / 2 if abs(value) > 0.01 else 100 * value
            yield from map(ast.Constant, dict.fromkeys((-value, value + 1, other, 2 * value)))
        case ast.Constant(str(value)) if not isinstance(above[-1], ast.Expr):
            yield ast.Constant(value + "x")
        case ast.Name(name, ast.Load()) if name in parameters(above):
            yield from (ast.Name(other, ast.Load()) for other in parameters(above) if other != name)
        case ast.UnaryOp():
            yield node.operand
            match node:
                case ast.UnaryOp(ast.USub(), ast.BinOp(ast.UnaryOp(ast.USub(), above_all), ast.FloorDiv(), part)):
                    yield ast.BinOp(above_all, ast.FloorDiv(), part)  # floor for ceil
        case ast.BinOp(left, kind, right):
            if type(kind) in OPERATORS:
                yield ast.BinOp(left, OPERATORS[type(kind)](), right)
            yield from (left, right)
            if not isinstance(kind, ast.Add | ast.Mult):
                yield ast.BinOp(right, kind, left)
        case ast.BoolOp(kind, values):
            yield ast.BoolOp(OPERATORS[type(kind)](), values)
            yield from without_one(values, lambda rest: ast.BoolOp(kind, rest) if rest[1:] else rest[0])
        case ast.Compare(left, kinds, right):
            for i, kind in enumerate(kinds):
                for other in COMPARISONS[type(kind)]:
                    yield ast.Compare(left, [*kinds[:i], other(), *kinds[i + 1 :]], right)
        case ast.IfExp(test, body, orelse):
            yield from (body, orelse, ast.IfExp(test, orelse, body))
        case ast.Attribute(value, name):
            yield from (ast.Attribute(value, other, node.ctx) for other in counterparts(name))
            if name in TRANSPOSED:
                yield value
            if name in ("values", "indices") and isinstance(value, ast.Call):
                yield getattr(value.func, "value", value)
        case ast.Call():
            yield from changed_calls(node, imported)
        case ast.Subscript(value, index):
            yield value
            if isinstance(index, ast.Name | ast.BinOp | ast.Call | ast.Attribute):
                yield ast.Subscript(value, LAST, node.ctx)
            if isinstance(index, ast.Tuple):
                yield from without_one(
                    index.elts, lambda rest: ast.Subscript(value, ast.Tuple(rest, ast.Load()), node.ctx)
                )
        case ast.Slice(lower, upper, step):
            if lower and getattr(lower, "value", True):
                yield ast.Slice(None, upper, step)
            if upper:
                yield ast.Slice(lower, None, step)
            if step:
                yield ast.Slice(lower, upper)
            for one in (ast.Add(), ast.Sub()):
                if lower and not isinstance(lower, ast.Constant):
                    yield ast.Slice(ast.BinOp(lower, one, ast.Constant(1)), upper, step)
                if upper and not isinstance(upper, ast.Constant):
                    yield ast.Slice(lower, ast.BinOp(upper, one, ast.Constant(1)), step)
        case ast.Tuple(parts) if not isinstance(above[-1], ast.Subscript):
            yield from (ast.Tuple(other, node.ctx) for other in swapped(parts))
        case ast.List(parts, ast.Load()):
            yield from (ast.List(other, ast.Load()) for other in swapped(parts))
            yield from without_one(parts, lambda rest: ast.List(rest, ast.Load()))
        case ast.Dict(keys, values):
            yield from (ast.Dict(keys, other) for other in swapped(values))
        case ast.comprehension(target, source, [_, *_]):
            yield ast.comprehension(target, source, [], 0)
        case ast.AugAssign(target, kind, value):
            yield from (ast.Pass(), ast.AugAssign(target, OPERATORS[type(kind)](), value))
        case ast.Assign([ast.Name(name)], value) if name in parameters(above) or name in names(value):
            yield ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript() | ast.Tuple([ast.Attribute(), *_])]):
            yield ast.Pass()
        case ast.Expr(ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Break() | ast.Continue():
            yield from (ast.Pass(), ast.Continue() if isinstance(node, ast.Break) else ast.Break())


def changed_calls(node: ast.Call, imported: set[str]) -> Iterator[ast.expr]:
    function, args, named = node.func, node.args, node.keywords
    of_module = isinstance(function, ast.Attribute) and getattr(function.value, "id", None) in imported
    if isinstance(function, ast.Attribute) and not of_module:
        yield function.value  # the call is forgotten
    elif len(args) == 1 and not isinstance(args[0], ast.Starred):
        yield args[0]
    if isinstance(function, ast.Name):
        others = (ast.Name(name, ast.Load()) for name in counterparts(function.id))
        yield from (ast.Call(other, args, named) for other in others)
    if called(node) in CHOOSING and len(args) > 1:
        yield from (part for part in args if not isinstance(part, ast.Constant))
    yield from (ast.Call(function, other, named) for other in swapped(args))
    yield from without_one(named, lambda rest: ast.Call(function, args, rest))
    if len(args) > 1 or named:
        yield from without_one(args, lambda rest: ast.Call(function, rest, named))


def counterparts(name: str) -> list[str]:
    return [other for one, other in COUNTERPARTS if one == name]


def called(node: ast.Call) -> str | None:
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def swapped(parts: list) -> Iterator[list]:
    """The list with two neighbors exchanged."""
    for i, (one, next_one) in enumerate(pairwise(parts)):
        yield [*parts[:i], next_one, one, *parts[i + 2 :]]


def without_one(parts: list, build: Callable[[list], ast.AST]) -> Iterator[ast.AST]:
    return (build(parts[:i] + parts[i + 1 :]) for i in range(len(parts)))


def names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def parameters(above: tuple) -> list[str]:
    """The arguments of the innermost function around a node, but for an object of its own."""
    for node in reversed(above):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            return [part.arg for part in node.args.args if part.arg not in ("self", "cls")]
    return []
