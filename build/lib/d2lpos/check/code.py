"""What Python tells of an answer's code: whether it does nothing, and how many of its lines run.

Both hang on the version of Python. This file imports the standard library alone, so that a test can ask each Python on a machine.
"""

import dis
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType

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
