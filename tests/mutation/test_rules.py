"""The rules make the mistakes that they name, and nothing that is listed as equivalent has gone."""

import pytest

from .equivalent import EQUIVALENT
from .host import ROOT
from .rules import mutants


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("x = 1", {"x = 2"}),
        ("x = a + b", {"x = (a - b)", "x = a"}),
        ("x = a <= b < c", {"x = (a < b < c)", "x = (a <= b <= c)"}),
        ("x = a and not b", {"x = (a or not b)", "x = a", "x = (not b)", "x = a and b"}),
        ("x = f(a, b, c=True)", {"x = f(b, a, c=True)", "x = f(a, b)", "x = f(a, b, c=False)"}),
        ("x = min(y.clamp(z))", {"x = max(y.clamp(z))", "x = y.clamp(z)", "x = min(y)"}),
        ("x = y[1:]", {"x = y[:]", "x = y[2:]"}),
        ("x = a if b else c", {"x = (c if b else a)"}),
        ("x.y = z", {"pass"}),
        ("import torch\nx = torch.rand(y)", set()),
        ('"""A module."""\nx: "Words" = f"{y} words"\nraise E("words")', {"pass"}),
        ("@cache\ndef f(): pass", {""}),
        ("with g: f()", {"with __import__('contextlib').nullcontext(): f()", "with g: pass"}),
    ],
)
def test_what_is_made_of_a_line(source, made):
    assert {mutant.new for mutant in mutants(source)} == made


def test_a_mutant_is_the_file_with_one_mistake():
    source = "# √\nx = [\n    1,\n    y,\n]\n"
    (mutant,) = mutants(source)
    assert mutant.text == source.replace("1", "2")
    assert (mutant.first, mutant.last, mutant.old, mutant.new) == (2, 3, "1,", "2,")


@pytest.mark.parametrize("file", EQUIVALENT)
def test_what_is_listed_as_equivalent_is_still_made(file):
    made = {(mutant.old, mutant.new) for mutant in mutants((ROOT / file).read_text("utf-8"))}
    assert not EQUIVALENT[file].keys() - made, "take out what no rule makes any more"
    assert all(reason.strip() for reason in EQUIVALENT[file].values())
