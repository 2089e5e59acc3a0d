"""The encodings, attention and the Transformer stay small, and so does each file; docstrings are not counted."""

import ast
import io
import tokenize
from pathlib import Path

from tests.house import ENCODERS

PACKAGE = Path(__file__).parents[2] / "d2lpos"
MEAN, FILE = 64, 200  # lines of code; a mean, because a new encoding brings a file of its own
ASIDE = {"dropout.py", "__init__.py"}  # one opens no door, the others only hand out names
NO_CODE = {tokenize.COMMENT, tokenize.DEDENT, tokenize.ENDMARKER}
NO_CODE |= {tokenize.INDENT, tokenize.NEWLINE, tokenize.NL}


def code_lines(text):
    """How many lines hold code: no blank ones, comments and docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, documented) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - docstrings)


def test_the_package_is_small():
    files = [PACKAGE / "encoding.py", *(path for room in ENCODERS for path in (PACKAGE / room).glob("*.py"))]
    lines = {path.name: code_lines(path.read_text("utf-8")) for path in files if path.name not in ASIDE}
    assert len(lines) > 40
    assert sum(lines.values()) < MEAN * len(lines), lines
    assert max(lines.values()) < FILE, lines
