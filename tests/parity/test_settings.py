"""Settings, executed: each line is set on the class of the whole file, and what a model of it turns by is read.

A release's file has the model of its text inside another configuration, or not. What transformers builds from the file that a
line or edits changed must turn by the frequencies that we read in that file, which are those of the rule and not those of the
release.
"""

import json
import random
import shlex
from copy import deepcopy
from itertools import product

import pytest
import torch
from transformers import AutoModel, PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.config import Refused, apply, in_force, read, releases, settings
from d2lpos.config.angles import turns
from d2lpos.config.schema import Reading
from d2lpos.config.tables import table
from tests.core.test_config import mutant
from tests.parity.families import fitted

LAYERS, LENGTH = 12, 4096  # the tenth of Bamba is its first that attends
MIXTRAL = {
    "model_type": "mixtral", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2,
    "max_position_embeddings": 32_768, "rope_theta": 1e6,
}  # fmt: skip
# Files of which the class knows what they do not say.
LEFT_OUT = {
    "Mixtral without the width of a head": MIXTRAL,
    "Qwen3-VL without RoPE's parameters": {"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text"}},
    "GLM-ASR with a base that its class passes over": {
        "model_type": "glmasr",
        "text_config": {"model_type": "llama", "rope_theta": 500_000.0, "head_dim": 64},
    },
    "Llama with its base in two places": {
        "model_type": "llama",
        "rope_theta": 500_000.0,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500_000.0},
    },
    "Qwen2.5-VL without RoPE's parameters": {"model_type": "qwen2_5_vl", "hidden_size": 3584, "num_attention_heads": 28},
}
ALPHA = {"type": "dynamic", "factor": 1.0, "alpha": 1000.0, "beta_fast": 32, "mscale": 1.0}
# Keys of Command R7B's and Hunyuan's files.
OWN_KEYS = {
    "cohere2": {"layer_switch": 4, "order_of_interleaved_layers": "local_attn_first", "position_embedding_type": "rope_gptj", "rotary_pct": 1.0},
    "hunyuan_v1_dense": {"head_dim": 16, "rope_scaling": ALPHA},
    "hunyuan_v1_moe": {"head_dim": 16, "rope_scaling": ALPHA},
}
RULES = table("settings")["rules"]
LEFT_ALONE = {("Bamba 9B", "llama3")}  # whose pairs all come around within its length, which this rule does not slow down
# Their classes build no model here: one fails by itself, one asks for timm, and one is no model of a text alone.
UNBUILT = {"dots.llm1", "Gemma 3n E4B", "Qwen3-Omni 30B-A3B"}
RELEASED = {one["name"]: one["config"] for one in releases() if one["name"] not in UNBUILT}
FILES = {name: config for name, config in RELEASED.items() if config["model_type"] in CONFIG_MAPPING} | LEFT_OUT
# Families whose kinds of layers have parameters of RoPE each.
BY_KIND = ["gemma3_text", "gemma3n_text", "laguna", "mellum", "mimo_v2_flash", "modernbert", "modernbert-decoder", "olmo3", "zaya"]


def loaded(config: dict) -> PretrainedConfig:
    """The class of the whole file with few layers, so that a model of it is small."""
    made = CONFIG_MAPPING[config["model_type"]].from_dict(deepcopy(config))
    text = made.get_text_config(decoder=True)
    whole = text.num_hidden_layers
    for key, value in list(vars(text).items()):
        if isinstance(value, list) and len(value) == whole:
            setattr(text, key, value[:LAYERS])
    text.num_hidden_layers = min(whole, LAYERS)
    return made


def frequencies(config: PretrainedConfig) -> list[tuple[torch.Tensor, float]]:
    """What the text of a model of this configuration turns by, and what it multiplies by; both by kind of layer, if there are kinds."""
    with torch.device("meta"):
        model = AutoModel.from_config(deepcopy(config))
    text = config.get_text_config(decoder=True).model_type
    turning = next(
        module
        for module in model.modules()
        if type(module).__name__.endswith("RotaryEmbedding") and getattr(module.config, "model_type", None) == text
    )
    made = type(turning)(turning.config)  # on the processor, where it has numbers
    names = [name for name, _ in made.named_buffers() if name.endswith("inv_freq") and "original" not in name]
    if names == ["inv_freq"]:
        return [(made.inv_freq, multiplied(made))]
    return [(getattr(made, name), getattr(made, name.replace("inv_freq", "attention_scaling"))) for name in names]


def multiplied(made: torch.nn.Module) -> float:
    """What a short text is multiplied by: at position 0 it is the cosine. Phi-3.5 MoE's class passes over its own `attention_scaling`."""
    for axes in ((), (3,)):
        try:
            turned = made(torch.zeros(1, 1), torch.zeros(*axes, 1, 1, dtype=torch.long))
        except (IndexError, RuntimeError):  # M-RoPE, which some classes ask for three positions of a token
            continue
        cos = turned[0] if isinstance(turned, tuple) else turned
        return cos.flatten()[0].abs().item()
    raise AssertionError(type(made).__name__)


def frequencies_or_none(file: dict) -> list[tuple[torch.Tensor, float]] | None:
    """The same of a file; None where its class refuses it."""
    try:
        return frequencies(loaded(file))
    except Exception:  # noqa: BLE001, because classes raise many kinds
        return None


def turning(config: object) -> list[tuple[list[float], float]]:
    """The same, as we read the configuration."""
    return [in_force(layer["encoding"]) for layer in read(config)["kinds"] if turns(layer)]


def agree(ours: list[tuple[list[float], float]], theirs: list[tuple[torch.Tensor, float]]) -> bool:
    def same(one, other):
        (omega, factor), (inv_freq, scaling) = one, other
        return inv_freq.tolist() == pytest.approx(omega, rel=2e-5) and scaling == pytest.approx(factor)

    return all(any(same(one, other) for other in theirs) for one in ours)


def longest(config: object) -> int | None:
    return read(config)["lengths"]["allowed"]


def stretch(config: object, rule: str) -> tuple[Reading, int, dict[str, dict]]:
    """The reading, the length that a file allows, and each program's settings for four times it; none where they are refused."""
    reading, every = read(config), {}
    length = reading["lengths"]["allowed"] or LENGTH
    for program in ("transformers", "vllm", "sglang"):
        try:
            every[program] = settings(reading, 4 * length, program, length, rule)
        except Refused:
            continue
    return reading, length, {program: one for program, one in every.items() if "rope" in one["line"]}


@pytest.mark.parametrize(("name", "rule"), list(product(FILES, RULES)))
def test_a_line_and_edits_change_what_a_model_of_the_whole_file_turns_by(name, rule):
    _, length, every = stretch(FILES[name], rule)
    if "transformers" not in every:
        pytest.skip("it is refused, or needs no rule")
    config = loaded(FILES[name])
    before = turning(config)
    assert before and agree(before, frequencies(config))
    exec(every["transformers"]["line"], {"config": config})  # noqa: S102
    after = turning(config)
    assert agree(after, frequencies(config)) and longest(config) == 4 * length
    assert agree(before, frequencies(config)) == ((name, rule) in LEFT_ALONE)
    edited = apply(FILES[name], every["transformers"]["edits"])
    of_file = loaded(edited)
    assert longest(edited) == longest(of_file) == 4 * length
    assert turning(edited) == after and agree(turning(edited), frequencies(of_file))


@pytest.mark.parametrize(("family", "rule"), list(product(BY_KIND, RULES)))
def test_a_rule_for_one_kind_of_layers_leaves_the_others(family, rule):
    config = fitted(family)
    text = config.to_dict()
    reading, length, every = stretch(text, rule)
    if "transformers" not in every:
        pytest.skip("it is refused, or needs no rule")
    exec(every["transformers"]["line"], {"config": config})  # noqa: S102
    edited = read(apply(text, every["transformers"]["edits"]))
    assert edited["kinds"] == read(config)["kinds"] != reading["kinds"] and longest(config) == 4 * length
    for old, new in zip(reading["kinds"], edited["kinds"], strict=True):
        assert (old == new) == bool(old["window"] or not old["encoding"])
    assert agree(turning(config), frequencies(config))


@pytest.mark.parametrize("family", OWN_KEYS)
def test_keys_that_a_class_passes_over_or_has_alone_mean_what_they_mean_there(family):
    file = {"model_type": family, "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4} | OWN_KEYS[family]
    ours = turning(file)
    assert ours and agree(ours, frequencies(loaded(file)))
    with pytest.raises(Refused, match="not understood"):
        read(file | {"model_type": "llama"})


def test_dbrxs_class_asks_for_the_base_of_its_files_and_turns_by_another():
    file = {"model_type": "dbrx", "d_model": 64, "n_heads": 4, "n_layers": 2, "attn_config": {"kv_n_heads": 2, "rope_theta": 5e5}}
    without, theirs = file | {"attn_config": {"kv_n_heads": 2}}, frequencies(loaded(file))
    assert agree(turning(without), theirs) and not agree(turning(file), theirs)
    with pytest.raises(Refused, match="rope_theta must be one number; got 500000 and 10000"):
        turning(loaded(file))


NONE_BUILT = {"CodeGen 350M", "Devstral Small 2 24B"}  # whose classes build no model of a mutant
DRAWN = {*[name for name in sorted(FILES) if turning(FILES[name])][::4][:20], "Phi-3.5 MoE"} - NONE_BUILT


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_file_with_another_value_is_refused_or_read_as_its_class_turns(name):
    dice, compared = random.Random(name), 0
    for _ in range(25):
        file = mutant(dice, FILES[name])
        try:
            ours = turning(file)
        except Refused:
            continue
        theirs = frequencies_or_none(file)
        assert theirs is None or agree(ours, theirs), file
        compared += bool(theirs)
    assert compared


def set_on(config: PretrainedConfig, changes: dict, merged: bool) -> None:
    """What a program does with the JSON of its line: vLLM merges dictionaries, SGLang replaces those of a text."""
    for key, value in changes.items():
        old = getattr(config, key, None)
        if isinstance(old, PretrainedConfig):
            set_on(old, value, merged)
        else:
            setattr(config, key, {**old, **value} if merged and isinstance(value, dict) else value)


@pytest.mark.filterwarnings("ignore:`rope_scaling` is deprecated:FutureWarning")
@pytest.mark.parametrize(("name", "rule"), list(product(FILES, RULES)))
def test_lines_of_servers_change_the_same(name, rule):
    reading, _, every = stretch(FILES[name], rule)
    if not {"vllm", "sglang"} & every.keys():
        pytest.skip("they are refused, or need no rule")
    by_hand = loaded(FILES[name])
    exec(every.pop("transformers")["line"], {"config": by_hand})  # noqa: S102
    once = table("programs")["vllm"]["ramp"]["once"].split()
    for program, one in every.items():
        config = loaded(FILES[name])
        set_on(config, json.loads(shlex.split(one["line"])[-1]), merged=program == "vllm")
        parameters = config.get_text_config(decoder=True).rope_parameters
        if "mrope_section" in parameters and rule == "yarn" and program == "vllm" and reading["family"] not in once:
            assert (parameters.pop("beta_fast"), parameters.pop("beta_slow")) == (128, 4)
            assert "ramp of M-RoPE for 4 times" in one["notes"][0]
        parameters.pop("type", None)  # of the file; both look at rope_type first
        assert parameters == by_hand.get_text_config(decoder=True).rope_parameters
        assert longest(config) == longest(by_hand)
