"""Every page in a real browser, at the widths of a phone and a desk, in light and dark."""

import json
import re
from io import BytesIO
from statistics import median
from time import sleep
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.site.detectors import SCRIPT, visit
from tests.site.pages import EVERYWHERE, FRONT, PAGES, ROOT, read
from tests.site.refusals import OFF
from tests.site.serving import Quiet, serve

DESK, TABLET, PHONE, NARROWEST = 1280, 768, 390, 320
ZOOMED = {"width": 640, "height": 400}  # a window of 1280 by 800 px at 200 %

OWN = {"Source Serif 4", "STIX Two Math"}

# The page's layout shift so far, as the Web Vitals count it.
SHIFTS = """
window.shift = 0;
new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) shift += e.value; }))
  .observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture(scope="module")
def looks() -> set[str]:
    """The looks of texts and links on their grounds that axe has judged on some page."""
    return set()


@pytest.mark.parametrize("name", EVERYWHERE)
def test_page_from_file(site, browser, looks, name):
    """Opened once, since that takes longer than a look: on a phone, zoomed, at a desk; then at the desk and on the phone in the dark."""
    with visit(browser, PHONE, looks=looks) as reader:
        address = (site / f"{name}.html").as_uri()
        reader.open(address)
        faults = reader.faults  # grows while we look
        figures = reader.page.evaluate("detect.figures().length")
        if figures != interactive(name):
            faults.append(f"{figures} interactive figures, of {interactive(name)} that are drawn")
        faults += reader.look("overflow", "text", "letters", "pictures", "formulas", "listings", "overlaps") + reader.axe()
        reader.resize(NARROWEST)
        faults += reader.look("overflow")
        reader.resize(**ZOOMED)
        faults += reader.look("overflow", "text", "overlaps")
        reader.resize(DESK)
        faults += reader.look("overflow", "text", "pictures", "formulas", "code", "motion", "focus") + reader.axe()
        reader.page.emulate_media(color_scheme="dark")
        reader.page.wait_for_selector("html[data-theme=dark]")
        faults += reader.contrast() + reader.look("focus") + reader.keyboard()
        reader.resize(PHONE)
        faults += reader.contrast()
        assert not faults, "\n".join(faults)


def interactive(name: str) -> int:
    """How many figures of a page answer the reader, by the notebook or the text that it is made from."""
    if name == "index":
        return (ROOT / f"{FRONT}.md").read_text("utf-8").count(":file: figures/")
    notebook = ROOT / f"{name}.ipynb"
    cells = json.loads(notebook.read_text("utf-8"))["cells"] if notebook.exists() else []
    return sum(line.startswith(("hero(", "machine(", "explore(")) for cell in cells for line in cell["source"])


# Bytes that a first visit brings, before compression: styles, scripts and fonts for all pages, and the page's own. The page of
# the search brings the index, *Your model* what it knows of all families; Symptoms has 75 rows.
FIRST = {"search": 720_000, "book/your-model": 600_000, "book/symptoms": 640_000}
MOST, MEDIAN = 620_000, 450_000
KINDS = {".css": 80_000, ".woff2": 120_000}


def test_first_visits_are_light(site, address, browser):
    weights = {}
    for name in EVERYWHERE:
        with visit(browser, DESK) as reader:
            asked = set()
            reader.page.on("request", lambda request, asked=asked: asked.add(urlsplit(request.url).path))
            reader.page.goto(f"{address}/{name}.html")
            reader.page.evaluate("document.fonts.ready")
            sizes = {path: (site / path.strip("/")).stat().st_size for path in asked}
            weights[name] = sum(sizes.values())
            for kind, most in KINDS.items():
                assert sum(size for path, size in sizes.items() if path.endswith(kind)) <= most, (name, kind)
    assert {name: weight for name, weight in weights.items() if weight > FIRST.get(name, MOST)} == {}
    assert median(weights.values()) <= MEDIAN


# The places that links of a page's address lead to and that a reader does not see then. An option of a form chooses it.
PLACES = """async ids => {
  const lost = [];
  for (const id of ids) {
    scrollTo(0, 0);
    location.hash = `#${encodeURIComponent(id)}`;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const place = document.getElementById(id), box = place?.getClientRects()[0];
    if (!place?.matches('option') && !(box && box.top < innerHeight && box.bottom > -5)) lost.push(id);
  }
  return lost;
}"""


def test_every_link_leads_to_a_place_that_is_in_sight_then(site, address, browser):
    wanted = {name: set() for name in PAGES}
    for name in PAGES:
        for link in read(site / f"{name}.html").links:
            there = urlsplit(urljoin(f"/{name}.html", link))
            if there.fragment and not there.netloc and (page := unquote(there.path)[1:].removesuffix(".html")) in wanted:
                wanted[page].add(unquote(there.fragment))
    lost = {}
    with visit(browser) as reader:
        for name, places in wanted.items():
            reader.page.goto(f"{address}/{name}.html")
            lost[name] = reader.page.evaluate(PLACES, sorted(places))
    assert sum(map(len, wanted.values())) > 500
    assert {name: places for name, places in lost.items() if places} == {}


def test_what_is_below_the_first_screen_waits_until_it_comes_near(address, browser):
    """Neither laid out nor made before, or a page answers late; a figure shows its picture."""
    with visit(browser, DESK) as reader:
        reader.page.goto(f"{address}/chapters/04-rope.html")
        waiting = reader.page.locator("[data-waits]")
        assert waiting.last.locator("h2").evaluate("e => !e.checkVisibility({contentVisibilityAuto: true})")
        figure = waiting.locator("[data-hero]").last.element_handle()
        made = "e => !!e.shadowRoot && !e.closest('[data-waits]')"
        assert not figure.evaluate(made)
        figure.scroll_into_view_if_needed()
        reader.page.wait_for_function(made, arg=figure)
        reader.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert waiting.count() == 0
        assert not reader.faults


class Slow(Quiet):
    """Fonts come later than a browser waits for them, scripts after the page. What is seen first comes in small pieces."""

    def copyfile(self, source, out):
        if ".js" in self.path:
            sleep(1)
        if self.path.endswith(".woff2"):
            sleep(4)
        if self.path.endswith(".html"):
            while line := source.readline():
                out.write(line)
                if b"<article" in line:
                    break
            for _ in range(60):
                for piece in re.split(rb"(?<=>)(?= )|(?<= )(?=<)", source.readline()):
                    out.write(piece)
                    sleep(0.01)
        super().copyfile(source, out)


# What WCAG 1.4.12 lets a reader set.
SPACED = """(() => {
    const spaced = new CSSStyleSheet();
    spaced.replaceSync("* {line-height:1.5 !important; letter-spacing:.12em !important; word-spacing:.16em !important} p {margin-bottom:2em !important}");
    document.adoptedStyleSheets = [spaced];
})()"""


@pytest.mark.parametrize("name", EVERYWHERE)
def test_no_page_is_wider_than_the_window_whatever_the_size_of_letters(site, browser, name):
    """The browser's letters, 16 px where a reader sets nothing; a zoom of 400 % makes a window of 1280 px one of 320."""
    with visit(browser) as reader:
        letters = reader.page.context.new_cdp_session(reader.page)
        reader.open((site / f"{name}.html").as_uri())
        wide = []
        for size in (20, 24, 32, 16):
            letters.send("Page.setFontSizes", {"fontSizes": {"standard": size, "fixed": size}})
            if size == 16:
                reader.page.evaluate(SPACED)
            for width in (320, 390, 768, 1280, 1920):
                reader.resize(width)
                over = reader.page.evaluate("document.documentElement.scrollWidth") - width
                wide += [(size, width, over)] * (over > 0)
        assert wide == []


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (TABLET, "light"), (DESK, "dark")])
def test_pages_come_over_http_without_faults_and_light_and_nothing_in_them_moves(
    site, address, browser, width, scheme
):
    """In bytes before compression, of what the first page, which is not counted, has not brought."""
    faults, cached = [], set()
    with visit(browser, width, scheme) as reader:
        reader.page.add_init_script(SHIFTS)
        for name in ["chapters/02-sinusoidal", *EVERYWHERE]:
            asked = set()
            reader.page.on("request", lambda request, asked=asked: asked.add(urlsplit(request.url).path))
            reader.page.goto(f"{address}/{name}.html")
            reader.page.evaluate("document.fonts.ready")
            weight = sum((site / path.strip("/")).stat().st_size for path in asked - cached)
            shift = reader.page.evaluate("shift")
            most = 400_000 if name in ("book/your-model", "book/symptoms", "index") else 320_000  # tables, rows that ran, and a model
            if name in PAGES and (cached and weight > most or shift > 0.01):
                faults.append(f"{name}: {weight} bytes, layout shift {shift:.3f}")
            cached |= {path for path in asked if path.startswith("/_static/")}
            reader.page.evaluate(SCRIPT)
            faults += [f"{name}: {fault}" for fault in reader.faults + reader.skip()]
            reader.faults.clear()
    assert faults == []


def test_the_button_of_the_color_mode_says_which(site, visitor):
    visitor.page.goto((site / "chapters" / "04-rope.html").as_uri())
    button, labels = visitor.page.locator(".theme-switch-button"), []
    for _ in range(3):
        labels.append(button.get_attribute("aria-label"))
        button.click()
    assert sorted(labels) == ["Color mode: as the system", "Color mode: dark", "Color mode: light"]


@pytest.mark.parametrize("name", PAGES)
def test_a_browser_that_keeps_nothing_meets_no_error(site, browser, name):
    with visit(browser) as reader:
        for kind in ("localStorage", "sessionStorage"):
            reader.page.add_init_script(OFF.replace("localStorage", kind))
        reader.page.goto((site / f"{name}.html").as_uri())
        if (button := reader.page.locator(".theme-switch-button")).count():
            button.click()
        assert reader.faults == []


def test_nothing_moves_on_a_slow_line(site, browser):
    """The first page has to do without its fonts. The later ones have them. A phone and a desk wait side by side."""
    with serve(site, Slow) as address, visit(browser, PHONE) as phone, visit(browser, DESK) as desk:
        for reader in (phone, desk):
            reader.page.add_init_script(SHIFTS)
        for name in ["chapters/02-sinusoidal", "chapters/04-rope", "book/teachers", "book/review"]:
            for reader in (phone, desk):
                reader.page.goto(f"{address}/{name}.html", wait_until="commit")
            for reader in (phone, desk):
                reader.page.wait_for_load_state()
                reader.page.evaluate("document.fonts.ready")
                reader.page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
                assert reader.page.evaluate("shift") < 0.001
                drawn = reader.fonts(".bd-article p, .bd-article math")
                assert OWN.isdisjoint(drawn) if name == "chapters/02-sinusoidal" else "Source Serif 4" in drawn


def test_a_page_from_a_folder_has_its_fonts(site, browser):
    with visit(browser) as reader:
        reader.open((site / "chapters" / "04-rope.html").as_uri())
        assert OWN <= reader.fonts(".bd-article p, .bd-article math")


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_a_page_runs_no_script_that_was_slipped_in(site, address, browser, scheme):
    with visit(browser) as reader:
        reader.page.goto(f"{address if scheme == 'http' else site.as_uri()}/book/preface.html")
        with reader.page.expect_console_message(lambda message: "Content Security Policy" in message.text):
            reader.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"hacked = 1\">')")
        assert reader.page.evaluate("typeof hacked") == "undefined"


def test_line_above_a_page_covers_what_passes_below_it(site, browser):
    with visit(browser, 390) as reader:
        reader.open((site / "chapters" / "03-learned.html").as_uri())
        reader.page.evaluate("scrollBy(0, document.querySelector('article pre').getBoundingClientRect().top)")
        shot = Image.open(BytesIO(reader.page.screenshot(clip={"x": 0, "y": 1, "width": 390, "height": 40})))
        for side in ((0, 0, 12, 40), (378, 0, 390, 40)):
            assert {color for _, color in shot.crop(side).getcolors()} == {shot.getpixel((100, 2))}


# What the list "On this page" marks, and whether it lies over something, at twenty places of a page.
LIST = """async () => {
  const list = document.getElementById('pst-secondary-sidebar'), found = [];
  for (let stop = 0; stop < 20; stop++) {
    scrollTo(0, stop / 19 * (document.documentElement.scrollHeight - innerHeight));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const mine = list.getBoundingClientRect();
    const shown = list.checkVisibility({visibilityProperty: true, opacityProperty: true});
    const over = shown && [...document.querySelectorAll('article :is(.margin, .full-width, .opening)')].some(e => {
      const box = e.getBoundingClientRect();
      return box.right > mine.left && box.left < mine.right && box.bottom > mine.top && box.top < mine.bottom;
    });
    found.push([list.querySelectorAll('.active').length, list.querySelectorAll('[aria-current]').length, over]);
  }
  return found;
}"""


@pytest.mark.parametrize("name", ["chapters/03-learned", "chapters/08-choosing", "book/parity"])
def test_one_entry_of_the_list_is_marked_and_it_lies_over_nothing(site, browser, name):
    with visit(browser) as reader:
        reader.open((site / f"{name}.html").as_uri())
        for width in (1280, 1920):
            reader.resize(width)
            assert reader.page.evaluate(LIST) == [[1, 1, False]] * 20


OPENING = """<figure class="opening"><div class="cell"><div class="cell_output" style="height: 400px"></div></div>
<figcaption><p><strong>Figure 3.1.</strong> It moves.</p><p class="try"><em>Try it.</em> Drag it.</p></figcaption></figure>"""


def put_opening(page):
    """Let chapter 3 open with a figure, whether it does or not."""

    def answer(route):
        text = re.sub('<figure class="opening".*?</figure>', "", route.fetch().text(), flags=re.DOTALL)
        at = text.index("<section", text.index("</h1>", text.index("<article")))
        route.fulfill(body=text[:at] + OPENING + text[at:], content_type="text/html")

    page.route("**/03-learned.html", answer)


@pytest.mark.parametrize(("width", "least"), [(1280, 900), (1920, 1100)])
def test_list_begins_below_an_opening_figure(address, browser, width, least):
    with visit(browser, width) as reader:
        put_opening(reader.page)
        reader.open(f"{address}/chapters/03-learned.html")
        opening = reader.page.locator("figure.opening").bounding_box()
        entries = reader.page.locator("#pst-secondary-sidebar").bounding_box()
        assert least <= opening["width"] <= 1100 and opening["x"] + opening["width"] < width
        assert entries["y"] >= opening["y"] + opening["height"]
        assert reader.page.evaluate(LIST) == [[1, 1, False]] * 20
        assert reader.faults == []


def test_nothing_is_asked_of_a_hand_without_scripts_and_on_paper(address, browser):
    for scripts in (True, False):
        page = browser.new_page(java_script_enabled=scripts)
        put_opening(page)
        page.goto(f"{address}/chapters/03-learned.html")
        asked = page.locator("figure.opening .try")
        assert page.locator("figure.opening figcaption").is_visible()
        assert asked.is_visible() == scripts
        page.emulate_media(media="print")
        assert not asked.is_visible()
        page.close()


def test_quick_reference_prints_on_one_sheet(site, browser):
    with visit(browser) as reader:
        reader.open((site / "book" / "quick.html").as_uri())
        for paper in ("A4", "Letter"):
            assert len(re.findall(rb"/Type\s*/Page\b", reader.page.pdf(format=paper))) == 1


@pytest.mark.parametrize("size", [{"width": 390, "height": 800}, ZOOMED], ids=["phone", "zoomed"])
def test_menu_opens_by_keyboard(site, browser, size):
    with visit(browser) as reader:
        reader.page.set_viewport_size(size)
        reader.open((site / f"{PAGES[1]}.html").as_uri())
        reader.page.focus(".primary-toggle")
        reader.page.keyboard.press("Enter")
        reader.page.wait_for_selector("#pst-primary-sidebar-modal[open]")
        assert reader.faults + reader.axe() + reader.look("overflow") == []
        last = reader.page.locator("#pst-primary-sidebar-modal a").last
        last.focus()
        expect(last).to_be_in_viewport(ratio=0.9)
        reader.page.keyboard.press("Escape")
        reader.page.wait_for_selector("#pst-primary-sidebar-modal:not([open])", state="attached")


@pytest.mark.parametrize(("name", "parts"), [("chapters/06-alibi", (".navbar-brand", ".current > a")), ("book/changelog", (".current > a",))])
def test_the_list_of_pages_shows_the_one_being_read(site, browser, name, parts):
    with visit(browser) as reader:
        reader.open((site / f"{name}.html").as_uri())
        for part in parts:
            expect(reader.page.locator(f".bd-sidebar-primary {part}")).to_be_in_viewport(ratio=0.9)
