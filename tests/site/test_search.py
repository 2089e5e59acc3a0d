"""The search as a reader meets it: what comes first, where it opens, and what is shown while one types."""

from base64 import b64decode
from urllib.parse import urlencode, urlsplit

import pytest
from d2lpos_ext.search import NOT_SEARCHED, own_id, unpack
from playwright.sync_api import expect

from tests.site.detectors import visit
from tests.site.pages import PAGES, read

SEARCH = {"minisearch", "language_data", "search-words", "search", "search-box"}
CHAPTER = "chapters/04-rope"
OPTIONS = "#search-found [role=option]"

FURNITURE = ("Show the code", "Hide the code", "Compare with the answer", "Link to this heading", "Skip to")


@pytest.fixture(scope="module")
def index(site) -> list[dict]:
    return unpack((site / "_static" / "search-index.bin").read_bytes())


def test_the_index_has_all_pages_and_leads_to_places_that_are_there(site, index):
    assert {part["page"] for part in index} == set(PAGES) - NOT_SEARCHED
    for part in index:
        ids = read(site / f"{part['page']}.html").ids
        for entry in part["entries"]:
            assert {entry["id"], *(block[0] or own_id(block[1]) for block in entry["blocks"])} <= ids, part["page"]


def test_the_index_is_small_and_the_same_for_pages_from_a_folder(site):
    static = site / "_static"
    packed = (static / "search-index.bin").read_bytes()
    assert len(packed) <= 450_000
    assert b64decode((static / "search-index.js").read_text("utf-8").split('"')[1]) == packed


def test_the_index_has_no_furniture_and_gives_no_solution_away(index):
    texts = [block[1] for part in index for entry in part["entries"] for block in entry["blocks"]]
    assert len(texts) > 1000
    assert [text for text in texts if text.startswith(FURNITURE) or "#@title Solution" in text] == []


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_results_come_while_one_types_and_open_at_the_paragraph(site, address, visitor, scheme):
    asked = []
    scripts = lambda request: request.resource_type == "script"  # not the icon, which Chromium asks for when it will
    name = lambda request: urlsplit(request.url).path.rpartition("/")[2]
    visitor.page.on("request", lambda request: scripts(request) and asked.append(name(request)))
    visitor.page.goto(f"{address if scheme == 'http' else site.as_uri()}/{CHAPTER}.html")
    assert not SEARCH & {name.removesuffix(".js") for name in asked}, "nobody searches yet"
    asked.clear()
    visitor.page.keyboard.press("Control+k")
    visitor.page.wait_for_selector("#search-found", state="attached")  # by the script that comes last
    needed = SEARCH | {"search-index"} if scheme == "file" else SEARCH
    assert {name.removesuffix(".js") for name in asked} == needed
    visitor.page.keyboard.type("left padd")
    field, options = visitor.page.locator("#pst-search-dialog input"), visitor.page.locator(OPTIONS)
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(options.first).to_contain_text("padding")
    expect(visitor.page.locator(".search-count [role=status]")).to_contain_text("results")
    assert len(asked) == len(needed), "typing asks for files"

    visitor.page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    visitor.page.keyboard.press("ArrowDown")
    expect(visitor.page.locator("[aria-selected=true]")).to_have_count(0)
    visitor.page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", options.first.get_attribute("id"))
    expect(field).to_be_focused()
    where = options.first.evaluate("e => e.href")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url(where)
    place = visitor.page.locator(":target")
    expect(place).to_be_in_viewport()
    expect(place).to_contain_text("padding")
    assert place.bounding_box()["height"] < 800, "it is no place but a whole section"


def test_nothing_is_found_before_all_is_known_and_a_lost_index_is_told(address, browser):
    with visit(browser) as reader:
        held = []
        reader.page.route("**/search-index.bin", lambda route: held.append(route))
        reader.page.goto(f"{address}/{CHAPTER}.html")
        reader.page.keyboard.press("Control+k")
        reader.page.keyboard.type("yarn")
        status = reader.page.locator(".search-count [role=status]")
        expect(status).to_have_text("The search is loading …")
        expect(reader.page.locator("#search-found")).to_be_hidden()
        held[0].continue_()
        expect(status).to_contain_text("results")
        reader.page.unroute("**/search-index.bin")
        reader.page.route("**/search-index.bin", lambda route: route.abort())
        reader.page.reload()
        reader.page.keyboard.press("Control+k")
        reader.page.keyboard.type("yarn")
        expect(status).to_have_text("The search did not load. Open this page again.")


def test_a_result_on_the_same_page_closes_the_dialog(site, visitor):
    visitor.page.goto((site / f"{CHAPTER}.html").as_uri())
    visitor.page.keyboard.press("Control+k")
    visitor.page.keyboard.type("rope")
    visitor.page.locator(f"{OPTIONS}[href*='{CHAPTER}']").first.click()
    visitor.page.wait_for_url("**#*")
    expect(visitor.page.locator("#pst-search-dialog")).to_be_hidden()
    expect(visitor.page.locator(":target")).to_be_in_viewport()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_the_dialog_is_for_everybody(site, browser, width, scheme):
    with visit(browser, width, scheme) as reader:
        reader.page.goto((site / f"{CHAPTER}.html").as_uri())
        reader.settle()
        button = ".search-button-field" if width == 1280 else ".page-tools .search-button"
        reader.page.click(button)
        reader.page.keyboard.type("slope")
        options = reader.page.locator(OPTIONS)
        expect(options.first).to_be_visible()
        reader.page.keyboard.press("ArrowDown")
        faults = reader.faults + reader.axe() + reader.look("overflow")
        low = [box for box in (option.bounding_box() for option in options.all()) if box["height"] < 44]
        assert (faults, low) == ([], [])
        options.nth(1).click()
        reader.page.wait_for_url("**#*")
        expect(reader.page.locator(":target")).to_be_in_viewport()


def test_enter_leads_to_all_results_whose_matches_can_be_hidden_and_nothing_found_is_said(address, visitor):
    visitor.page.goto(f"{address}/{CHAPTER}.html")
    visitor.page.keyboard.press("Control+k")
    visitor.page.keyboard.type("zzzzqqq")
    status = visitor.page.locator("#pst-search-dialog [role=status]")
    expect(status).to_have_text("Nothing found for “zzzzqqq”.")
    expect(visitor.page.locator("#search-found")).to_be_hidden()
    visitor.page.locator("#pst-search-dialog input").fill("slopes")
    expect(visitor.page.locator(OPTIONS).first).to_be_visible()
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/search.html?q=slopes")
    expect(visitor.page.locator("#search-results li")).not_to_have_count(0)
    assert visitor.page.locator("#search-results mark").count()
    visitor.page.locator("#search-results li > a").first.click()
    expect(visitor.page.locator("article .highlighted")).not_to_have_count(0)
    visitor.page.click("text=Hide Search Matches")
    expect(visitor.page.locator("article .highlighted")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_the_page_of_results_shows_words_around_the_match(site, address, browser, scheme):
    with visit(browser) as reader:
        start = address if scheme == "http" else site.as_uri()
        reader.open(f"{start}/search.html?{urlencode({'q': 'attention'})}")
        results = reader.page.locator("#search-results li")
        expect(results.first).to_contain_text("ttention")
        assert 0 < results.count() <= 50
        for excerpt in reader.page.locator("#search-results .context:has(mark)").all_text_contents():
            assert len(excerpt) < 300
        assert reader.axe() + reader.faults == []
