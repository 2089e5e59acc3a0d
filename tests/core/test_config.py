"""A reading is data: its schema, its tables, and a sentence at once for what no model has."""

import json
import random
import re
import time
import types
from copy import deepcopy
from pathlib import Path
from typing import NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import d2lpos.config
from d2lpos.config import Refused, read, releases, schema
from d2lpos.config.tables import by_name, rows, table

FOLDER = Path(d2lpos.config.__file__).parent
SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4}
LLAMA = {"model_type": "llama", **SIZES}


def is_like(value: object, hint: object) -> bool:
    """Whether a value is what the schema says."""
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        asked = {name for name, one in hints.items() if get_origin(one) is not NotRequired}
        bare = {name: get_args(one)[0] if get_origin(one) is NotRequired else one for name, one in hints.items()}
        if not isinstance(value, dict):
            return False
        return asked <= value.keys() <= bare.keys() and all(is_like(one, bare[name]) for name, one in value.items())
    if get_origin(hint) in (types.UnionType, Union):
        return any(is_like(value, one) for one in get_args(hint))
    if get_origin(hint) is list:
        return isinstance(value, list) and all(is_like(one, get_args(hint)[0]) for one in value)
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(is_like(one, get_args(hint)[1]) for one in value.values())
    if hint is object:
        return True
    if hint is type(None):
        return value is None
    return type(value) in {float: (int, float), dict: (dict,)}.get(hint, (hint,))


def files() -> dict[str, dict]:
    """The smallest file of each family that is read from it, and all releases."""
    smallest = {family: {"model_type": family} for family in rows()}
    return smallest | {one["name"]: one["config"] for one in releases()}


def test_a_reading_is_what_its_schema_says_json_holds_it_and_the_file_stays_as_it_was():
    count = 0
    for name, file in files().items():
        before = deepcopy(file)
        try:
            reading = read(file)
        except Refused:
            continue
        assert file == before, name
        assert is_like(reading, schema.Reading), name
        assert json.loads(json.dumps(reading, allow_nan=False)) == reading, name
        count += 1
    assert count > 300


def test_the_text_of_a_file_is_read_once_and_found_again():
    text = {"rope_scaling": {"rope_type": "linear", "factor": 2.0}, "sliding_window": 8}
    reading = read({"model_type": "gemma3", "text_config": text})
    assert reading["at"]["file"] == reading["at"]["code"] == ["text_config"] and reading["at"]["rope"] == ["rope_scaling"]
    assert (reading["outer"], reading["family"]) == ("gemma3", "gemma3_text")
    flat = read({"model_type": "qwen2_5_vl", "rope_theta": 300.0})
    assert (flat["at"]["file"], flat["at"]["code"], flat["at"]["keys"]) == ([], ["text_config"], {"rope_theta": 300})


def test_lengths_are_those_of_the_file_and_no_text_is_asked_for():
    lists = {"short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
    rope = {"rope_type": "longrope", "original_max_position_embeddings": 64, **lists}
    reading = read(LLAMA | {"max_position_embeddings": 256, "rope_parameters": rope})
    assert reading["lengths"]["allowed"] == 256 and reading["lengths"]["original"] == 64 and not reading["lengths"]["by_class"]
    assert reading["kinds"][0]["encoding"]["rule"] == {
        "kind": "longrope", "short": [1] * 8, "long": [2] * 8, "length": 64, "factor": 4, "attention_factor": None,
    }  # fmt: skip
    qwen = read({"model_type": "qwen", "seq_length": 2048})
    assert (qwen["lengths"]["until"], qwen["lengths"]["until_key"]) == (2048, "seq_length")


def test_numbers_are_those_of_all_languages():
    assert read(LLAMA | {"head_dim": 16.0}) == read(LLAMA | {"head_dim": 16})
    with pytest.raises(Refused, match=r"max_position_embeddings must be a whole number of at least 1; got 1e\+30"):
        read(LLAMA | {"max_position_embeddings": 10**30})


def rope(**keys: object) -> dict:
    return LLAMA | {"max_position_embeddings": 64, "rope_scaling": keys}


def nested(depth: int) -> list:
    within: list = []
    for _ in range(depth):
        within = [within]
    return within


BAD = [  # a code, and the key that it names, if any
    ("too_large num_hidden_layers", LLAMA | {"num_hidden_layers": 10**7}),
    ("too_large head_dim", LLAMA | {"head_dim": 10**9}),
    ("too_large factor", rope(type="linear", factor=1e25)),
    ("positive rope_theta", LLAMA | {"rope_theta": 10**400}),
    ("base", LLAMA | {"rope_theta": 1.0}),
    ("deep", LLAMA | {"strange": nested(100_000)}),
    ("too_large n_positions", {"model_type": "gpt2", "n_positions": 10**9}),
    ("too_large attention_types", {"model_type": "gpt_neo", "attention_types": [[["global"], 10**9]]}),
    ("section_pairs", {"model_type": "qwen3_vl_text", "rope_scaling": {"mrope_section": [10**9, 1, 1]}}),
    ("share partial_rotary_factor",
     {"model_type": "gemma4_text", "num_hidden_layers": 1, "layer_types": ["full_attention"], "rope_parameters":
     {"full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": None}}}),
    ("whole max_seq_len", {"model_type": "mpt", "max_seq_len": "x"}),
    ("whole context_length", {"model_type": "rwkv", "context_length": {"a": 1}}),
    ("flag mrope_interleaved",
     {"model_type": "qwen3_vl_text", "rope_parameters": {"rope_theta": 1e6, "mrope_interleaved": 10**400}}),
    ("no_rows max_position_embeddings", {"model_type": "xmod", "max_position_embeddings": 1}),
    ("null num_key_value_heads", {"model_type": "llama4", "text_config": {"num_key_value_heads": None}}),
    ("ramp", LLAMA | {"rope_theta": 3, "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}}),
    ("band", rope(type="yarn", factor=2.0, beta_slow=64)),
]  # fmt: skip


@pytest.mark.parametrize(("why", "file"), BAD)
def test_what_no_model_has_gets_a_sentence_at_once(why, file):
    begin = time.process_time()
    with pytest.raises(Refused) as error:
        read(file)
    assert [error.value.code, *filter(None, [error.value.fields.get("key")])] == why.split()
    assert time.process_time() - begin < 1


def test_a_refusal_has_a_code_and_fields_that_json_holds():
    with pytest.raises(Refused) as error:
        read(LLAMA | {"wobble": 3})
    fields = {"family": "llama", "keys": {"wobble": 3}, "names": ["wobble"]}
    assert (error.value.code, error.value.fields) == ("strange_keys", fields)


ODD = (None, 0, 1, -1, 3, 128.0, 2.5, "4", True, False, [], {}, [1, 2], {"a": 1}, 1e4, 10**9, 1e25, "yarn", "full_attention")


def mutant(dice: random.Random, file: dict) -> dict:
    """The file with a key or two, within others, too, that is missing or has another value."""
    file = deepcopy(file)
    for _ in range(dice.randint(1, 2)):
        inner = dice.choice([file, *(one for one in file.values() if isinstance(one, dict))])
        if inner:
            key = dice.choice([*inner])
            inner[key] = dice.choice(ODD)
            if dice.random() < 0.3:
                del inner[key]
    return file


def test_any_other_file_is_read_or_refused():
    dice, answers = random.Random(56), {"read": 0, "refused": 0, "odd": 0}
    for _ in range(1000):
        try:
            assert is_like(read(mutant(dice, dice.choice(releases())["config"])), schema.Reading)
            answers["read"] += 1
        except Refused as refusal:
            answers["odd" if refusal.code == "odd" else "refused"] += 1
    assert min(answers["read"], answers["refused"]) > 250 and answers["odd"] <= 4


def test_every_code_of_a_refusal_has_words_and_every_word_a_code():
    code = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))
    build = (FOLDER.parent / "pretrained" / "build.py").read_text("utf-8")
    used = set(re.findall(r'Refused\(\s*"(\w+)"', code + build))
    assert used <= table("refusals").keys()
    rest = {name for name in table("refusals") if f'"{name}"' not in code + build}
    assert {name for name in rest if f'"{name.removeprefix("settings_")}"' not in code} == set()


def test_a_family_has_one_row_or_one_reason():
    tables = [name for part in ("rows", "refused") for names in table("families")[part] for name in names.split()]
    assert len(tables) == len(set(tables)) and not rows().keys() & by_name("refused").keys()
