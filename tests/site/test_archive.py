"""The zip of the site: every page, the same bytes each time, and a checksum."""

import re
import shutil
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from book.archive import pack
from book.downloads import PDF, SHA256, ZIP, fill, offer
from tests.site.pages import PAGES, Html, broken

FRONT = f"{PAGES[0]}.html"


@pytest.fixture(scope="module")
def packed(site, tmp_path_factory) -> Path:
    """A copy of the site with a PDF and the zip."""
    copy = tmp_path_factory.mktemp("archive") / "html"
    shutil.copytree(site, copy)
    (copy / PDF).write_bytes(b"%PDF")
    pack(copy)
    offer(copy)
    return copy


def test_it_holds_the_site_and_works_alone(site, packed, tmp_path):
    with ZipFile(packed / ZIP) as archive:
        archive.extractall(tmp_path)
    [folder] = tmp_path.iterdir()
    assert broken(folder) == []
    files = {path.relative_to(site) for path in site.rglob("*") if path.is_file()}
    assert files == {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    assert all((site / name).read_bytes() == (folder / name).read_bytes() for name in files)


def test_the_same_pages_give_the_same_bytes(packed):
    first = (packed / ZIP).read_bytes()
    for path in packed.rglob("*"):
        path.touch()
    pack(packed)
    assert (packed / ZIP).read_bytes() == first


def test_the_checksum_is_right(packed):
    digest = sha256((packed / ZIP).read_bytes()).hexdigest()
    assert (packed / SHA256).read_text("utf-8") == f"{digest}  {ZIP}\n"


def test_front_page_offers_what_is_there(site, packed):
    assert broken(packed) == []
    assert {PDF, ZIP, SHA256} <= set(Html(packed / FRONT).links)
    assert not re.search("To take along", (site / FRONT).read_text("utf-8"))


def test_a_page_without_a_place_for_them_is_refused():
    with pytest.raises(ValueError, match="one line of downloads, not 0"):
        fill("<p>", "words")
