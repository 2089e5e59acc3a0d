"""What the measurement of pages counts, and what its tables hold; no book is built and no time is tested."""

import csv
import json

import pytest

from benchmarks.pages import (
    CHAPTERS,
    COUNTS,
    ELSEWHERE,
    HERE,
    OURS,
    PLAIN,
    TABLES,
    TIMES,
    load,
    new_page,
    row,
    serve,
    write_plain,
)
from tests.browser import chromium

PAGE = """<!doctype html><p id="top"></p><p>Words that move down.</p>
<img alt="" src="http://nowhere.invalid/x.png"><script src="http://{}/away.js"></script>
<script>onload = () => setTimeout(() => document.querySelector("#top").style.height = "400px", 100)</script>"""


def test_the_plain_book_has_every_chapter_and_no_extension(tmp_path):
    folder = write_plain(tmp_path / "plain")
    order = json.loads((folder / "_toc.yml").read_text("utf-8"))
    assert [order["root"], *(entry["file"] for entry in order["chapters"])] == [
        f"chapters/{name}" for name in CHAPTERS
    ]
    assert {path.stem for path in (folder / "chapters").iterdir()} == set(CHAPTERS)
    assert "d2lpos" not in (folder / "_config.yml").read_text("utf-8")


def test_a_row_has_medians_and_ranges():
    counts = dict.fromkeys(COUNTS, 2000)
    cells = row("this book", [counts | {"requests": count} for count in (9, 3, 5)], COUNTS)
    assert cells["Requests"] == "5 (3–9)"
    assert cells["kB"] == "2"


def test_a_load_is_counted_by_host_and_what_is_cached_is_not(tmp_path):
    with serve(tmp_path) as (port, log), chromium() as browser:
        page = new_page(browser, log)
        (tmp_path / "away.js").write_text("1" * 100)
        html = PAGE.format(f"{ELSEWHERE}:{port}")
        for name in "ab":
            (tmp_path / f"{name}.html").write_text(html)
        first, later = (load(page, f"http://{HERE}:{port}/{name}.html", log) for name in "ab")
    assert (first["bytes"], first["requests"], first["foreign"]) == (len(html) + 100, 3, 2)
    assert (later["bytes"], later["requests"], later["foreign"]) == (len(html), 2, 1)
    assert first["shift"] > 0.01
    assert 0 < first["paint"] and 0 < first["set"]


@pytest.mark.parametrize("name", ["pages-first", "pages-later"])
def test_the_tables_of_the_book_have_both_books(name):
    with (TABLES / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [entry["Contender"] for entry in rows] == [PLAIN, OURS]
    counts, times = ([title for title, _ in columns.values()] for columns in (COUNTS, TIMES))
    assert list(rows[0]) in (["Contender", *counts], ["Contender", *counts, *times])
