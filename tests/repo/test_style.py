"""Ruff finds nothing, and a script finds the modules of Python."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_ruff_finds_nothing():
    command = [sys.executable, "-m", "ruff", "check", "--quiet", "."]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_file_beside_a_script_has_the_name_of_a_module_of_python():
    beside = [path for folder in ("benchmarks", "book", "tests/rehearsals") for path in (ROOT / folder).glob("*.py")]
    assert beside and not [path for path in beside if path.stem in sys.stdlib_module_names]
