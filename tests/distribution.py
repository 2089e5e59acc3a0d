"""What a worker of `make test` gets at a time: a whole file or, of files that take long, a single test."""

import pytest

# Each of their tests takes seconds and shares little with the others. They come last, so that no worker waits long.
SINGLY = (
    "tests/check/test_wrong_answers.py::test_the_text_is_short_and_always_the_same",
    "tests/core/test_export.py",
    "tests/core/test_mutants.py",
    "tests/figures/hero/test_hero_host.py",
    "tests/lab/test_kill.py",
    "tests/notebooks/test_extension.py",
    "tests/site/test_detectors.py",
    "tests/site/test_pages.py",
)


def unit(nodeid: str) -> str:
    """The tests that stay together: those of this name."""
    return nodeid if nodeid.startswith(SINGLY) else nodeid.partition("::")[0]


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (item.nodeid.startswith(SINGLY), item.path.suffix != ".ipynb"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Units(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit(nodeid)

    return Units(config, log)
