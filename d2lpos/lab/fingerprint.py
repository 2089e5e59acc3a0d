"""A hash of code, by which a changed encoding is told from what it was."""

import dis
import sys
import sysconfig
from functools import cached_property, partial
from hashlib import sha256
from inspect import CO_NESTED
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType

import torch

__all__ = ["fingerprint"]

PLAIN = type(None), bool, int, float, complex, str, bytes, type(...), torch.dtype, torch.device
PACKAGE = Path(__file__).parents[1]
LIBRARY = Path(sysconfig.get_path("stdlib"))


def fingerprint(thing: object, blind: bool = False) -> str:
    """16 hexadecimal digits that change with the code of a function or class and of all that it uses.

    What it uses is followed by name through functions, classes, closures and modules up to the standard library
    and installed packages. Comments and line numbers do not count; another version of Python does.
    blind: whether to pass over values that cannot be compared, such as an open file. Else they raise a ValueError.

    >>> one, other = (eval(f"lambda run: run.dim + {n}") for n in (1, 2))
    >>> fingerprint(one) == fingerprint(one) != fingerprint(other)
    True
    """
    return sha256(repr(_Reader(blind).read(thing)).encode()).hexdigest()[:16]


class _Reader:
    """Takes values apart into lists of text. Each function and class is read once, so circles end."""

    def __init__(self, blind: bool):
        self.blind, self.seen = blind, {}

    def read(self, thing: object) -> object:
        match thing:
            case str() | bytes() | None:
                return repr(thing)
            case list() | tuple():
                return [type(thing).__name__, *map(self.read, thing)]
            case set() | frozenset():
                return [type(thing).__name__, *sorted(repr(self.read(part)) for part in thing)]
            case dict():
                return [type(thing).__name__, *map(self.read, thing.items())]
            case MethodType():
                return ["method", self.read(thing.__func__), self.read(thing.__self__)]
            case torch.Tensor():
                return ["tensor", str(thing.dtype), thing.tolist()]
        if isinstance(thing, PLAIN):
            return repr(thing)
        if _installed(thing):
            return _name(thing)
        if id(thing) in self.seen:
            return self.seen[id(thing)][1]
        self.seen[id(thing)] = thing, f"again {len(self.seen)}"
        return self._parts(thing)

    def _parts(self, thing: object) -> object:
        match thing:
            case ModuleType():
                return _name(thing)
            case CodeType():
                sizes = (
                    thing.co_argcount,
                    thing.co_posonlyargcount,
                    thing.co_kwonlyargcount,
                    thing.co_flags & ~CO_NESTED,
                )
                names = thing.co_names, thing.co_varnames, thing.co_freevars, thing.co_cellvars
                return [thing.co_code.hex(), sizes, names, self.read(thing.co_consts)]
            case FunctionType():
                return [
                    *map(self.read, (thing.__code__, thing.__defaults__, thing.__kwdefaults__)),
                    [self.read(cell.cell_contents) for cell in thing.__closure__ or () if _filled(cell)],
                    self._used(thing),
                ]
            case type():
                parts = {
                    name: part
                    for name, part in sorted(vars(thing).items())
                    if isinstance(part, FunctionType) or not (name[:2] == "__" or name == "_abc_impl")
                }
                return [thing.__qualname__, self.read(thing.__bases__), self.read(parts)]
            case staticmethod() | classmethod():
                return [type(thing).__name__, self.read(thing.__func__)]
            case property():
                return ["property", *map(self.read, (thing.fget, thing.fset, thing.fdel))]
            case cached_property():
                return ["property", self.read(thing.func)]
            case partial():
                return ["partial", *map(self.read, (thing.func, thing.args, thing.keywords))]
        if hasattr(thing, "tolist"):  # an array
            return [_name(type(thing)), str(getattr(thing, "dtype", "")), thing.tolist()]
        if hasattr(thing, "__dict__"):
            return [self.read(type(thing)), self.read(vars(thing))]
        if self.blind:
            return _name(type(thing))
        raise ValueError(
            f"a hash cannot tell when {thing!r} changes; give a version, and raise it when that changes"
        )

    def _used(self, function: FunctionType) -> object:
        """The global values that the code of a function names, and of modules that are no package's the parts."""
        values = {}
        for name in sorted(_globals(function.__code__)):
            if name in function.__globals__:
                values[name] = value = function.__globals__[name]
                if isinstance(value, ModuleType) and not _installed(value):
                    parts = {part for code in _codes(function.__code__) for part in code.co_names}
                    values |= {f"{name}.{p}": getattr(value, p) for p in sorted(parts) if hasattr(value, p)}
        return self.read(values)


def _codes(code: CodeType) -> list[CodeType]:
    """The code of a function and of those inside it."""
    inside = [const for const in code.co_consts if isinstance(const, CodeType)]
    return [code, *(part for const in inside for part in _codes(const))]


def _globals(code: CodeType) -> set[str]:
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    return {
        step.argval for part in _codes(code) for step in dis.get_instructions(part) if step.opname in loads
    }


def _filled(cell: object) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _name(thing: object) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', None) or thing.__name__}"


def _installed(thing: object) -> bool:
    """Whether a module, function or class belongs to Python, to this package, or to an installed one."""
    if isinstance(thing, ModuleType):
        module = thing
    elif isinstance(thing, CodeType) or not (hasattr(thing, "__qualname__") or hasattr(thing, "__name__")):
        return False
    else:
        name = getattr(thing, "__module__", None)
        if name == "__main__" or name is not None and name not in sys.modules:
            return False  # a script, a notebook, or what has come from one
        module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:
        return getattr(module, "__name__", None) != "__main__"  # written in C
    path = Path(file).resolve()
    packages = {"site-packages", "dist-packages"}
    return bool(packages & set(path.parts)) or PACKAGE in path.parents or LIBRARY in path.parents
