"""Released models are read, as many as the book says, and as their classes read them."""

import re

import pytest
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.config import read
from d2lpos.config.angles import turns
from d2lpos.config.names import sized
from d2lpos.config.outer import plain, text_of
from d2lpos.config.rope import kind_of
from d2lpos.config.sizes import Sizes
from d2lpos.config.tables import table
from d2lpos.pretrained import encoding_of
from tests.parity import census, defaults
from tests.parity.readings import facts
from tests.parity.releases import FOR_THE_PACKAGE, TOKENS, releases, written

NAMES = [one["name"] for one in releases()]
FIELDS = ("name", "year", "source", "read", "remembered", "row", "trained", "report", "context", "stretch", "unlike", "sizes", "config")
KEPT = {"num_key_value_heads", "num_kv_heads", "multi_query", "multi_query_attention"}  # which heads keep keys


def test_the_packages_list_is_what_the_command_writes():
    assert FOR_THE_PACKAGE.read_text("utf-8") == written()


def test_a_stretch_belongs_to_a_model_where_a_release_or_its_class_has_it():
    released = {(rule, family) for rule, families in table("words")["released_with"].items() for family in families.split()}
    classes = ({"model_type": family} for family in ("apertus", "cwm", "gpt_oss", "ministral3", "mistral4"))
    readings = map(read, [*(one["config"] for one in releases()), *classes])
    rules = {(kind_of(rule), one["family"]) for one in readings for rule in filter(None, one["at"]["rules"].values())}
    assert {(rule, family) for rule, family in rules if rule in table("words")["released_with"]} == released


@pytest.mark.parametrize("release", releases(), ids=NAMES)
def test_a_release_names_the_heads_that_keep_its_keys(release):
    """Else its class's number would be taken, and the memory of another model be told."""
    text = text_of(plain(release["config"]), ())
    family, own = text.family, text.values
    if family not in CONFIG_MAPPING or KEPT & set(own):
        return
    whole = defaults.made(family, **own)
    assert not KEPT & set(whole) or whole["num_key_value_heads"] in (None, whole["num_attention_heads"])


def test_the_page_says_rope_of_those_releases_that_turn_and_add_no_table():
    readings = {one["name"]: read(one["config"]) for one in releases()}
    turning = {name for name, one in readings.items() if not one["input"] and any(map(turns, one["kinds"]))}
    assert {row["name"] for row in census.released() if row["position"].startswith("RoPE")} == turning


@pytest.mark.parametrize("release", releases(), ids=NAMES)
def test_somebody_opened_what_a_release_is_read_from_or_it_says_so(release):
    opened = release["read"] if isinstance(release["read"], list) else [release["read"]]
    assert opened and all(re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/blob/[\w.]+/\S+", url) for url in opened)
    assert set(release.get("remembered", ())) < set(release["config"])


@pytest.mark.parametrize("release", releases(), ids=NAMES)
def test_a_release(release):
    assert set(release) <= {*FIELDS, "family"}
    assert re.fullmatch(r"https://huggingface\.co/[\w.-]+/[\w.-]+/blob/main/config\.json", release["source"])
    assert 2018 <= release["year"] <= 2026
    stages = release.get("trained", [])
    assert stages == sorted(stages) and all(type(length) is int for length in stages)
    if stretch := release.get("stretch"):
        assert stretch["rule"] in ("yarn",) and stretch["from"] < stretch["to"]
        assert stretch["from"] == (stages[-1] if stages else read(release["config"])["lengths"]["allowed"])
        assert stretch["source"].startswith("https://")
    if context := release.get("context"):
        assert context["to"] > max(stages, default=0) and context["source"].startswith("https://")
    assert set(release.get("unlike", ())) <= set(table("names")["trained"])
    if sizes := release.get("sizes"):
        assert not set(sizes) & set(release["config"].get("text_config", release["config"]))
        assert Sizes(sized(release["config"], release, release["name"]), read(release["config"])).parameters() > 10**8
    reading = encoding_of(release["config"], tokens=TOKENS)
    assert reading.layers and str(reading)
    family = release["config"]["model_type"]
    if family in CONFIG_MAPPING:
        whole = defaults.made(family, **release["config"])
        assert facts(encoding_of(whole, tokens=TOKENS)) == facts(reading)
