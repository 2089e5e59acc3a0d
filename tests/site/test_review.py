"""Questions that come back: answered in the page, remembered in the browser, and whole without scripts."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.node import passed
from tests.site.detectors import visit

KEPT = "JSON.parse(localStorage.getItem('d2lpos:reviews') ?? '{}')"
TODAY = datetime.now(UTC).date()


def ago(days, missed=None, step=1):
    on = (TODAY - timedelta(days=days)).isoformat()
    return {"value": 0, "missed": missed, "on": on, "step": step, "asked": 1, "right": int(missed is None)}


def keep(page, entries):
    """Open the page anew as a browser does that kept these answers."""
    page.evaluate(f"localStorage.setItem('d2lpos:reviews', '{json.dumps(entries)}')")
    page.reload()


@pytest.fixture(scope="module")
def address(address):
    return f"{address}/chapters/04-rope.html"


@pytest.fixture(scope="module")
def page_of_all(address):
    return address.replace("chapters/04-rope", "book/review")


def test_in_node():
    assert passed("tests/site/review.test.mjs") >= 5


def test_answers_by_keyboard_are_compared_and_kept(reader):
    page = reader.page
    first, third = page.locator("#question-4-1"), page.locator("#question-4-3")
    expect(first.locator("details")).to_be_hidden()
    first.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(first.locator(".overlooked")).to_have_text(
        "If the query and the key exchange their positions, the score changes."
    )
    expect(first.locator(".when")).to_have_text("Not right. It comes back tomorrow.")
    expect(first.locator("details p").last).to_be_visible()
    third.get_by_role("textbox").focus()
    page.keyboard.type("0.8")
    page.keyboard.press("Enter")
    expect(third.locator(".when")).to_have_text("Right. It comes back in 3 days.")
    expect(third.locator(".overlooked")).to_have_count(0)
    entries = page.evaluate(KEPT)
    answers = {name: (entry["value"], entry["missed"]) for name, entry in entries.items()}
    assert answers == {"4.1": (1, "1"), "4.3": (0.8, None)}
    page.reload()
    expect(first.locator(".said")).to_contain_text("The distance, without its direction.")
    expect(third.locator(".said")).to_contain_text("0.8 radians")
    first.get_by_role("button", name="Answer anew").click()
    assert page.evaluate(KEPT) == entries
    first.get_by_role("radio").nth(2).check()
    first.get_by_role("button", name="Compare").click()
    expect(first.locator(".when")).to_have_text("Right. It comes back tomorrow.")


def test_earlier_questions_are_asked_anew(reader):
    page, copy = reader.page, reader.page.locator(".again")
    assert copy.locator(".admonition-title").all_text_contents() == ["Question 3.4", "Question 1.3"]
    keep(page, {"3.4": ago(0), "4.1": ago(3), "4.2": ago(0)})
    for box in (copy.first, page.locator("#question-4-1")):
        expect(box.get_by_role("button", name="Compare")).to_be_visible()
    expect(page.locator("#question-4-2 .said")).to_be_visible()
    copy.first.get_by_role("link", name="Question 3.4").click()
    assert page.url.endswith("/03-learned.html#question-3-4")


def test_the_page_of_all_begins_with_what_is_due(browser, page_of_all):
    with visit(browser, width=390) as reader:
        page, due = reader.page, reader.page.locator("[data-due]")
        page.goto(page_of_all)
        expect(due).to_contain_text("Nothing is answered yet")
        entries = {"2.1": ago(5), "4.1": ago(0, "1", 0), "5.2": ago(9), "7.1": ago(2), "9.9": ago(9)}
        keep(page, entries)
        texts = "Due today: 3, of which 1 was wrong the last time. Answered so far: 4 of 65."
        expect(due).to_contain_text(texts)
        titles = due.locator(".admonition-title").all_inner_texts()
        assert titles == ["Question 4.1", "Question 5.2", "Question 2.1"]
        expect(page.locator(".review")).to_have_count(65)
        due.get_by_role("radio").first.check()
        due.get_by_role("button", name="Compare").first.click()
        texts = ["Not right. It comes back tomorrow.", "Right the last time.", "Right the last time."]
        expect(due.locator(".when")).to_have_text(texts)
        reader.settle()
        assert reader.axe() == []
        keep(page, {"7.1": ago(2)})
        expect(due).to_contain_text("Nothing is due. The next question comes back tomorrow.")
        assert reader.faults == []


def test_without_javascript_all_is_listed_and_answers_are_folded(plain, page_of_all):
    plain.goto(page_of_all)
    assert plain.locator(".review details:not([open]):visible").count() == 65
    assert plain.locator(".review .options:visible").count() == 52
    assert plain.locator("form:visible, .overlooks:visible, [data-due]:visible").count() == 0
