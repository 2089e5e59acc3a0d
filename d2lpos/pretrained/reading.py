"""`encoding_of`: from a configuration to what turns, biases or adds in each layer."""

import re
from collections.abc import Mapping

from .families import FAMILIES, READ_BY, REFUSED
from .layer import Config, Reading

__all__ = ["encoding_of"]

# A key with one of these words may speak of position, and is read or refused.
SUSPECT = re.compile(
    r"pos(ition|_|$)|rope|rotary|theta|alibi|slid|window|chunk|local_|layer_types|attention_types|nope|sinks?$|temper|"
    r"relative|bucket|distance|axial|freq|yarn|ntk|long_|interleave$|clamp|span|mscale|log_scaling|radius|floor_scale|"
    r"attn_scale|bidirectional|alpha_factor|causal|block_types|sinusoid|attn_layer_|full_attn|swa_|per_layer_config|block_type"
)
# Keys that speak of the size of a text, of training, or of something else by the same word.
ASIDE = re.compile(
    r"(mamba_)?chunk_size(_feed_forward)?|n_positions|max_(source|target)_positions|max_position_embeddings|time_step.*|"
    r"mlp_layer_types|num_local_experts|.*_(alpha|beta)_factor|image_seq_length|interleave_moe_layer_step|mtp_.*|"
    r"qk_nope_head_dim|apply_residual_.*"
)


def encoding_of(config: object, tokens: int | None = None) -> Reading:
    """What a configuration says about position, layer by layer.

    config is a `config.json` as a dictionary, as transformers 4 or 5 writes it, or a configuration of transformers.
    One that holds a `text_config` is read for its text. tokens is the length of the text that will be read, which
    dynamic NTK and LongRoPE depend on. Raises TypeError for another config; ValueError for a family that is not
    known or whose positions no reading says, for a key or a value about position that is not understood, and
    without tokens where these count.

    Learned tables come untrained, in the right size: the weights are the model's.

    >>> sizes = {"hidden_size": 64, "num_attention_heads": 4}
    >>> llama = {"model_type": "llama", "num_hidden_layers": 2, **sizes}
    >>> rope = encoding_of(llama | {"rope_theta": 5e5}).encodings[0]
    >>> rope.dim, rope.base, rope.layout
    (16, 500000.0, 'half')
    """
    values = config if isinstance(config, Mapping) else getattr(config, "to_dict", lambda: None)()
    if not isinstance(values, Mapping):
        raise TypeError(
            f"config must be a dictionary or a configuration of transformers; got {type(config).__name__}"
        )
    family = values.get("model_type")
    if family in REFUSED:
        raise ValueError(f"model_type {family!r} is refused: {REFUSED[family]}")
    if family not in FAMILIES and isinstance(values.get("text_config"), Mapping):
        return encoding_of({"model_type": f"{family}_text", **values["text_config"]}, tokens)
    if family not in FAMILIES:
        raise ValueError(f"model_type {family!r} is not known")
    read = Config(values, hidden=frozenset(key for key, readers in READ_BY.items() if family not in readers))
    family_row = FAMILIES[family]
    found = family_row.read(family, read, tokens)
    for key, value in values.items():
        if key == "use_bidirectional_attention" and value == "vision":
            continue  # words see as ever
        suspect = SUSPECT.search(key) and not ASIDE.fullmatch(key)
        if suspect and key not in read.used | set(family_row.aside) and value not in (None, False, [], {}):
            raise ValueError(f"key {key!r} of {family} is not understood; its value is {value!r}")
    return found
