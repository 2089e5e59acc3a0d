"""Families whose queries and keys turn: what each layer does, by its type."""

from .indexers import with_blocks, with_indexers
from .keys import Keys
from .layer_types import TURNS, types_of
from .layers import layer, stack
from .rope import OWN, Parameters, by_types
from .rules import check_number, need
from .schema import Layer, Temperature
from .tables import Refused, words
from .turn import NOTHING, turn_of


def read_rope(row: dict, keys: Keys) -> dict:
    types = types_of(row, keys)
    windows = keys.get("use_sliding_window") is not False
    window = width_of(row, keys) if windows else None
    keys.pass_over(() if windows else ("sliding_window",))
    rules = OWN[row["parameters"]](keys, types) if row["parameters"] else by_types(keys)
    turns = TURNS[row["turns"]](keys, len(types))
    still = set() if row["nope_beside_windows"] and window is None else set(row["nope_layer_types"].split())
    unlike = any(keys.get(key) for key in ("layer_rope_theta", "rope_scaling_layers", "per_layer_config"))
    once: dict[tuple, Layer] = {}
    layers = []
    for number, kind in enumerate(types):
        turning = turns[number] and kind not in still and not row["silent"]
        same = (kind, turning, number if unlike else None)
        if same not in once:
            once[same] = one_layer(row, keys, rules, number, kind, turning, window)
        layers.append(once[same])
    if row["indexer"]:
        layers = with_blocks(keys, layers, types) if row["blocks"] else with_indexers(row, keys, layers)
    ahead = keys.get("is_causal") is False or keys.get("use_bidirectional_attention") is True
    causal = row["causal"] and not ahead or bool(keys.get("is_decoder"))
    return stack(layers, causal=causal, rules={} if row["silent"] else rules)


def one_layer(
    row: dict, keys: Keys, rules: dict, number: int, kind: str, turning: bool, window: int | None
) -> Layer:
    """What layer `number` of this type does; turning says whether anything may turn in it."""
    if kind in words("families", "layers", "else"):
        return layer(type=kind, attends=False)
    if kind == "cross_attention":
        return layer(type=kind, crosses=True)
    sparse = row["indexer"] and kind in words("families", "layers", "sparse")
    if kind not in words("families", "layers", "attention") and not sparse:
        raise Refused("layer_type", got=kind, family=keys.family)
    parameters = parameters_for(row, rules, kind)
    gate = row["gate"]
    opened = gate is None or keys.get(gate["key"]) == gate["value"]
    if parameters is not None and turning and opened:
        encoding, scale, features = turn_of(row, keys, parameters, number, kind)
    else:
        encoding, scale, features = NOTHING
    grows = row["temperature"] and TEMPERATURES[row["temperature"]](
        keys, parameters or {}, encoding is not None
    )
    return layer(
        type=kind,
        encoding=encoding,
        features=features,
        window=window if kind in row["windowed_types"].split() else None,
        chunk=keys.get("attention_chunk_size") if kind == "chunked_attention" else None,
        temperature=grows or None,
        counts=row["counts"] and bool(grows),
        scale=scale,
        sinks=kind in row["sinks"].split(),
    )


def parameters_for(row: dict, rules: dict, kind: str) -> Parameters | None:
    """RoPE's parameters for a type of layer; None where nothing turns."""
    parameters = rules[kind] if kind in rules else rules.get("", {})
    if parameters is None and kind not in rules and not row["baseless"]:
        raise Refused("no_base")
    if parameters is not None and not parameters:
        raise Refused("no_parameters_for", kind=kind, names=list(rules))
    return parameters


def width_of(row: dict, keys: Keys) -> int | None:
    """How wide a window is, by the first of the row's ways whose key is there; None where no key says it.

    An `own` key counts where the file has it, and one with `where` beside that flag. A window is half as wide as its key says,
    or `more` for a token that its key does not count.
    """
    widths = []
    for way in row["width"]:
        key, width = way["key"], None
        if way.get("own"):
            width = keys.own.get(key)
            keys.pass_over((key,))
        else:
            width = keys.get(key)
        if width is not None and ("where" not in way or keys.get(way["where"])):
            widths.append((width // 2 if way.get("half") else width) + way.get("more", 0))
    return widths[0] if widths else None


# What queries are multiplied by.


def steps_where_nothing_turns(keys: Keys, parameters: Parameters, turns: bool) -> Temperature | None:
    """Llama 4's."""
    length, scale = keys.get("floor_scale"), keys.get("attn_scale")
    if turns or not keys.get("attn_temperature_tuning"):
        return None
    return {"kind": "steps", "length": length, "scale": scale, "counted": True}


def steps_by_beta(keys: Keys, parameters: Parameters, turns: bool) -> Temperature | None:
    """Ministral 3's."""
    scale = check_number("llama_4_scaling_beta", parameters.get("llama_4_scaling_beta"))
    if not scale:
        return None
    return {
        "kind": "steps",
        "length": need(parameters, "yarn", "original_max_position_embeddings"),
        "scale": scale,
    }


def power_where_nothing_turns(keys: Keys, parameters: Parameters, turns: bool) -> Temperature | None:
    """Beam's."""
    return None if turns else {"kind": "power", "length": 2048, "exponent": 0.1}


TEMPERATURES = {
    "steps_where_nothing_turns": steps_where_nothing_turns,
    "steps_by_beta": steps_by_beta,
    "power_where_nothing_turns": power_where_nothing_turns,
}
