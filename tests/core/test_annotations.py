"""A type checker sees the package, and a type for whatever a function of the encodings takes and returns."""

import ast

import pytest

from tests.house import ENCODERS, ROOT, modules

PATHS = {name: path for name, path in modules(ROOT).items() if name.split(".")[1:2] and name.split(".")[1] in ENCODERS}
BARE = {"Callable", "Iterable", "Mapping", "Sequence", "dict", "list", "tuple", "type"}  # of what?


def untyped(tree: ast.AST) -> list[str]:
    """Parameters and functions without a type, and types that leave open what they hold, by name."""
    faults = []
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        parts = function.args
        parameters = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs, *filter(None, (parts.vararg, parts.kwarg))]
        types = {name.arg: name.annotation for name in parameters if name.arg not in ("self", "cls")}
        types["return"] = function.returns or function.name == "__init__" and ast.Constant(None)
        for name, kind in types.items():
            inner = {id(part.value) for part in ast.walk(kind) if isinstance(part, ast.Subscript)} if kind else set()
            if not kind or any(getattr(part, "id", "") in BARE and id(part) not in inner for part in ast.walk(kind)):
                faults.append(f"{function.name}: {name}")
    return faults


def public(tree: ast.Module) -> ast.Module:
    """The file without what stands inside its functions."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        function.body = []
    return tree


@pytest.mark.parametrize("name", PATHS)
def test_every_parameter_and_result_has_a_type(name):
    assert untyped(public(ast.parse(PATHS[name].read_text("utf-8")))) == []


def test_type_checkers_may_read_the_package():
    assert (ROOT / "d2lpos" / "py.typed").read_bytes() == b""
