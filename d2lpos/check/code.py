"""What Python tells of an answer's code: whether it does nothing, how many of its lines run, what it is with a change.

The first two hang on the version of Python. This file imports the standard library alone, so that a test can ask each
Python on a machine.
"""

import dis
import sys
import sysconfig
from collections.abc import Callable
from inspect import getsource
from types import CodeType, FrameType, FunctionType

LIBRARIES = (*{sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}, "<frozen")


def is_stub(function: object) -> bool:
    """Whether the body does nothing, unlike a body that works and forgets its `return`."""
    if not hasattr(function, "__code__"):
        return False
    # Each version has its own bytecode for a body that does nothing.
    steps, idle = ({step.opname for step in dis.get_instructions(one)} for one in (function, lambda: None))
    return steps <= idle | {"NOP"}


class Lines:
    """Counts the lines that run while a function does, but for those of libraries and of the named files.

    Python reports a line again in each round of a loop, also where the whole loop is a single line. It would report
    single instructions, too, but from 3.12 on not those of a function's first call.
    """

    def __init__(self, *files: str) -> None:
        self.lines, self.skipped = 0, (*LIBRARIES, *files)

    def ask(self, function: Callable, *arguments: object) -> object:
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            return function(*arguments)
        finally:
            sys.settrace(before)

    def _trace(self, frame: FrameType, event: str, _: object) -> Callable | None:
        if frame.f_code.co_filename.startswith(self.skipped):
            return None
        self.lines += event in ("call", "line")
        return self._trace


def changed(function: FunctionType, change: str) -> FunctionType:
    """The function with a change in its source, "before → after", or in that of one which it uses from its folder.

    A lambda is the only one of its line, and a keyword argument. Raises ValueError where "before" does not stand there
    exactly once.
    """
    before, _, after = change.partition(" → ")
    sources = {one: getsource(one).strip() for one in used(function)}
    places = sum(text.count(before) for text in sources.values())
    if places != 1:
        raise ValueError(f"{before!r} stands {places} times in {function.__name__} and what it uses; it must stand once")
    namespace = {name: value for one in reversed(sources) for name, value in one.__globals__.items()}
    for one, text in sources.items():
        text = text.replace(before, after)
        if function.__name__ == "<lambda>" and one is function:
            text = f"globals()['<lambda>'] = [*dict({text}).values()][0]"
        exec(compile(text, one.__code__.co_filename, "exec"), namespace)  # noqa: S102 (our own sources)
    return namespace[function.__name__]


def used(function: FunctionType) -> list[FunctionType]:
    """It, and the functions of its folder that it uses."""
    folder, met = function.__module__.rpartition(".")[0], [function]
    for one in met:  # which grows
        named = [one.__globals__.get(name) for name in names(one.__code__)]
        met += [
            part
            for part in dict.fromkeys(named)
            if isinstance(part, FunctionType) and part.__module__.rpartition(".")[0] == folder and part not in met
        ]
    return met


def names(code: CodeType) -> list[str]:
    """All names that are looked up in a code and in the functions that it makes."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in names(part)]
    return [*code.co_names, *inner]
