"""Whoever follows an address of the first edition arrives."""

import pytest
import yaml
from d2lpos_ext.moved import anchors, homes

from tests.site.detectors import visit
from tests.site.pages import PAGES, ROOT

ADDRESSES = yaml.safe_load((ROOT / "book" / "addresses.yml").read_text("utf-8"))


def test_each_old_address_has_a_home(site):
    assert [page for page in ADDRESSES["first"] if page not in PAGES] == []
    addresses = list(homes(site, ADDRESSES))
    assert [f"{page}#{anchor}" for page, anchor, home in addresses if not home] == []
    for _, _, home in addresses:
        page, _, part = home.partition("#")
        assert not part or part in anchors(site / f"{page}.html"), home
    gone = {f"{page}#{anchor}" for page, anchor, _ in addresses}
    assert [address for address in ADDRESSES["moved"] if address not in gone] == []


@pytest.mark.parametrize(("page", "anchor"), [("chapters/03-learned", "what-people-say")])
def test_an_old_address_leads_on(site, browser, page, anchor):
    with visit(browser, 1280) as reader:
        reader.page.goto((site / f"{page}.html").as_uri() + f"#{anchor}")
        reader.page.wait_for_url("**/book/ledger.html")
        reader.page.go_back()
        assert not reader.faults
