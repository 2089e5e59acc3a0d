"""The released models of `book/models/releases.yml`, and which of them stands for its family in the table.

    python -m tests.parity.releases    # write d2lpos/config/tables/releases.json
"""

import json
from functools import cache
from pathlib import Path

import yaml

from d2lpos.config import read

ROOT = Path(__file__).parents[2]
FILE = ROOT / "book" / "models" / "releases.yml"
FOR_THE_PACKAGE = ROOT / "d2lpos" / "config" / "tables" / "releases.json"
ABOUT = ("row", "read", "remembered")  # what neither the page nor the package needs to know of a release
TOKENS = 1024  # of the text that those are read for whose positions depend on it


@cache
def releases() -> list[dict]:
    """What the file holds, in its order; each with the family that its configuration is read as."""
    entries = yaml.safe_load(FILE.read_text("utf-8"))
    return [{**one, "family": read(one["config"])["family"]} for one in entries]


@cache
def of_families() -> dict[str, dict]:
    """The release that stands for a family: the one marked `row`, or the first."""
    by_family = {}
    for one in sorted(releases(), key=lambda one: not one.get("row")):
        by_family.setdefault(one["family"], one)
    return by_family


def written() -> str:
    """The releases as JSON, one a line."""
    every = yaml.safe_load(FILE.read_text("utf-8"))
    configs = [{key: value for key, value in one.items() if key not in ABOUT} for one in every]
    lines = [json.dumps(one, ensure_ascii=False, allow_nan=False) for one in configs]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    FOR_THE_PACKAGE.write_text(written(), "utf-8")
    print(f"{FOR_THE_PACKAGE}: {FOR_THE_PACKAGE.stat().st_size:,} bytes")
