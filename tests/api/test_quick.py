"""The quick reference has every encoding, and what it says of each holds."""

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

import d2lpos
from d2lpos import Bias, Dropped, Encoding
from d2lpos.encoding import DOORS
from d2lpos.input.sinusoids import frequencies

PAGE = (Path(__file__).parents[2] / "book" / "quick.md").read_text("utf-8")
ARITHMETIC = str.maketrans({"·": "*", "−": "-"})
# Neither encodes anything by itself: one is what others derive from, one wraps another.
HELPERS = {Bias, Dropped}
BY_NEIGHBORS = "Convolutional"  # takes no positions, so it is no `Encoding` and has no doors


class Row(NamedTuple):
    """A row of the table."""

    name: str
    doors: set[str]
    code: str
    parameters: str
    needs_mask: bool


def listing(text: str) -> str:
    """The Python that a text shows."""
    return textwrap.dedent(re.search(r"```python\n(.+?)\n *```", text, re.DOTALL)[1])


def read(text: str) -> Row:
    encoding, door, code, parameters, _ = re.split(r"\n {2}- ", text)
    doors = re.match(r"\*\*(.+?)\*\*", door)[1]
    return Row(
        re.search(r"`(\w+) <", encoding)[1], set(doors.split(", ")) - {"none"}, listing(code),
        parameters.strip(), "without a mask" in door,
    )


SETUP, TABLE = PAGE.split(":::::{list-table}")
ROWS = [read(text) for text in re.split(r"\n\* - ", TABLE.split("\n:::::")[0])[2:]]


def test_every_encoding_has_its_row():
    public = [getattr(d2lpos, name) for name in d2lpos.__all__]
    encodings = {thing.__name__ for thing in public if issubclass(thing, Encoding) and thing not in HELPERS}
    assert {row.name for row in ROWS} == encodings | {BY_NEIGHBORS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_says_the_truth(row):
    first, *lines = ast.parse(row.code).body
    assert len(row.code.splitlines()) <= 3
    names = {}
    exec(listing(SETUP), names)  # noqa: S102, because these lines are on the page
    before = {name: names[name].shape for name in ("x", "q", "k", "S", "y")}
    exec(row.code, names)  # noqa: S102
    assert {name: names[name].shape for name in before} == before

    encoding = names[first.targets[0].id]
    assert type(encoding).__name__ == row.name
    if row.name == BY_NEIGHBORS:
        assert row.doors == {"embed"} and not torch.equal(names["x"], names["conv"](names["x"]))
    else:
        assert set(encoding.doors) == row.doors
        called = {part.attr for line in lines for part in ast.walk(line) if isinstance(part, ast.Attribute)}
        assert called & set(DOORS) == row.doors

    arguments = {word.arg: ast.literal_eval(word.value) for word in first.value.keywords if word.arg in row.parameters}
    parameters = inspect.signature(type(encoding)).parameters.values()
    sizes = {parameter.name: parameter.default for parameter in parameters} | arguments
    counted = sum(parameter.numel() for parameter in encoding.parameters())
    assert eval(row.parameters.translate(ARITHMETIC), {}, sizes) == counted


@pytest.mark.parametrize("row", [row for row in ROWS if row.name != BY_NEIGHBORS], ids=lambda row: row.name)
def test_row_names_layout_bidirectional_and_mask_where_they_matter(row):
    names = {}
    exec(listing(SETUP) + "\n" + row.code.splitlines()[0], names)  # noqa: S102
    encoding = next(thing for thing in names.values() if type(thing).__name__ == row.name)
    for name in {"layout", "bidirectional"} & set(inspect.signature(type(encoding)).parameters):
        assert name in row.code
    for parameter in encoding.parameters():
        torch.nn.init.normal_(parameter)
    here = names["cells" if "cells" in row.code else "here"]
    words, (q, k) = (
        torch.randn(1, 1, 512).expand(1, 49, 512),
        torch.randn(2, 1, 8, 1, 64).expand(2, 1, 8, 49, 64),
    )
    marked = torch.zeros(0) if row.name == "Swin" else encoding.embed(words, here) - words
    turned = encoding.rotate(q, k, here, here)
    added = encoding.score(q, k, here, here)
    scores = turned[0] @ turned[1].mT + (0 if added is None else added)
    blind = not marked.any() and torch.allclose(scores, scores.mT, atol=1e-3)  # to the order of equal words
    assert blind == row.needs_mask


def test_line_for_longer_texts_stretches_rope():
    names = {}
    exec(listing(SETUP), names)  # noqa: S102
    call = ast.parse(re.search(r"`(RoPE\(.*scaling=longer\))`", SETUP)[1], mode="eval")
    rope = eval(compile(call, "quick.md", "eval"), names)
    omega = frequencies(rope.dim)
    assert (omega / rope.scaling(omega)[0]).max().item() == pytest.approx(4)  # 4k to 16k
