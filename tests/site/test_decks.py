"""The course for a class: slides that show what a chapter shows, and none of its solutions, from one file in a folder."""

import json
import re
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pypdfium2
import pytest
import yaml
from bs4 import BeautifulSoup, Tag
from notebooks import chapters
from PIL import Image

from book.course import write
from book.decks import page_of, read, split
from tests.site.detectors import FRAMES, visit
from tests.site.pages import ROOT, Html, broken, foreign

PAGES = {notebook.stem: notebook for notebook in chapters(ROOT)}
CHAPTERS = list(PAGES)
SOME = ["02-sinusoidal", "08-choosing"]  # a slider and the machine that reads, wide tables
TURNS = "ArrowRight", "ArrowDown", "PageDown", " "


@pytest.fixture(scope="module")
def course(site, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("build") / "class"
    with ZipFile(write(site, out)) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    assert packed == {f"class/{file.relative_to(out)}" for file in out.rglob("*") if file.is_file()}
    return out


def deck(course: Path, stem: str) -> Path:
    return course / "decks" / f"{stem}.html"


parsed = cache(read)  # of a deck, which no test may change


def words(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def test_it_holds_what_a_class_needs(course):
    held = {"decks", "handout", "handout.zip", "index.html", "lecture.html", "LICENSE", "LICENSE-TEXT"}
    assert {file.name for file in course.iterdir()} == held
    assert [file.stem for file in sorted((course / "decks").iterdir())] == CHAPTERS
    assert {file.stem for file in (course / "handout").rglob("*.ipynb")} >= set(CHAPTERS)


def test_its_page_leads_to_all_of_it_and_loads_nothing(course):
    page = Html(course / "index.html")
    assert page.loads == []
    decks = {f"decks/{stem}.html" for stem in CHAPTERS}
    assert decks <= set(page.links)
    assert {"decks/04-rope.html#fig-4-1", "decks/01-permutation-equivariance.html#thm-1-1"} <= set(page.links)
    assert {"decks/04-rope.html#eq-4-4", "decks/04-rope.html#exercises"} <= set(page.links)
    assert not [link for link in page.links if link.partition("#")[0].endswith(".ipynb")]  # shown as raw text
    figures = {figure for figure in re.findall(r"Figure \w+\.\d+", read(course / "index.html").get_text())}
    linked = {words(link) for link in read(course / "index.html").select("a[href^='decks/']")}
    assert figures and figures <= linked
    assert broken(course) == []


@pytest.mark.parametrize("stem", CHAPTERS)
def test_a_deck_shows_what_the_chapter_shows(site, course, stem):
    chapter, slides = read(page_of(site, PAGES[stem])).article, parsed(deck(course, stem)).main
    for tag in chapter.select(".solution"):
        tag.decompose()
    ids = [slide["id"] for slide in slides.select("section")]
    shown = [tag["id"] for tag in chapter.select("figure[id], .theorem.admonition")]
    assert shown and [name for name in ids if name in shown] == shown
    for name in shown:
        one, other = (len(page.find(id=name).select("svg, img, table")) for page in (slides, chapter))
        assert one == other
    equations = [tag["id"] for tag in chapter.select("section:not(.theorem-content) > .math[id^=eq-]")]
    for name in equations:
        assert slides.find(id=name).select(".fit > p, .fit > .math")[-1].math
    for theorem in chapter.select(".theorem.admonition"):
        assert words(theorem.find_next_sibling(class_="proof"))[:20] in words(slides.find(id=theorem["id"]).aside)
    for number, question in enumerate(chapter.select(".predict"), 1):
        ask, slide = question.select_one(".ask"), slides.find(id=f"prediction-{number}")
        if ask and (asked := json.loads(ask["data-ask"]))["kind"] == "choice":
            right = words(ask.select(".options li")[asked["right"]])
            assert right in [words(option).strip("“” ") for option in slide.select(".answer strong")]
    assert sum(name.startswith("prediction-") for name in ids) == len(chapter.select(".predict"))
    claims = [words(verdict.parent) for verdict in chapter.select("aside .verdict")]
    votes = [slide for slide in slides.select("section") if slide["id"].startswith("vote-")]
    texts = [[words(vote.select_one(part)) for part in (".verdict", ".words")] for vote in votes]
    assert [" ".join(parts) for parts in texts] == claims
    efforts = [words(tag) for tag in chapter.select("div.exercise .effort")]
    assert [words(row.find_all("td")[1]) for row in slides.select("#exercises tr")] == efforts
    assert len({words(entry) for entry in parsed(deck(course, stem)).select("nav li")}) == len(ids)
    assert ids[0] == "title" and words(slides.h1) == words(chapter.h1).removesuffix(" #")


@pytest.mark.parametrize("stem", CHAPTERS)
def test_no_solution_is_in_it(site, course, stem):
    chapter, slides = read(page_of(site, PAGES[stem])).article, parsed(deck(course, stem)).main
    solutions = [tag.extract() for tag in chapter.select(".solution")]
    lines = {line.strip() for tag in solutions for line in tag.get_text().splitlines()}
    secret = {line for line in lines if len(line) > 12}
    secret -= {line.strip() for line in chapter.get_text().splitlines()}
    assert bool(secret) == bool(solutions) and not slides.select(".solution, .overlooks, .cell_input")
    text = slides.get_text()
    assert [line for line in secret if line in text] == []


@pytest.mark.parametrize("stem", CHAPTERS)
def test_answers_wait_and_headlines_are_sentences(course, stem):
    for slide in parsed(deck(course, stem)).select("main > section"):
        question = slide["id"].startswith(("prediction-", "vote-"))
        # A figure that asks for a guess has an answer of its own.
        answers = [answer for answer in slide.select(".answer") if not answer.find_parent(attrs={"data-hero": True})]
        assert len(answers) == question
        for answer in answers:
            assert not answer.has_attr("open") and len(words(answer.div)) > 3
        if slide["id"].startswith(("fig-", "tab-")):
            assert re.search(r"[.?!][)”]?$", words(slide.h2))


@pytest.mark.parametrize("stem", CHAPTERS)
def test_a_deck_is_one_file_that_loads_nothing(course, stem):
    file = deck(course, stem)
    page, text = Html(file), file.read_text("utf-8")
    assert [address for address in page.loads if not address.startswith("data:")] == []
    assert not re.search(r"url\((?!data:|#|%23)|@import|^import ", text, re.MULTILINE)
    assert [link for link in page.links if not foreign(link) and link[1:] not in page.ids] == []
    tags = parsed(file).select("[id]")
    assert len(tags) == len({tag["id"] for tag in tags})
    assert file.stat().st_size < 1_600_000


@pytest.mark.parametrize(
    ("caption", "halves"),
    [
        ("<b>A</b> is <em>B.</em> So.", ("<b>A</b> is <em>B.</em>", "So.")),
        ("Of <em>a. B.</em> c. Then <i>d</i>.", ("Of <em>a. B.</em> c.", "Then <i>d</i>.")),
        ("At 0.5, e.g. x &lt; 1.", ("At 0.5, e.g. x &lt; 1.", "")),
        ("Who? (See.) Here.", ("Who?", "(See.) Here.")),
    ],
)
def test_a_headline_is_the_first_sentence(caption, halves):
    paragraph = BeautifulSoup(f"<p><strong>Figure 1.</strong> {caption}</p>", "html.parser").p
    assert split(paragraph) == halves


def test_the_lecture_takes_the_minutes_that_the_plan_gives_and_says_what_to_ask(site, course):
    rows = read(site / "book" / "teachers.html").select("#one-lecture tbody tr")
    plan = yaml.safe_load((ROOT / "book" / "lecture.yml").read_text("utf-8"))
    for number, row in enumerate(rows, 1):
        assert sum(line["minutes"] for line in plan if line["row"] == number) == int(row.td.get_text())
        planned = [line["slide"] for line in plan if line["row"] == number]
        asked = {anchor for anchor in re.findall(r"#((?:fig|eq|thm)-[\w-]+)", str(row))}
        assert asked <= {slide.partition("#")[2] for slide in planned}, planned
    slides = parsed(course / "lecture.html").select("main > section")
    assert [slide["id"] for slide in slides] == [line["slide"].replace("#", "-") for line in plan]
    minute = 0
    for slide, line in zip(slides, plan, strict=True):
        assert words(slide.aside.p) == f"Minutes {minute} to {minute + line['minutes']}. {line['ask']}"
        minute += line["minutes"]
    page = Html(course / "lecture.html")
    assert page.loads == [] and [link for link in page.links if not foreign(link) and link[1:] not in page.ids] == []


# In the browser, from a folder.

FIT = """() => [...document.querySelectorAll("main > section")].flatMap(slide => {
  const stage = slide.querySelector(".stage"), wide = innerWidth > 900;
  return [["slide", slide], ["stage", stage], ...[...stage.querySelectorAll("div.math")].map(e => ["formula", e])]
    .filter(([name, e]) => e.scrollWidth > e.clientWidth || wide && name !== "formula" && e.scrollHeight > e.clientHeight)
    .map(([name, e]) => `${slide.id}: ${name} ${e.scrollWidth} x ${e.scrollHeight}, not ${e.clientWidth} x ${e.clientHeight}`);
})"""
NOW = (
    "() => [document.querySelector('main > .now').id, document.querySelectorAll('.now .answer[open]').length]"
)


def turned_to(reader, anchor: str) -> None:
    reader.page.evaluate("id => location.replace(`#${id}`)", anchor)
    reader.page.wait_for_selector(f"[id='{anchor}'].now")
    reader.page.evaluate(FRAMES)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
@pytest.mark.parametrize("stem", SOME)
def test_every_slide_fits_and_can_be_read(course, browser, stem, width, height):
    with visit(browser, width) as reader:
        asked = []
        reader.page.on("request", lambda request: asked.append(request.url))
        reader.resize(width, height)
        reader.open(deck(course, stem).as_uri())
        assert reader.page.evaluate(FIT) == []
        ids = [slide["id"] for slide in parsed(deck(course, stem)).select("main > section")]
        for anchor in ids:
            turned_to(reader, anchor)
            faults = reader.look("overflow", "text")
            if anchor in (ids[0], ids[1], "prediction-1", "exercises"):
                reader.page.evaluate(
                    "document.querySelectorAll('.now .answer').forEach(e => { e.open = true; })"
                )
                faults += reader.axe()
                reader.page.emulate_media(color_scheme="dark")
                faults += reader.contrast()
                reader.page.emulate_media(color_scheme="light")
            assert not faults, (anchor, faults)
        assert {url for url in asked if not url.startswith("data:")} == {deck(course, stem).as_uri()}
        assert reader.faults == []


# Letters of films, in their shadow roots, and of pictures that are too small, and words of films that lie over others.
LETTERS = """some => [...document.querySelectorAll(some)].flatMap(box => {
  const film = box.querySelector("[data-hero]")?.shadowRoot, wide = box.getBoundingClientRect().width / box.offsetWidth, words = [];
  const texts = [...film ? film.querySelectorAll("*") : box.querySelectorAll("svg text")].filter(e => !e.closest("[hidden], style, option, .sr, .ink")
    && e.checkVisibility({opacityProperty: true, visibilityProperty: true}) && [...e.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
  const small = texts.map(e => [parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement ? Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b) : wide), e])
    .filter(([size, e]) => { const {left, right, top, bottom} = e.getBoundingClientRect(); words.push([e, left + 1, right - 1, (top + bottom) / 2, .36 * size]); return size < (film ? 23.5 : 19.5); });
  const over = film ? words.flatMap(([a, left, right, y, half], i) => words.slice(i + 1).filter(([b, l, r, z, h]) => !a.contains(b) && !b.contains(a)
    && a.ownerSVGElement && b.ownerSVGElement && left < r && l < right && Math.abs(y - z) < half + h).map(([b]) => `${a.textContent} over ${b.textContent}`)) : [];
  return [...small.map(([size, e]) => `${size.toFixed(1)} px: ${e.textContent}`), ...over].map(fault => `${box.closest("section").id}: ${fault}`);
})"""


def test_letters_of_films_are_24_px_and_lie_over_nothing(course, browser):
    films = [stem for stem in CHAPTERS if parsed(deck(course, stem)).select("[data-hero]")]
    assert len(films) > 12
    with visit(browser, 1280) as reader:
        reader.resize(1280, 720)
        for stem in films:
            reader.page.goto(deck(course, stem).as_uri())
            reader.page.evaluate(FRAMES)
            assert reader.page.evaluate(FIT) == [] and reader.page.evaluate(LETTERS, ".fit:has([data-hero])") == [], stem


def test_a_tall_figure_stands_in_halves_and_letters_are_large(course, browser):
    with visit(browser, 1280) as reader:
        reader.resize(1280, 720)
        reader.open((course / "lecture.html").as_uri())
        reader.page.wait_for_selector("[id$=fig-1-6] .halves svg + svg", state="attached")
        assert reader.page.evaluate(FIT) == [] and reader.page.evaluate(LETTERS, ".picture .fit") == []
        for slide in parsed(course / "lecture.html").select("main > section"):
            turned_to(reader, slide["id"])
            assert not (faults := reader.look("overflow", "text")), (slide["id"], faults)
        reader.page.get_by_role("button", name="Notes").click()
        assert reader.page.locator(".now .notes").inner_text().startswith("Minutes 88 to 90.")
        assert reader.faults == []


def test_keys_turn_and_an_answer_comes_before_the_next_slide(course, browser):
    with visit(browser, 1280) as reader:
        reader.page.goto(deck(course, SOME[0]).as_uri())
        press, now = reader.page.keyboard.press, lambda: reader.page.evaluate(NOW)
        assert now() == ["title", 0]
        stops = [["fig-2-1", 0], ["prediction-1", 0], ["prediction-1", 1], ["fig-2-2", 0]]
        for key, there in zip(TURNS, stops, strict=True):
            press(key)
            here = f"there => JSON.stringify(({NOW})()) === JSON.stringify(there)"
            reader.page.wait_for_function(here, arg=there)
        keys = {"ArrowLeft": "prediction-1", "End": "exercises", "PageUp": "vote-6", "Home": "title"}
        for key, there in keys.items():
            press(key)
            reader.page.wait_for_selector(f"#{there}.now:focus")
        turned_to(reader, "fig-2-3")
        reader.page.reload()
        assert now() == ["fig-2-3", 0]
        assert reader.page.inner_text("nav .here") == "5 / 30"
        press("n")
        shown, notes = (reader.page.locator(f"#fig-2-3 {part}").bounding_box() for part in (".fit", ".notes"))
        assert shown["y"] + shown["height"] <= notes["y"] + 1
        press("o")
        reader.page.get_by_role("link", name="One hand at two times, at the same height.").click()
        reader.page.wait_for_selector("#fig-2-4.now")
        assert not reader.page.is_visible("nav ol")


def test_a_hero_plays_when_its_slide_comes_and_keeps_its_keys_and_drags(course, browser):
    with visit(browser, 1280) as reader:
        page = reader.page
        page.emulate_media(reduced_motion="no-preference")
        page.goto(deck(course, "11-plumbing").as_uri())
        plays = (
            "[...document.querySelectorAll('[data-hero]')].map(e => !!e.shadowRoot.querySelector('.plays'))"
        )
        page.wait_for_timeout(500)
        assert not any(page.evaluate(plays))
        page.keyboard.press("ArrowRight")
        page.locator("[data-hero]").first.get_by_role("button", name="more", exact=True).click()  # its guess
        page.wait_for_function(f"() => {plays}[0]")
        for width, height in [(1280, 720), (1700, 1000)]:  # at any scale a drag leads where the pointer is
            reader.resize(width, height)
            turned_to(reader, "fig-11-4")
            row, column = page.get_by_label("row of the query"), page.get_by_label("column of the query")
            picture = page.locator("#fig-11-4 .over svg").first
            box = picture.bounding_box()
            values = []
            for part in (0.3, 0.7):
                page.mouse.move(box["x"] + part * box["width"], box["y"] + part * box["width"])
                page.mouse.down()
                page.mouse.up()
                values.append((int(column.input_value()), int(row.input_value())))
            assert values[0] < values[1] and all(abs(x - y) <= 1 for x, y in values), values
        column.focus()
        page.keyboard.press("ArrowLeft")
        assert int(column.input_value()) == values[1][0] - 1
        assert page.evaluate(NOW)[0] == "fig-11-4"
        page.keyboard.press("PageDown")  # of a remote
        page.wait_for_selector("#fig-11-4:not(.now)", state="attached")
        assert reader.faults == []


def test_a_swipe_turns_and_a_tap_does_not(course, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(deck(course, SOME[0]).as_uri())
    tools = context.new_cdp_session(page)

    def swipe(start: tuple[int, int], end: tuple[int, int]) -> str:
        point = [{"x": start[0], "y": start[1]}]
        tools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": point})
        point = [{"x": end[0], "y": end[1]}]
        tools.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": point})
        tools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(200)
        return page.evaluate(NOW)[0]

    page.touchscreen.tap(200, 500)
    assert page.evaluate(NOW)[0] == "title"
    assert swipe((300, 500), (100, 520)) == "fig-2-1"
    hero = page.locator("#fig-2-1 [data-hero]").bounding_box()
    assert swipe((300, int(hero["y"]) + 150), (100, int(hero["y"]) + 150)) == "fig-2-1"
    assert swipe((100, 60), (300, 60)) == "title"
    context.close()


def test_without_scripts_the_slides_stand_below_one_another(course, browser):
    context = browser.new_context(viewport={"width": 390, "height": 844}, java_script_enabled=False)
    page = context.new_page()
    page.goto(deck(course, SOME[0]).as_uri())
    tops = [box["y"] for box in (slide.bounding_box() for slide in page.locator("main > section").all())]
    assert tops == sorted(set(tops)) and len(tops) == 30
    assert not page.locator(".answer > div").first.is_visible()
    assert page.locator("#fig-2-1 svg").first.is_visible()
    page.locator("#prediction-1 summary").click()
    assert page.locator("#prediction-1 .answer > div").is_visible()
    assert page.locator("#fig-2-1 .notes").is_visible() and not page.locator("nav").is_visible()
    context.close()


def test_each_slide_prints_on_a_page_as_wide_as_the_screen_and_nothing_is_cut(course, browser):
    with visit(browser, 1280) as reader:
        reader.resize(1280, 720)
        reader.page.goto(deck(course, SOME[1]).as_uri())
        reader.page.wait_for_timeout(500)
        printed = reader.page.pdf(prefer_css_page_size=True, print_background=True)
        names = reader.page.evaluate(
            "[...document.querySelectorAll('main > section h1, main > section h2')].map(e => e.innerText)"
        )
        reader.page.emulate_media(media="print")
        assert {stage.bounding_box()["width"] for stage in reader.page.locator(".stage").all()} == {1200}
    with pypdfium2.PdfDocument(BytesIO(printed)) as pdf:
        pages = [re.sub(r"\s", "", page.get_textpage().get_text_bounded()) for page in pdf]
        for page in pdf:  # nothing reaches the edges
            ink = np.asarray(page.render(scale=1).to_pil().convert("L"))
            assert (ink[:, :20] > 240).all() and (ink[:, -20:] > 240).all() and (ink[-8:] > 240).all()
    assert len(pages) == len(names)
    assert all(re.sub(r"\s", "", name)[:12] in page for name, page in zip(names, pages, strict=True))
    assert "ALiBifindnearlyall" in pages[3]  # the answer


def test_the_plan_fits_a_phone_and_a_desk(course, browser):
    for width in (390, 1280):
        with visit(browser, width) as reader:
            reader.open((course / "index.html").as_uri())
            assert reader.look("overflow", "text") + reader.axe() == []


def picture_of(reader) -> np.ndarray:
    """The slide that is shown, once it has come to rest."""
    reader.page.wait_for_selector("section.now")
    reader.page.evaluate("document.fonts.ready")
    before = None
    while (picture := reader.page.screenshot()) != before:
        before = picture
        reader.page.wait_for_timeout(400)
    return np.asarray(Image.open(BytesIO(picture)).convert("L"), dtype=int)


def test_a_picture_is_the_same_however_one_comes_to_it(course, browser):
    """Chromium once kept the letters of a scale that the slide had only tried."""
    with visit(browser, 1280) as reader:
        reader.resize(1280, 720)
        reader.page.goto((course / "index.html").as_uri())
        reader.page.get_by_role("link", name="Figure 4.2", exact=True).first.click()
        linked = picture_of(reader)
        reader.page.reload()
        again = picture_of(reader)
        for key in ("ArrowRight", "ArrowLeft"):
            reader.page.keyboard.press(key)
        walked = picture_of(reader)
    assert abs(linked - walked).max() < 64 and abs(again - walked).max() < 64
