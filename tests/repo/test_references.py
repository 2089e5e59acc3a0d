"""Every reference is complete and cited, and every paper that is cited is a reference."""

import re
from pathlib import Path

from pybtex.database import parse_file

ROOT = Path(__file__).parents[2]
ENTRIES = parse_file(ROOT / "book" / "references.bib").entries
PLACES = ["chapters/**/[0-9p]*.ipynb", "book/*.ipynb", "book/*.md", "d2lpos/**/*.py"]
TEXT = "\n".join(path.read_text("utf-8") for place in PLACES for path in ROOT.glob(place)).lower()


def names(key: str) -> list[str]:
    """The arXiv number and the DOI of an entry, as far as it has them."""
    return [name.lower() for field in ("eprint", "doi") if (name := ENTRIES[key].fields.get(field))]


def test_every_reference_is_cited():
    assert [key for key in ENTRIES if not any(name in TEXT for name in names(key))] == []


def test_every_paper_on_arxiv_has_a_reference():
    cited = set(re.findall(r"\barxiv(?:\.org/\w+/| )(\d{4}\.\d{4,5})", TEXT))
    assert sorted(cited.difference(*map(names, ENTRIES))) == []


def test_every_reference_is_complete():
    for key, entry in ENTRIES.items():
        place = {"inproceedings": "booktitle", "article": "journal"}.get(entry.type, "eprint")
        assert {"title", "year", place} <= set(entry.fields) and names(key) and entry.persons["author"], key
