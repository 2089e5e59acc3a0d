"""`make quick` knows tests for every file that a writer changes, and runs no others."""

import json
import re
from types import SimpleNamespace

from tests import quick
from tests.quick import ALWAYS, ROOT, chosen

OF_EVERY_MODULE = {ALWAYS, "tests/api/test_layers.py", "tests/api/test_examples.py"}


def files(*patterns):
    return [path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)]


def test_every_file_has_tests():
    written = files("d2lpos/**/*.py", "tests/wrong_answers/[a-z]*.py", "chapters/**/*.ipynb")
    assert len(written) > 200
    assert [file for file in written if not chosen([file]).keys() - OF_EVERY_MODULE] == []


def test_a_check_is_tested_by_its_own_names():
    words = chosen(["d2lpos/check/rope/turn_pairs.py"])
    assert words["tests/check/test_wrong_answers.py"] == ("turn_pairs",)
    assert words["tests/check/test_rope.py"] == ("",)
    assert {"turn_pairs", "step"} < {*chosen(["d2lpos/check/rope/material.py"])["tests/check/test_wrong_answers.py"]}


def test_what_has_no_tests_of_its_own_is_tested_by_those_that_import_it():
    assert "tests/core/test_attention.py" in chosen(["d2lpos/transformer/inputs.py"])
    assert "tests/core/test_attention.py" not in chosen(["d2lpos/transformer/masks.py"])
    assert chosen(["book/_static/book.css"]) == {ALWAYS: ("",)}


def test_a_notebook_runs_where_its_code_has_changed_and_not_for_words_or_exercises(monkeypatch):
    file = "chapters/01-permutation-equivariance.ipynb"
    notebook = json.loads((ROOT / file).read_text("utf-8"))
    assert file not in chosen([file])
    for place, runs in (("markdown", False), ("exercise", False), ("setup", True)):
        cells = (cell for cell in notebook["cells"] if place in (cell["cell_type"], *cell["metadata"].get("tags", ())))
        next(cell for cell in cells if place != "exercise" or cell["cell_type"] == "code")["source"] = ["1"]
        done = SimpleNamespace(returncode=0, stdout=json.dumps(notebook))
        monkeypatch.setattr(quick.subprocess, "run", lambda *_, done=done, **__: done)
        assert (file in chosen([file])) == runs


def test_of_tests_that_ask_each_notebook_those_of_the_changed_one_run():
    words = chosen(["chapters/in-depth/04b-stretching.ipynb"])["tests/notebooks/test_blind.py"]
    names = ["test_it[4B.far]", "test_it[04b-stretching.ipynb]", "test_all", "test_it[4.far]", "test_it[14B.far]"]
    assert [name for name in names if any(re.search(word, name) for word in words)] == names[:3]
