"""The reader of the page beside the package's: the same readings, answers and refusals, by codes and numbers."""

import json
import math
import random
import re
import resource

import pytest

from d2lpos import config
from d2lpos.config.angles import in_force, plain, turns
from d2lpos.config.card import card, card_lines
from d2lpos.config.names import alike, is_called, loaded, look_up
from d2lpos.config.sight import sees, sight
from d2lpos.config.slopes import slopes
from d2lpos.config.tables import by_name, rows, table
from d2lpos.config.traps import in_words
from d2lpos.config.verdict import cap_lines, makers
from d2lpos.config.verdict import in_words as verdict_in_words
from tests.core import test_hub_names as hub
from tests.core.test_names import ASKED, READ_AS
from tests.core.test_verdict import LENGTHS, NO_LENGTHS
from tests.node import ROOT, node
from tests.parity import defaults, tiny
from tests.parity.families import fitted
from tests.parity.releases import releases
from tests.parity.test_keys import OUTER, READ, TURN
from tests.parity.variants import dropped, scaled, without_one

PROGRAMS, RULES = tuple(table("programs")), (None, *table("settings")["rules"], *table("settings")["unset"])
OWN_WORDS = ("deep", "json", "odd")  # codes whose sentence says what the language itself met, and where

pytestmark = pytest.mark.usefixtures("quiet")


def turning(reading):
    return [layer for layer in reading["kinds"] if turns(layer)]


def frequencies(reading, tokens):
    return [[plain(one["encoding"]), *in_force(one["encoding"], tokens)] for one in turning(reading)]


def seeing(reading):
    return [sees(sight(reading, layer, reading["lengths"]["allowed"])) for layer in reading["kinds"]]


def fresh(reading, tokens, trained):
    counts = re.findall(r"(\d+|none) of \d+ pairs", config.asks(reading, tokens, trained))
    return sorted({0 if count == "none" else int(count) for count in counts})


def all_slopes(reading):
    encodings = [layer["encoding"] for layer in reading["kinds"]]
    return [slopes(one) for one in encodings if one and one["kind"] == "ALiBi"]


def named(_, text):
    release, near = look_up(text)
    return [release and [release["name"], is_called(release, text), loaded(release, text)], [one["name"] for one in near]]


def carded(reading, asked, file):
    made = card(reading, file, **{"gib" if name == "card" else name: value for name, value in asked.items()})
    return [made, card_lines(made)]


def judged(reading, tokens, release=None):
    made = config.verdict(reading, tokens, release)
    return [made, verdict_in_words(made), cap_lines(made), makers(reading, release)]


ASK = {
    "read": lambda reading: reading,
    "sentence": config.sentence,
    "sight": seeing,
    "frequencies": frequencies,
    "fresh": fresh,
    "slopes": all_slopes,
    "memory": config.memory,
    "card": carded,
    "traps": lambda reading: [[trap, in_words(trap)] for trap in config.traps(reading)],
    "settings": config.settings,
    "apply": lambda reading, file, *asked: config.apply(file, config.settings(reading, *asked)["edits"]),
    "names": named,
    "alike": lambda _, file: alike(file).get("name"),
    "verdict": judged,
    "written": lambda _, text: config.written(text),
}


def attempt(work):
    try:
        return work()
    except config.Refused as error:
        return {"refused": error.code, "fields": error.fields, "sentence": str(error)}


def page(*entries):
    """What the page makes of entries, as reader.js says."""
    return json.loads(node(ROOT / "tests/parity/reader.js", stdin=json.dumps(entries)))


def answers(text, ignore, questions):
    reading = attempt(lambda: config.read(config.parse(text), ignore))
    if "refused" in reading:
        return [reading] * len(questions)
    file = config.parse(text)
    more = {"card": [file], "alike": [file]}  # what a question needs besides
    return [attempt(lambda one=one: ASK[one[0]](reading, *one[1:], *more.get(one[0], []))) for one in questions]


def difference(ours, theirs, where=""):
    """The first place where they differ, numbers by more than 1e-9; None where they are the same."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = ["refused"] if ours.get("refused") in OWN_WORDS else ours | theirs
        pairs = [(f".{key}", ours.get(key, "nothing"), theirs.get(key, "nothing")) for key in keys]
    elif isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        pairs = [(f"[{i}]", *pair) for i, pair in enumerate(zip(ours, theirs, strict=True))]
    else:
        if type(ours) is float and not math.isfinite(ours):
            alike = theirs == {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[str(ours)]
        elif type(ours) in (int, float) and type(theirs) in (int, float):
            alike = math.isclose(ours, theirs, rel_tol=1e-9)
        else:
            alike = type(ours) is type(theirs) and ours == theirs
        return None if alike else f"{where}: {ours!r} | {theirs!r}"[:600]
    return next(filter(None, (difference(one, other, where + at) for at, one, other in pairs)), None)


def differences(files, questions, ignore=()):
    """Of files by name, each asked the same, those whose answers differ; and how many were answered."""
    texts = {name: json.dumps(file) if not isinstance(file, str) else file for name, file in files.items()}
    made = page(*([text, ignore, questions] for text in texts.values()))
    unlike, answered = [], 0
    for (name, text), theirs in zip(texts.items(), made, strict=True):
        for question, ours, other in zip(questions, answers(text, ignore, questions), theirs, strict=True):
            answered += not (isinstance(ours, dict) and "refused" in ours)
            if place := difference(ours, other):
                unlike.append(f"{name}, {question}: {place}")
    return unlike, answered


def every_question(length, trained=None, name=None):
    """A question of each kind, with all programs and rules, for texts within a length and beyond it."""
    beyond = 4 * length - 1
    lengths = [["sentence"], ["sentence", trained or length, name], ["sentence", None, None, beyond], ["memory", beyond], ["memory", 100, 1, 16]]
    angles = [["frequencies", 100], ["frequencies", beyond]]
    pairs = [(program, rule) for program in PROGRAMS for rule in RULES]
    lines = [["settings", beyond, program, trained or 512, rule] for program, rule in pairs]
    lines += [["settings", tokens, program] for program in PROGRAMS for tokens in (length // 2, length, beyond)]
    verdicts = [["verdict", tokens] for tokens in (1, length, length + 1, beyond, 2 * 10**9)]
    return [["read"], *lengths, *angles, ["sight"], ["slopes"], ["traps"], *lines, *verdicts]


@pytest.mark.parametrize("family", sorted({*rows(), *by_name("refused")}))
def test_a_file_that_says_nothing_and_the_one_of_its_class(family):
    files = {"nothing": {"model_type": family}}
    if family in READ:
        files["whole"] = defaults.made(family)
    assert differences(files, every_question(8192))[0] == []


@pytest.mark.parametrize("family", READ)
def test_a_key_that_is_dropped_null_or_doubled(family):
    unlike, answered = differences(dropped(family), [["read"]])
    assert unlike == [] and answered


@pytest.mark.parametrize("family", TURN)
def test_scaling_in_either_spelling(family):
    assert differences(scaled(family), [["read"], ["frequencies", 4096], ["settings", 4096, "transformers"]])[0] == []


@pytest.mark.parametrize("release", releases(), ids=[one["name"] for one in releases()])
def test_a_release(release):
    file, trained = release["config"], (release.get("trained") or [2048])[-1]
    length = config.read(file)["lengths"]["allowed"] or 4096
    questions = every_question(length, trained, release["name"])
    questions += [["apply", file, 4 * length - 1, "vllm", trained, rule] for rule in RULES]
    known = {key: value for key, value in release.items() if key != "config"}
    questions += [["alike"], *(["verdict", tokens, known] for tokens in (trained, trained + 1, length + 1, 200_000, 5_000_000))]
    if stages := release.get("trained"):
        questions += [["fresh", tokens, stages] for tokens in (200_000, 5_000_000)]
    unlike, answered = differences({release["name"]: file}, questions)
    assert unlike == [] and answered >= 8


def test_a_file_that_has_the_stretch_of_its_makers():
    for release in (one for one in releases() if "stretch" in one):
        stretch, file = release["stretch"], release["config"]
        known = {key: value for key, value in release.items() if key != "config"}
        lengths = (stretch["to"], 2 * stretch["to"])
        files = {to: config.apply(file, config.edits(config.read(file), to, "yarn", stretch["from"])) for to in lengths}
        asked = [["verdict", tokens, known] for tokens in (stretch["from"] + 1, stretch["to"], 2 * stretch["to"])]
        assert differences(files, asked) == ([], 2 * len(asked)), release["name"]


def test_a_rule_that_lacks_a_key():
    unlike, answered = differences(without_one(), [["read"], ["sentence"]])
    assert unlike == [] and answered


def test_keys_that_one_class_has_alone():
    rope = {"type": "dynamic", "factor": 1.0, "alpha": 1000.0}
    files = {f"{family} {alpha}": {"model_type": family, "rope_scaling": rope | {"alpha": alpha}} for family in ("hunyuan_v1_dense", "llama") for alpha in (1000.0, 0, -2.0, "x")}
    files |= {"null": {"model_type": "llama4", "text_config": {"num_key_value_heads": None}}, "base": {"model_type": "llama", "rope_theta": 3, "rope_scaling": {"rope_type": "yarn", "factor": 40.0}}}
    files["twice"] = {"model_type": "llama", "rope_theta": 5e5, "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}
    files["glmasr"] = {"model_type": "glmasr", "text_config": {"model_type": "llama", "rope_theta": 5e5}}
    questions = [["read"], ["sentence"], ["frequencies", 9], ["traps"], *(["settings", 10**5, "transformers", None, rule] for rule in RULES)]
    unlike, answered = differences(files, questions)
    assert unlike == [] and answered > 20


def test_a_name_means_the_same_release_in_both_languages():
    known = [*READ_AS, *ASKED, *hub.MEANT, *hub.ASKED, *(one["source"] for one in releases()), *(one["name"] for one in releases())]
    odd = ["", "/", "...", "東京", "İstanbul 8B", "base", "-it", "a/b/c", "./gpt2", "Qwen/Qwen3-8B/", " gpt2 ", "8b", "Ⅷ", "😀8b"]
    unlike, answered = differences({"any": {"model_type": "llama"}}, [["names", name] for name in [*known, *odd]])
    assert unlike == [] and answered == len(known) + len(odd)


def test_a_length_is_read_or_refused_alike():
    lengths = [*LENGTHS, *NO_LENGTHS, "1.1k", "0.0010M", "25.6K", "00", "+5", "1e-3", "1e999999999", "9" * 400, "", "k", "１２", "2147483647"]
    unlike, answered = differences({"any": {"model_type": "llama"}}, [["written", text] for text in lengths])
    assert unlike == [] and answered >= len(LENGTHS)


REFUSED_FILES = {
    "no JSON": '{"model_type": "llama",}',
    "NaN": '{"model_type": "llama", "rope_theta": NaN}',
    "infinity": '{"model_type": "llama", "a": [-Infinity, 1e999], "NaN": "Infinity"}',
    "more": '{"model_type": "llama"} {}',
    "empty": "",
    "list": "[]",
    "nothing": "null",
    "adapter": '{"peft_type": "LORA"}',
    "tokenizer": '{"tokenizer_class": "X"}',
    "of its makers": '{"n_kv_heads": 8, "dim": 4096}',
    "weights": "GGUF\u0003",
    "no type": '{"hidden_size": 4}',
    "unknown": '{"model_type": "unheard-of"}',
    "a number for a type": '{"model_type": 3.0}',
    "refused": '{"model_type": "xlnet"}',
    "names of objects": '{"model_type": "constructor", "toString": 1, "__proto__": {"a": 1}}',
    "a length by its class's name": '{"model_type": "rwkv", "context_length": {"a": 1}}',
    "a flag": '{"model_type": "qwen3_vl_text", "rope_parameters": {"rope_theta": 1e6, "mrope_interleaved": 1}}',
    "many strange": '{"model_type": "llama", "a": 1.0, "b": [1, 2.50, "it\'s", null, true], "c": {"d": 1e-7}, "e": 1e22, "f": "\\u00e9\\n", "__proto__": 1}',
    "large": '{"model_type": "llama", "x": "' + "y" * 9_000_000 + '"}',
}


def test_what_is_no_configuration():
    assert differences(REFUSED_FILES, [["read"]]) == ([], 0)


def test_a_configuration_as_people_copy_it():
    text = '{"model_type": "llama", "rope_theta": 1e4}'
    files = {"mark": f"\ufeff{text}", "printed": f"LlamaConfig {text}\n", "fenced": f"```json\n{text}\n```", "blanks": f"\n {text}"}
    files["no number"] = text.replace("{", '{"time_step_limit": [0, Infinity], ', 1)
    unlike, answered = differences(files, [["read"]])
    assert unlike == [] and answered == 5 and all(config.read(config.parse(one)) == config.read(json.loads(text)) for one in files.values())


# No model has these, and a loop over them would never end.
BEYOND = {
    "layers": {"model_type": "llama", "num_hidden_layers": 10**7},
    "features": {"model_type": "llama", "head_dim": 10**9},
    "factor": {"model_type": "llama", "rope_scaling": {"rope_type": "linear", "factor": 1e25}},
    "no factor": {"model_type": "llama", "rope_scaling": {"rope_type": "yarn"}},
    "runs": {"model_type": "gpt_neo", "attention_types": [[["local"] * 9000, 9000]]},
    "stages": {"model_type": "swin", "depths": [10**9]},
    "buckets": {"model_type": "t5", "relative_attention_num_buckets": 10**9},
    "a huge number": {"model_type": "llama", "rope_theta": 10**400},
    "lists": '{"model_type": "llama", "a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "objects": '{"model_type": "llama", "rope_scaling": ' + '{"a": ' * 100_000 + "1" + "}" * 100_000 + "}",
    "quotes": '{"model_type": "llama", "a": "' + '\\"' * 1_000_000,
}


def processor():
    """Seconds of the processor that this program and those it started took."""
    return sum(time[0] + time[1] for time in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def test_sizes_beyond_any_model_get_a_sentence_at_once():
    begun = processor()
    assert differences(BEYOND, [["read"]]) == ([], 0)
    assert processor() - begun < 10


def test_numbers_that_one_language_alone_holds():
    numbers = {"most": 2**53 - 1, "more": 2**53, "odd": 2**53 + 1, "huge": 10**400, "none": math.nan, "minus": -0.0}
    keys = ("head_dim", "rope_theta", "sliding_window", "wobble", "rope_scaling", "pad_token_id", "max_window_layers")
    files = {f"{name} {key}": {"model_type": "qwen2", key: one} for name, one in numbers.items() for key in keys}
    files["digits"] = '{"model_type": "llama", "rope_theta": ' + "9" * 5000 + "}"
    files["share"] = {"model_type": "gemma4_text", "rope_parameters": {"full_attention": {"rope_type": "proportional", "partial_rotary_factor": None, "rope_theta": 1e6}}}
    files["length"] = {"model_type": "mpt", "max_seq_len": "x"}
    files["infinite"] = {"model_type": "qwen3_vl_text", "rope_parameters": {"rope_theta": 1e6, "mrope_interleaved": 10**400}}
    files["rows"] = {"model_type": "xmod", "max_position_embeddings": 1, "pad_token_id": 1}
    files["runs"] = {"model_type": "gpt_neo", "attention_types": [["local", 1, 2]]}
    assert differences(files, [["read"], ["sentence"]])[0] == []


def test_numbers_are_shown_alike():
    dice = random.Random(0)
    numbers = [dice.random() * 10.0 ** dice.randint(-12, 25) for _ in range(500)]
    numbers += [10.0**power for power in range(-12, 25)] + [float(dice.randrange(10**17)) for _ in range(100)]
    keys = {"strange": [*numbers, "😀"], **{f"strange{i}": one for i, one in enumerate(numbers)}}
    assert differences({"strange": {"model_type": "llama", **keys}}, [["read"]]) == ([], 0)


IGNORED = [["new_rope", "other"], ["other"], ["eta"], ["rope_scaling.eta"], ["rope_parameters.eta", "rope_parameters.zeta"]]


def test_keys_are_passed_over():
    eta = {"rope_type": "linear", "factor": 2.0, "rope_theta": 100.0, "eta": 1.0}
    kinds = {"full_attention": eta, "sliding_attention": eta}
    files = {
        "nested": {"model_type": "gemma3", "text_config": {"new_rope": 3}, "new_rope": 4, "other": 5},
        "one": {"model_type": "llama", "rope_parameters": eta},
        "old": {"model_type": "llama", "rope_scaling": eta},
        "kinds": {"model_type": "gemma3", "text_config": {"rope_parameters": kinds}},
    }
    for ignore in IGNORED:
        assert differences(files, [["read"]], ignore)[0] == []


def test_blocks_of_keys_in_either_spelling():
    flat = {"model_type": "minimax_m3_vl_text", "num_hidden_layers": 2, "index_topk_blocks": 3, "partial_rotary_factor": 0.5}
    blocks = {"sparse_attention_freq": [0, 1], "sparse_index_dim": 64, "sparse_block_size": 32}
    wrong = [{"sparse_init_block": 1}, {"sparse_rope": 1}, {"sparse_attention_freq": 1}, {"sparse_topk_blocks": 0}]
    files = {str(one): flat | {"sparse_attention_config": blocks | one} for one in ({}, *wrong)}
    files["flat"] = flat | {"layer_types": ["full_attention", "minimax_m3_sparse"]}
    unlike, answered = differences(files, [["read"], ["sentence"], ["memory", 4096]])
    assert unlike == [] and answered == 6


@pytest.mark.parametrize("family", OUTER)
def test_a_text_whose_outer_class_fills_it(family):
    files = {"empty": {}, "wide": {"hidden_size": 4096}, "scaled": {"rope_parameters": {"rope_type": "linear", "factor": 2.0}}}
    files = {name: {"model_type": family, "text_config": text} for name, text in files.items()}
    unlike, answered = differences(files, [["read"], ["sentence"], ["settings", 10**6, "vllm"]])
    assert unlike == [] and answered


def test_a_text_that_stands_elsewhere():
    text = {"model_type": "llama", "num_key_value_heads": 4, "max_position_embeddings": 64}
    places = table("families")["elsewhere"]
    files = {place: {"model_type": "unheard-of", place: text} for place in places}
    files |= {f"{place}, known": {"model_type": "vibevoice", place: text} for place in places}
    files["no type"] = {"model_type": "unheard-of", "llm_config": {"model_type": ["llama"]}}
    files["twice"] = {"model_type": "qwen2_5_omni", "thinker_config": {"model_type": "qwen2_5_omni_thinker", "text_config": {}}}
    files["idle"] = text | {"use_sliding_window": False, "max_window_layers": 1, "sliding_window": 2}
    unlike, answered = differences(files, [["read"], ["settings", 128, "vllm"]])
    assert unlike == [] and answered >= 8


# What may stand in a random file beside a family's own keys.
ODD_VALUES = (None, 0, 1, 2, 3.0, 0.5, -1, 1e5, True, False, "yarn", "4", [], [1, 2], ["full_attention"] * 3, {}, {"factor": 2.0}, {"a": 1})
KEYS = sorted({*defaults.words(), "max_position_embeddings", "num_key_value_heads", "use_cache", "strange_key"})


def random_file(number):
    """A family's small file with odd values in some keys of its own and of others, or without these."""
    dice = random.Random(number)
    family = dice.choice(READ)
    file = tiny.data(fitted(family))
    if family in TURN and dice.random() < 0.5:
        file = dict(dice.choice([*scaled(family).values()]))
    own = [key for key in KEYS if key in file]
    for key in dice.sample(own, min(len(own), dice.randint(1, 3))):
        file[key] = dice.choice(ODD_VALUES)
    if number % 4 == 0:
        file[dice.choice(KEYS)] = dice.choice(ODD_VALUES)
    rope = file.get("rope_scaling") or file.get("rope_parameters")
    if isinstance(rope, dict) and rope and dice.random() < 0.5:
        rope = {**rope, dice.choice([*rope]): dice.choice(ODD_VALUES)}
        file["rope_scaling" if file.get("rope_scaling") else "rope_parameters"] = rope
    return file


@pytest.mark.parametrize("start", range(0, 500, 50))
def test_random_files(start):
    files = {str(number): random_file(number) for number in range(start, start + 50)}
    questions = [["read"], ["sentence"], ["memory", 7], ["settings", 4096, "vllm", 32]]
    unlike, answered = differences(files, questions)
    assert unlike == [] and answered >= 5
