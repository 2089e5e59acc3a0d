"""The released models of `book/models/releases.yml`, and which of them stands for its family in the table."""

from functools import cache
from pathlib import Path

import yaml

from d2lpos.pretrained import encoding_of

FILE = Path(__file__).parents[2] / "book" / "models" / "releases.yml"
TOKENS = 1024  # of the text that those are read for whose positions depend on it


@cache
def releases() -> list[dict]:
    """What the file holds, in its order; each with the family that its configuration is read as."""
    found = yaml.safe_load(FILE.read_text("utf-8"))
    return [{**one, "family": encoding_of(one["config"], tokens=TOKENS).family} for one in found]


@cache
def of_families() -> dict[str, dict]:
    """The release that stands for a family: the one marked `row`, or the first."""
    found = {}
    for one in sorted(releases(), key=lambda one: not one.get("row")):
        found.setdefault(one["family"], one)
    return found
