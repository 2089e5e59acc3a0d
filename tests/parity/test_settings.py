"""Settings, executed: each line is set on the class of the whole file, and what a model of it turns by is read.

A release's file has the model of its text inside another configuration, or not. What transformers builds from the file that a
line changed must turn by the frequencies that we read in that file, which are those of the rule and not those of the release.
"""

import json
import shlex
from copy import deepcopy
from itertools import product

import pytest
import torch
from transformers import AutoModel, PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.pretrained import encoding_of
from d2lpos.pretrained.serving import ONE_TABLE, RULES, longest, rope_of, settings
from tests.parity.releases import releases

LAYERS, LENGTH = 12, 4096  # the tenth of Bamba is its first that attends
MIXTRAL = {
    "model_type": "mixtral", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2,
    "max_position_embeddings": 32_768, "rope_theta": 1e6,
}  # fmt: skip
# Files of which the class knows what they do not say.
LEFT_OUT = {
    "Mixtral without the width of a head": MIXTRAL,
    "Qwen3-VL without RoPE's parameters": {"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text"}},
    "Qwen2.5-VL without RoPE's parameters": {"model_type": "qwen2_5_vl", "hidden_size": 3584, "num_attention_heads": 28},
}
LEFT_ALONE = {("Bamba 9B", "llama3")}  # whose pairs all come around within its length, which this rule does not slow down
FILES = {one["name"]: one["config"] for one in releases() if one["config"]["model_type"] in CONFIG_MAPPING} | LEFT_OUT


def loaded(config: dict) -> PretrainedConfig:
    """The class of the whole file with few layers, so that a model of it is small."""
    found = CONFIG_MAPPING[config["model_type"]].from_dict(deepcopy(config))
    text = found.get_text_config(decoder=True)
    whole = text.num_hidden_layers
    for key, value in list(vars(text).items()):
        if isinstance(value, list) and len(value) == whole:
            setattr(text, key, value[:LAYERS])
    text.num_hidden_layers = min(whole, LAYERS)
    return found


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
    return [(getattr(made, name), getattr(made, name.replace("inv_freq", "attention_scaling"))) for name in names]


def read(config: PretrainedConfig) -> list[tuple[torch.Tensor, float]]:
    """The same, as we read the configuration."""
    turning = filter(None, map(rope_of, encoding_of(config, tokens=1).layers))
    return [one.scaled() for one in turning]


def agree(ours: list[tuple[torch.Tensor, float]], theirs: list[tuple[torch.Tensor, float]]) -> bool:
    def same(one, other):
        (omega, factor), (found, scaling) = one, other
        return torch.allclose(found.double(), omega.double().abs(), rtol=2e-5) and scaling == pytest.approx(factor)

    return all(any(same(one, other) for other in theirs) for one in ours)


def lines(name: str, rule: str) -> dict[str, str]:
    """The lines of each program for four times the length that a file allows; empty where they are refused."""
    found = {}
    for program in ("transformers", "vllm", "sglang"):
        length = longest(FILES[name]) or LENGTH
        try:
            found[program] = settings(FILES[name], 4 * length, program, length, rule)
        except ValueError:
            continue
    return {program: line for program, line in found.items() if "rope" in line}


@pytest.mark.parametrize(("name", "rule"), list(product(FILES, RULES)))
def test_a_line_changes_what_a_model_of_the_whole_file_turns_by(name, rule):
    line, length = lines(name, rule).get("transformers"), longest(FILES[name]) or LENGTH
    if line is None:
        pytest.skip("it is refused, or needs no rule")
    config = loaded(FILES[name])
    before = read(config)
    assert before and agree(before, frequencies(config))
    exec(line, {"config": config})  # noqa: S102
    after = read(config)
    assert agree(after, frequencies(config)) and longest(config) == 4 * length
    assert agree(before, frequencies(config)) == ((name, rule) in LEFT_ALONE)


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
    said = lines(name, rule)
    if not {"vllm", "sglang"} & said.keys():
        pytest.skip("they are refused, or need no rule")
    by_hand = loaded(FILES[name])
    exec(said.pop("transformers"), {"config": by_hand})  # noqa: S102
    for program, line in said.items():
        config = loaded(FILES[name])
        set_on(config, json.loads(shlex.split(line)[-1]), merged=program == "vllm")
        told = config.get_text_config(decoder=True).rope_parameters
        if "mrope_section" in told and rule == "yarn" and program == "vllm":
            beside = {} if by_hand.get_text_config(decoder=True).model_type in ONE_TABLE else {"beta_fast": 128, "beta_slow": 4}
            assert {key: told.pop(key) for key in beside} == beside
        told.pop("type", None)  # of the file; both look at rope_type first
        assert told == by_hand.get_text_config(decoder=True).rope_parameters
        assert longest(config) == longest(by_hand)
