"""The reader of the page beside the package's: the same layers, numbers, lengths, memory, settings and sentences."""

import json
import math
import random
import re

import pytest

from d2lpos.config import parse
from d2lpos.config.names import is_called, look_up
from d2lpos.config.tables import by_name, rows, table
from d2lpos.pretrained.as_numbers import as_numbers
from d2lpos.pretrained.build import encoding_of
from d2lpos.pretrained.sentence import sentence
from d2lpos.pretrained.serving import (
    PROGRAMS,
    RULES,
    UNSET,
    cache_bytes,
    longest,
    new_angles,
    rope_of,
    settings,
)
from tests.core.test_names import ASKED, READ_AS
from tests.node import ROOT, node
from tests.parity import defaults, tiny
from tests.parity.families import fitted
from tests.parity.releases import releases
from tests.parity.test_keys import READ, TURN
from tests.parity.variants import dropped, scaled, without_one

TOKENS = 100


pytestmark = pytest.mark.usefixtures("quiet")


def angles(values, trained, tokens, before=False):
    """New angles of each kind of layer; None where nothing turns."""
    found = as_numbers(values, tokens)
    layers = encoding_of(values, tokens).layers
    kinds = [layers[found["layers"].index(i)] for i in range(len(found["kinds"]))]
    return [new_angles(one, trained, tokens, before) if rope_of(one) else None for one in kinds]


def looked_up(_, text):
    release, near = look_up(text)
    return [release and [release["name"], is_called(release, text)], [one["name"] for one in near]]


def told(values, tokens, trained=None, name=None):
    return sentence(as_numbers(values, tokens), trained, name)


ASK = {"read": as_numbers, "sentence": told, "settings": settings, "cacheBytes": cache_bytes, "newAngles": angles}
ASK["lookUp"] = looked_up


def answer(text, name, *said):
    """What Python says. Of a refusal only that it is one: the page's script has sentences of its own."""
    try:
        return ASK[name](parse(text), *said)
    except Exception:  # noqa: BLE001, because a file may make it fail in many ways
        return {"refused": None}


def same(ours, theirs):
    """Numbers to 1e-6, and all else as it is."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if type(ours) in (int, float) and type(theirs) in (int, float):
        return math.isclose(ours, theirs, rel_tol=1e-6)
    return type(ours) is type(theirs) and ours == theirs


def difference(ours, theirs, where=""):
    """The first place where they differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*ours, *theirs]:
            if key not in ours or key not in theirs:
                return f"{where}.{key} is only {'ours' if key in ours else 'theirs'}: {ours} | {theirs}"[:600]
            if not same(ours[key], theirs[key]):
                return difference(ours[key], theirs[key], f"{where}.{key}")
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        for i, pair in enumerate(zip(ours, theirs, strict=True)):
            if not same(*pair):
                return difference(*pair, f"{where}[{i}]")
    return f"{where}: {ours!r} | {theirs!r}"[:600]


def differences(files, questions):
    """Of files by name, each asked the same, those whose answers differ; and how many were answered."""
    texts = {name: json.dumps(said) if not isinstance(said, str) else said for name, said in files.items()}
    got = json.loads(node(ROOT / "tests/parity/reader.js", told=json.dumps([[text, questions] for text in texts.values()])))
    found, answered = [], 0
    for (name, text), theirs in zip(texts.items(), got, strict=True):
        for question, other in zip(questions, theirs, strict=True):
            ours = answer(text, *question)
            if isinstance(ours, dict) and "refused" in ours:
                sentence = ours["refused"]
                if not isinstance(other, dict) or "refused" not in other or sentence not in (None, other["refused"]):
                    found.append(f"{name}, {question}: {sentence} | {str(other)[:300]}")
            elif not same(ours, other):
                found.append(f"{name}, {question}: {difference(ours, other)}")
            else:
                answered += 1
    return found, answered


def test_no_family_is_named_in_the_reader():
    files = [ROOT / "book/_static" / f"{name}.js" for name in ("reader", "reader-values", "reader-encodings")]
    code = "".join(file.read_text("utf-8") for file in files)
    families = {*rows(), *by_name("refused"), *table("defaults")} - {"clip"}  # which is a word of DeBERTa's terms, too
    assert set(re.findall(r"[\w.-]+", code)) & families == set()


@pytest.mark.parametrize("family", sorted(rows()))
def test_a_file_that_says_nothing_and_the_one_of_its_class(family):
    files = {"nothing": {"model_type": family}}
    if family in READ:
        files["whole"] = defaults.made(family)
    questions = [["read", 8192], ["read"], ["cacheBytes", 5000, 1], ["newAngles", 2048, 8192], ["sentence", 8192]]
    questions += [["settings", 100_000, program] for program in PROGRAMS]
    questions += [["settings", 100_000, "sglang", 512, rule] for rule in (*RULES, *UNSET, "spiral")]
    questions += [["settings", tokens, "llama.cpp", 512, rule] for tokens in (100_000, 1024) for rule in RULES]
    questions += [["settings", 100_000, "vllm", 512, "yarn"]]
    assert differences(files, questions)[0] == []


@pytest.mark.parametrize("family", READ)
def test_a_key_that_is_dropped_null_or_doubled(family):
    found, answered = differences(dropped(family), [["read", TOKENS]])
    assert found == [] and answered


@pytest.mark.parametrize("family", TURN)
def test_scaling_in_either_spelling(family):
    assert differences(scaled(family), [["read", TOKENS], ["settings", 4096, "transformers"]])[0] == []


@pytest.mark.parametrize("release", releases(), ids=[one["name"] for one in releases()])
def test_a_release(release):
    config = release["config"]
    length, trained = longest(config) or 4096, (release.get("trained") or [2048])[-1]
    questions = [["read", length], ["read"], ["newAngles", trained, 4 * trained], ["newAngles", trained, length, True]]
    questions += [["sentence", length, trained, release["name"]]]
    questions += [["settings", tokens, program, trained] for program in PROGRAMS for tokens in (length, 3 * length + 1)]
    questions += [["settings", 4 * length - 1, program, trained, rule] for program in PROGRAMS for rule in RULES]
    found, answered = differences({release["name"]: config}, questions)
    assert found == []
    assert answered


def test_a_rule_that_lacks_a_key():
    found, answered = differences(without_one(), [["read", TOKENS], ["sentence", TOKENS]])
    assert found == [] and answered


def test_a_name_means_the_same_release_in_both_languages():
    names = [*READ_AS, *ASKED, *(release["source"] for release in releases()), *(release["name"] for release in releases())]
    names += ["", "/", "...", "東京", "İstanbul 8B", "base", "-it", "a/b/c", "./gpt2", "Qwen/Qwen3-8B/", " gpt2 ", "8b", "Ⅷ", "😀8b"]
    found, answered = differences({"any": {"model_type": "llama"}}, [["lookUp", name] for name in names])
    assert found == [] and answered == len(names)


REFUSED_FILES = {
    "no JSON": '{"model_type": "llama",}',
    "NaN": '{"model_type": "llama", "rope_theta": NaN}',
    "infinity": '{"model_type": "llama", "rope_theta": -Infinity}',
    "more": '{"model_type": "llama"} {}',
    "half": '{"model_type": "llama"',
    "a word": '{"model_type": "llam\n"}',
    "empty": "",
    "list": "[]",
    "number": "1.0",
    "nothing": "null",
    "adapter": '{"peft_type": "LORA"}',
    "tokenizer": '{"tokenizer_class": "X"}',
    "no type": '{"hidden_size": 4}',
    "unknown": '{"model_type": "unheard-of"}',
    "a number for a type": '{"model_type": 3.0}',
    "refused": '{"model_type": "xlnet"}',
    "many strange": '{"model_type": "llama", "a": 1.0, "b": [1, 2.50, "it\'s", null, true], "c": {"d": 1e-7}, "e": 1e22, "f": "\\u00e9\\n"}',
    "large": '{"model_type": "llama", "x": "' + "y" * 1_100_000 + '"}',
}


def test_what_is_no_configuration():
    assert differences(REFUSED_FILES, [["read", TOKENS]]) == ([], 0)


def test_numbers_may_be_written_as_floats():
    said = {"model_type": "llama", "hidden_size": 4096.0, "num_attention_heads": 32.0, "rope_theta": 500000}
    found, answered = differences({"floats": said, "broken": said | {"head_dim": 128.5}}, [["read", 64]])
    assert found == [] and answered == 1


def test_numbers_are_told_as_python_writes_them():
    dice = random.Random(0)
    strange = [dice.random() * 10.0 ** dice.randint(-12, 25) for _ in range(500)]
    strange += [10.0**power for power in range(-12, 25)] + [float(dice.randrange(10**17)) for _ in range(100)]
    keys = {"strange": [*strange, "😀"], **{f"strange{i}": one for i, one in enumerate(strange)}}
    assert differences({"strange": {"model_type": "llama", **keys}}, [["read", 64]]) == ([], 0)


def test_keys_are_passed_over():
    said = {"model_type": "gemma3", "text_config": {"new_rope": 3}, "new_rope": 4, "other": 5}
    found, answered = differences({"gemma": said}, [["read", 64, ["new_rope", "other"]], ["read", 64, ["other"]], ["read", 64]])
    assert found == [] and answered == 1


def test_blocks_of_keys_in_either_spelling():
    flat = {"model_type": "minimax_m3_vl_text", "num_hidden_layers": 2, "index_topk_blocks": 3, "partial_rotary_factor": 0.5}
    said = {"sparse_attention_freq": [0, 1], "sparse_index_dim": 64, "sparse_block_size": 32}
    wrong = [{"sparse_init_block": 1}, {"sparse_rope": 1}, {"sparse_attention_freq": 1}, {"sparse_topk_blocks": 0}]
    files = {str(one): flat | {"sparse_attention_config": said | one} for one in ({}, *wrong)}
    files["flat"] = flat | {"layer_types": ["full_attention", "minimax_m3_sparse"]}
    found, answered = differences(files, [["read", 64], ["sentence", 64], ["cacheBytes", 4096]])
    assert found == [] and answered == 6


def test_keys_within_the_parameters_of_rope_are_passed_over():
    eta = {"rope_type": "linear", "factor": 2.0, "rope_theta": 100.0, "eta": 1.0}
    files = {"one": {"model_type": "llama", "rope_parameters": eta}, "old": {"model_type": "llama", "rope_scaling": eta}}
    files["kinds"] = {"model_type": "gemma3", "text_config": {"rope_parameters": {"full_attention": eta, "sliding_attention": eta}}}
    ignored = [[], ["eta"], ["rope_scaling.eta"], ["rope_parameters.eta"], ["rope_parameters.eta", "rope_parameters.zeta"]]
    found, answered = differences(files, [["read", 64, names] for names in ignored])
    assert found == [] and answered == 5


def test_a_text_that_stands_elsewhere():
    text = {"model_type": "llama", "num_key_value_heads": 4, "max_position_embeddings": 64}
    files = {place: {"model_type": "unheard-of", place: text} for place in table("families")["elsewhere"]}
    files |= {f"{place}, known": {"model_type": "vibevoice", place: text} for place in table("families")["elsewhere"]}
    files["no type"] = {"model_type": "unheard-of", "llm_config": {"model_type": ["llama"]}}
    files["twice"] = {"model_type": "qwen2_5_omni", "thinker_config": {"model_type": "qwen2_5_omni_thinker", "text_config": {}}}
    files["idle"] = text | {"use_sliding_window": False, "max_window_layers": 1, "sliding_window": 2}
    found, answered = differences(files, [["read", 128], ["settings", 128, "vllm"]])
    assert found == [] and answered == 8


# What may stand in a random file beside a family's own keys.
ODD_VALUES = (None, 0, 1, 2, 3.0, 0.5, -1, 1e5, True, False, "yarn", [], [1, 2], {}, {"factor": 2.0})
KEYS = [
    *("head_dim", "hidden_size", "num_attention_heads", "num_hidden_layers", "num_key_value_heads", "layer_types"),
    *("rope_theta", "partial_rotary_factor", "rotary_dim", "rope_scaling", "rope_interleave", "no_rope_layers"),
    *("max_position_embeddings", "original_max_position_embeddings", "sliding_window", "use_sliding_window"),
    *("max_window_layers", "attention_chunk_size", "is_decoder", "use_cache", "strange_key"),
]


def random_file(number):
    """A family's small file with other numbers; every fourth has odd values, too, and most of these are refused."""
    dice = random.Random(number)
    family = dice.choice(READ)
    said = tiny.data(fitted(family))
    if family in TURN and dice.random() < 0.5:
        said = dict(dice.choice([*scaled(family).values()]))
    sizes = {
        "num_hidden_layers": dice.randint(1, 12),
        "max_position_embeddings": 2 ** dice.randint(5, 17),
        "rope_theta": dice.choice([500, 1e4, 1e6, 5e6]),
        "head_dim": 2 * dice.randint(2, 64),
        "sliding_window": dice.randint(1, 4096),
        "use_sliding_window": dice.random() < 0.5,
        "layer_types": None,
        "num_key_value_heads": dice.choice([1, 2, 4]),
        "pad_token_id": dice.randint(0, 3),
    }
    for key in dice.sample([*sizes], dice.randint(1, 4)):
        if key in said:
            said[key] = sizes[key]
    for key in dice.sample(KEYS, dice.randint(1, 3) if number % 4 == 0 else 0):
        said[key] = dice.choice(ODD_VALUES)
    return said


# Two of three are read, more than 200.
@pytest.mark.parametrize("start", range(0, 320, 20))
def test_random_files(start):
    files = {str(number): random_file(number) for number in range(start, start + 20)}
    found, answered = differences(files, [["read", TOKENS], ["settings", 4096, "vllm", 32], ["cacheBytes", 7]])
    assert found == [] and answered >= 15
