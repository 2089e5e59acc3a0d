"""The page of the package lists exactly the public names."""

from bs4 import BeautifulSoup

from tests.api.names import PUBLIC


def test_page_lists_exactly_the_public_names(site):
    page = BeautifulSoup((site / "book" / "api.html").read_text("utf-8"), "html.parser")
    entries = page.select("section > dl.py")
    assert [entry.dt["id"] for entry in entries] == [f"d2lpos.{module}.{name}" for module, name in PUBLIC]
    assert [entry.dt["id"] for entry in entries if not entry.select("dd > .highlight-pycon")] == []
