"""Read a configuration."""

import json
from collections.abc import Callable
from functools import partial

import torch

from ...rotary import scaling
from ...rotary.rope import RoPE
from ..verdict import Case, Check, Misconduct, is_empty

TINY = {"hidden_size": 32, "num_attention_heads": 4, "max_position_embeddings": 4096}
BASE = {"rope_theta": 500000.0}


def rule_of(rope_parameters: dict) -> Callable:
    name = rope_parameters.get("rope_type", "default")
    if name == "default":
        return scaling.unscaled
    if name == "linear":
        return partial(scaling.linear, factor=rope_parameters["factor"])
    known = {"factor": rope_parameters["factor"], "length": rope_parameters["original_max_position_embeddings"]}
    if name == "yarn":
        return partial(scaling.yarn, **known)
    return partial(scaling.llama3, **known, low=rope_parameters["low_freq_factor"], high=rope_parameters["high_freq_factor"])


def older(config: dict) -> dict:
    return config | (config.get("rope_scaling") or {})


def parameters(config: dict, kind: str) -> dict:
    entry = config.get("rope_parameters") or older(config)
    return entry.get(kind, entry)


def features(config: dict) -> int:
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def built(config: dict, entry: dict) -> RoPE:
    dim = features(config)
    rotary = int(dim * entry.get("partial_rotary_factor", 1))
    return RoPE(dim, entry["rope_theta"], rotary=rotary, scaling=rule_of(entry))


def read(config: dict, kind: str) -> RoPE:
    return built(config, parameters(config, kind))


def without(known: dict, *keys: str) -> dict:
    return {key: value for key, value in known.items() if key not in keys}


def config_case(kind: str = "full_attention", **more: object) -> Case:
    """The encoding that an answer builds, as what it makes of a fixed vector at four positions."""
    config = TINY | ({"max_position_embeddings": 8192} if "head_dim" in more else {}) | ({} if "rope_parameters" in more else BASE) | more
    shown = more or without(config, "max_position_embeddings")
    wanted = read(config, kind).dim

    def ask(answer: Callable) -> object:
        copy = json.loads(json.dumps(config))  # as from a file, where no two words are one object
        encoding = answer(copy, kind)
        if copy != config:
            raise Misconduct("Changes its argument config in place")
        if is_empty(encoding):
            return encoding
        if not isinstance(encoding, RoPE):
            raise Misconduct(f"Returns type {type(encoding).__name__}; a d2lpos.RoPE is asked for")
        if encoding.dim != wanted:
            raise Misconduct(f"Turns heads of {encoding.dim} features; these have {wanted}")
        x = (torch.arange(4 * wanted) % 7 / 4).reshape(1, 1, 4, wanted)
        return encoding.rotate_at(x, torch.tensor([0, 1, 30, 3000]))[0, 0]

    return Case(", ".join(f"{name} {value}" for name, value in shown.items()) + f", kind {kind!r}", ask)


def later_case(kind: str = "full_attention", head_dim: int = 16, **entry: object) -> Case:
    """A configuration as transformers 5 writes it."""
    return config_case(kind, head_dim=head_dim, rope_parameters={"rope_type": "default"} | BASE | entry)


LLAMA = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 512}
LONGER = LLAMA | {"factor": 32.0, "original_max_position_embeddings": 1024}
LOCAL = {"rope_type": "default", "rope_theta": 10000.0}
GLOBAL = {"rope_type": "default", "rope_theta": 1000000.0, "partial_rotary_factor": 0.5}
TYPES = {"sliding_attention": LOCAL, "full_attention": GLOBAL}
rope_from = Check(
    "rope_from",
    reference=read,
    properties={
        "features and base": [
            config_case(),
            config_case(rope_scaling=None),
            config_case(head_dim=16),
            config_case(head_dim=4),
            config_case(head_dim=None),
            config_case(num_attention_heads=2, rope_theta=1000000.0),
            later_case(),
            later_case("sliding_attention", rope_theta=1000000.0),
        ],
        "a part that turns": [
            config_case(partial_rotary_factor=0.5),
            config_case(hidden_size=64, partial_rotary_factor=0.25),
            config_case(hidden_size=64, partial_rotary_factor=0.75),
            config_case(head_dim=32, partial_rotary_factor=0.25),
            later_case(partial_rotary_factor=0.25),
        ],
        "linear scaling": [
            config_case(rope_scaling={"rope_type": "linear", "factor": 4.0}),
            config_case(head_dim=16, rope_scaling={"rope_type": "linear", "factor": 2.0}),
            later_case(rope_type="linear", factor=2.5),
        ],
        "YaRN": [
            config_case(  # with heads of 8, the ramp is the same for any of the two lengths
                hidden_size=256,
                rope_scaling={"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512},
            ),
            later_case(head_dim=64, rope_type="yarn", factor=2.0, original_max_position_embeddings=2048),
        ],
        "Llama 3.1's rule": [
            config_case(rope_scaling=LLAMA | {"low_freq_factor": 1.0, "high_freq_factor": 4.0}),
            config_case(rope_scaling=LONGER | {"low_freq_factor": 2.0, "high_freq_factor": 16.0}),
            later_case(head_dim=32, **LONGER, low_freq_factor=1.0, high_freq_factor=4.0),
        ],
        "one for each type of layer": [
            config_case("sliding_attention", rope_parameters=TYPES),
            config_case("full_attention", rope_parameters=TYPES),
        ],
    },
    mistakes={
        "head_dim is not read. Where it is given, it need not be hidden_size divided by the heads.":
            'config.get("head_dim") or config → config',
        "rope_parameters is not read: transformers 5 writes there what older files say beside it.":
            'config.get("rope_parameters") or older(config) → older(config)',
        "partial_rotary_factor is not read: only this part of the features turns.":
            'entry.get("partial_rotary_factor", 1) → 1',
        "A configuration may lack the key rope_scaling. Ask with .get.":
            'config.get("rope_scaling") or {} → config["rope_scaling"] or {}',
        "No rule is read. rope_type names it, in rope_parameters or in rope_scaling.":
            'rope_parameters.get("rope_type", "default") → "default"',
        "The length is that of training, original_max_position_embeddings, not the longest text.":
            'rule_of(entry) → rule_of(entry | {"original_max_position_embeddings": config["max_position_embeddings"]})',
        "low_freq_factor and high_freq_factor are not read.":
            'low=rope_parameters["low_freq_factor"], high=rope_parameters["high_freq_factor"] → low=1.0, high=4.0',
        "All layers get the first dictionary of rope_parameters here; kind names the one.":
            "entry.get(kind, entry) → next(iter(entry.values())) if kind in entry else entry",
    },
    as_good={
        "config | (config.get('rope_scaling') or {}) → (config.get('rope_scaling') or {}) | config": "No key stands in both.",
    },
)
