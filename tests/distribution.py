"""What a worker of `make test` gets at a time: a whole file or, of files that take long, a single test."""

import gc
import os
import re

import pytest

# There are as many workers as processors, so a second thread of PyTorch or NumPy would wait for them.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.set_threshold(10_000)  # by default, every 700 objects: a seventh of the time of what reads pages

# It builds the pages, which others wait for, so one worker begins with it.
FIRST = "tests/site/test_html.py"
# Each of their tests takes seconds and shares little with the others. They come last, so that no worker waits long.
SINGLY = (
    "tests/core/test_export.py", "tests/mutation/test_mistakes.py", "tests/figures/hero/test_hero_host.py",
    "tests/lab/test_kill.py", "tests/site/test_detectors.py", "tests/site/test_pages.py",
    "tests/site/test_search.py",
)
# The tests of one check share its verdicts; its name comes first in the brackets.
BY_CHECK = ("tests/check/test_wrong_answers.py",)


def unit(nodeid: str) -> str:
    """The tests that stay together: those of this name."""
    if nodeid.startswith(SINGLY):
        return nodeid
    file, _, test = nodeid.partition("::")
    return file + "[" + re.split(r"[-\]]", test.partition("[")[2])[0] if file in BY_CHECK else file


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and found stays, so to search it for garbage again and again costs seconds and frees nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: place(item.nodeid))


def place(nodeid: str) -> tuple[bool, ...]:
    """What the order of the tests goes by."""
    file = nodeid.partition("::")[0]
    return file != FIRST, nodeid.startswith(SINGLY + BY_CHECK), not file.endswith(".ipynb")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Units(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    return Units(config, log)
