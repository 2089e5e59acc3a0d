"""Families that add positions to their input: a learned table, or sinusoids."""

from .keys import Keys, check_size
from .layer_types import in_turn
from .layers import layer, stack
from .schema import Encoding
from .tables import Refused, complete

LARGEST_TABLE = 1 << 24  # rows


def read_input(row: dict, keys: Keys) -> dict:
    kind = keys.get("position_embedding_type")
    if kind not in (None, "absolute"):
        raise Refused("absolute", family=keys.family, got=kind)
    depth, first = check_size(row["depth"][0], keys.first(*row["depth"])), row["before"]
    if row["padded"]:  # tokens count from the padding's number on, as in RoBERTa
        padding = keys.first("pad_token_id")
        if type(padding) is not int or padding < 0:
            raise Refused("padding", family=keys.family, got=padding)
        first = padding + 1
    bias = fixed_buckets(keys) if row["bias"] else None
    windows = in_turn(keys, depth) if row["windows"] else [None] * depth
    layers = {window: layer(encoding=bias, window=window) for window in dict.fromkeys(windows)}
    added = table_or_sinusoids(row, keys)
    if added["kind"] == "Learned" and added["length"] <= first:
        raise Refused("no_rows", key=row["length"][0], first=first, got=added["length"])
    return stack(
        [layers[window] for window in windows],
        input=added,
        first=first,
        causal=any([row["causal"], keys.get("is_decoder"), keys.get("causal")]),
        encoder=row["encoder"] and read_input(complete(row["encoder"]), keys),
    )


def table_or_sinusoids(row: dict, keys: Keys) -> Encoding:
    dim = check_size(row["dim"][0], keys.first(*row["dim"]))
    sinusoids = row["sinusoids"]
    if row["flag"] and keys.get(row["flag"]):
        sinusoids = {"layout": "interleaved", "endpoint": False}
    if sinusoids is None:
        length = check_size(row["length"][0], keys.first(*row["length"]))
        if length > LARGEST_TABLE:
            raise Refused("too_large", key=row["length"][0], limit=LARGEST_TABLE, got=length)
        return {"kind": "Learned", "length": length + row["before"], "dim": dim}
    if dim % 2:
        raise Refused("even_dim", key=row["dim"][0], got=dim)
    if sinusoids["endpoint"] and dim == 2:
        raise Refused("least_dim", key=row["dim"][0], got=dim)
    return {"kind": "Sinusoidal", "dim": dim, "base": 10_000.0, **sinusoids}


def fixed_buckets(keys: Keys) -> Encoding:
    """MPNet's: T5's buckets; the model cuts offsets into 32 of them, whatever size its table has."""
    buckets = keys.first("relative_attention_num_buckets", default=32)
    if buckets != 32:
        raise Refused("fixed_buckets", got=buckets)
    return t5_bias(keys.first("num_attention_heads"), 32, 128, bidirectional=True, shared=True)


def t5_bias(heads: object, buckets: int, max_distance: int, bidirectional: bool, shared: bool) -> Encoding:
    """T5's buckets, checked."""
    if buckets % 4:
        raise Refused("buckets", got=buckets)
    if max_distance <= buckets // 2:
        raise Refused("max_distance", half=buckets // 2, got=max_distance)
    return {
        "kind": "T5Bias",
        "heads": check_size("num_heads", heads),
        "buckets": buckets,
        "max_distance": max_distance,
        "bidirectional": bidirectional,
        "shared": shared,
    }
