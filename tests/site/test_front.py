"""The first screen: what its head computes, what is seen without scrolling, and what moves by itself and under a hand."""

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
ORDER = "[...document.querySelectorAll('.front .word')].map(e => e.getAttribute('aria-label').split(',')[0]).join(' ')"
STATE = "['.says', '.most', '.play', '[role=status]'].map(q => document.querySelector(`.front ${q}`).textContent)"
START, SWAPPED = "the fox jumps over the dog", "the dog jumps over the fox"
QUESTION = "Move a word. What changes?"
SAME = "Nothing changes: to “jumps” it is the same sentence."


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
    """The question, what moves and can be touched, for whom the book is, and three ways on."""
    visitor.open((site / "index.html").as_uri())
    for width, height in SCREENS:
        visitor.resize(width, height)
        for part in (".subtitle", ".front", ".whom", ".ways"):
            box = visitor.page.locator(part).first.bounding_box()
            assert 0 <= box["y"] and box["y"] + box["height"] <= height, (width, height, part, box)
            assert 0 <= box["x"] and box["x"] + box["width"] <= width, (width, height, part, box)
        assert visitor.page.locator(".front svg").bounding_box()["width"] > 0.6 * (width - 256 * (width > 960))
        texts = "[...document.querySelectorAll('.front svg text')].map(e => e.getScreenCTM().d * parseFloat(getComputedStyle(e).fontSize))"
        assert min(visitor.page.evaluate(texts)) >= 12, width
        tops = "[...document.querySelectorAll('.front .says, .front .most, .front .keys')].map(e => e.getBoundingClientRect().bottom)"
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


def test_it_plays_once_in_less_than_five_seconds_and_then_waits(page):
    assert page.evaluate(STATE)[:3] == [QUESTION, "0.00", "Pause"]
    page.wait_for_function(f"() => {ORDER} === '{SWAPPED}'")
    page.wait_for_function("() => document.querySelector('.play').textContent === 'Replay'", timeout=5000)
    assert page.evaluate(STATE)[:3] == [SAME, "0.00", "Replay"]
    assert page.evaluate(ORDER) == SWAPPED
    page.wait_for_timeout(700)
    assert page.evaluate(STATE)[3] == ""  # what moves by itself does not interrupt who listens


def test_it_can_be_paused_told_and_moved(page):
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("switch", name="tell it the positions").check()
    page.wait_for_function(f"() => {ORDER} === '{SWAPPED}'")
    text, most, _, _ = page.evaluate(STATE)
    assert (text, most) == ("With positions, the dog has the largest weight.", "0.93")
    page.locator(".front").get_by_role("slider", name="dog").press("ArrowRight")
    assert page.evaluate(ORDER) == "the jumps dog over the fox"
    page.wait_for_function("() => document.querySelector('.front [role=status]').textContent.startsWith('the jumps dog over the fox. ')")
    page.locator(".swap").click()
    assert page.evaluate(ORDER) == "the jumps fox over the dog"
    page.get_by_role("switch").uncheck()
    assert page.evaluate(STATE)[:2] == [SAME, "0.00"]
    page.locator(".mix").click()
    assert page.evaluate(ORDER) != "the jumps fox over the dog"
    assert page.evaluate(STATE)[1] == "0.00"
    values = [page.locator(".front").get_by_role("slider").nth(at).get_attribute("aria-valuenow") for at in range(6)]
    assert values == list("123456")  # Tab follows the sentence


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
def test_reduced_motion_waits_for_a_hand(page):
    page.wait_for_timeout(1500)
    assert page.evaluate(STATE)[:3] == [QUESTION, "0.00", "Play"] and page.evaluate(ORDER) == START


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_two_pictures_say_the_same(page):
    assert page.locator(".front").get_by_role("img", name="The fox jumps over the dog").count() == 2
    assert page.locator(".front > .says").is_visible() and page.locator("p.then").is_visible()
    assert not page.get_by_role("switch").is_visible()


def test_paper_gets_the_question_answered(page):
    page.locator(".swap").click()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".front > .says").evaluate("e => getComputedStyle(e).position") == "static"
    assert page.evaluate(ORDER) == START and "no bar changes" in page.locator(".front > .says").inner_text()
    assert not page.get_by_role("switch").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(ORDER) == SWAPPED  # what the reader had


@pytest.mark.parametrize("page", [{"forced_colors": "active"}], indirect=True)
def test_forced_colors_leave_words_and_bars(page):
    colors = page.evaluate(
        "['.name', '.k-jumps .name', '.tile', '.k-jumps .tile', '.bar', '.beam'].map(q => getComputedStyle(document.querySelector(`.front ${q}`)).fill)"
    )
    assert colors[0] == colors[3] == "rgb(0, 0, 0)" and colors[1] == colors[2] == colors[5] == "rgb(255, 255, 255)"
    assert colors[4] != colors[5]


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
