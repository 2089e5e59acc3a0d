"""The pages of the package list exactly the public names."""

from bs4 import BeautifulSoup

from tests.api.names import PAGES, PUBLIC


def test_pages_list_exactly_the_public_names(site):
    entries = [
        entry
        for page in PAGES
        for entry in BeautifulSoup((site / "book" / f"{page}.html").read_text("utf-8"), "html.parser").select(
            "section > dl.py"
        )
    ]
    assert [entry.dt["id"] for entry in entries] == [f"d2lpos.{module}.{name}" for module, name in PUBLIC]
    assert [entry.dt["id"] for entry in entries if not entry.select("dd > .highlight-pycon")] == []
