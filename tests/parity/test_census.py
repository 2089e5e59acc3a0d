"""`book/models/models.csv` is what the code of transformers says, and what stands there by hand is so, too."""

import csv
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import transformers
import yaml

from d2lpos.pretrained.census import families
from tests.parity import census

HAND = yaml.safe_load((census.FOLDER / "by-hand.yml").read_text("utf-8"))
CALL = r"(?<!def )apply_(?:\w*_)?rotary\w*\("

pytestmark = pytest.mark.skipif(
    transformers.__version__ != HAND["version"], reason=f"the families were read in version {HAND['version']}"
)


@pytest.fixture(scope="module")
def rows():
    return families()


def test_the_file_is_what_the_command_writes(rows):
    assert census.rows() == rows


def test_families_that_turn_call_what_turns_and_others_do_not(rows):
    for row in rows:
        code = (census.CODE / row["family"] / f"modeling_{row['family']}.py").read_text("utf-8")
        turns = re.search(CALL, code.replace("apply_rotary_pos_emb_vision", ""))
        if row["encoding"].startswith("RoPE"):
            assert turns, row
        elif row["encoding"] != "none":  # where the turn is an option
            assert not turns, row


def test_what_is_set_aside_is_there_and_has_a_reason():
    aside = {family: kind for kind, those in HAND["aside"].items() for family in those}
    assert set(aside) <= set(census.every())
    for family, kind in aside.items():
        reading, _ = census.read(family) if kind == "recurrence" else (None, None)
        assert kind != "recurrence" or not any(layer.attends for layer in reading.layers), family


def test_numbers_by_hand_are_those_of_the_configurations():
    for family, kinds in (("inkling", "hybrid_sliding"), ("inkling2", "hybrid_sliding")):
        config = census.configuration(family)
        near = config.layer_types.count(kinds)
        text = f"{config.sliding_window_size} in {near} of {len(config.layer_types)}"
        assert HAND["refused"][family]["window"] == text
    assert census.configuration("inkling").log_scaling_n_floor is None
    later = census.configuration("inkling2")
    grows = f"1 + {later.log_scaling_alpha} ln(max(1, (p + 1)/{later.log_scaling_n_floor}))"
    assert HAND["refused"]["inkling2"]["temperature"] == grows
    dots = census.configuration("dots3_note")
    values = dots.to_dict()
    widths = {one["qk_nope_head_dim"] + dots.qk_rope_head_dim for one in values["per_layer_config"].values()}
    wide = values["qk_nope_head_dim"] + dots.qk_rope_head_dim
    text = f"64 of {widths.pop()} in windows, 64 of {wide} elsewhere"
    assert HAND["refused"]["dots3_note"]["turns"] == text
    assert not widths and dots.qk_rope_head_dim == 64
    assert census.configuration("blt").rope_parameters["rope_theta"] == HAND["refused"]["blt"]["base"]


@pytest.mark.parametrize(
    ("family", "cells"),
    [
        ("deepseek_v4", {"base": "10000 in windows alone, 160000 with compressed keys"}),
        ("deepseek_v4", {"scaling": "YaRN by 16 without its factor, only with compressed keys"}),
        ("deepseek_v3", {"scaling": "YaRN by 40"}),  # which multiplies all of a score
        ("olmo3", {"scaling": "YaRN by 8, not in windows"}),
        ("gemma4", {"turns": "256 of 256 in windows, 128 of 512 (i with i + 256, exponents over 512) elsewhere"}),
        ("gpt_neox", {"turns": "24 of 96"}),
        ("zamba2", {"encoding": "RoPE", "attend": "13 of 81"}),
    ],
)
def test_a_row_says_where_a_rule_holds_and_which_features_are_pairs(rows, family, cells):
    [row] = [row for row in rows if row["family"] == family]
    assert {key: row[key] for key in cells} == cells


MADE = [*csv.DictReader((census.FOLDER / "made.csv").read_text("utf-8").splitlines())]


@pytest.mark.parametrize("row", MADE, ids=lambda row: row["model"])
def test_the_line_of_a_model_of_another_field_says_what_stands_there(row):
    library = find_spec(row["library"])
    if library is None:
        pytest.skip(f"{row['library']} is not installed")
    lines = (Path(library.origin).parent / row["file"]).read_text("utf-8").splitlines()
    assert row["says"] in lines[int(row["line"]) - 1]
