"""What Python tells of an answer's code, asked of each Python that this machine has."""

import subprocess
from pathlib import Path

import pytest

from tests.pythons import find

CODE = Path(__file__).parents[2] / "d2lpos" / "check" / "code.py"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")

COUNT = f"""
import runpy
code = runpy.run_path({str(CODE)!r})
Lines, is_stub = code["Lines"], code["is_stub"]

def a_loop(rows):
    total = 0
    for _ in rows:
        total += 1
    return total

def in_a_line(rows):
    return [1 for _ in rows]

def in_a_generator(rows):
    return sum(1 for _ in rows)

def in_a_lambda(rows):
    return list(map(lambda _: 1, rows))

def while_there_are_rows(rows):
    n = 0
    while n < len(rows): n += 1
    return n

def lines(function, rows):
    count = Lines()
    count.ask(function, rows)
    return count.lines

for loop in (a_loop, in_a_line, in_a_generator, in_a_lambda, while_there_are_rows):
    for times in range(3):
        few, many = lines(loop, [1] * 4), lines(loop, [1] * 64)
        assert many - few >= 60, (loop, times, few, many)
        loop([1] * 64)  # not traced: what comes next counts all the same
for once in (len, lambda rows: rows * 2):
    assert lines(once, [1] * 4) == lines(once, [1] * 64), once
"""

STUBS = '''
def dots(x):
    """Words."""
    ...

def passes(x): pass

def returns_nothing(x):
    return None

def works(x):
    x * 2

def both(x):
    """Words."""
    x * 2
    ...

assert all(map(is_stub, (dots, passes, returns_nothing))) and not any(map(is_stub, (works, both, len, 3)))
'''


@pytest.mark.parametrize("version", VERSIONS)
def test_lines_and_stubs_are_told_from_the_first_call_on(version):
    """A tracer of single instructions hears nothing of a function's first call, from Python 3.12 on."""
    if not (python := find(version)):
        pytest.skip(f"this machine has no Python {version}")
    done = subprocess.run([python, "-"], input=COUNT + STUBS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
