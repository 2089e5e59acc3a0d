"""What a link to the book shows elsewhere: a title, a description and, once the book has an address, a picture."""

import re
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.social import PLACEHOLDER, describe, home
from PIL import Image

from book.cards import SIZE, STATIC, titles
from tests.site.pages import FRONT, PAGES, ROOT, pages
from tests.site.test_html import REPOSITORY

CARDS = STATIC / "cards"


def meta(html: str) -> dict[str, str]:
    tags = BeautifulSoup(html.partition("</head>")[0], "html.parser").select("meta[content]")
    return {tag.get("property") or tag.get("name"): tag["content"] for tag in tags}


def test_every_page_names_and_describes_itself_to_others(site):
    for name in PAGES:
        page = meta((site / f"{name}.html").read_text("utf-8"))
        assert page["og:title"] and page["og:type"] and page["og:site_name"], name
        assert page["og:description"] == page["description"], name
        assert ("og:url" in page) == ("og:image" in page) == (f"/{PLACEHOLDER}/" not in REPOSITORY), name


def test_the_first_page_is_the_root(site):
    page = (site / "index.html").read_text("utf-8")
    assert not (site / f"{FRONT}.html").exists()
    assert meta(page)["og:type"] == "website"
    assert BeautifulSoup(page, "html.parser").title.string == meta(page)["og:title"] == "Where words stand"


def test_no_reader_sees_the_placeholder_of_an_address(site):
    for path in pages(site):
        page = path.read_text("utf-8")
        assert PLACEHOLDER not in re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", "", page, flags=re.DOTALL), path


def test_a_book_with_an_address_shows_pictures():
    address = home("https://github.com/Ada/d2lpos")
    config = SimpleNamespace(html_title="Book", html_baseurl=address, root_doc=FRONT)
    context = {
        "title": "<em>RoPE</em> &amp; more",
        "metatags": '<meta content="About &quot;it&quot;." name="description" />',
        "pageurl": f"{address}chapters/04-rope.html",
    }
    describe(SimpleNamespace(confdir=ROOT, config=config), "chapters/04-rope", "page.html", context, None)
    assert meta(context["metatags"]) == {
        "description": 'About "it".',
        "og:type": "article",
        "og:site_name": "Book",
        "og:title": "RoPE & more",
        "og:description": 'About "it".',
        "og:url": "https://ada.github.io/d2lpos/chapters/04-rope.html",
        "og:image": "https://ada.github.io/d2lpos/_static/cards/04-rope.png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": "Book: RoPE & more",
        "twitter:card": "summary_large_image",
    }


@pytest.mark.parametrize(("name", "title"), titles().items())
def test_card_is_there_and_shows_the_title(name, title):
    path = CARDS / f"{name}.png"
    assert path.exists(), f"{name} has no card: run `make cards` and commit book/_static/cards"
    with Image.open(path) as shown:
        assert shown.size == SIZE
        assert shown.text["Title"] == title, f"the card of {name} has an old title: run `make cards`"
    assert path.stat().st_size < 60_000


def test_every_card_has_its_page():
    assert {path.stem for path in CARDS.glob("*.png")} == set(titles())
