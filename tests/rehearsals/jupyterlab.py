"""Each picture and each link of a notebook in a JupyterLab that does not trust it: python -m tests.rehearsals.jupyterlab [NOTEBOOK ...]

A picture has its words, and no other text is left of it.
JupyterLab opens another notebook at its top, because nothing of it is drawn yet, and goes to the place at a second click. This
is not tried here. It needs `make lab` once, and a Chromium.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory

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
# Of each output that is no table: how wide its picture is, whether the picture has words, and what else can be read.
PICTURES = """() => [...document.querySelectorAll('.jp-RenderedHTML:not(:has(table))')].map(output => {
  const picture = output.querySelector('img');
  return [picture?.naturalWidth, !!picture?.alt, output.innerText.trim()];
})"""
MOVING = "count => document.querySelectorAll('[data-hero], [data-explore]').length === count"


def click(page, anchor: str) -> bool:
    """Whether a click on the link brings its place into sight within ten seconds."""
    page.locator(f'.jp-RenderedMarkdown a[href$="#{anchor}"]').first.click()
    with suppress(TimeoutError):
        return bool(page.wait_for_function(NEAR, arg=anchor, timeout=10_000))
    return False


def visit(browser, path: Path, environment: dict[str, str]) -> Iterator[str]:
    """What is wrong with a notebook: of its pictures, of its links, and of its figures once it is trusted."""
    text = path.read_text("utf-8")
    page = browser.new_page(viewport={"width": 1300, "height": 900})

    def look() -> None:
        page.goto(f"http://localhost:{PORT}/lab/tree/{path.relative_to(ROOT)}?reset")
        page.wait_for_function(READY, arg=text.count('"cell_type": "markdown"'), timeout=120_000)

    look()
    page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
    yield from (f"picture {seen}" for seen in page.evaluate(PICTURES) if not seen[0] or not seen[1] or seen[2])
    yield from (f"link {anchor}" for file, anchor in sorted(links(path)) if file == path and not click(page, anchor))
    subprocess.run([sys.executable, "-m", "nbformat.sign", path], env=environment, check=True, stdout=subprocess.DEVNULL)
    look()
    with suppress(TimeoutError):
        page.wait_for_function(MOVING, arg=text.count(" data-figure="), timeout=20_000)
        page.close()
        return
    yield "a figure of the trusted notebook is not drawn"
    page.close()


def main() -> None:
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or every(ROOT)
    options = [f"--port={PORT}", "--no-browser", "--allow-root", "--IdentityProvider.token=", f"--notebook-dir={ROOT}"]
    faults = []
    with TemporaryDirectory() as folder:  # where it keeps whom it trusts
        environment = os.environ | {"JUPYTER_DATA_DIR": folder}
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            while server.poll() is None and socket().connect_ex(("localhost", PORT)):
                time.sleep(1)
            with chromium() as browser:
                for path in chosen:
                    found = [f"{path.name}: {fault}" for fault in visit(browser, path, environment)]
                    print(*found or [f"{path.name}: all is well"], sep="\n", flush=True)
                    faults += found
        finally:
            server.terminate()
            server.wait()
    assert not faults, faults


if __name__ == "__main__":
    main()
