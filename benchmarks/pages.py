"""Load the chapters in a browser, from this book and from a plain Jupyter Book: `python -m benchmarks.pages`.

The plain book has the same notebooks and no configuration but a title. The MathJax that it asks of another host
is answered by this machine under another name, so no time has a network in it. Needs Chromium and npm.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from os import fstat
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from urllib.parse import urlsplit

from d2lpos.lab.machine import processor
from tests.browser import chromium, find_chromium

from .__main__ import TABLES, show, write

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("*.ipynb"))
PLAIN, OURS = "plain Jupyter Book", "this book"
CONFIG = "title: The chapters\nexecute: {execute_notebooks: 'off'}\n"
CDN = "https://cdn.jsdelivr.net/npm/mathjax@3/"
HERE, ELSEWHERE = "127.0.0.1", "localhost"  # two names of this machine

# The layout shift, as the Web Vitals count it, and the time when fonts and formulas are there.
WATCH = """
window.shift = 0;
new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) shift += e.value; }))
  .observe({type: "layout-shift", buffered: true});
window.formulas = new Promise(done => addEventListener("load", async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  done(performance.now());
}));
"""
READ = """async () => {
  const set = await formulas;
  await new Promise(done => setTimeout(done, 300));
  return {shift, set, paint: performance.getEntriesByName("first-contentful-paint")[0].startTime};
}"""

COUNTS = {
    "bytes": ("kB", lambda value: f"{value / 1000:,.0f}"),
    "requests": ("Requests", "{:.0f}".format),
    "foreign": ("To other hosts", "{:.0f}".format),
    "shift": ("Layout shift", "{:.3f}".format),
}
TIMES = {"paint": ("First paint, ms", "{:.0f}".format), "set": ("Formulas set, ms", "{:.0f}".format)}

Log = list[tuple[str, int]]  # host and bytes of each answer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=8, help="each loads every chapter of both books (default: 8)"
    )
    parser.add_argument(
        "--counts", action="store_true", help="leave out times, which tell nothing on a busy machine"
    )
    parser.add_argument("--write", action="store_true", help="write the tables of the book too")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds must be positive; got {arguments.rounds}")
    for name, path in {"Chromium": find_chromium(), "npm": shutil.which("npm")}.items():
        if not path:
            parser.error(f"{name} is needed and not installed")
    with TemporaryDirectory() as folder, chromium() as browser, serve(Path(folder)) as (port, log):
        books = {PLAIN: build(write_plain(Path(folder) / "plain")), OURS: build(ROOT, Path(folder) / "ours")}
        mathjax = bring_mathjax(books[PLAIN], Path(folder), f"http://{ELSEWHERE}:{port}/")
        addresses = {
            name: f"http://{HERE}:{port}/{site.relative_to(folder).as_posix()}"
            for name, site in books.items()
        }
        about = (
            f"{processor()}; Chromium {browser.version}, jupyter-book {version('jupyter-book')}, "
            f"MathJax {mathjax}; {arguments.rounds} rounds; {date.today()}"
        )
        print(about)
        loads = compare(browser, addresses, log, arguments.rounds)
    columns = COUNTS if arguments.counts else COUNTS | TIMES
    for name, books in loads.items():
        rows = [row(contender, path, columns) for contender, path in books.items()]
        show(name, rows)
        if arguments.write:
            write(name, rows)
    if arguments.write:
        (TABLES / "pages.txt").write_text(f"{about}\n")


def write_plain(folder: Path) -> Path:
    """Write the sources of the plain book: the chapters, their order and a title."""
    (folder / "chapters").mkdir(parents=True)
    for name in CHAPTERS:
        shutil.copy(ROOT / "chapters" / f"{name}.ipynb", folder / "chapters")
    root, *others = (f"chapters/{name}" for name in CHAPTERS)
    order = {"format": "jb-book", "root": root, "chapters": [{"file": name} for name in others]}
    (folder / "_toc.yml").write_text(json.dumps(order), "utf-8")  # which is YAML, too
    (folder / "_config.yml").write_text(CONFIG, "utf-8")
    return folder


def build(book: Path, out: Path | None = None) -> Path:
    """Build a book, and return the folder of its pages. Warnings are allowed."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    options = ["build", str(book), "--path-output", str(out or book), "-q"]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return (out or book) / "_build" / "html"


def bring_mathjax(site: Path, folder: Path, address: str) -> str:
    """Put MathJax into a folder, let the pages of a site ask for it at `address`, and return its version."""
    subprocess.run(["npm", "pack", "--silent", "mathjax@3"], cwd=folder, check=True, capture_output=True)
    [archive] = folder.glob("mathjax-*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    for page in site.rglob("*.html"):
        page.write_text(page.read_text("utf-8").replace(CDN, f"{address}package/"), "utf-8")
    return json.loads((folder / "package" / "package.json").read_text("utf-8"))["version"]


@contextmanager
def serve(folder: Path) -> Iterator[tuple[int, Log]]:
    """Serve a folder uncompressed, with the headers of a host of pages; yield the port, and a log of the answers."""
    log = []

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which holds a file back for 40 ms after its headers

        def end_headers(self):
            self.send_header("Cache-Control", "max-age=600")
            self.send_header("Access-Control-Allow-Origin", "*")
            super().end_headers()

        def copyfile(self, source, outputfile):
            log.append((self.headers["Host"].partition(":")[0], fstat(source.fileno()).st_size))
            super().copyfile(source, outputfile)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer((HERE, 0), partial(Handler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, log
        server.shutdown()


def compare(browser, addresses: dict[str, str], log: Log, rounds: int) -> dict[str, dict[str, list]]:
    """Read all chapters of each book, in turns, beginning with another one and an empty cache each round."""
    loads = {"pages-first": {name: [] for name in addresses}, "pages-later": {name: [] for name in addresses}}
    for turn in range(rounds):
        start = turn % len(CHAPTERS)
        for name, address in addresses.items():
            page = new_page(browser, log)
            first, *later = (
                load(page, f"{address}/chapters/{chapter}.html", log)
                for chapter in CHAPTERS[start:] + CHAPTERS[:start]
            )
            loads["pages-first"][name].append(first)
            loads["pages-later"][name] += later
            page.close()
    return loads


def new_page(browser, log: Log):
    """An empty window with a cache of its own; requests that nobody answers go into the log, too."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.add_init_script(WATCH)
    page.on("requestfailed", lambda request: log.append((urlsplit(request.url).hostname, 0)))
    return page


def load(page, address: str, log: Log) -> dict[str, float]:
    """Load one page, and return what COUNTS and TIMES name."""
    log.clear()
    page.goto(address)
    page_state = page.evaluate(READ)
    hosts, sizes = zip(*log, strict=True)
    foreign = sum(host != HERE for host in hosts)
    return page_state | {"bytes": sum(sizes), "requests": len(hosts), "foreign": foreign}


def row(name: str, loads: list[dict[str, float]], columns: dict[str, tuple]) -> dict[str, str]:
    """One row of a table: the median of each column, and what it ranges over."""
    return {"Contender": name} | {
        title: spread([load[key] for load in loads], form) for key, (title, form) in columns.items()
    }


def spread(values: list[float], form: Callable[[float], str]) -> str:
    low, middle, high = (form(pick(values)) for pick in (min, statistics.median, max))
    return middle if low == high else f"{middle} ({low}–{high})"


if __name__ == "__main__":
    main()
