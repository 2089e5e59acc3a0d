"""The table of symptoms: every row opens its place, and four questions leave the rows that fit."""

import nbformat
import pytest
from d2lpos_ext.symptoms import QUESTIONS
from playwright.sync_api import expect

from tests.site.detectors import visit
from tests.site.pages import ROOT

PAGE = "book/symptoms"
ROWS = "table.symptoms tbody tr:has(a)"
[TABLE] = [
    cell.source
    for cell in nbformat.read(ROOT / "book" / "symptoms.ipynb", as_version=4).cells
    if "symptoms" in cell.metadata.get("tags", [])
]
REST = [[], ["half precision"], ["an error"], ["perhaps an error"]]
SHOWN = [line.split("|")[3].strip() for line in TABLE.splitlines() if line.startswith("| [")]


def test_every_row_answers_the_four_questions():
    when = [*list(QUESTIONS.values())[1]]
    for words in SHOWN:
        first, second, *rest = words.split(", ")
        assert first in ("alone", "in a batch") and second in when and rest in REST, words


def test_rows_open_their_places(site, visitor):
    visitor.page.goto((site / f"{PAGE}.html").as_uri())
    links = visitor.page.eval_on_selector_all(f"{ROWS} a", "all => all.map(a => a.getAttribute('href'))")
    assert len(links) == len(SHOWN) == len(set(links))
    heads = visitor.page.eval_on_selector_all("h3", "all => all.length")
    assert heads == len(links)
    for link in links[::10]:
        visitor.page.goto(f"{(site / PAGE).as_uri()}.html{link}")
        expect(visitor.page.locator(":target")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        (["in a batch"], lambda words: words.startswith("in a batch")),
        (["half precision", "past a length"], lambda words: "half" in words and "past" in words),
        (["alone", "silent"], lambda words: words.startswith("alone") and ", an error" not in words),
    ],
)
def test_questions_leave_what_fits(site, visitor, answers, wanted):
    page = visitor.page
    page.goto((site / f"{PAGE}.html").as_uri())
    for answer in answers:
        page.check(f"#symptoms [value='{answer}']")
    left = sum(map(wanted, SHOWN))
    expect(page.locator(f"{ROWS}:visible")).to_have_count(left)
    expect(page.locator("#symptoms output")).to_have_text(f"{left} of {len(SHOWN)} symptoms")
    groups = page.eval_on_selector_all(
        "table.symptoms tbody tr",
        "all => all.filter(row => !row.querySelector('a') && !row.hidden).map(row => row.nextElementSibling)"
        ".every(row => row)",
    )
    assert groups and "#show=" in page.url
    page.goto("about:blank")
    page.goto(f"{(site / PAGE).as_uri()}.html#show={'+'.join(answers).replace(' ', '-')}")
    expect(page.locator(f"{ROWS}:visible")).to_have_count(left)
    page.click("#symptoms .shown a")
    expect(page.locator(f"{ROWS}:visible")).to_have_count(len(SHOWN))


def test_on_a_phone_the_questions_are_folded_and_rows_in_sight(site, browser):
    with visit(browser, 390) as reader:
        page, fold, asked = reader.page, "#symptoms button", "#symptoms fieldset:visible"
        page.goto((site / f"{PAGE}.html").as_uri())
        expect(page.locator(asked)).to_have_count(0)
        for row in range(3):
            expect(page.locator(ROWS).nth(row)).to_be_in_viewport()
        page.click(fold)
        expect(page.locator(asked)).to_have_count(len(QUESTIONS))
        expect(page.locator(fold)).to_have_attribute("aria-expanded", "true")
        page.click(fold)
        expect(page.locator(asked)).to_have_count(0)
        page.goto("about:blank")
        page.goto(f"{(site / PAGE).as_uri()}.html#show=alone")
        expect(page.locator(asked)).to_have_count(len(QUESTIONS))
        assert reader.faults == []


def test_without_scripts_the_table_stands_whole(plain, site):
    plain.goto((site / f"{PAGE}.html").as_uri())
    expect(plain.locator(f"{ROWS}:visible")).to_have_count(len(SHOWN))
    expect(plain.locator("#symptoms")).to_be_hidden()
