"""Mutants by rule: a source file with one small mistake, wherever a rule finds room for it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
SISTERS = [("min", "max"), ("amin", "amax"), ("argmin", "argmax"), ("any", "all"), ("sin", "cos")]
SISTERS += [("floor", "ceil"), ("maximum", "minimum")]
SISTER = {name: other for one, two in SISTERS for name, other in ((one, two), (two, one))}
# How a picture looks, and not what it says.
LOOKS = {
    "alpha",
    "capsize",
    "dpi",
    "elinewidth",
    "fontsize",
    "linewidth",
    "markeredgewidth",
    "markersize",
    "zorder",
}
SYMMETRIC = {"max", "maximum", "min", "minimum", "promote_types", "transpose"}
NOTHING = "__import__('contextlib').nullcontext()"


@dataclass(frozen=True)
class Mutant:
    """One mistake: the lines it touches, as they are and as they become, and the file with it."""

    first: int  # line of the statement
    last: int
    old: str
    new: str
    text: str

    def __str__(self) -> str:
        return f"{self.first}: {self.old}  →  {self.new}"


def mutants(source: str) -> list[Mutant]:
    """All mutants of a source file, in its order. No two are the same text, and each can be compiled."""
    data, tree = source.encode(), ast.parse(source)
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    found: dict[str, Mutant] = {}
    for statement, node in behavior(tree, None):
        for target, new in changes(node, imported):
            start = starts[target.lineno - 1] + target.col_offset
            end = starts[target.end_lineno - 1] + target.end_col_offset
            if target in getattr(node, "decorator_list", ()):
                start -= 1  # its @
            text = data[:start] + new.encode() + data[end:]
            first, last = starts[target.lineno - 1], starts[target.end_lineno]
            old, became = data[first:last], text[first : last + len(text) - len(data)]
            mutant = Mutant(
                statement.lineno,
                target.end_lineno,
                *(" ".join(t.decode().split()) for t in (old, became)),
                text.decode(),
            )
            if mutant.text not in found and mutant.text != source:
                found[mutant.text] = mutant
    return list(found.values())


def behavior(node: ast.AST, statement: ast.stmt | None) -> Iterator[tuple[ast.stmt, ast.AST]]:
    """Each node that decides what happens, with its statement: no types, no docstrings, no words of an error."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or is_words(child):
                continue
            inside = child if isinstance(child, ast.stmt) else statement
            if isinstance(child, ast.stmt | ast.expr | ast.comprehension | ast.withitem):
                yield inside, child
            if not isinstance(child, ast.Raise):
                yield from behavior(child, inside)


def is_words(node: ast.AST) -> bool:
    """Whether a node is for readers, importers or the eye alone."""
    match node:
        case ast.Expr(ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.Assign([ast.Name("__all__")]):
            return True
        case ast.keyword(name):
            return name in LOOKS
    return False


def changes(node: ast.AST, imported: set[str]) -> Iterator[tuple[ast.AST, str]]:
    """Which node to replace, and by what text."""
    match node:
        case ast.Constant(bool(value)):
            yield node, repr(not value)
        case ast.Constant(int(value)):
            yield node, repr(value + 1)
        case ast.Constant(float(value)):
            yield node, repr(2 * value or 1.0)
        case ast.Constant(str(value)) if not any(map(str.isspace, value)):  # with a space it is a message
            yield node, repr(value + "x")
        case ast.BinOp(left, op, right):
            if type(op) in ARITHMETIC:
                yield node, put(ast.BinOp(left, ARITHMETIC[type(op)](), right))
            if isinstance(op, ast.Add | ast.Sub):
                yield node, put(left)
        case ast.Compare(left, ops, others):
            for i, op in enumerate(ops):
                yield node, put(ast.Compare(left, [*ops[:i], COMPARISONS[type(op)](), *ops[i + 1 :]], others))
        case ast.BoolOp(op, values):
            yield node, put(ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values))
            for i in range(len(values)):
                yield node, put(ast.BoolOp(op, values[:i] + values[i + 1 :]))
        case ast.UnaryOp(_, operand):
            yield node, put(operand)
        case ast.IfExp(test, body, orelse):
            yield node, put(ast.IfExp(test, orelse, body))
        case ast.Subscript(value, index):
            for piece in without_a_bound(index):
                yield node, put(ast.Subscript(value, piece))
        case ast.Call():
            yield from calls(node, imported)
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield node, "pass"
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield node, "pass"
        case ast.withitem(expression, None):
            yield expression, NOTHING
    for test in getattr(node, "ifs", [node.test] if isinstance(node, ast.If | ast.While) else []):
        if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield test, put(ast.UnaryOp(ast.Not(), test))
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield node, ast.unparse(ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value))
    for decorator in getattr(node, "decorator_list", ()):
        yield decorator, ""


def calls(node: ast.Call, imported: set[str]) -> Iterator[tuple[ast.AST, str]]:
    """A call with less, with exchanged arguments, or of a sister; and what it was called on, or with, alone."""
    function, arguments, keywords = node.func, node.args, node.keywords
    for i, keyword in enumerate(keywords):
        if keyword.arg and keyword.arg not in LOOKS:
            yield node, put(ast.Call(function, arguments, keywords[:i] + keywords[i + 1 :]))
    called = getattr(function, "attr", getattr(function, "id", None))
    starred = any(isinstance(argument, ast.Starred) for argument in arguments[:2])
    if len(arguments) > 1 and not starred and called not in SYMMETRIC:
        yield node, put(ast.Call(function, [arguments[1], arguments[0], *arguments[2:]], keywords))
    match function:
        case ast.Name(name) if name in SISTER:
            yield function, SISTER[name]
        case ast.Attribute(value, name) if name in SISTER:
            yield function, put(ast.Attribute(value, SISTER[name]))
    match function:
        case ast.Attribute(value) if not (isinstance(value, ast.Name) and value.id in imported):
            yield node, put(value)
        case ast.Name() if len(arguments) == 1 and not keywords and not isinstance(arguments[0], ast.Starred):
            yield node, put(arguments[0])


def without_a_bound(index: ast.expr) -> Iterator[ast.expr]:
    match index:
        case ast.Slice(lower, upper, step):
            for bounds in ((None, upper, step), (lower, None, step), (lower, upper, None)):
                if bounds != (lower, upper, step):
                    yield ast.Slice(*bounds)
        case ast.Tuple(parts):
            for i, part in enumerate(parts):
                for piece in without_a_bound(part):
                    yield ast.Tuple([*parts[:i], piece, *parts[i + 1 :]], ast.Load())


def put(node: ast.expr) -> str:
    """Its text, fit for any place. A sequence of values that has lost all but one is that one."""
    if isinstance(node, ast.BoolOp) and len(node.values) == 1:
        (node,) = node.values
    text = ast.unparse(ast.fix_missing_locations(node))
    return (
        text
        if isinstance(node, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
        else f"({text})"
    )
