"""What Python tells of an answer's code and of its source, asked of each Python that this machine has."""

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


CHANGES = f"""
import runpy
changed = runpy.run_path({str(CODE)!r})["changed"]

def next_one(x):
    return x + 1

def twice(x):
    return 2 * next_one(x)

named = dict(
    reference=lambda x: twice(x) - 1,
)
assert changed(twice, "2 * → 3 *")(1) == 6
assert changed(twice, "x + 1 → x")(1) == 2 and twice(1) == 4
assert changed(named["reference"], "- 1 → + 1")(1) == 5 and changed(named["reference"], "2 * → ")(1) == 1
for change in ("x → y", "4 → 5"):
    try:
        changed(twice, change)
    except ValueError as error:
        assert "it must stand once" in str(error)
    else:
        raise AssertionError(change)
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_function_is_changed_in_its_source_or_in_what_it_uses(version, tmp_path):
    if not (python := find(version)):
        pytest.skip(f"this machine has no Python {version}")
    (tmp_path / "answers.py").write_text(CHANGES, "utf-8")
    done = subprocess.run([python, tmp_path / "answers.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
