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
    assert citation["license"] == [project["license"], "CC-BY-4.0"]
    assert citation["repository-code"] == project["urls"]["Repository"]
    assert all(citation[key] for key in ("title", "message", "abstract", "authors"))
