"""Node, which runs the scripts of the book without a browser."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def node(*arguments: str | Path, stdin: str = "") -> str:
    """What node prints when it is started in the book's folder and `stdin` is its input; skips where there is none."""
    if not shutil.which("node"):
        pytest.skip("scripts of the book are tested with node, which is not installed")
    options = {"input": stdin, "env": os.environ | {"PYTHON": sys.executable}, "capture_output": True}
    run = subprocess.run(["node", *map(str, arguments)], cwd=ROOT, text=True, check=False, **options)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def passed(*files: str | Path) -> int:
    """How many tests of node's own pass in these files, of which none may fail."""
    return int(re.search(r"pass (\d+)", node("--test", *files))[1])
