"""Predictions as a reader makes them: by mouse, by touch and by keyboard, kept, compared, printed and forgotten."""

import json
import re

import nbformat
import pytest
from d2lpos_ext.asks import anchor
from d2lpos_ext.cells import note
from d2lpos_ext.search import unpack
from notebooks import every
from playwright.sync_api import expect

from tests.node import passed
from tests.site.detectors import visit
from tests.site.pages import ROOT
from tests.site.refusals import REFUSALS

KINDS = {"choice": "4.favorites", "number": "6.needle", "sketch": "6.longer", "sentence": "attention.weights"}
ASKS = {
    ask["id"]: (ask, path)
    for path in every(ROOT)
    for cell in nbformat.read(path, as_version=4).cells
    if (ask := note(cell, "ask")) and "predict" in cell.metadata.tags
}
KEPT = "JSON.parse(localStorage['d2lpos:predictions'] ?? '{}')"


def test_in_node():
    assert passed("tests/site/asks.test.mjs") >= 9


@pytest.fixture
def reader(visitor):
    return visitor


def go(reader, address, name):
    """Open the page of a prediction and return its box.

    Over HTTP: of a file that is opened anew, Chromium may show a storage that is older by some milliseconds.
    """
    reader.page.goto(f"{address}/{ASKS[name][1].relative_to(ROOT).with_suffix('.html')}")
    return reader.page.locator(f"#{anchor(name)}")


def answer(box, name, how="mouse"):
    """Give an answer that is wrong."""
    page = box.page
    match ASKS[name][0]["kind"]:
        case "choice" if how == "keyboard":
            box.get_by_role("radio").first.focus()
            page.keyboard.press("Space")
        case "choice":
            box.get_by_role("radio").first.click()
        case "number":
            box.get_by_role("textbox").fill("40")
        case "sentence":
            box.get_by_role("textbox").fill("Divide by the sum.")
        case "sketch" if how == "keyboard":
            box.get_by_role("slider").first.focus()
            for key in ("ArrowUp", "PageDown", "Tab", "End", "Tab", "Home"):
                page.keyboard.press(key)
        case "sketch":
            box.locator(".plot").scroll_into_view_if_needed()
            plot = box.locator(".plot").bounding_box()
            start, end, y = plot["x"] + 20, plot["x"] + plot["width"] - 20, plot["y"] + plot["height"] - 14
            page.mouse.move(start, y)
            page.mouse.down()
            page.mouse.move((start + end) / 2, y, steps=3)
            page.mouse.move(end, y, steps=3)
            page.mouse.up()
    compare = box.get_by_role("button", name="Compare")
    if how == "keyboard":
        compare.focus()
        page.keyboard.press("Enter")
    else:
        compare.click()


SAID = {"choice": "Yes, each of them", "number": "40", "sentence": "Divide by the sum."}
MISSED = {"choice": "0", "number": "below", "sentence": "always", "sketch": "below"}


@pytest.mark.parametrize(("kind", "how"), [
    ("choice", "mouse"), ("choice", "keyboard"), ("sketch", "mouse"), ("sketch", "keyboard"), ("number", "keyboard"), ("sentence", "mouse"),
])
def test_an_answer_stands_beside_the_book_s_and_is_kept(address, reader, kind, how):
    name = KINDS[kind]
    box = go(reader, address, name)
    details = box.locator("details")
    expect(details).to_be_hidden()
    answer(box, name, how)
    for again in (False, True):
        expect(details).to_have_attribute("open", "")
        expect(details).to_be_visible()
        expect(box.locator("form")).to_have_count(0)
        if kind == "sketch":
            label = box.get_by_role("img").get_attribute("aria-label")
            assert re.search(r"At 512: you [\d.]+, the book 3\.99", label)
            expect(box.locator(".key")).to_have_text("youthe book")
        else:
            expect(box.locator(".said").first).to_contain_text(SAID[kind])
        expect(box.locator(".overlooked")).to_have_count(1)
        if not again:
            expect(box.locator(".both")).to_be_focused()
            entry = reader.page.evaluate(KEPT)[name]
            assert entry["missed"] == MISSED[kind]
            reader.page.reload()
    if kind == "sentence":
        box.get_by_role("radio", name="Half").click()
        reader.page.reload()
        expect(box.get_by_role("radio", name="Half")).to_be_checked()
        assert reader.page.evaluate(KEPT)[name]["felt"] == "half"
    box.get_by_role("button", name="Answer anew").click()
    expect(box.locator("form")).to_be_visible()
    expect(details).to_be_hidden()
    answer(box, name, how)
    again = reader.page.evaluate(KEPT)[name]
    assert {key: again["first"][key] for key in entry} == entry, "the first answer is the prediction"


def test_a_line_stands_for_what_tells_the_answer_until_there_is_one(address, reader):
    box = go(reader, address, "1.fox")
    result = reader.page.locator(f"#{anchor('1.fox')} + .told")
    parts = reader.page.locator(".told[data-of='1.fox'] > :not(.waits)")
    place = "e => e.getBoundingClientRect().top"

    def away():
        return {not part.is_visible() for part in [box.locator("details"), *parts.all()]}

    assert away() == {True} and not reader.page.evaluate("find('change in the vector', false, false, true)")
    box.get_by_role("button", name="Show me the answer").focus()
    before = box.evaluate(place)
    assert result.bounding_box()["height"] < 60
    for name in ("your prediction", "Show it"):
        reader.page.keyboard.press("Tab")
        expect(result.get_by_text(name)).to_be_focused()
    reader.page.keyboard.press("Enter")
    assert away() == {False} and box.evaluate(place) == before
    expect(box.locator("details")).to_have_attribute("open", "")
    expect(result).to_be_focused()
    reader.page.reload()
    assert away() == {True}
    reader.page.emulate_media(media="print")
    assert away() == {False}
    expect(result.locator(".waits p")).to_be_hidden()
    reader.page.emulate_media(media="screen")
    box.get_by_role("radio").first.click()
    box.get_by_role("button", name="Compare").click()
    assert away() == {False}
    reader.page.reload()
    assert away() == {False}
    box.get_by_role("button", name="Answer anew").click()
    assert away() == {True}
    reader.page.evaluate("location.hash = document.querySelector('.told[data-of=\"1.fox\"] [id]').id")
    assert result.locator(":target").is_visible(), "a link into it shows it"
    expect(result.locator(".waits p")).to_be_hidden()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_essay_s_frames_take_a_line_and_show_what_waits_without_moving_the_question(address, browser, width):
    with visit(browser, width) as reader:
        reader.page.goto(f"{address}/index.html")
        for told in reader.page.locator(".told").all():
            box, figure = told.locator("xpath=preceding-sibling::*[1]"), told.locator("figure")
            place = "e => [e.getBoundingClientRect().top - e.parentElement.querySelector('h2').getBoundingClientRect().top, e.offsetHeight]"
            before = box.evaluate(place)
            assert told.bounding_box()["height"] < 60 and not figure.is_visible()
            told.get_by_role("link", name="Show it").click()
            expect(figure).to_be_visible()
            expect(box.locator("details p").last).to_be_in_viewport()
            expect(told.locator(".show")).to_be_hidden()
            assert box.evaluate(place) == before


def test_a_curve_by_key_moves_one_point_at_a_time(address, reader):
    box = go(reader, address, "6.longer")
    sliders = box.get_by_role("slider")
    expect(sliders).to_have_count(3)  # the first is told
    expect(sliders.first).to_have_attribute("aria-label", "loss, nats at 128 characters that it may read")
    sliders.first.focus()
    keys = ("ArrowUp", "ArrowLeft", "PageDown", "End", "ArrowUp", "Home")
    for key, value in zip(keys, (3.08, 3, 2.6, 5, 5, 1), strict=True):
        reader.page.keyboard.press(key)
        expect(sliders.first).to_have_attribute("aria-valuetext", f"{value} loss, nats")
    expect(sliders.nth(1)).to_have_attribute("aria-valuenow", "3")


def test_by_touch_on_a_phone(address, browser):
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{address}/chapters/06-alibi.html")
    box = page.locator(f"#{anchor('6.longer')}")
    box.locator(".plot").scroll_into_view_if_needed()
    plot, before = box.locator(".plot").bounding_box(), page.evaluate("scrollY")
    tools = context.new_cdp_session(page)

    def touch(kind, *points):
        tools.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
        )

    left, right, top = plot["x"] + 30, plot["x"] + plot["width"] - 16, plot["y"] + 14
    touch("touchStart", (left, top + 100))
    for step in range(1, 9):
        touch("touchMove", (left + (right - left) * step / 8, top + 100 - 12 * step))
    touch("touchEnd")
    assert page.evaluate("scrollY") == before, "the page moves instead of the curve"
    values = [float(one.get_attribute("aria-valuenow")) for one in box.get_by_role("slider").all()]
    assert values == sorted(values) and values[0] < 4 < values[-1]
    box.get_by_role("button", name="Compare").click()
    expect(box.locator("details")).to_be_visible()
    number = page.locator(f"#{anchor('6.needle')}")
    number.get_by_role("slider").tap(position={"x": 20, "y": 14})
    assert number.get_by_role("textbox").input_value()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    context.close()


@REFUSALS
def test_a_browser_that_keeps_nothing_says_so_and_the_page_loses_nothing(address, browser, storage, why):
    with visit(browser) as reader:
        reader.page.add_init_script(storage)
        box = go(reader, address, "4.favorites")
        answer(box, "4.favorites")
        expect(box.locator(".said").first).to_contain_text("Yes, each of them")
        expect(box.get_by_role("status")).to_contain_text(
            f"This browser keeps nothing for the book, as {why}"
        )
        expect(box.locator("details")).to_be_visible()
        assert reader.page.evaluate("memory.all('predictions')['4.favorites'].value") == 0
        answer(reader.page.locator(f"#{anchor('4.padding')}"), "4.padding")
        assert reader.page.evaluate("Object.keys(memory.all('predictions'))") == ["4.favorites", "4.padding"]
        ours = [fault for fault in reader.faults if "memory" in fault or "ask" in fault]
        assert not ours  # the theme keeps things, too


def test_what_is_no_answer_has_its_sentence(address, reader):
    box = go(reader, address, "6.needle")
    expect(box.get_by_role("alert")).to_be_empty()
    for text, sentence in [
        ("abc", "“abc” is no number."),
        ("101", "101 is off the scale, which goes from 0 to 100."),
        ("-1", "-1 is off the scale, which goes from 0 to 100."),
        (" ", "Give an answer first, even a guess."),
    ]:
        box.get_by_role("textbox").fill(text)
        reader.page.keyboard.press("Enter")
        expect(box.get_by_role("alert")).to_have_text(sentence)
        expect(box.get_by_role("textbox")).to_be_focused()
        expect(box.locator("details")).to_be_hidden()
    assert reader.page.evaluate(KEPT) == {}
    sketch = reader.page.locator(f"#{anchor('6.longer')}")
    sketch.get_by_role("button", name="Compare").click()
    expect(sketch.get_by_role("alert")).to_have_text("Give an answer first, even a guess.")


def test_an_answer_to_a_question_that_has_changed_is_asked_anew(address, reader):
    go(reader, address, "4.favorites")
    old = {"4.favorites": {"value": 9, "missed": "9"}, "6.needle": {"value": "many"}}
    old |= {"6.longer": {"value": [1]}}
    reader.page.evaluate("old => { localStorage['d2lpos:predictions'] = JSON.stringify(old); }", old)
    for name in old:
        expect(go(reader, address, name).locator("form")).to_be_visible()
    reader.page.goto(f"{address}/book/predicted.html")
    expect(reader.page.get_by_role("status")).to_contain_text("none of the")


def test_who_does_not_want_to_answer_sees_the_answer(address, reader):
    box = go(reader, address, "4.favorites")
    box.get_by_role("button", name="Show me the answer").click()
    expect(box.locator("details")).to_have_attribute("open", "")
    expect(box.locator("summary")).to_be_focused()
    assert reader.page.evaluate(KEPT) == {}


@pytest.mark.parametrize(
    ("width", "scheme", "pages"),
    [
        (390, "dark", [["6.longer", "6.needle"]]),
        (1280, "light", [["attention.weights"], ["12.gate", "12.mirrors"]]),
    ],
)
def test_forms_and_answers_are_for_everybody(address, browser, width, scheme, pages):
    with visit(browser, width, scheme) as reader:
        for names in pages:
            go(reader, address, names[0])
            reader.settle()
            faults = reader.axe(["color-contrast", "label", "aria-input-field-name", "nested-interactive"])
            for name in names:
                answer(reader.page.locator(f"#{anchor(name)}"), name)
            faults += reader.axe() + reader.look("overflow", "text", "overlaps")
            assert (names, faults + reader.faults) == (names, [])
        reader.page.goto(f"{address}/book/predicted.html")
        reader.settle()
        assert reader.axe() + reader.look("overflow", "text", "overlaps") + reader.faults == []


def test_paper_shows_answers_and_asks_nothing(address, reader):
    box = go(reader, address, "4.favorites")
    answer(box, "4.favorites")
    reader.page.emulate_media(media="print")
    expect(box.locator(".said").first).to_be_visible()
    for one in reader.page.locator(".predict").all():
        assert one.locator("details p").first.bounding_box()["height"] > 10
    assert reader.page.locator(".ask :is(form, button):visible").count() == 0


def test_without_javascript_the_answer_opens_what_tells_it(address, plain):
    plain.goto(f"{address}/chapters/04-rope.html")
    assert plain.locator(".predict .ask:visible, .waits").count() == 0
    box, told = plain.locator(f"#{anchor('4.favorites')}"), plain.locator(".told[data-of='4.favorites'] > *")
    assert told.count() > 2 and not any(one.is_visible() for one in told.all())
    room = box.bounding_box()["height"]
    box.locator("summary").click()
    expect(box.locator("details p")).to_be_visible()
    assert all(one.is_visible() for one in told.all()) and box.bounding_box()["height"] == room
    plain.goto(f"{address}/book/predicted.html")
    expect(plain.get_by_text("It needs JavaScript for that")).to_be_visible()
    assert plain.locator(".predictions a:visible").count() == len(ASKS)


def test_the_search_gives_no_option_away(site):
    script = json.dumps(unpack((site / "_static" / "search-index.bin").read_bytes()), ensure_ascii=False)
    for ask, _ in ASKS.values():
        overlooked = ask["overlooks"].values() if isinstance(ask["overlooks"], dict) else ()
        for words in (*ask.get("options", ()), *overlooked):
            if len(words) > 30 and not set("*$`") & set(words):
                assert words not in script


def test_the_search_shows_what_a_prediction_covers_only_when_it_is_made(address, reader):
    excerpt = reader.page.locator("#search-results li").filter(has_text="Attention is blind to order").first

    def seek():
        reader.page.goto(f"{address}/search.html")
        reader.page.evaluate("bookSearch.whole")
        reader.page.fill(".bd-search-container input", "fox dog jump involved who jumped zeros")
        return excerpt

    expect(seek()).to_contain_text("Predict first")
    expect(excerpt).not_to_contain_text("involved")
    answer(go(reader, address, "1.fox"), "1.fox")
    expect(seek()).to_contain_text("involved")
    # The essay's questions have no form: what tells their answers is never shown.
    shown = reader.page.evaluate("bookSearch('clocks loss jumps patterns that training never showed').map(show => show()).filter(one => /index.html#/.test(one.href)).map(one => one.excerpt.join(''))")
    assert shown and not [text for text in shown if "jumps from 1.4" in text]


def test_the_page_of_predictions_shows_surprises_and_gives_nothing_away(address, reader):
    # Of a page that is opened as a file, Chromium may show the next one what its storage was before.
    for name in ("4.favorites", "6.needle"):
        answer(go(reader, address, name), name)
    box = go(reader, address, "4.padding")
    box.get_by_role("radio").nth(ASKS["4.padding"][0]["right"]).click()
    box.get_by_role("button", name="Compare").click()
    answer(go(reader, address, "attention.weights"), "attention.weights")
    reader.page.get_by_role("link", name="What I predicted").last.click()
    reader.page.wait_for_url("**/predicted.html")
    status, entries = reader.page.get_by_role("status"), reader.page.locator(".predictions > li")
    expect(status).to_have_text(f"You have made 4 of {len(ASKS)} predictions. You were surprised in 2 of 3. For 1 only you can say.")
    expect(entries.locator(":is(.said, .meant):visible")).to_have_count(7)  # of a sentence, the reader's alone
    expect(reader.page.locator("li:not(.answered) :is(.prediction, .said, .meant):visible")).to_have_count(0)
    reader.page.emulate_media(media="print")
    expect(reader.page.locator(".predictions > li:visible")).to_have_count(4)
    assert reader.page.locator("button:visible").count() == 0
    reader.page.emulate_media(media="screen")

    keys = reader.page.keyboard
    for keep in ("Enter", "Escape"):
        reader.page.get_by_role("button", name="Empty this page").focus()
        keys.press("Enter")
        expect(reader.page.get_by_role("button", name="Keep my answers")).to_be_focused()
        keys.press(keep)
        expect(reader.page.get_by_role("button", name="Empty this page")).to_be_focused()
    assert len(reader.page.evaluate(KEPT)) == 4
    keys.press("Enter")
    keys.press("Shift+Tab")
    keys.press("Enter")
    expect(status).to_have_text(f"You have made none of the {len(ASKS)} predictions yet.")
    expect(status).to_be_focused()
    assert reader.page.evaluate(KEPT) == {}
    expect(reader.page.locator(".answered")).to_have_count(0)
