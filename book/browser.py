"""Find and start Chromium, which prints the book and in which its pages are tested.

Set D2LPOS_CHROMIUM to the path of a Chromium or Chrome in an unusual place.
"""

import os
import shutil
from contextlib import suppress
from importlib.util import find_spec

# The first is a build without a window, as Debian has it: it opens a page in a fifth of the time.
NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
    "chrome",
)
MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

# No sandbox: containers run as root. The others stop Chromium's own requests, so that a test which counts
# requests sees the page's alone.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)


def find_chromium() -> str | None:
    """Path of an installed Chromium or Chrome, else of Playwright's own, or None."""
    candidates = (os.environ.get("D2LPOS_CHROMIUM", ""), *NAMES, MACOS)
    return next(filter(None, map(shutil.which, candidates)), None) or find_downloaded()


def find_downloaded() -> str | None:
    """Path of the Chromium that `playwright install` brings, or None."""
    if not find_spec("playwright"):
        return None
    from playwright.sync_api import sync_playwright

    # Where its driver does not run, its browser is not there either.
    with suppress(Exception), sync_playwright() as playwright:
        return shutil.which(playwright.chromium.executable_path)
    return None


def launch(playwright):
    """Start headless Chromium with a fresh profile; return Playwright's `Browser`."""
    return playwright.chromium.launch(executable_path=find_chromium(), headless=True, args=list(FLAGS))
