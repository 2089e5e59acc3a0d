"""Whoever asks for a page that is not there gets into the book, wherever that is."""

from contextlib import contextmanager
from itertools import cycle
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.not_found import page
from d2lpos_ext.social import home
from playwright.sync_api import expect

from book.serve import Handler
from tests.site.detectors import visit
from tests.site.pages import NOT_FOUND, Html
from tests.site.serving import Quiet, serve
from tests.site.test_html import REPOSITORY

# Missing addresses, below a host and below a folder of it in turn, and the words that they are asked for by.
MISSING = {
    "nowhere.html": "nowhere",
    "404.html": "",
    "chapters/04-rope-layouts.html": "rope layouts",
    "book/12.html": "",
    "chapters/in-depth/v1/why%20sqrt(d)/": "why sqrt d",
    "a/b'/c)/%E0%A4%A.html": "E0 A4 A",
}
EXPECTED = ("answer 404", "console error: Failed to load resource")  # that something is missing


class Host(Handler, Quiet):
    """It shows the page of missing addresses, as `make serve` does, and is silent."""


class Careless(Quiet):
    """It shows the page of missing addresses as if nothing were missing."""

    def send_error(self, *_):
        self.path = f"/{NOT_FOUND}.html"
        self.do_GET()


@pytest.fixture(scope="module")
def hosts(site, tmp_path_factory):
    """Two addresses of the book: it has a host to itself, or a folder of one."""
    shared = tmp_path_factory.mktemp("shared")
    (shared / "d2lpos").symlink_to(site)
    (shared / f"{NOT_FOUND}.html").symlink_to(site / f"{NOT_FOUND}.html")
    with serve(site, Host) as own, serve(shared, Host) as other:
        yield [f"{own}/", f"{other}/d2lpos/"]


@contextmanager
def reader(browser, width=1280, scheme="light"):
    """A visitor who finds no fault, except that something is missing."""
    with visit(browser, width, scheme) as reader:
        yield reader
        assert [fault for fault in reader.faults if not fault.startswith(EXPECTED)] == []


def links(page) -> list[str]:
    expect(page.locator("#search")).to_be_visible()
    return [link.evaluate("e => e.href") for link in page.get_by_role("link").all()]


def test_it_says_what_happened_and_is_found_by_no_search_engine(site):
    path = site / f"{NOT_FOUND}.html"
    page, soup = Html(path), BeautifulSoup(path.read_text("utf-8"), "html.parser")
    assert page.language == "en" and 50 <= len(page.description) <= 160
    assert soup.title.string.startswith(f"{soup.h1.string} — ")
    assert soup.select_one("meta[name=robots]")["content"] == "noindex"
    assert path.stat().st_size < 10_000


def test_a_host_shows_it_and_says_that_the_page_is_missing(site, hosts):
    for host in hosts:
        with pytest.raises(HTTPError) as error:
            urlopen(f"{host}chapters/nowhere.html")
        assert error.value.code == 404
        assert error.value.read() == (site / f"{NOT_FOUND}.html").read_bytes()


def test_it_leads_into_the_book_from_every_depth(browser, hosts):
    urls = set()
    with reader(browser) as visitor:
        for host, (missing, words) in zip(cycle(hosts), MISSING.items(), strict=False):
            visitor.page.goto(f"{host}{missing}?from=elsewhere#part")
            *pages, search = links(visitor.page)
            assert pages == [f"{host}index.html", f"{host}book/preface.html#the-chapters"], missing
            assert search == f"{host}search.html{words and '?'}{urlencode({'q': words} if words else {})}"
            label = f"Search for “{words}”" if words else "Search the book"
            expect(visitor.page.locator("#search")).to_have_text(label)
            urls |= {*pages, search}
        visitor.page.goto(f"{hosts[1]}chapters/in-depth/sinusoids.html")
        visitor.page.get_by_role("link", name="Search for “sinusoids”").click()
        expect(visitor.page.locator(".search-summary")).to_contain_text("results")
    assert {urlopen(link).status for link in urls} == {200}


def test_a_host_that_answers_everything_does_not_mislead_it(site, browser):
    with serve(site, Careless) as host, reader(browser) as visitor:
        visitor.page.goto(f"{host}/a/b.html")
        assert links(visitor.page)[0] == f"{host}/index.html"


def test_it_works_from_a_folder(site, browser):
    folder = site.resolve().as_uri()
    with reader(browser) as visitor:
        visitor.page.goto(f"{folder}/{NOT_FOUND}.html")
        places = ("index.html", "book/preface.html#the-chapters", "search.html")
        assert links(visitor.page) == [f"{folder}/{place}" for place in places]


def test_without_scripts_it_leads_to_where_the_book_is_known_or_likely_to_be(plain, hosts):
    plain.goto(f"{hosts[0]}chapters/in-depth/nowhere.html")
    expect(plain.get_by_role("heading", name="No page stands here")).to_be_visible()
    expect(plain.get_by_role("link")).to_have_count(2)
    link = plain.get_by_role("link", name="The first page")
    if not home(REPOSITORY):
        expect(plain.locator("noscript")).to_be_visible()
        link.click()
        assert plain.url == f"{hosts[0]}index.html"


def test_without_scripts_a_book_with_an_address_leads_there():
    soup = BeautifulSoup(page("Book & all", "https://ada.github.io/d2lpos/", {"In": "index.html"}), "html.parser")
    assert [link["href"] for link in soup.select("a[href]")] == ["https://ada.github.io/d2lpos/index.html"]
    assert not soup.noscript
    assert soup.title.string.endswith("Book & all")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_for_everybody(browser, hosts, scheme):
    with reader(browser, 390, scheme) as visitor:
        visitor.open(f"{hosts[1]}chapters/{'much-too-long-a-name-' * 4}.html")
        links(visitor.page)
        faults = visitor.look("overflow", "text", "pictures", "overlaps", "focus") + visitor.axe()
        assert all(link.bounding_box()["height"] >= 44 for link in visitor.page.get_by_role("link").all())
        visitor.resize(320)
        faults += visitor.look("overflow", "text")
        visitor.resize(1280)
        faults += visitor.look("overflow", "text", "overlaps", "motion") + visitor.axe()
        assert faults == []
        # The mode that a reader has chosen on another page holds here.
        paper = visitor.page.evaluate("getComputedStyle(document.body).backgroundColor")
        visitor.page.evaluate("scheme => localStorage.setItem('mode', scheme)", "dark" if scheme == "light" else "light")
        visitor.page.reload()
        assert visitor.page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
