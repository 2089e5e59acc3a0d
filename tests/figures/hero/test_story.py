"""Stories: what Python draws, what a reader sees without scripts, and what moves with them."""

import json
import re
from html import unescape
from xml.etree import ElementTree as ET

import pytest

from book.essay import PICTURES
from book.story import Story, part
from tests.figures.hero.host import on, still

STORIES = {name: picture for name, draw in PICTURES.items() if isinstance(picture := draw(), Story)}
DOT = part("circle", cx=[10, 50, 90], cy=20, r=5, fill="black")
TOLD = part("text", ["one", "two", "three"], x=50, y=34)
QUICK = Story("A dot moves.", ("First.", "Second.", "Third."), (100, 40), (DOT, TOLD), rhythm=(0.1, 0.1))
SLOW = Story(QUICK.alt, QUICK.says, QUICK.size, QUICK.parts, rhythm=(30, 30))
STATE = "({at: +all('circle')[0].getAttribute('cx'), says: all('.says')[0].textContent, play: all('.play')[0]?.textContent})"
WINDOW = (390, 800)
GAP = '<div style="height:3000px"></div>'


def test_what_stands_still_is_the_last_step():
    svg = re.search("<svg.*</svg>", QUICK.html(), re.DOTALL)[0]
    assert 'cx="90"' in svg and ">three<" in svg and QUICK.alt in svg


@pytest.mark.parametrize("name", STORIES)
def test_every_step_has_its_words_and_every_part_a_value_that_moves(name):
    story = STORIES[name]
    assert len(story.says) > 2 and all(story.says) and len(story.alt) > 80
    root = ET.fromstring(re.search("<svg.*</svg>", story.html(), re.DOTALL)[0])
    moving = [(e, json.loads(e.get("data-steps"))) for e in root.iter() if e.get("data-steps")]
    assert moving
    for element, steps in moving:
        for attribute, values in steps.items():
            assert 1 < len(values) <= len(story.says), attribute
            last = element.text if attribute == "text" else element.get(attribute)
            assert last == str(values[-1])
            assert not any("NaN" in str(value) for value in values)
    assert not root.findall(".//*[@id]")  # a page renames them
    for styled in root.findall(".//*[@style]"):  # it makes classes of styles, which the figure does not know
        assert {name.split(":")[0] for name in styled.get("style").split(";") if name} <= set(styled.keys())


def test_words_of_a_picture_are_escaped():
    assert unescape(part("text", ["a < b", "a & b"])).count("a & b") == 2
    assert "a &amp; b</text>" in part("text", ["a < b", "a & b"])


def test_it_plays_when_it_is_seen_and_stops_at_the_end(host):
    host.show(GAP, QUICK.html(), GAP)
    host.page.wait_for_timeout(300)
    assert host(STATE) == {"at": 10, "says": "1/3First.", "play": "Play"}
    host("document.querySelector('[data-hero]').scrollIntoView({block: 'center'})")
    host.page.wait_for_function("() => all('.play')[0].textContent === 'Stop'")
    host.page.wait_for_function("() => all('.play')[0].textContent === 'Play'")
    assert host(STATE) == {"at": 90, "says": "3/3Third.", "play": "Play"}
    host.page.wait_for_function("() => spoken() === 'Third.'")


def test_a_hand_stops_it_steps_and_drags(host):
    host.show(SLOW.html())
    host.page.wait_for_function("() => all('.play')[0].textContent === 'Stop'")
    host.page.get_by_role("button", name="Stop").click()
    assert host(STATE)["play"] == "Play"
    host.page.get_by_role("button", name="one step on").click()
    host.page.wait_for_function("() => all('circle')[0].getAttribute('cx') === '50'")
    slider = host.page.get_by_role("slider", name="step")
    slider.press("End")
    assert host(STATE)["at"] == 90 and slider.get_attribute("aria-valuetext") == "3 of 3"
    host.page.get_by_role("button", name="one step on").click()
    assert host(STATE)["at"] == 90
    host.page.get_by_role("button", name="one step back").click()
    slider.press("ArrowLeft")  # while the step before it glides
    host.page.wait_for_function("() => all('circle')[0].getAttribute('cx') === '10'")
    slider.press("ArrowUp")
    host.page.wait_for_function("() => all('circle')[0].getAttribute('cx') === '50'")
    box = slider.bounding_box()
    host.pull(*((box["x"] + part * box["width"], box["y"] + box["height"] / 2) for part in (0.5, 0.75)))
    assert 55 < host(STATE)["at"] < 85


def test_a_second_story_needs_the_program_of_the_first(host):
    host.show(QUICK.html(), SLOW.html(first=False))
    assert host("[0, 1].map(n => all('.says', n).length)") == [1, 1]


def test_it_waits_until_the_prediction_above_it_is_made(host):
    asked = '<div class="predict"><details><summary>Compare</summary>Three.</details></div><div class="told"><figure>{}</figure></div>'
    host.show(asked.format(QUICK.html()))
    host.page.wait_for_timeout(300)
    assert host(STATE) == {"at": 10, "says": "1/3First.", "play": "Play"}
    host.page.get_by_text("Compare").click()
    host.page.wait_for_function("() => all('circle')[0].getAttribute('cx') === '90'")


@still
def test_reduced_motion_shows_the_end_and_goes_by_steps(host):
    host.show(SLOW.html())
    assert host(STATE) == {"at": 90, "says": "3/3Third.", "play": None}
    host.page.get_by_role("button", name="one step back").click()
    assert host(STATE)["at"] == 50


@on(java_script_enabled=False)
def test_without_scripts_the_whole_picture_stands_there(host):
    host.show(QUICK.html())
    assert host.page.get_by_role("img", name=QUICK.alt).is_visible()


def test_paper_gets_the_end(host):
    host.show(SLOW.html())
    host("dispatchEvent(new Event('beforeprint'))")
    assert host(STATE)["at"] == 90
    host.page.emulate_media(media="print")
    assert not host.page.get_by_role("slider").is_visible()
