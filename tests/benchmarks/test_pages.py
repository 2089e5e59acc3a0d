"""What the measurement of pages counts, and what its table holds; no book is built and no time is tested."""

import csv

from benchmarks.pages import COUNTS, KINDS, TABLES, TIMES, row, visit
from tests.browser import chromium
from tests.site.pages import PAGES
from tests.site.serving import Quiet, serve

PAGE = """<!doctype html><p id="top"></p><p>Words that move down.</p><link rel="stylesheet" href="a.css">
<img alt="" src="http://nowhere.invalid/x.png"><p style="height: 3000px"></p><img alt="" src="below.svg" loading="lazy">
<script>onload = () => setTimeout(() => document.querySelector("#top").style.height = "400px", 100)</script>"""


def test_a_row_has_medians():
    cells = row("the essay", [dict.fromkeys(COUNTS, 2000) | {"foreign": count} for count in (9, 3, 5)], COUNTS)
    assert (cells["Requests to other hosts"], cells["kB at load"]) == ("5", "2")


def test_a_visit_counts_what_comes_at_load_and_to_the_end(tmp_path):
    files = {"page.html": PAGE, "a.css": "p {top: 0}", "below.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>'}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with serve(tmp_path, Quiet) as address, chromium() as browser:
        seen = visit(browser, f"{address}/page.html")
    assert (seen["css"], seen["woff2"], seen["foreign"]) == (len(files["a.css"]), 0, 1)
    assert seen["end"] >= sum(map(len, files.values())) > seen["css"] and seen["end"] >= seen["load"]
    assert seen["shift"] > 0.01 and seen["blocked"] >= 0


def test_the_table_of_the_book_has_all_kinds():
    assert set(KINDS.values()) <= set(PAGES)
    with (TABLES / "pages.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [entry["Page"] for entry in rows] == list(KINDS)
    counts, times = ([title for title, _ in columns.values()] for columns in (COUNTS, TIMES))
    assert list(rows[0]) in (["Page", *counts], ["Page", *counts, *times])
