"""Load eight kinds of pages of the built book and read each to its end: `python -m benchmarks.pages`.

Each visit is a reader's first, with an empty cache, from a server on this machine that compresses nothing. Needs Chromium
and `make book`.
"""

import argparse
import statistics
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from d2lpos.lab.machine import processor
from tests.browser import chromium, find_chromium
from tests.site.serving import Quiet, serve

from .__main__ import TABLES, show, write

SITE = Path(__file__).parents[1] / "_build" / "html"
KINDS = {
    "the essay": "index",
    "a chapter": "chapters/04-rope",
    "a chapter with two models": "chapters/08-choosing",
    "a page in depth": "chapters/in-depth/04a-in-other-code",
    "Your model": "book/your-model",
    "the models": "book/models",
    "the ledger": "book/ledger",
    "the package": "book/api",
}
SLOWER = 4  # times, for the time in which a page does not answer

# The layout shift, as the Web Vitals count it, and by how much tasks after the first paint take longer than 50 ms.
WATCH = """
window.shift = 0; window.tasks = [];
new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) shift += e.value; }))
  .observe({type: "layout-shift", buffered: true});
new PerformanceObserver(list => tasks.push(...list.getEntries())).observe({type: "longtask", buffered: true});
"""
BLOCKED = """() => {
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return tasks.reduce((sum, e) => sum + Math.max(0, e.startTime + e.duration - Math.max(paint.startTime, e.startTime) - 50), 0);
}"""
FOOT = "() => innerHeight + scrollY > document.documentElement.scrollHeight - 2"

def kilo(value: float) -> str:
    return f"{value / 1000:,.0f}"


COUNTS = {
    "load": ("kB at load", kilo),
    "end": ("kB to the end", kilo),
    "css": ("of it styles", kilo),
    "woff2": ("of it fonts", kilo),
    "foreign": ("Requests to other hosts", "{:.0f}".format),
    "shift": ("Layout shift", "{:.3f}".format),
}
TIMES = {"blocked": ("Blocked, ms", "{:.0f}".format)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="each visits every page (default: 5)")
    parser.add_argument("--counts", action="store_true", help="leave out times, which tell nothing on a busy machine")
    parser.add_argument("--write", action="store_true", help="write the table of the book too")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds must be positive; got {arguments.rounds}")
    for name, found in {"Chromium": find_chromium(), "`make book`": SITE.exists()}.items():
        if not found:
            parser.error(f"{name} is needed first")
    columns = COUNTS if arguments.counts else COUNTS | TIMES
    with serve(SITE, Quiet) as address, chromium() as browser:
        about = f"{processor()}; Chromium {browser.version}; {arguments.rounds} rounds; {date.today()}"
        print(about)
        visits = {kind: [] for kind in KINDS}
        for _ in range(arguments.rounds):
            for kind, name in KINDS.items():
                visits[kind].append(visit(browser, f"{address}/{name}.html"))
    rows = [row(kind, loads, columns) for kind, loads in visits.items()]
    show("pages", rows)
    if arguments.write:
        write("pages", rows)
        (TABLES / "pages.txt").write_text(f"{about}\n")


def visit(browser, address: str) -> dict[str, float]:
    """Open a page in a new window, read it to its end, and return what COUNTS and TIMES name; bytes without headers."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page, sizes = context.new_page(), {}
    page.on("requestfinished", lambda request: sizes.update({request.url: request.sizes()["responseBodySize"]}))
    page.on("requestfailed", lambda request: sizes.update({request.url: 0}))
    page.add_init_script(WATCH)
    tools = context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(address)
    page.wait_for_timeout(2000)
    first = {"load": sum(sizes.values()), "blocked": page.evaluate(BLOCKED)}
    tools.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    page.mouse.move(640, 400)
    while not page.evaluate(FOOT):
        page.mouse.wheel(0, 600)
        page.wait_for_timeout(100)
    page.wait_for_timeout(1000)
    kinds = {kind: sum(size for url, size in sizes.items() if urlsplit(url).path.endswith(kind)) for kind in ("css", "woff2")}
    foreign = sum(urlsplit(url).hostname != urlsplit(address).hostname for url in sizes if not url.startswith("data:"))
    last = {"end": sum(sizes.values()), "foreign": foreign, "shift": page.evaluate("shift")}
    context.close()
    return first | kinds | last


def row(name: str, loads: list[dict[str, float]], columns: dict[str, tuple]) -> dict[str, str]:
    """One row of a table: the median of each column."""
    return {"Page": name} | {
        title: form(statistics.median(load[key] for load in loads)) for key, (title, form) in columns.items()
    }


if __name__ == "__main__":
    main()
