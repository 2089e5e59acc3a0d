"""What Colab's rehearsal finds in the outputs of a cell, beside those that the book stores."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_output

from tests.rehearsals.execute import MOST, complaints


def cell(text="", kind="stdout", tags=(), source=""):
    stream = kind in ("stdout", "stderr")
    output = new_output("stream", name=kind, text=text) if stream else new_output("display_data", data={kind: text})
    return new_code_cell(source, outputs=[output], metadata={"tags": list(tags)}, id="c")


@pytest.mark.parametrize(("ran", "stored"), [
    (cell("0.21, 3e-05"), cell("0.21,  3e-05")),  # other spaces are the business of other versions
    (cell("took 3 s", tags=["nbval-ignore-output"]), cell("took 4 s")),
    (cell("○ encode: not attempted yet", tags=["exercise"]), cell("○ encode: not attempted yet")),
    (cell("100 %|███|", "stderr", tags=["remove-stderr"]), cell("100 %|███|", "stderr")),
    (cell("\x1b[33mWARNING: pip runs as root", source='!"python" -m pip install it'), cell()),
    (cell("<b>4</b>", "text/html"), cell("<b>5</b>", "text/html")),  # a table's numbers are in its words, too
])
def test_nothing_is_wrong(ran, stored):
    assert complaints(ran, stored) == []


@pytest.mark.parametrize(("ran", "stored", "words"), [
    (cell("✗ encode: fails"), cell("✓ encode"), "a check says other than in the book"),
    (cell("○ encode", tags=["solution"]), cell("✓ encode"), "a check says other than in the book"),
    (cell("FutureWarning: soon", "stderr"), cell(), "complains: FutureWarning: soon"),
    (cell("ERROR: no such version", source='!"python" -m pip install it'), cell(), "complains: ERROR"),
    (cell("Note: you may need to restart the kernel", source='!"python" -m pip install it'), cell(), "complains: Note"),
    (cell("0.22"), cell("0.21"), r"prints \['0.22'\]; the book has \['0.21'\]"),
    (cell("3.2e+05"), cell("3.2e-05"), "prints"),
    (cell("False"), cell("True"), "prints"),
    (cell(""), cell("True"), "prints"),
    (cell("x" * MOST + "x"), cell(), f"outputs of {MOST + 1} characters, of at most {MOST}"),
])
def test_what_is_wrong_is_told(ran, stored, words):
    [complaint] = complaints(ran, stored)
    assert re.match(f"cell c: {words}", complaint), complaint
