"""What the book says of the families of language models is what its table has."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from d2lpos.pretrained.census import families

BOOK = Path(__file__).parents[2] / "book"
ROWS = families()
HAND = yaml.safe_load((BOOK / "models" / "by-hand.yml").read_text("utf-8"))
ALL = Counter(row["kind"] for row in ROWS)
SINCE = Counter(row["kind"] for row in ROWS if row["year"] >= "2024")
LARGE = re.compile(r"(\d+) (?:other )?families")


def text(name: str) -> str:
    whole = (BOOK.parent / name).read_text("utf-8")
    if not name.endswith(".ipynb"):
        return whole
    return "\n".join("".join(cell["source"]) for cell in json.loads(whole)["cells"])


@pytest.mark.parametrize(
    "name",
    ["README.md", "book/models.md", "book/preface.md", "book/changelog.md", "chapters/08-choosing.ipynb"],
)
def test_as_many_families_are_named(name):
    numbers = {int(number) for number in LARGE.findall(text(name)) if int(number) > 20}
    assert len(ROWS) in numbers and numbers <= {len(ROWS), sum(SINCE.values())}


def test_most_modern_models_use_rope():
    turned = SINCE["turn"] + SINCE["some"]
    sentence = f"{turned} of {sum(SINCE.values())} families turn queries and keys in at least some layers, and {SINCE['turn']} in every"
    assert sentence in text("book/models.md")
    chapter = f"Of {sum(SINCE.values())} families of language models since 2024, {turned} use RoPE, {SINCE['some']} of them only in some layers."
    assert chapter in text("chapters/08-choosing.ipynb")
    claims = yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))["claims"]
    claim = claims["most-models-use-rope"]["because"]
    families = f"Of {sum(SINCE.values())} families of 2024 to 2026 in transformers {HAND['version']}"
    assert f"{families}, {SINCE['turn']} turn" in claim


def test_the_scorecard_counts_them():
    card = yaml.safe_load((BOOK / "scorecard.yml").read_text("utf-8"))
    cell = {name: column["Families of models"] for name, column in card.items()}
    by = {
        kind: [row["family"] for row in ROWS if row["encoding"] == kind]
        for kind in ("ALiBi", "buckets", "sinusoids")
    }
    assert cell["RoPE"] == f"{ALL['turn']}, and {ALL['some']} in some layers"
    assert (cell["ALiBi"], by["ALiBi"]) == ("BLOOM, MPT", ["bloom", "mpt"])
    assert cell["No encoding, causal mask"] == f"seven, and {ALL['some']} in some layers" and ALL["none"] == 7
    assert (cell["Sinusoidal"], by["sinusoids"]) == ("four, such as CTRL", ["ctrl", "xglm", "kosmos2", "kosmos2_5"])
    assert cell["Learned table"] == "seven, such as GPT-2" and ALL["table"] == 7
    assert (cell["Relative: Shaw, T5"], by["buckets"]) == ("one with buckets, CPM-Ant", ["cpmant"])


def test_as_many_releases_are_named():
    with (BOOK / "models" / "releases.csv").open(encoding="utf-8", newline="") as lines:
        number = len(list(csv.DictReader(lines)))
    assert f"Here are {number} released models." in text("book/models.md")
    assert f"{sum(bool(row['release']) for row in ROWS)} of them are shown as one of their models was released" in text("book/models.md")
    assert f"[{number} releases](../book/models.md#releases)" in text("chapters/08-choosing.ipynb")
    assert f"[{number} released models](models.md#releases)" in text("book/parity.md")
