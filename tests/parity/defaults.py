"""What the classes of transformers take for a key that a configuration leaves out.

    python -m tests.parity.defaults    # write d2lpos/config/tables/defaults.json

Each class is asked: its defaults are those of `kind()`; what follows from another size is not among them, since it
changes with that size; and what a key does to RoPE's parameters shows when it has a value that no class would choose.
"""

import ast
import json
import logging
import re
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path

from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos import config
from d2lpos.config.tables import rows
from d2lpos.config.tables import words as known
from tests.parity import tiny

LOG = logging.getLogger(__name__)
FOLDER = Path(config.__file__).parent
FILE = FOLDER / "tables" / "defaults.json"
SIZES = re.compile(
    r"hidden_size|d_model|n_embd|dim|emb_dim|.*(layers?|heads?)|max_position_embeddings|n_positions"
)
ODD = {"rope_theta": 12_345.0, "partial_rotary_factor": 0.75}
RULE = {"rope_type": "linear", "factor": 2.0}
OTHERS = {"rope_theta": ["rotary_emb_base"], "partial_rotary_factor": ["rotary_pct"]}
THETAS = {
    "rope_theta": "full_attention",
    "global_rope_theta": "full_attention",
    "rope_local_base_freq": "sliding_attention",
    "local_rope_theta": "sliding_attention",
}
LISTS = {"layer_types", "layers_block_type"}  # other keys may say them, so the reader has rules
ROPE = {*ODD, "rope_parameters", "rope_scaling"}


@cache
def words() -> set[str]:
    """All that the reader could ask a configuration for: every name in its code and word of its rows."""
    strings = [(FOLDER / "tables" / "families.json").read_text("utf-8")]
    for path in FOLDER.glob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        strings += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [one for one in strings[1:] if " " not in one]  # and no docstrings
    return set(re.findall(r"\w+", " ".join([strings[0], *names]))) - {"model_type", "dtype"}


def made(family: str, **keys: object) -> dict[str, object]:
    """What a class makes of these keys; nothing where it refuses them."""
    try:
        return tiny.data(CONFIG_MAPPING[family](**deepcopy(keys)))
    except Exception as error:  # noqa: BLE001, because classes raise many kinds
        LOG.debug("%s refuses %s: %s", family, keys, error)
        return {}


def constants(family: str) -> dict[str, object]:
    """The defaults that do not follow from another key."""
    plain = made(family)
    # Without it, classes forget the window.
    used = {"use_sliding_window": True} if "use_sliding_window" in plain else {}
    default = made(family, **used) | {key: plain[key] for key in used}
    values = {key: value for key, value in default.items() if key in words() - ROPE - LISTS and key[0] != "_"}
    values = {key: value for key, value in values.items() if not isinstance(value, dict | None)}
    for size, value in default.items():
        if SIZES.fullmatch(size) and type(value) is int:
            changed = made(family, **used, **{size: 2 * value}) | {key: plain[key] for key in used}
            same = {size, *(key for key, one in values.items() if changed.get(key) in (one, None))}
            values = {key: one for key, one in values.items() if key in same or len(changed) == len(used)}
    return values


def reads(family: str, name: str, key: str, **more: object) -> bool:
    """Whether a key of RoPE's parameters has the odd value that a configuration says by some name."""
    rope = made(family, **{name: ODD[key]}, **more).get("rope_parameters") or {}
    return rope.get(key) == ODD[key]


def rotary(family: str) -> type | None:
    """The module of its code that makes cosines and sines; None where it has none that asks a configuration alone."""
    kind = CONFIG_MAPPING[family]
    module = sys.modules[tiny.model_class(family).__module__]
    classes = [
        one for name, one in vars(module).items() if name.endswith("RotaryEmbedding") and "Vision" not in name
    ]
    own = [
        one
        for one in classes
        if one.__module__ == module.__name__ and hasattr(one, "compute_default_rope_parameters")
    ]
    name = kind.__name__.removesuffix("Config")
    named = sorted((one for one in own if one.__name__.startswith(name)), key=lambda one: len(one.__name__))
    return (named or own or [None])[0]


def whole(family: str) -> bool:
    """Whether its code turns whole heads, whatever the share is."""
    rule = {"rope_type": "default", "rope_theta": 100.0}
    try:
        configs = [
            CONFIG_MAPPING[family](rope_parameters=rule | {"partial_rotary_factor": share})
            for share in (1.0, 0.5)
        ]
        lengths = [len(rotary(family).compute_default_rope_parameters(config)[0]) for config in configs]
    except Exception as error:  # noqa: BLE001, because classes raise many kinds
        LOG.debug("%s has no share to ask for: %s", family, error)
        return False
    return lengths[0] == lengths[1]


def nested(rope: dict | None) -> bool:
    return any(isinstance(value, dict) for value in (rope or {}).values())


def rope(family: str) -> dict[str, object]:
    """What a class with RoPE takes for a missing base, share and rule, and which keys it does not read."""
    default = made(family).get("rope_parameters")
    if not default or "main" in default:  # DeepSeek-V4 has a reading of its own
        return {}
    bases = {key: made(family, **{key: ODD["rope_theta"]}).get("rope_parameters") for key in THETAS}
    scaled = made(family, rope_scaling=RULE).get("rope_parameters")
    if nested(default):
        if not nested(scaled):  # it takes no parameters but those of each type of layer
            return {"keys": {"rope_parameters": default}, "unread": sorted(ODD)}
        read = [key for key in THETAS if bases[key] != default]
        return {
            "keys": {"rope_theta": {kind: values["rope_theta"] for kind, values in default.items()}},
            "thetas": {THETAS[key]: key for key in read},
            "scaled": [kind for kind, values in scaled.items() if values["rope_type"] == "linear"],
            "unread": [key for key in ODD if key not in read],
        }
    entry = {"keys": {}, "aliases": {}, "unread": [], "whole": whole(family)}
    alone, plain = default, {key: value for key, value in default.items() if key not in ODD}
    for key, other in OTHERS.items():
        names = (key, *other)
        rules = {}, {"rope_scaling": RULE}, {"rope_scaling": plain}
        spellings = [name for name in names if any(reads(family, name, key, **rule) for rule in rules)]
        if any(reads(family, name, key) for name in names):
            alone = {name: value for name, value in alone.items() if name != key}
        entry["aliases"] |= {name: key for name in spellings if name != key}
        entry["unread"] += [key] * (key not in spellings)
        values = scaled or default  # LongRoPE's own refuse another rule
        if key in values:
            entry["keys"][key] = values[key]
    alone = {key: value for key, value in alone.items() if key not in ("max_position_embeddings", "type")}
    if alone != {"rope_type": "default"}:
        entry["keys"]["rope_parameters"] = alone
    return entry


def text(family: str) -> dict[str, object]:
    """Of a family that holds another one for its text: which, and whether a configuration may say it flat."""
    if "text_config" not in made(family):
        return {}
    inner = made(family, text_config={}).get("text_config") or made(family)["text_config"] or {}
    flat = made(family, hidden_size=12_288).get("text_config") or {}
    forced = made(family, text_config={"model_type": "unheard-of"}).get("text_config") or {}
    if not inner:
        return {}
    return {
        "text_keys": text_keys(family),
        "text": inner.get("model_type"),
        "flat": flat.get("hidden_size") == 12_288,
        "forced": forced.get("model_type") == inner.get("model_type"),
    }


def text_keys(family: str) -> dict[str, object]:
    """What the outer class puts into a text that lacks a key; nothing where the text's own class fills it."""
    about = CONFIG_MAPPING[family].sub_configs_defaults.get("text_config")
    put = {key: value for key, value in (about.init_kwargs if about else {}).items() if key in words()}
    inner = made(family, text_config={"vocab_size": 7}).get("text_config") or {}  # an empty one is as good as none
    alone = made(inner.get("model_type")) if inner else {}
    same = all(inner.get(key) == value for key, value in put.items() if key in inner)
    return put if same and any(inner.get(key) != alone.get(key) for key in put) else {}


def unlike(family: str, keys: dict[str, object]) -> list[str]:
    """The keys whose null the class takes where most classes do not, or does not take where most do."""
    whole, usual = made(family), known("keys", "not_null")
    # A width of a head that is null follows from these two, where they divide.
    wider = whole | {"hidden_size": 64 * whole.get("num_attention_heads", 0)}
    whole = wider if "num_attention_heads" in whole and made(family, **wider) else whole
    return [key for key in sorted(keys) if (not made(family, **whole | {key: None})) != (key in usual)]


def of(family: str) -> dict[str, object]:
    """The entry of a family."""
    if family not in rows():
        return text(family)
    turns, keys = rope(family), constants(family)
    keys |= turns.get("keys", {})
    aliases = {name: key for name, key in CONFIG_MAPPING[family].attribute_map.items() if key in keys}
    return {
        **turns,
        "keys": keys,
        "nulls": " ".join(unlike(family, keys)),
        "aliases": aliases | turns.get("aliases", {}),
    }


def entries() -> dict[str, dict]:
    """The whole file; nothing that is empty."""
    logging.disable(logging.WARNING)
    try:
        table = {family: of(family) for family in sorted(CONFIG_MAPPING)}
    finally:
        logging.disable(logging.NOTSET)
    table = {family: {name: part for name, part in entry.items() if part} for family, entry in table.items()}
    return {family: entry for family, entry in table.items() if entry}


def written(table: dict[str, dict]) -> str:
    """A line a family."""
    lines = (f"{json.dumps(family)}: {json.dumps(entry, sort_keys=True)}" for family, entry in table.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(written(entries()), "utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
