"""Ruff finds nothing, a script finds the modules of Python, and long prose is named."""

import subprocess
import sys
from pathlib import Path

from tests.prose import findings

ROOT = Path(__file__).parents[2]


def test_ruff_finds_nothing():
    command = [sys.executable, "-m", "ruff", "check", "--quiet", "."]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_beside_a_script_has_the_name_of_a_module_of_python():
    beside = [path for folder in ("benchmarks", "book", "tests/rehearsals") for path in (ROOT / folder).glob("*.py")]
    assert beside and not [path for path in beside if path.stem in sys.stdlib_module_names]


def test_what_a_change_adds_is_named_where_it_is_long_or_has_a_clearer_word():
    old, long = "Nobody knows nobody.\n\nThe mask stays.", "Word " * 107
    new = f"{old} It is that of the text.\n\n{long}\n\n| {long} |"
    told = ["“that of” (the noun again): It is that of the text.", f"107 words, 107 a sentence: {long[:60]}"]
    notebook = '{"cells": [{"cell_type": "markdown", "source": ["It is that of the text."]}]}'
    assert [*findings("page.md", old, new), *findings("a.ipynb", "", notebook)] == [*told, told[0]]
