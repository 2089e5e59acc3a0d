"""Which sections a browser takes for read, and where the first page says to go on."""

from playwright.sync_api import expect

from tests.node import passed


def go(reader, address, name):
    reader.page.goto(f"{address}/{name}")
    return reader.page


def test_in_node():
    assert passed("tests/site/reading.test.mjs") >= 2


def test_a_section_is_read_when_its_end_was_seen_for_long_enough(address, visitor):
    visitor.page.clock.install()
    page = go(visitor, address, "chapters/04-rope.html")
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


def test_the_first_page_leads_to_where_a_visitor_was_and_moves_nothing(address, visitor):
    page = go(visitor, address, "index.html")
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


def test_without_a_place_that_can_be_read_the_first_page_leads_nowhere(address, visitor):
    page = go(visitor, address, "index.html")
    for odd in ("no json", "[1]", '{"last": 1}'):
        page.evaluate("odd => { for (const kind of ['read', 'place']) localStorage[`d2lpos:${kind}`] = odd; }", odd)
        page.reload()
        expect(page.locator(".go-on")).to_be_hidden()
