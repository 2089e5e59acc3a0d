"""What a missing key means: what the family's class in transformers takes for it, from `defaults.json`.

An entry has `keys` with their values, `aliases` for other names of keys, `unread` for keys that the class passes over,
and of a family with two kinds of layers that turn, by kind, `thetas` with the key of its base and `scaled` with those
that a scaling rule for all is for. Of a family that holds another one for its text it has the family of `text`,
`flat` where the keys may stand outside of `text_config`, and `forced` where the class passes over its `model_type`.
`python -m tests.parity.defaults` writes the file.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from .layer import by_name
from .own import DEFAULTS as OWN_CODE

# What code takes that asks its configuration for no base.
BUILT_IN = OWN_CODE | by_name({"codegen esm gptj roformer": {"rope_theta": 10_000.0}})
# Names that no class has in its map of attributes: of own code, or of keys that old files have.
ALIASES = {"bloom": {"n_embed": "hidden_size"}, "qwen": {"rotary_emb_base": "rope_theta", "rotary_pct": "partial_rotary_factor"}}
RULES = ("rope_parameters", "rope_scaling")


@cache
def entries() -> dict[str, dict]:
    return json.loads(files(__package__).joinpath("defaults.json").read_text("utf-8"))


def entry(family: str) -> dict:
    known = entries().get(family, {})
    return {**known, "aliases": {**known.get("aliases", {}), **ALIASES.get(family, {})}}


def renamed(family: str, values: Mapping) -> dict[str, object]:
    """The values by the names that the family's class has for them, without those that it does not read."""
    known = entry(family)
    aliases, unread = known.get("aliases", {}), known.get("unread", ())
    own = {key: value for key, value in values.items() if key not in unread and key not in aliases}
    return {aliases[key]: value for key, value in values.items() if key in aliases} | own


def missing(family: str, values: Mapping) -> dict[str, object]:
    """What the class takes for keys that are not among the values; of RoPE's parameters also for null."""
    keys = entry(family).get("keys", {}) | BUILT_IN.get(family, {})
    named = {key for key, value in values.items() if value or key not in RULES}
    return {
        key: value
        for key, value in keys.items()
        if key not in named and not (key == "rope_parameters" and named.intersection(RULES))
    }
