"""The ledger of claims shows all rows of the chapters, and its filter works from a file, by keyboard and by link."""

import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.claims import errata, ledger, read, rows
from d2lpos_ext.ledger import slug
from playwright.sync_api import expect

from tests.site.detectors import status
from tests.site.pages import ROOT

LEDGER = ledger(ROOT)
EVERY = [row for chapter in read(ROOT).values() for row in rows(chapter, LEDGER)]
ROWS = [row for row in EVERY if not row.trained]
TRAINED = {row.id: row for row in EVERY if row.trained}
SHOWN = "() => [...document.querySelectorAll('li[data-verdict]')].filter(e => e.checkVisibility()).length"


@pytest.fixture(scope="module")
def address(site):
    return (site / "book" / "ledger.html").as_uri()


def count(verdict="", source=""):
    return sum(
        verdict in ("", slug(row.verdict)) and (not source or source in (row.sources or ["nobody"]))
        for row in ROWS
    )


def test_page_shows_every_claim_and_every_erratum(site):
    page = BeautifulSoup((site / "book" / "ledger.html").read_text("utf-8"), "html.parser")
    entries = page.select("li[data-verdict]")
    assert len(entries) == len(ROWS)
    for entry, row in zip(entries, ROWS, strict=True):
        assert entry.select_one(".side .verdict").get_text() == row.verdict
        links = [link["href"] for link in entry.select(".side .verdict a")]
        assert [link.partition("#")[2] for link in links] == [f"claim-{row.cell}"] * (row.verdict != "Open")
        assert len(entry.select(".said a")) == len(row.sources)
        second = [(mark.get_text(), mark.a and mark.a["href"]) for mark in entry.select(".trained .verdict")]
        trained = [TRAINED[row.id]] if row.id in TRAINED else []
        assert [mark for mark, _ in second] == [one.verdict for one in trained]
        assert [link and link.partition("#")[2] for _, link in second] == [
            one.cell and f"claim-{one.cell}" for one in trained
        ]
    wrong = page.select("#errata-of-other-texts .ledger > li")
    assert [entry.select_one(".side").get_text() for entry in wrong] == [e["where"] for e in errata(ROOT)]
    assert all(entry.select(".said a") for entry in wrong)


def test_counts_are_those_of_the_tables(reader):
    for radio in reader.page.query_selector_all("form.filter [type=radio]"):
        name, shown = radio.evaluate("e => [e.id, e.parentElement.innerText]")
        assert int(shown.split()[-1]) == count("" if name == "all" else name)


def test_filter_by_keyboard(reader):
    page = reader.page
    page.focus("#all")
    for verdict in ("true", "half-true", "false"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(SHOWN) == count(verdict)
        assert status(page) == f"{count(verdict)} of {len(ROWS)} claims"
    page.keyboard.press("Tab")
    page.keyboard.type("Machine")
    assert page.evaluate("location.hash") == "#false+mastery"
    assert page.evaluate(SHOWN) == count("false", "mastery") > 0
    empty = "e => !e.checkVisibility() || [...e.querySelectorAll('li')].some(li => li.checkVisibility())"
    assert page.eval_on_selector_all("section:has(> .ledger)", f"all => all.every({empty})")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("li[data-verdict]:visible")).to_have_count(len(ROWS))
    assert status(page) == f"{len(ROWS)} claims"
    assert page.evaluate("document.activeElement.id") == "all"


def test_a_filtered_ledger_can_be_linked(reader, address):
    for choice, verdict, source in [
        ("half-true+stack-overflow", "half-true", "stack-overflow"),
        ("nobody", "", "nobody"),
        ("errata-of-other-texts", "", ""),
    ]:
        reader.page.goto("about:blank")
        reader.page.goto(f"{address}#{choice}")
        shown = count(verdict, source)
        expect(reader.page.locator("li[data-verdict]:visible")).to_have_count(shown)
        assert status(reader.page).split()[0] == str(shown)
        assert reader.page.input_value("form.filter select") == source


def test_without_javascript_all_is_shown_and_nothing_asks_to_be_pressed(plain, address):
    plain.goto(address)
    assert plain.locator("li[data-verdict]:visible").count() == len(ROWS)
    assert plain.locator("form.filter :is(input, select, a):visible").count() == 0
    assert plain.locator("form.filter .verdict:visible").count() == 4
