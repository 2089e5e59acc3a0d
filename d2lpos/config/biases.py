"""Families that add a bias to their scores."""

import math

from .inputs import t5_bias
from .keys import Keys, check_size
from .layers import layer, stack
from .rules import is_number
from .tables import Refused, words


def read_buckets(row: dict, keys: Keys) -> dict:
    """T5 and its kin: an encoder and a decoder, each with one table of biases for all layers, or one a layer."""
    depth = check_size("num_layers", keys.first("num_layers"))
    sizes = [
        keys.first("relative_attention_num_buckets", default=32),
        keys.first("relative_attention_max_distance", default=128),
    ]
    scale, parts = math.sqrt(keys.first("d_kv")), []  # scores are not divided by √d
    for layers, causal in ((depth, False), (keys.get("num_decoder_layers") or depth, True)):
        bias = t5_bias(keys.first("num_heads"), *sizes, bidirectional=not causal, shared=row["shared"])
        parts.append(stack([layer(encoding=bias, scale=scale)] * layers, causal=causal))
    encoder, decoder = parts
    return {**decoder, "encoder": encoder}


def read_slopes(row: dict, keys: Keys) -> dict:
    """ALiBi; `within` is a dictionary of the file with keys of its own."""
    place = row["within"]
    inner = keys.get(place) or {} if place else {}
    if inner.get("alibi") is False or inner.get("rope"):
        raise Refused("slopes", key=place, family=keys.family, got=inner)
    for key, value in inner.items():
        if key not in words("keys", "slopes") | words("keys", "silent") and value not in (None, False):
            raise Refused("strange_key_of", key=key, place=place, family=keys.family, got=value)
    octaves = inner.get("alibi_bias_max") or 8
    if not is_number(octaves) or octaves <= 0:
        raise Refused("positive", key="alibi_bias_max", got=octaves)
    if octaves > 126:
        raise Refused("octaves", key="alibi_bias_max", got=octaves)
    bias = {
        "kind": "ALiBi",
        "heads": check_size(row["heads"][0], keys.first(*row["heads"])),
        "octaves": octaves,
        "divided": keys.divided(["hidden_size"], row["heads"]) if row["divided"] else None,
    }
    return stack([layer(encoding=bias)] * check_size(row["depth"][0], keys.first(*row["depth"])))


def read_deberta(row: dict, keys: Keys) -> dict:
    """DeBERTa: two terms of offsets in each layer, and a table where `position_biased_input` says so."""
    terms = keys.get("pos_att_type") or []
    terms = terms.split("|") if isinstance(terms, str) else terms
    relative = keys.get("relative_attention")
    if relative and sorted(term.strip() for term in terms) != ["c2p", "p2c"]:
        raise Refused("two_terms", family=keys.family, got=terms)
    if row["logarithms"] and keys.get("conv_kernel_size"):
        raise Refused("mixes", key="conv_kernel_size", family=keys.family)
    heads, hidden = keys.first("num_attention_heads"), keys.first("hidden_size")
    length = check_size("cells", keys.first("max_position_embeddings"))
    largest, clip = keys.get("max_relative_positions") or -1, keys.get("position_buckets") or -1
    largest = length if largest < 1 else check_size("max_relative_positions", largest)
    logarithms = row["logarithms"] and clip > 0
    if logarithms and (clip % 2 or largest <= clip):
        raise Refused("clip", largest=largest, got=clip)
    offsets = {
        "kind": "DeBERTa",
        "heads": heads,
        "features": check_size("hidden_size", hidden // heads),
        "clip": clip if logarithms else largest,
        "largest": largest if logarithms else None,
    }
    one = layer(encoding=offsets, scale=1 / math.sqrt(3)) if relative else layer()
    width = check_size("embedding_size", keys.first("embedding_size", "hidden_size"))
    table = {"kind": "Learned", "length": length, "dim": width}
    return stack(
        [one] * keys.first("num_hidden_layers"),
        input=table if keys.get("position_biased_input", True) else None,
        causal=False,
    )
