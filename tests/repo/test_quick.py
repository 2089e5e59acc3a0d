"""`make quick` knows tests for every file that a writer changes, and runs no others."""

import re
import subprocess
from types import SimpleNamespace

import pytest

from tests.quick import ALWAYS, ROOT, RULES, Choice, chosen

PATTERNS = ("d2lpos/**/*.py", "tests/wrong_answers/[a-z]*.py", "chapters/**/*.ipynb")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_file_has_tests(pattern):
    files = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)]
    assert files
    assert [file for file in files if not file.endswith("__init__.py") and len(chosen([file])) < 2] == []


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_is_in_vain(rule):
    paths = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    groups = [match.groups() for path in paths if (match := re.fullmatch(rule, path))]
    assert groups
    for test in RULES[rule]:
        assert any((ROOT / test.partition(" ")[0].format(*group)).exists() for group in groups), test


def test_a_check_is_tested_by_its_own_names():
    words = chosen(["d2lpos/check/rope/turn_pairs.py"])
    assert words["tests/check/test_wrong_answers.py"] == ("turn_pairs",)
    assert words["tests/check/test_rope.py"] == ("",)
    assert {"turn_pairs", "step"} < {*chosen(["d2lpos/check/rope/material.py"])["tests/check/test_wrong_answers.py"]}


def test_several_files_share_their_tests_and_one_that_nothing_knows_gets_the_style():
    words = chosen(["d2lpos/rotary/rope.py", "d2lpos/bias/alibi.py"])
    assert words["tests/api/test_examples.py"] == ("alibi-", "rope-")
    assert chosen(["book/_static/book.css"]) == {ALWAYS: ("",)}


def test_only_what_was_chosen_runs():
    def item(path, name):
        return SimpleNamespace(path=ROOT / path, nodeid=f"{path}::{name}")

    mine, other, slow = (
        item("tests/api/test_examples.py", "test_example[rotary.rope-rotate]"),
        item("tests/api/test_examples.py", "test_example[bias.alibi-slopes]"),
        item("tests/repo/test_handout.py", "test_it"),
    )
    left_out = []
    config = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)))
    items = [mine, other, slow]
    Choice(chosen(["d2lpos/rotary/rope.py", "README.md"])).pytest_collection_modifyitems(config, items)
    assert items == [mine] and left_out == [other, slow]
