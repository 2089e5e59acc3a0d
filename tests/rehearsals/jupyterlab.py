"""Each link within a notebook, clicked in JupyterLab: python -m tests.rehearsals.jupyterlab [NOTEBOOK ...]

JupyterLab opens another notebook at its top, because nothing of it is drawn yet, and goes to the place at a second click. This
is not tried here. It needs `make lab` once, and a Chromium.
"""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
from notebooks import every, links
from playwright.sync_api import TimeoutError

from tests.browser import chromium

ROOT = Path(__file__).parents[2]
PORT = 8977
NEAR = """name => [...document.querySelectorAll(`[data-jupyter-id="${name}"], [id="${name}"]`)].some(
  place => place.getClientRects().length && Math.abs(place.getBoundingClientRect().top - innerHeight / 2) < innerHeight / 2)"""
READY = """count => [...document.querySelectorAll('.jp-MarkdownCell')].filter(
  cell => cell.querySelector('.jp-RenderedMarkdown > *')).length >= count"""


def click(page, anchor: str) -> bool:
    """Whether a click on the link brings its place into sight within ten seconds."""
    page.locator(f'.jp-RenderedMarkdown a[href$="#{anchor}"]').first.click()
    with suppress(TimeoutError):
        return bool(page.wait_for_function(NEAR, arg=anchor, timeout=10_000))
    return False


def main() -> None:
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or every(ROOT)
    options = [f"--port={PORT}", "--no-browser", "--allow-root", "--IdentityProvider.token=", f"--notebook-dir={ROOT}"]
    server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], stderr=subprocess.DEVNULL)
    dead = []
    try:
        with chromium() as browser:
            for path in chosen:
                anchors = sorted(anchor for file, anchor in links(path) if file == path)
                if not anchors:
                    continue
                page = browser.new_page(viewport={"width": 1300, "height": 900})
                page.goto(f"http://localhost:{PORT}/lab/tree/{path.relative_to(ROOT)}?reset")
                written = path.read_text("utf-8").count('"cell_type": "markdown"')
                page.wait_for_function(READY, arg=written, timeout=120_000)
                page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
                missed = [anchor for anchor in anchors if not click(page, anchor)]
                print(f"{path.name}: {len(anchors) - len(missed)} of {len(anchors)} links scroll")
                dead += missed
                page.close()
    finally:
        server.terminate()
    assert not dead, dead


if __name__ == "__main__":
    main()
