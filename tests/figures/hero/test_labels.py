"""While a figure of the book plays, on a phone, its words can be read and lie over nothing, and no word or button stands alone."""

import json
import re
from itertools import pairwise

import pytest
from d2lpos_ext.svg import drawn
from notebooks import chapters

from book.essay import BOOK, PICTURES
from book.stills import ROOT, figures
from book.story import Story
from d2lpos.figures.machine import machine
from tests.figures.hero.host import FAULTS, UNFOLD, phone
from tests.figures.hero.test_machine import full, ready

WINDOW = (390, 844)
HEROES = {figure.name + " plain" * figure.state.get("plain", False): figure for figure in figures()}
STORIES = {name: story for name, draw in PICTURES.items() if isinstance(story := draw(), Story)}
# A clock that only the test moves: a film takes its time from the stamps of frames.
CLOCK = """<script>
var now = 0, frames = [];
performance.now = () => now;
requestAnimationFrame = frame => frames.push(frame);
cancelAnimationFrame = number => { delete frames[number - 1]; };
var run = to => { for (; now < to; now += 100) { const due = frames; frames = due.map(() => undefined); due.forEach(frame => frame?.(now)); } };
</script>"""


def faults(host, names, moments, play):
    """Of each figure, by name, what is wrong at some moment; `play` takes all of them to a moment, a number from 0 to 1."""
    host(
        f"""(() => {{
          const roots = [...document.querySelectorAll('[data-hero], [data-explore]')].map(e => e.shadowRoot ?? e), all = roots.map(() => new Set()), play = {play};
          for (let moment = 0; moment <= {moments}; moment++) {{
            play(moment / {moments}, roots);
            roots.forEach((root, n) => ({FAULTS})([...root.querySelectorAll('*')]).forEach(fault => all[n].add(fault)));
          }}
          window.faults = all.map(some => [...some]);
        }})()"""
    )
    return {name: some for name, some in zip(names, host("faults"), strict=True) if some}


TOUR = "part => { if (!part) all.forEach((_, n) => shadow(n).querySelector('.play').click()); run(100 + 5000 * part); }"
STEPS = "(part, roots) => roots.forEach(root => { const e = root.querySelector('[type=range]'); e.value = part * e.max; e.oninput(); })"


@phone(844)
@pytest.mark.parametrize("moments", [10, 100])
def test_while_a_hero_plays(host, moments):
    host.show(CLOCK, *HEROES.values())
    assert faults(host, HEROES, moments, TOUR) == {}


@phone(844)
def test_where_a_hero_is_unfolded(host):
    host.show(*HEROES.values())
    host(UNFOLD)
    assert faults(host, HEROES, 1, "() => {}") == {}


@phone(844)
@pytest.mark.parametrize("moments", [10, 100])
def test_while_a_story_of_the_essay_is_told(host, moments):
    host.show(*(story.html(first=not n) for n, story in enumerate(STORIES.values())), css="body{padding:14px}")  # as on the page
    assert faults(host, STORIES, moments, STEPS) == {}


@phone(844)
def test_while_the_first_screen_plays(host):
    css, screen = ((BOOK / name).read_text("utf-8") for name in ("_static/book.css", "front/front.html"))
    host.show(CLOCK, f'<div class="bd-article">{screen}</div>', css=f"{css} body{{padding:14px}}")
    wrong = f"some => ({FAULTS})([...document.querySelectorAll(some)])"
    assert host(f"({wrong})('.front *')") == []
    for _ in range(40):  # tiles pass over tiles, and nothing shines through
        host("run(now + 200)")
        assert host(f"({wrong})('.front :not(.word *)')") == []
    assert host(f"({wrong})('.front *')") == []
    assert host("document.querySelector('.front .says').textContent").startswith("Now tell it")


@phone(844)
def test_in_every_picture_of_a_slider(host):
    cells = [cell for path in chapters(ROOT) for cell in json.loads(path.read_text("utf-8"))["cells"] if "explore(draw" in "".join(cell["source"])]
    assert len(cells) > 2
    host.show(*(drawn("".join(cell["outputs"][0]["data"]["text/html"])) for cell in cells))
    assert faults(host, range(len(cells)), 10, STEPS) == {}


@phone(844)
def test_in_the_machine_that_reads(host):
    host.show(full(machine("rope", "alibi", state="longer")))
    ready(host)
    assert faults(host, ["machine"], 1, "() => {}") == {}


COLUMN = 362  # px of a page that is 390 px wide


@pytest.mark.parametrize("path", chapters(ROOT), ids=lambda path: path.stem)
def test_letters_of_a_drawing_can_be_read_on_a_phone(path):
    small = set()
    for cell, below in pairwise(json.loads(path.read_text("utf-8"))["cells"]):
        html = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", ()))
        for svg in re.findall(r"<svg\b[^>]*viewBox=.*?</svg>", drawn(html).split("<script")[0], re.DOTALL):
            width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
            sizes = [float(size) for size in re.findall(r'font-size[:=]\s*"?([\d.]+)', svg)]
            if sizes and "data-hero" not in html and min(sizes) * min(COLUMN / width, 4 / 3) < 11.99:
                small.add(re.match(r"\*\*Figure ([\dA-Z.]+)\.", "".join(below["source"]))[1])
    assert small == set()


@pytest.mark.parametrize("path", [path for path in chapters(ROOT) if path.parent.name == "chapters"], ids=lambda path: path.stem)
def test_a_drawing_of_a_chapter_fills_a_slide(path):
    """What is more than 1.4 times as high as wide is a strip there; the house of the doors is high."""
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        html = "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell.get("outputs", ()))
        for width, height in re.findall(r'<svg\b[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"', "" if "data-hero" in html or "doors(" in "".join(cell["source"]) else drawn(html)):
            assert float(height) <= 1.4 * float(width), "".join(cell["source"])[:80]
