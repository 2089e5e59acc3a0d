"""Files of a family that are like its class's, with a key dropped, null or changed, and with scaling in either spelling."""

from tests.parity import defaults, tiny
from tests.parity.families import fitted

LENGTH = 64
COMMON = {"rope_theta": 300.0, "factor": 4.0}
LISTS = {"short_factor": [1.0] * 4 + [1.5] * 4, "long_factor": [1.0] * 4 + [8.0] * 4}
RULES = {
    "default": {"rope_theta": 300.0},
    "linear": COMMON,
    "dynamic": COMMON,
    "yarn": COMMON | {"original_max_position_embeddings": LENGTH},
    "llama3": COMMON
    | {"original_max_position_embeddings": LENGTH, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "longrope": COMMON | {"original_max_position_embeddings": LENGTH} | LISTS,
}


def dropped(family: str) -> dict[str, dict]:
    """Every key that the reader's code knows is dropped, null and doubled; the others are dropped together."""
    whole, known = defaults.made(family), defaults.words()
    files = {f"no {key}": {k: v for k, v in whole.items() if k != key} for key in known.intersection(whole)}
    files["known alone"] = {k: v for k, v in whole.items() if k in known or k == "model_type"}
    files["nothing"] = {"model_type": family}
    small = tiny.data(fitted(family))
    for key in known.intersection(small):
        files[f"no {key}, small"] = {k: v for k, v in small.items() if k != key}
        files[f"null {key}, small"] = small | {key: None}
        if type(small[key]) in (int, float) and small[key] > 0:
            files[f"twice {key}, small"] = small | {key: 2 * small[key]}
    return files


def without_one() -> dict[str, dict]:
    """A small Llama with each rule, of whose keys one is missing or null."""
    small = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1}
    small |= {"max_position_embeddings": 4 * LENGTH}
    files = {}
    for rule, keys in RULES.items():
        keys = {"rope_type": rule, **keys} | ({"truncate": True} if rule == "yarn" else {})
        for key in [name for name in keys if name not in ("rope_type", "rope_theta")]:
            less = {name: value for name, value in keys.items() if name != key}
            files[f"{rule}, no {key}"] = small | {"rope_parameters": less}
            files[f"{rule}, null {key}"] = small | {"rope_parameters": {**less, key: None}}
    return files


def sections(small: dict) -> dict:
    """The pairs of each coordinate, which a family's code takes by default for heads of the usual size alone."""
    rope = small.get("rope_parameters") or {}
    return {key: rope[key] for key in ("mrope_section",) if key in rope}


def scaled(family: str) -> dict[str, dict]:
    """As transformers 4 writes it, with and without types of layers, and as 5 does."""
    small = tiny.data(fitted(family))
    bare = {key: value for key, value in small.items() if key not in ("rope_parameters", *defaults.ODD)}
    files = {}
    for rule, keys in RULES.items():
        keys = keys | sections(small)
        old = {key: value for key, value in keys.items() if key != "rope_theta"}
        files[f"{rule}, 4"] = bare | {"rope_theta": 300.0, "rope_scaling": {"type": rule} | old}
        files[f"{rule}, late 4"] = bare | {"rope_theta": 300.0, "rope_scaling": {"rope_type": rule} | old}
        files[f"{rule}, 5"] = bare | {"rope_parameters": {"rope_type": rule} | keys}
        files[f"{rule}, half"] = files[f"{rule}, 4"] | {"partial_rotary_factor": 0.5}
        kinds = set(small.get("layer_types") or ()) & {"full_attention", "sliding_attention"}
        if kinds:
            files[f"{rule}, by layers"] = bare | {
                "rope_parameters": {k: {"rope_type": rule} | keys for k in kinds}
            }
    return files
