"""The built book and a browser, once for all tests of the site."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from tests.site.detectors import visit
from tests.site.serving import Quiet, serve

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def build(tmp_path_factory) -> tuple[Path, str]:
    """The folder of the finished pages, built strictly and anew, and what went wrong while building.

    The workers of one run share it: the first that asks builds. D2LPOS_BOOK names a folder of pages that `make book` has
    built from the same files, and that are tested instead.
    """
    if built := os.environ.get("D2LPOS_BOOK"):
        return ROOT / built, "" if (ROOT / built / "index.html").exists() else f"D2LPOS_BOOK={built}: no pages"
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    out = (tmp_path_factory.getbasetemp().parent if worker else tmp_path_factory.mktemp("built")) / "book"
    with FileLock(out.with_suffix(".lock")):
        report = out.with_suffix(".txt")
        if not report.exists():
            command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
            options = ["build", ".", "--path-output", str(out), "-W", "-n", "--keep-going", "-q"]
            done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)
            report.write_text(done.stdout + done.stderr if done.returncode else "", "utf-8")
    return out / "_build" / "html", report.read_text("utf-8")


@pytest.fixture(scope="session")
def site(build) -> Path:
    folder, problems = build
    if problems:
        pytest.fail("the book does not build: see test_book_builds", pytrace=False)
    return folder


@pytest.fixture(scope="module")
def address(site):
    with serve(site, Quiet) as address:
        yield address


@pytest.fixture
def visitor(browser):
    """Who opens pages and finds no fault in them."""
    with visit(browser) as visitor:
        yield visitor
        assert visitor.faults == []


@pytest.fixture
def reader(visitor, address):
    """A visitor of the page that a file of tests calls `address`."""
    visitor.page.goto(address)
    return visitor


@pytest.fixture
def plain(browser):
    """A page that runs no scripts."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()
