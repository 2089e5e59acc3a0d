"""A browser for the tests that need one: the fixture `browser` has it.

Set D2LPOS_REQUIRE_BROWSER=1 where a missing browser is a failure, as in CI.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from book.browser import find_chromium, launch


def need_chromium() -> None:
    """Where there is no browser, skip; with D2LPOS_REQUIRE_BROWSER=1, fail."""
    needs = {"Chromium": find_chromium(), "the Python package playwright": find_spec("playwright")}
    missing = [name for name, path in needs.items() if not path]
    if missing:
        stop = pytest.fail if os.environ.get("D2LPOS_REQUIRE_BROWSER") == "1" else pytest.skip
        stop(f"browser tests need {' and '.join(missing)}")


@contextmanager
def chromium() -> Iterator:
    """Yield a running browser, where there is one."""
    need_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            yield browser
        finally:
            browser.close()
