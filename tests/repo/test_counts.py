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
LATE = [row for row in ROWS if row["year"] >= "2024"]
SINCE = Counter(row["kind"] for row in LATE)
RELEASED = Counter(row["kind"] for row in LATE if row["release"])
DEFAULT = Counter(row["kind by default"] for row in LATE if row["kind by default"])
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


def test_the_counts_say_on_what_they_rest_and_what_defaults_alone_would_give():
    released, default = RELEASED.total(), DEFAULT.total()
    differ = sum(bool(row["default"]) for row in LATE if row["release"])
    essay, chapter, page = map(text, ("book/essay.md", "chapters/08-choosing.ipynb", "book/models.md"))
    claim = yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))["claims"]["most-models-use-rope"]["because"]
    assert f"Of the {SINCE.total()} since 2024, {released} rest on a release, and {RELEASED['turn']} of these turn" in essay
    assert f"If we counted only defaults, {DEFAULT['turn']} of {default} would." in essay
    assert f"{differ} of the {released} releases differ from the default" in chapter
    turned = RELEASED["turn"] + RELEASED["some"]
    assert f"of these {turned} turn in at least some layers and {RELEASED['turn']} in every one." in page
    assert f"it would be {DEFAULT['turn'] + DEFAULT['some']} and {DEFAULT['turn']} of {default}." in page
    assert f"{released} as one of their models was released, of which {RELEASED['turn']} turn in every layer and {RELEASED['some']} in some" in claim


def test_hybrids_without_position_are_counted_both_ways():
    mixed = [row for row in ROWS if row["attend"] and row["family"] != "mllama"]
    without = [row for row in mixed if row["kind"] == "none"]
    turned = sum(row["kind"] == "turn" for row in mixed)
    by_default = sum(row["kind by default"] == "none" for row in mixed)
    words = {5: "five", 2: "two", 6: "six", 7: "seven", 12: "twelve"}
    known = sum(bool(row["release"]) for row in without)
    chapter = text("chapters/12-ruler.ipynb")
    assert f"Of the {len(mixed)} families that mix such layers, {words[len(without)]} have no position in their attention" in chapter
    assert f"For {words[known]} of the {words[len(without)]} we read a release, and for {words[len(without) - known]} the library's default. The other {words[turned]}" in chapter
    assert f"If we had counted by defaults only, we would have found {words[by_default]}." in chapter
    claim = yaml.safe_load((BOOK / "claims.yml").read_text("utf-8"))["claims"]["hybrids-need-no-clock"]["because"]
    assert f"{len(mixed)} of {len(ROWS)} families have layers with a recurrence" in claim
    assert f"RoPE in {words[turned]}; by default alone, {words[by_default]} have none." in claim


def test_windows_have_spread_as_the_essay_and_chapter_8_say():
    (a, n), (b, m) = ((sum(bool(row["window"]) for row in those), len(those)) for those in (
        [row for row in ROWS if row["year"] == year] for year in ("2024", "2026")
    ))
    assert f"from {a} of {n} families to {b} of {m}" in text("book/essay.md")
    assert f"from {a} of the {n} of 2024 to {b} of the {m} of 2026" in text("chapters/08-choosing.ipynb")


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
        releases = list(csv.DictReader(lines))
    number, own = len(releases), sum(bool(re.search(r"(YaRN|Llama 3|linear) by", one["position"])) for one in releases)
    by_user = sum(bool(one["by user"]) for one in releases)
    stretches = f"[{number} releases](../../book/models.md#releases) that this book lists, {own} have a stretch in their file. For {by_user} others, the"
    assert stretches in text("chapters/in-depth/04b-stretching.ipynb")
    assert f"Here are {number} released models." in text("book/models.md")
    assert f"For {sum(bool(row['release']) for row in ROWS)} of them it shows a released model" in text("book/models.md")
    assert f"[{number} releases](../book/models.md#releases)" in text("chapters/08-choosing.ipynb")
    assert f"[{number} released models](models.md#releases)" in text("book/parity.md")
