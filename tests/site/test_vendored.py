"""What other projects wrote: files that SHA256SUMS names, unchanged, and a license beside what the site brings."""

from hashlib import sha256
from importlib.metadata import distribution

import pytest
from d2lpos_ext.third_party import parts

from tests.site.pages import ROOT

BOOK = ROOT / "book"


def differences(folder) -> list[str]:
    lines = (folder / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {path: known for known, path in (line.split("  ") for line in lines if not line.startswith("#"))}
    there = {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for name in ("_static/fonts", "_vendor")
        for path in (folder / name).rglob("*")
        if path.is_file()
    }
    return sorted(path for path in sums.keys() | there.keys() if sums.get(path) != there.get(path))


def test_vendored_files_are_unchanged():
    assert differences(BOOK) == []


PARTS = list(parts(BOOK))
WORDS = {"MIT": "Permission is hereby granted", "BSD": "Redistribution", "OFL": "SIL O"}
# What the build writes, from the parts and from the book.
WRITTEN = (
    "all.", "basic.", "copybutton.", "documentation_options.", "figure-", "language_data.", "mystnb.", "pygments.",
    "search-", "stix-two-math", "your-model",
)  # fmt: skip
KINDS = (".css", ".js", ".svg", ".woff2")


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part["name"])
def test_a_license_is_that_of_its_part(part):
    assert WORDS[part["license"][:3]] in part["words"]
    assert part.get("from") is None or part["version"] in part["words"] or part["package"] == f"pypi/{part['from']}"


def test_each_vendored_file_has_a_part():
    texts = {part["text"] for part in PARTS}
    assert {path.relative_to(BOOK).as_posix() for name in ("_static", "_vendor") for path in (BOOK / name).rglob("LICENSE*")} <= texts


def test_the_site_has_no_script_or_style_of_a_project_without_its_license(site):
    known = {file.name for name in {part["from"] for part in PARTS if "from" in part} for file in distribution(name).files}
    ours = {file.name for file in BOOK.rglob("*") if file.suffix in KINDS}
    brought = {file.name for file in (site / "_static").rglob("*") if file.suffix in KINDS}
    assert [name for name in sorted(brought - known - ours) if not name.startswith(WRITTEN)] == []


def test_each_license_is_in_the_site(site):
    page = (site / "book" / "third-party.html").read_text("utf-8")
    for part in PARTS:
        assert f'href="../_static/licenses/{part["file"]}"' in page
        assert (site / "_static" / "licenses" / part["file"]).read_text("utf-8") == part["words"]
