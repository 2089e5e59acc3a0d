"""Chance is the same in each run, and the end of a run says what was left out."""

import random
import sys
from importlib.machinery import PathFinder

import numpy as np
import pytest
import torch
from hypothesis import settings

from tests.browser import chromium
from tests.warm import Python

settings.register_profile("same", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("same")

# `torch.manual_seed` takes a thousand times longer, for it looks for accelerators.
SEED_TORCH = torch.manual_seed if torch.accelerator.is_available() else torch.default_generator.manual_seed

GET = "Download them with `make weights`, 251 MB, then run this command again."
HOW = "Install Chromium with `make browser`, then run this command again."


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """A test draws the same numbers whichever ran before it in its process, and so do its fixtures."""
    for seed in (random.seed, np.random.seed, SEED_TORCH):
        seed(0)


@pytest.fixture(scope="session")
def python():
    """`python("-c", code)` is a process of its own that does not import torch anew: see tests/warm.py."""
    with Python() as python:
        yield python


@pytest.fixture
def without(monkeypatch):
    """`without(name)` is a machine on which pip has not installed that package."""

    def remove(name: str) -> None:
        find = PathFinder.find_spec
        monkeypatch.setattr(PathFinder, "find_spec", lambda full, *rest: None if full == name else find(full, *rest))
        for loaded in [full for full in sys.modules if full == name or full.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, loaded)

    return remove


# Not for the session: two browsers alive in one process do not get along.
@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def pytest_terminal_summary(terminalreporter):
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    if left_out := sum("browser tests need" in reason for reason in reasons):
        terminalreporter.section("no browser", yellow=True)
        terminalreporter.line(f"Tests left out for want of a browser: {left_out}. {HOW}", yellow=True)
    if left_out := sum("the weights of" in reason for reason in reasons):
        terminalreporter.section("no weights", yellow=True)
        terminalreporter.line(f"Tests left out for want of trained weights: {left_out}. {GET}", yellow=True)
