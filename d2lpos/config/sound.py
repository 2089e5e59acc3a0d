"""Families that hear: a convolution over the frames, or sinusoids of offsets in each layer."""

from .keys import Keys, check_size
from .layers import layer, stack
from .tables import Refused


def read_sound(row: dict, keys: Keys) -> dict:
    depth = check_size("num_hidden_layers", keys.first("num_hidden_layers"))
    dim = check_size("hidden_size", keys.first("hidden_size"))
    shares = "num_attention_heads" if row["relative"] else "num_conv_pos_embedding_groups"
    parts = check_size(shares, keys.first(shares))
    if dim % parts:
        raise Refused("multiple", key="hidden_size", other=shares, by=parts, got=dim)
    if row["relative"]:
        if dim % 2:
            raise Refused("even_dim", key="hidden_size", got=dim)
        terms = {"kind": "TransformerXL", "dim": dim, "heads": parts}
        return stack([layer(encoding=terms)] * depth, causal=False)
    kernel = check_size("num_conv_pos_embeddings", keys.first("num_conv_pos_embeddings"))
    added = {"kind": "Convolutional", "dim": dim, "kernel": kernel, "groups": parts}
    return stack([layer()] * depth, input=added, causal=False)
