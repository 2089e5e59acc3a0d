"""What a reader has read and passed, as a page keeps it, counts it, takes it back and forgets it."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.cells import EXERCISE, note, tags
from d2lpos_ext.progress import receipts
from nbformat.v4 import new_code_cell, new_notebook, new_output
from notebooks import checked
from playwright.sync_api import expect

from d2lpos.check.receipts import receipt
from tests.node import passed
from tests.site.detectors import visit
from tests.site.pages import ROOT
from tests.site.refusals import REFUSALS

ATTENTION, MASK = receipt("attention"), receipt("permute_mask")  # exercises 1.2 and 1.4
STANDING = "book/progress.html"


@pytest.fixture
def reader(visitor):
    return visitor


def go(reader, address, name=STANDING):
    reader.page.goto(f"{address}/{name}")
    return reader.page


def add(page, text):
    page.get_by_role("textbox", name="Receipts").fill(text)
    page.get_by_role("button", name="Add").click()
    return page.locator(".answer")


def notebook(*printed, tag="exercise"):
    outputs = ([new_output("execute_result", {"text/plain": text})] for text in printed)
    cells = [new_code_cell("check", outputs=output, metadata={"tags": [tag]}) for output in outputs]
    return nbformat.writes(new_notebook(cells=cells))


def hand_in(page, **files):
    page.locator("[type=file]").set_input_files(
        [
            {"name": name.replace("_", "."), "mimeType": "", "buffer": text.encode()}
            for name, text in files.items()
        ]
    )
    return page.locator(".answer")


def test_in_node():
    assert passed("tests/site/progress.test.mjs") >= 5


def test_the_page_lists_all_sections_and_exercises_with_their_receipts(site):
    page = BeautifulSoup((site / STANDING).read_text("utf-8"), "html.parser")
    known = {}
    for path in checked(ROOT):
        cells = nbformat.read(path, as_version=4).cells
        names = {
            note(cell, "id"): re.match(r"check\.(\w+)", cell.source)[1]
            for cell in cells
            if cell.cell_type == "code" and "exercise" in tags(cell) and cell.source.startswith("check.")
        }
        heads = ((EXERCISE.match(cell.source), note(cell, "id")) for cell in cells)
        known |= {head["number"]: receipt(names[name]) for head, name in heads if head}
    number = lambda entry: re.match(r"Exercise (\w+\.\d+)", entry.get_text(strip=True))[1]
    assert {number(entry): entry["data-receipt"] for entry in page.select("[data-receipt]")} == known
    for part in page.select("details.part"):
        links = [link["href"].partition("#") for link in part.select(".sections a")]
        [place] = {path for path, _, _ in links}
        other = BeautifulSoup((site / "book" / place).resolve().read_text("utf-8"), "html.parser")
        sections = [section["id"] for section in other.select(".bd-article > section > section")]
        assert [name for _, _, name in links] == sections != []


def test_an_exercise_without_a_check_stops_the_build(tmp_path):
    cell = new_code_cell("def f(): ...", metadata={"tags": ["exercise"], "d2lpos": {"id": "ex-a"}})
    nbformat.write(new_notebook(cells=[cell]), tmp_path / "01-a.ipynb")
    with pytest.raises(LookupError, match=r"01-a\.ipynb: the exercise ex-a has no check"):
        receipts(tmp_path / "01-a.ipynb")


def test_a_section_is_read_when_its_end_was_seen_for_long_enough(address, reader):
    reader.page.clock.install()
    page = go(reader, address, "chapters/04-rope.html")
    section = page.locator(".bd-article > section > section").first
    key = f"chapters/04-rope#{section.get_attribute('id')}"
    read = "Object.keys(memory.all('read'))"
    # A browser scrolls by whole pixels.
    section.evaluate("section => scrollBy(0, section.getBoundingClientRect().bottom - innerHeight + 1)")
    page.clock.run_for(3_000)
    assert page.evaluate(read) == [], "nobody reads as quickly as that"
    page.clock.run_for(60_000)
    assert key in page.evaluate(read)
    assert page.evaluate("memory.all('place').last.key") not in (key, None), "it goes on behind what is read"
    page = go(reader, address)
    expect(page.locator(".sections :checked")).to_have_count(len(page.evaluate(read)))
    expect(page.locator("details.part[open] > summary")).to_contain_text("4. RoPE")


def test_the_first_page_leads_to_where_a_reader_was_and_moves_nothing(address, reader):
    page = go(reader, address, "index.html")
    expect(page.locator(".go-on")).to_be_hidden()
    title = page.locator("article h1").bounding_box()
    place = {"key": "chapters/04-rope#summary", "page": "RoPE", "section": "Summary"}
    page.evaluate("place => memory.write('place', 'last', place)", place)
    page.reload()
    assert page.locator("article h1").bounding_box() == title
    link = page.get_by_role("link", name="Go on with RoPE, Summary")
    expect(link).to_have_text("Go on with RoPE")
    link.click()
    page.wait_for_url("**/chapters/04-rope.html#summary")
    go(reader, address).get_by_role("link", name="Go on with RoPE, Summary").click()
    page.wait_for_url("**/chapters/04-rope.html#summary")


def test_receipts_are_pasted_and_typed_and_what_is_none_has_its_sentence(address, reader):
    page = go(reader, address)
    answer = add(page, f"✓ attention: 5 properties hold\n  one token\nReceipt: {ATTENTION}")
    expect(answer).to_have_text("Added: Exercise 1.2.")
    expect(page.get_by_role("textbox")).to_be_empty()
    expect(add(page, f"{MASK.lower()} {ATTENTION}")).to_have_text("Added: Exercise 1.4. 1 was there already.")
    expect(add(page, "=1+1")).to_have_text("“=1+1” is no receipt of this book.")
    expect(page.get_by_role("textbox")).to_have_value("=1+1")
    expect(add(page, " ")).to_have_text("Paste or type a receipt first. It has six letters and digits.")
    expect(add(page, "A B C D E")).to_have_text(re.compile(r"“A” is .+“C” is .+ Nor are 2 others\.$"))
    expect(page.get_by_role("status").first).to_contain_text("passed 2 of ")
    page.reload()
    expect(page.locator("[data-receipt].done")).to_have_count(2)
    expect(page.locator(f"[data-receipt='{MASK}']")).to_contain_text("passed")


def test_the_receipt_that_the_page_shows_is_one_that_it_takes(address, reader):
    page = go(reader, address)
    shown = re.search(r"a receipt, such as (\w+)\.", page.locator(".standing form").inner_text())[1]
    expect(add(page, shown)).to_have_text(re.compile(r"^Added: Exercise \w+\.\d+\.$"))


def test_notebooks_are_read_for_what_their_reader_solved(address, reader):
    page = go(reader, address)
    solved = notebook("○ layers: not attempted yet", f"✓ attention: 5 properties hold\nReceipt: {ATTENTION}")
    expect(hand_in(page, a_ipynb=solved)).to_have_text("Added: Exercise 1.2.")
    for text, sentence in {
        "not json": "“a.ipynb” is no notebook.",
        "[]": "“a.ipynb” is no notebook.",
        notebook(f"Receipt: {MASK}", tag="solution"): "“a.ipynb” shows no exercise that passed. Run its checks, and save it.",
        notebook("Receipt: AAAAAA <b>"): "“AAAAAA” is no receipt of this book.",
    }.items():
        expect(hand_in(page, a_ipynb=text)).to_have_text(sentence)
    both = hand_in(page, a_ipynb="{}", b_ipynb=notebook(f"Receipt: {MASK}"))
    expect(both).to_have_text("“a.ipynb” is no notebook. Added: Exercise 1.4.")


def test_what_is_saved_comes_back_in_another_browser(address, browser, reader):
    page = go(reader, address)
    expect(page.get_by_role("button", name="Save to a file")).to_be_hidden()
    add(page, ATTENTION)
    page.locator("details.part").nth(1).locator("[type=checkbox]").first.check()
    page.evaluate("memory.write('predictions', '4.favorites', {value: 0, missed: '0', on: '2026-11-24'})")
    with page.expect_download() as told:
        page.get_by_role("button", name="Save to a file").click()
    saved = Path(told.value.path()).read_text("utf-8")
    assert set(json.loads(saved)["d2lpos"]) == {"read", "passed", "place", "predictions", "mistakes", "reviews"}
    with visit(browser) as other:
        page = go(other, address)
        add(page, MASK)
        expect(hand_in(page, mine_json=saved)).to_have_text("“mine.json” is added to what was here.")
        expect(page.get_by_role("status").first).to_contain_text("read 1 of ")
        expect(page.get_by_role("status").first).to_contain_text("passed 2 of ")
        expect(page.get_by_role("link", name="1 prediction")).to_be_visible()
        expect(hand_in(page, mine_json='{"d2lpos": {"read": []}}')).to_have_text("“mine.json” is no notebook.")
        assert other.faults == []


def test_it_is_emptied_after_a_question(address, reader):
    page = go(reader, address)
    empty = page.get_by_role("button", name="Empty this page")
    expect(empty).to_be_hidden()
    add(page, ATTENTION)
    page.evaluate("memory.write('predictions', '4.favorites', {value: 0, missed: '0', on: '2026-11-24'})")
    empty.click()
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(empty).to_be_focused()
    expect(page.locator(".done")).to_have_count(1)
    empty.click()
    page.get_by_role("button", name="Empty it").click()
    expect(page.locator(".done")).to_have_count(0)
    left = page.evaluate("[memory.all('passed'), Object.keys(memory.all('predictions'))]")
    assert left == [{}, ["4.favorites"]]


@REFUSALS
def test_a_browser_that_keeps_nothing_says_so(address, browser, storage, why):
    with visit(browser) as reader:
        reader.page.add_init_script(storage)
        page = go(reader, address)
        expect(add(page, ATTENTION)).to_have_text("Added: Exercise 1.2.")
        expect(page.get_by_role("alert")).to_contain_text(f"This browser keeps nothing for the book, as {why}")
        expect(page.locator(".done")).to_have_count(1)


def test_what_was_kept_and_cannot_be_read_is_told(address, reader):
    page = go(reader, address)
    for odd in ("no json", "[1]", '{"last": 1}'):
        page.evaluate("odd => { for (const kind of ['read', 'place']) localStorage[`d2lpos:${kind}`] = odd; }", odd)
        page.reload()
        expect(page.get_by_role("status").first).to_contain_text("You have read 0 of ")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_it_is_for_everybody(address, browser, width, scheme):
    with visit(browser, width, scheme) as reader:
        page = go(reader, address)
        add(page, f"{ATTENTION} NONE")
        page.locator("details.part").nth(1).locator("[type=checkbox]").first.check()
        reader.settle()
        assert reader.axe() + reader.look("overflow", "text", "overlaps") + reader.faults == []
        page.get_by_role("button", name="Empty this page").click()
        assert reader.axe() + reader.look("overflow", "text", "overlaps") + reader.faults == []


def test_without_javascript_it_is_a_list(address, plain):
    plain.goto(f"{address}/{STANDING}")
    expect(plain.get_by_text("It needs JavaScript for that")).to_be_visible()
    plain.locator("details.part summary").nth(1).click()
    expect(plain.get_by_role("link", name="Two stories")).to_be_visible()
