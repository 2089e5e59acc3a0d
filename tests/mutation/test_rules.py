"""The rules make the mistakes that they name."""

import pytest

from .rules import mutants, named


@pytest.mark.parametrize(("source", "made"), [
    ("x = 1", {"x = 2", "x = 0", "x = -1"}),
    ("x = 0.5", {"x = -0.5", "x = 1.5", "x = 0.25", "x = 1.0"}),
    ("x = a + b", {"x = (a - b)", "x = a", "x = b"}),
    ("x = a ** b", {"x = (a * b)", "x = a", "x = b", "x = (b ** a)"}),
    ("x = a <= b < c", {"x = (a < b < c)", "x = (a >= b < c)", "x = (a <= b <= c)", "x = (a <= b > c)"}),
    ("x = a and not b", {"x = (a or not b)", "x = a", "x = (not b)", "x = a and b"}),
    ("x = f(a, b, c=y)", {"x = f(b, a, c=y)", "x = f(a, c=y)", "x = f(b, c=y)", "x = f(a, b)"}),
    ("x = min(y.clamp(z))", {"x = max(y.clamp(z))", "x = y.clamp(z)", "x = min(y)"}),
    ("x = max(y, z)", {"x = min(y, z)", "x = y", "x = z", "x = max(y)", "x = max(z)"}),
    ("x = y.sort().values", {"x = y", "x = y.values"}),
    ("x = -(-a // b)", {
        "x = (-a // b)", "x = (a // b)", "x = -(a // b)", "x = -((-a / b))", "x = -((-a))", "x = -(b)", "x = -((b // -a))"}),
    ("x = y[i]", {"x = y", "x = y[-1]"}),
    ("x = y[1:]", {"x = y", "x = y[:]", "x = y[2:]", "x = y[0:]", "x = y[-1:]"}),
    ("x = y[a :]", {"x = y", "x = y[:]", "x = y[a + 1:]", "x = y[a - 1:]"}),  # and not y[a:], which is the same
    ("x = a if b else c", {"x = (c if b else a)", "x = a", "x = c"}),
    ("x = [y for y in z if a]", {"x = [y for y in z]", "x = [y for y in z if (not a)]"}),
    ("a, b = x", {"(b, a) = x"}),
    ("x = x.y", {"pass"}),
    ("x.y = z", {"pass"}),
    ("def f(q, k, v): return q", {"def f(q, k, v): return k"}),
    ("import torch\nx = torch.rand(y)", {"x = y"}),
    ('"""A module."""\nx: "Words" = f"{y} words"\nraise E("words")', {"pass"}),
    ("@cache\ndef f(): pass", {"@(lambda f: f)"}),
    ("with g: f()", {"with __import__('contextlib').nullcontext(): f()", "with g: pass"}),
])
def test_what_is_made_of_a_line(source, made):
    assert {mutant.new for mutant in mutants(source)} == made


def test_a_mutant_is_the_file_with_one_mistake():
    source = "# √\nx = [\n    1,\n    y,\n]\n"
    (mutant,) = named("2", mutants(source))
    assert mutant == (2, 3, "1,", "2,", source.replace("1", "2"))
