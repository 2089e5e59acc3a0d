"""Where there is no browser, or no weights, the last lines of a test run say so, and a run that must have them fails."""

import shutil

import pytest

from tests.site.pages import ROOT

TESTS = """
from tests.browser import chromium
from tests.weights import need

def test_page():
    with chromium():
        pass

def test_model():
    need("smollm2")
"""
SKIPPED = (
    "Tests left out for want of a browser: 1. Install Chromium with `make browser`",
    "Tests left out for want of trained weights: 1. Download them with `make weights`",
)


@pytest.mark.parametrize(
    ("required", "outcome", "last"),
    [("", "2 skipped", SKIPPED), ("1", "2 failed", ("browser tests need", "the weights of SmolLM2"))],
)
def test_run_without_browser_or_weights(tmp_path, monkeypatch, python, required, outcome, last):
    for name in (
        "tests/conftest.py",
        "tests/browser.py",
        "tests/warm.py",
        "tests/weights.py",
        "book/browser.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "tests" / "test_page.py").write_text(TESTS)
    # An empty PATH and home hold no browser.
    hidden = {
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        "D2LPOS_CHROMIUM": "",
        "D2LPOS_REQUIRE_BROWSER": required,
        "D2LPOS_WEIGHTS": str(tmp_path),
        "D2LPOS_REQUIRE_WEIGHTS": required,
    }
    for name, value in (hidden | {"PYTEST_ADDOPTS": ""}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    options = ["-p", "no:cacheprovider", "-o", "pythonpath=.", "--rootdir", tmp_path]
    done = python("-m", "pytest", *options, "tests")
    lines = done.stdout.splitlines()
    assert outcome in lines[-1]
    for words in last:
        assert any(words in line for line in lines[-6:]), done.stdout
    assert done.returncode == (1 if required else 0)
