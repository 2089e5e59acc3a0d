"""The first two screens: what the head computes, what is seen without scrolling, what moves by itself and under a hand."""

import json
import re
from itertools import permutations

import pytest
import torch
from d2lpos_ext.front import SECTION, sections

from d2lpos.encoding import NOPE
from d2lpos.rotary.rope import RoPE
from d2lpos.transformer.attention import attention_weights
from tests.node import node, passed
from tests.site.pages import FRONT, ROOT, read

SCREENS = [(1280, 900), (1366, 768), (1920, 1080), (1024, 768), (390, 844)]
ASK = """
import { attend, EMBED, HEAD } from './book/front/front.js';
const all = (rest, head = []) => rest.length ? rest.flatMap(w => all(rest.filter(v => v !== w), [...head, w])) : [head];
const run = told => all([0, 1, 2, 3, 4, 5]).map(order => attend(order, told));
console.log(JSON.stringify({ EMBED, HEAD, plain: run(false), told: run(true) }));
"""
ORDER = "[...document.querySelectorAll('.front > svg .word')].map(e => e.getAttribute('aria-label').split(',')[0]).join(' ')"
STATE = "['.says', '.most', '.play', '[role=status]'].map(q => document.querySelector(`.front ${q}`).textContent)"
START, SWAPPED = "the fox jumps over the dog", "the dog jumps over the fox"
QUESTION = "Fox and dog change places. What will “jumps” notice?"
SAME = "Nothing. To “jumps” it is the same sentence."
NOTICES = "It notices: now “jumps” listens most to the dog."


def test_in_node():
    assert passed("tests/site/front.test.mjs") >= 5


def test_the_head_is_what_d2lpos_computes():
    head = json.loads(node("--input-type=module", "--eval", ASK))
    words, (query, key, value) = (
        torch.tensor(head["EMBED"]).double(),
        (torch.tensor(head["HEAD"][name]).double() for name in ("query", "key", "value")),
    )
    orders = torch.tensor(list(permutations(range(6))))
    q, k, v = (words[orders] @ table for table in (query, key, value))
    places, jumps = torch.arange(6), (orders == 2).nonzero()[:, 1]
    for how, encoding in (("plain", NOPE), ("told", RoPE(8, base=100, layout="interleaved"))):
        looks = attention_weights(q[:, None], k[:, None], places, places, encoding)
        weights = looks[torch.arange(720), 0, jumps]
        vectors = (weights[:, None] @ v)[:, 0]
        by_word = torch.zeros(720, 6).double().scatter_(1, orders, weights)
        close = {"rtol": 0, "atol": 1e-6}
        torch.testing.assert_close(by_word, torch.tensor([now["weights"] for now in head[how]]).double(), **close)
        torch.testing.assert_close(vectors, torch.tensor([now["vector"] for now in head[how]]).double(), **close)


def test_all_of_it_is_seen_without_scrolling(visitor, site):
    """The question, and what moves and can be touched."""
    visitor.open((site / "index.html").as_uri())
    for width, height in SCREENS:
        visitor.resize(width, height)
        for part in (".subtitle", ".front > svg", ".front > .keys"):
            box = visitor.page.locator(part).first.bounding_box()
            assert 0 <= box["y"] and box["y"] + box["height"] <= height, (width, height, part, box)
            assert 0 <= box["x"] and box["x"] + box["width"] <= width, (width, height, part, box)
        assert visitor.page.locator(".front > svg").bounding_box()["width"] > 0.6 * (width - 256 * (width > 960))
        texts = "[...document.querySelectorAll('.front > svg text')].map(e => e.getScreenCTM().d * parseFloat(getComputedStyle(e).fontSize))"
        assert min(visitor.page.evaluate(texts)) >= 12, width
        tops = "[...document.querySelectorAll('.front > .says, .front > svg .most, .front > .keys')].map(e => e.getBoundingClientRect().bottom)"
        assert len(set(visitor.page.evaluate(tops))) == 3
    assert visitor.page.locator(".ways a").count() == 3


@pytest.fixture
def page(browser, site, request):
    options = {"viewport": {"width": 1280, "height": 900}} | getattr(request, "param", {})
    context = browser.new_context(**options)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    yield page
    context.close()


def test_the_film_shows_what_positions_do_in_eight_seconds_and_then_waits(page):
    assert page.evaluate(STATE)[:3] == [QUESTION, "0.00", "Pause"]
    page.wait_for_function(f"() => document.querySelector('.front .says').textContent === '{SAME}'")
    assert page.evaluate(ORDER) == SWAPPED
    page.wait_for_function("() => document.querySelector('.play').textContent === 'Replay'", timeout=8000)
    assert page.evaluate(STATE)[:3] == [NOTICES, "0.93", "Replay"]
    assert page.evaluate(ORDER) == SWAPPED and page.locator(".front").get_by_role("switch").is_checked()
    page.wait_for_timeout(700)
    assert page.evaluate(STATE)[3] == ""  # what moves by itself does not interrupt who listens


def test_it_can_be_paused_told_and_moved(page):
    page.get_by_role("button", name="Pause").click()
    front = page.locator(".front")
    front.get_by_role("switch").check()
    assert page.evaluate(STATE)[:2] == ["Told where each word stands, “jumps” listens most to the fox.", "0.00"]
    page.locator(".swap").click()
    assert page.evaluate(STATE)[:2] == [NOTICES, "0.93"]
    front.get_by_role("slider", name="dog").press("ArrowRight")
    assert page.evaluate(ORDER) == "the jumps dog over the fox"
    page.wait_for_function("() => document.querySelector('.front [role=status]').textContent.startsWith('the jumps dog over the fox. ')")
    page.locator(".swap").click()
    assert page.evaluate(ORDER) == "the jumps fox over the dog"
    front.get_by_role("switch").uncheck()
    assert page.evaluate(STATE)[:2] == [SAME, "0.00"]
    page.locator(".mix").click()
    assert page.evaluate(ORDER) != "the jumps fox over the dog"
    assert page.evaluate(STATE)[1] == "0.00"
    values = [front.get_by_role("slider").nth(at).get_attribute("aria-valuenow") for at in range(6)]
    assert values == list("012345")  # Tab follows the sentence


def test_a_word_follows_the_mouse(page):
    fox, last = (page.locator(".front").get_by_role("slider", name=name).bounding_box() for name in ("fox", "dog"))
    page.mouse.move(fox["x"] + fox["width"] / 2, fox["y"] + 30)
    page.mouse.down()
    page.mouse.move(last["x"] + last["width"] / 2, fox["y"] + 30, steps=6)
    assert page.evaluate("document.querySelectorAll('.front .held').length") == 1
    page.mouse.up()
    assert page.evaluate(STATE)[:3] == [SAME, "0.00", "Replay"]
    page.wait_for_function(f"() => {ORDER} === 'the jumps over the dog fox'")


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_reduced_motion_gets_the_end_in_a_still(page):
    page.wait_for_timeout(1500)
    assert page.evaluate(STATE)[1:3] == ["0.00", "Replay"] and page.evaluate(ORDER) == SWAPPED
    shown = [page.locator(".stills figure").nth(at).is_visible() for at in range(2)]
    assert shown == [False, True] and "listens most to the dog" in page.locator(".stills").inner_text()


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_pictures_and_lines_say_the_same(page):
    stills = page.locator(".stills figure")
    assert [stills.nth(at).is_visible() for at in range(2)] == [True, True]
    assert not page.locator(".front .says").is_visible() and not page.get_by_role("switch").first.is_visible()
    assert [line.split(":")[0] for line in page.locator(".own .plain b").all_inner_texts()] == [
        "It guesses 44 of 86 characters before it sees them.",
        "Told that all stand in one place, it guesses 19 of 86 right, not 44.",
        "Pushed 405 characters on, past its training",
    ]


def test_paper_gets_both_pictures(page):
    page.locator(".swap").click()
    page.emulate_media(media="print")
    stills = page.locator(".stills figure")
    assert [stills.nth(at).is_visible() for at in range(2)] == [True, True]
    assert not page.locator(".front > svg.stage").is_visible() and not page.get_by_role("switch").first.is_visible()
    assert page.locator(".own .plain").is_visible() and not page.locator(".own .live").is_visible()


@pytest.mark.parametrize("page", [{"forced_colors": "active"}], indirect=True)
def test_forced_colors_leave_words_and_bars(page):
    colors = page.evaluate(
        "['.name', '.k-jumps .name', '.tile', '.k-jumps .tile', '.bar', '.beam'].map(q => getComputedStyle(document.querySelector(`.front ${q}`)).fill)"
    )
    assert colors[0] == colors[3] == "rgb(0, 0, 0)" and colors[1] == colors[2] == colors[5] == "rgb(255, 255, 255)"
    assert colors[4] != colors[5]


def test_the_live_model_is_on_the_second_screen(page):
    for width, height in ((1366, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator(".own .key").is_visible()  # what red means
        own = page.locator(".own").bounding_box()
        assert own["y"] + own["height"] <= 2 * height, (width, height, own)


RESULT = "() => document.querySelector('.own .result').textContent"


def test_a_model_reads_a_sentence_that_is_typed_told_and_pushed(page):
    own = page.locator(".own")
    own.scroll_into_view_if_needed()
    page.wait_for_function(f"() => ({RESULT})() === 'It guesses 44 of 86 characters before it sees them.'")
    handle = own.get_by_role("slider")
    handle.focus()
    handle.press("End")
    page.wait_for_function(f"() => ({RESULT})() === 'Pushed 405 characters on, past its training: 17 of 86 right, not 44.'")
    page.wait_for_function("() => document.querySelector('.own .alibi[d^=M]')")  # the control
    handle.press("Home")
    own.get_by_role("switch").uncheck()
    page.wait_for_function(f"() => ({RESULT})() === 'Told that all stand in one place, it guesses 19 of 86 right, not 44.'")
    own.get_by_role("switch").check()
    own.get_by_role("textbox").fill("Hello you")
    page.wait_for_function(f"() => ({RESULT})().startsWith('Write a little more')")
    own.get_by_role("textbox").fill("She said that she would come. " * 5)
    page.wait_for_function(f"() => ({RESULT})().endsWith('It reads 120 characters, and the rest is cut off.')")
    assert own.get_by_role("textbox").input_value() == ("She said that she would come. " * 5)[:120]


def test_each_section_leads_to_a_page_and_each_chapter_back(site):
    essay = (ROOT / f"{FRONT}.md").read_text("utf-8")
    *titles, last = re.findall("^## (.+)$", essay, re.MULTILINE)
    assert last == "Where to go"
    for title, text in SECTION.findall(essay):
        assert re.search(r"\]\((\.\./chapters/|attention\.ipynb)", text), title
    led = sections(essay)
    assert {title for title, _ in led.values()} <= {*titles, last} and len(led) >= 8
    front = read(site / "index.html")
    for chapter in sorted(ROOT.glob("chapters/*.ipynb")):
        page = (site / "chapters" / f"{chapter.stem}.html").read_text("utf-8")
        [(anchor, title)] = re.findall(
            r'Back to the essay: <a href="\.\./index\.html(?:#([\w-]+))?">(.+?)</a>', page
        )
        assert (title, anchor) == led.get(f"chapters/{chapter.stem}", ("from its first page", ""))
        assert not anchor or anchor in front.ids
    assert 'href="#">The essay' in re.sub(r"\s+", " ", (site / "index.html").read_text("utf-8")).replace("> ", ">")
