"""The table of what models use: whole without scripts, searched and sorted by keyboard, linked."""

import csv
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.models import CODE, numbers
from playwright.sync_api import expect

from d2lpos.pretrained.census import families
from d2lpos.runtime.published import published
from tests.site.detectors import status

ROWS = families()
SHOWN = "table.models > tbody > tr:visible"


@pytest.fixture(scope="module")
def address(site):
    return (site / "book" / "models.html").as_uri()


def column(page, at):
    cells = page.locator(f"table.models > tbody > tr > :nth-child({at})").all_inner_texts()
    return [cell.split("\n")[0] for cell in cells]  # below a family stands its release


def test_every_family_has_its_row_its_source_and_its_section(site):
    page = BeautifulSoup((site / "book" / "models.html").read_text("utf-8"), "html.parser")
    rows = {row["id"]: row for row in page.select("table.models > tbody > tr")}
    assert list(rows) == [row["family"] for row in sorted(ROWS, key=lambda row: -int(row["year"]))]
    for row in ROWS:
        name, year, encoding, *cells = rows[row["family"]].find_all(["th", "td"], recursive=False)
        assert name.a["href"] == CODE.format("5.23.0", row["family"], row["family"])
        assert year.text == row["year"] + " *" * bool(row["year by hand"])
        assert encoding.text == row["encoding"] and encoding.a["href"]
        keys = ("base", "turns", "layout", "scaling", "window", "without")
        assert [cell.text for cell in cells[:6]] == [numbers(row[key]) for key in keys]
        assert all(numbers(row[key]) in cells[6].text for key in ("attend", "temperature", "besides", "default"))
        released = name.select_one("a.release")
        assert (released and (released.text, released["href"])) == (row["release"] and (row["release"], row["source"]) or None)
        assert ("learned sinks" in cells[6].text) == bool(row["sinks"])


def test_sources_are_files_of_the_library():
    transformers = pytest.importorskip("transformers")
    if f"v{transformers.__version__}/" not in CODE.format("5.23.0", "", ""):
        pytest.skip("another version is installed")
    root = Path(transformers.__file__).parents[1]
    for row in ROWS:
        path = CODE.format("5.23.0", row["family"], row["family"]).partition("/src/")[2]
        assert (root / path).is_file(), row["family"]


def test_search_by_keyboard(reader):
    page = reader.page
    assert status(page) == f"{len(ROWS)} families"
    page.focus("[name=find]")
    page.keyboard.type("YaRN")
    stretched = [row["family"] for row in ROWS if "YaRN" in row["scaling"]]
    expect(page.locator(SHOWN)).to_have_count(len(stretched))
    assert status(page) == f"{len(stretched)} of {len(ROWS)} families"
    page.keyboard.type(" gpt-oss")
    assert page.locator(SHOWN).count() == 1
    page.keyboard.press("Tab")  # leaves the field
    assert page.evaluate("location.hash") == "#find=YaRN+gpt-oss"
    page.get_by_role("button", name="Show all").press("Enter")
    expect(page.locator(SHOWN)).to_have_count(len(ROWS))
    assert page.input_value("[name=find]") == "" and "#" not in page.url
    page.get_by_role("button", name="sinks").press("Enter")
    assert status(page).startswith(f"{sum(bool(row['sinks']) for row in ROWS)} of")


def test_sort_by_keyboard(reader):
    page = reader.page
    head = page.locator("table.models th", has=page.get_by_role("button", name="Base"))
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert page.locator("th[aria-sort]").count() == 1
    for order in (1, -1):
        texts = column(page, 4)
        filled = [
            max(int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", text)) for text in texts if text
        ]
        assert filled == sorted(filled)[::order] and not any(texts[len(filled) :])
        head.locator("button").press("Enter")
    page.get_by_role("button", name="Family").press("Enter")
    assert column(page, 1) == sorted(row["family"] for row in ROWS)


def test_what_is_found_and_a_row_can_be_linked(reader, address):
    new = sum(row["layout"] == "neighbors" and row["year"] == "2026" for row in ROWS)
    for place, count in (("find=neighbors+2026", new), ("gpt_oss", len(ROWS))):
        reader.page.goto("about:blank")
        reader.page.goto(f"{address}#{place}")
        expect(reader.page.locator(SHOWN)).to_have_count(count)
        assert int(status(reader.page).split()[0]) == count > 0
    assert reader.page.locator("#gpt_oss").evaluate("e => e.matches(':target')")


def test_without_javascript_the_whole_table_stands_and_nothing_asks_to_be_pressed(plain, address):
    plain.goto(address)
    assert plain.locator(SHOWN).count() == len(ROWS)
    assert plain.locator("form.filter :is(input, button):visible, table.models button").count() == 0


def test_a_phone_shows_cards_and_paper_a_table(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(address)
    wide = "() => document.documentElement.scrollWidth"
    assert page.evaluate(wide) == 390
    row, table = page.locator("#gemma3"), page.get_by_role("table", name="Families of language models")
    assert row.evaluate("e => getComputedStyle(e).display") == "block"
    assert table.get_by_role("row").count() == len(ROWS) + 1  # a table still, to whom it is read aloud
    page.emulate_media(media="print")
    assert row.evaluate("e => getComputedStyle(e).display") == "table-row"
    page.close()


def test_every_release_has_its_row_its_source_and_its_report(site):
    page = BeautifulSoup((site / "book" / "models.html").read_text("utf-8"), "html.parser")
    rows = page.select("#releases table tbody tr")
    with published("models").joinpath("releases.csv").open(encoding="utf-8", newline="") as lines:
        known = list(csv.DictReader(lines))
    assert len(rows) == len(known)
    for row, one in zip(rows, known, strict=True):
        model, position, trained = row.find_all(["th", "td"])
        assert model.text == f"{one['name']}, {one['year']}" and model.a["href"] == one["source"]
        assert position.text == numbers(one["position"]) + "; its user may stretch it" * bool(one["by user"])
        assert (position.a and position.a["href"]) == (one["by user"] or None) and trained.text == (one["trained"] or "–")
        assert (trained.a and trained.a["href"]) == (one["report"] or None)
