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
WORDS = {word: number for number, word in enumerate(["six", "seven", "eight", "nine", "ten"], 6)}


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
    found = {int(number) for number in LARGE.findall(text(name)) if int(number) > 20}
    assert len(ROWS) in found and found <= {len(ROWS), sum(SINCE.values())}


def test_most_modern_models_use_rope():
    turned = SINCE["turn"] + SINCE["some"]
    said = f"{turned} of {sum(SINCE.values())} families turn queries and keys in at least some layers, and {SINCE['turn']} in every"
    assert said in text("book/models.md")
    assert WORDS["ten"] == SINCE["some"]
    chapter = f"Of {sum(SINCE.values())} families of language models since 2024, {turned} use RoPE, ten of them only in some layers."
    assert chapter in text("chapters/08-choosing.ipynb")
    claims = yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))["claims"]
    claim = claims["most-models-use-rope"]["because"]
    families = f"Of {sum(SINCE.values())} families of 2024 to 2026 in transformers {HAND['version']}"
    assert f"{families}, {SINCE['turn']} turn" in claim


def test_the_scorecard_counts_them():
    card = yaml.safe_load((BOOK / "scorecard.yml").read_text("utf-8"))
    said = {name: column[f"Of {len(ROWS)} families"] for name, column in card.items()}
    by = {
        kind: [row["family"] for row in ROWS if row["encoding"] == kind]
        for kind in ("ALiBi", "buckets", "sinusoids")
    }
    assert said["RoPE"] == f"{ALL['turn']}, and ten in some layers" and ALL["some"] == 10
    assert (said["ALiBi"], by["ALiBi"]) == ("BLOOM, MPT", ["bloom", "mpt"])
    assert said["No encoding, causal mask"] == "six, and ten in some layers" and ALL["none"] == 6
    assert (said["Sinusoidal"], by["sinusoids"]) == ("CTRL, XGLM", ["ctrl", "xglm"])
    assert said["Learned table"] == "seven, such as GPT-2" and ALL["table"] == 7
    assert (said["Relative: Shaw, T5"], by["buckets"]) == ("one with buckets, CPM-Ant", ["cpmant"])


def test_the_page_names_when_and_what_was_read_and_what_was_left_out():
    page = text("book/models.md")
    assert f"In {HAND['read']} we read transformers {HAND['version']}." in page
    known = {"xlstm": "xLSTM", "rwkv": "RWKV", "git": "GIT", "trocr": "TrOCR"}
    names = re.search(r"Left out are .+", page)[0].lower().replace(" ", "").replace("-", "")
    aside = [family for kind in HAND["aside"].values() for family in kind if "assistant" not in family]
    assert [f for f in aside if known.get(f, f).lower().replace("_", "") not in names] == []
    for count, kind in ("five", "recurrence"), ("four", "borrowed"), ("five", "others"):
        assert f"{count} " in page and len(HAND["aside"][kind]) == {"five": 5, "four": 4}[count]


def test_as_many_releases_are_named():
    with (BOOK / "models" / "releases.csv").open(encoding="utf-8", newline="") as lines:
        number = len(list(csv.DictReader(lines)))
    assert f"Here are {number} released models." in text("book/models.md")
    assert f"{sum(bool(row['release']) for row in ROWS)} of them are shown as one of their models was released" in text("book/models.md")
    assert f"[{number} releases](../book/models.md#releases)" in text("chapters/08-choosing.ipynb")
    assert f"[{number} released models](models.md#releases)" in text("book/parity.md")
