"""The list of proofs names tests that there are, and no file or folder of tests is forgotten."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import tiers

ROOT = Path(__file__).parents[2]
FOLDERS = {path.parent for pattern in ("tests/**/test_*.py", "chapters/**/*.ipynb", "book/*.ipynb") for path in ROOT.glob(pattern)}


@pytest.fixture(scope="module")
def collected(request) -> list[str]:
    """The names of all tests, of whichever tier; where only some were asked for, they are looked for here."""
    config = request.config
    part = any(getattr(config.option, name, None) for name in ("deselect", "ignore", "ignore_glob", "last_failed", "lf"))
    if config.args == config.getini("testpaths") and not part:
        return config.stash[tiers.COLLECTED]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n\n")[0].splitlines()


def test_every_proof_is_a_test(collected):
    assert tiers.faults(collected) == []


def test_every_file_and_folder_has_tests(collected):
    files = {nodeid.partition("::")[0] for nodeid in collected}
    written = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/*test*.py") if "def test_" in path.read_text("utf-8")}
    assert written - files == set()
    assert {folder.relative_to(ROOT).as_posix() for folder in FOLDERS} <= {file.rpartition("/")[0] for file in files}


def test_make_runs_both_tiers_by_the_name_of_the_marker():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.findall(r"-m '(.+?)'", makefile) == ["not proof", "proof"]
