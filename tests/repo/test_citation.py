"""CITATION.cff can be read by a machine, and agrees with pyproject.toml."""

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_citation_agrees_with_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == project["version"]
    edition = {"3": "Third edition"}[project["version"].partition(".")[0]]
    assert citation["title"].endswith(f", {edition.lower()}")
    texts = [(ROOT / "book" / name).read_text("utf-8") for name in ("_templates/book-footer.html", "paper.html", "changelog.md")]
    assert all(edition.lower() in text.lower() for text in texts)
    assert citation["license"] == [project["license"], "CC-BY-4.0"]
    assert citation["repository-code"] == project["urls"]["Repository"]
    assert all(citation[key] for key in ("title", "message", "abstract", "authors"))
