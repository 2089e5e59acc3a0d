"""The built book and a browser, once for all tests of the site."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import chromium

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the finished pages, built strictly and anew."""
    out = tmp_path_factory.mktemp("book")
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    options = ["build", ".", "--path-output", str(out), "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"the book does not build:\n{done.stdout[-2000:]}{done.stderr[-4000:]}", pytrace=False)
    return out / "_build" / "html"


@pytest.fixture(scope="session")
def browser():
    with chromium() as browser:
        yield browser
