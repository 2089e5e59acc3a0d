"""Families whose queries and keys turn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from torch import Tensor

from ..encoding import Encoding
from ..rotary.normed import Normed
from ..transformer.temperature import power, steps
from .layer import Config, Layer, Reading
from .rotary import backward, parameters, rule_of, turning

ATTENTION = {"full_attention", "sliding_attention", "chunked_attention", "attention", "hybrid"}
PATTERNS = {
    "sliding_window_pattern",
    "_sliding_window_pattern",
    "global_attn_every_n_layers",
    "max_window_layers",
    "full_attn_idxs",
    "layer_group_size",
    "hybrid_layer_ids",
}
ELSE = {"linear_attention", "conv", "mamba", "recurrent", "moe", "mlp"}


@dataclass(frozen=True)
class Turning:
    """A family with RoPE, as data.

    layout, base, share (of a head's features) and dim (the keys of a head's size) hold where a configuration names no
    other. base is a number, or one for each type of layer; None where a configuration must name it. nope_layer_types are the types of layers in which nothing turns.
    window says that `sliding_window` is for all layers where they have no types. rope_is_last says that only the last
    `qk_rope_head_dim` features of a head turn, as in DeepSeek. mrope_layout is how M-RoPE deals its coordinates. types is
    from a configuration without `layer_types` to them. negate says that pairs turn the other way. extra are keys of
    `rope_parameters`, and ignored_keys those of the configuration, that are read here or do not speak of position. Where gate
    is a key and a value, a model with another value turns nothing. windowed_types are the types of layers with a window, and width
    finds it.
    """

    layout: str = "half"
    base: float | Mapping[str, float] | None = 10_000.0
    share: float = 1.0
    dim: tuple[str, ...] = ("head_dim",)
    hidden: tuple[str, ...] = ("hidden_size",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    depth: tuple[str, ...] = ("num_hidden_layers",)
    nope_layer_types: frozenset[str] = frozenset()
    nope_beside_windows: bool = False  # without windows all layers turn
    baseless: bool = False  # where the base is null, nothing turns
    window: bool = False
    rope_is_last: bool = False
    mrope_layout: str | None = None
    types: Callable[[Config, int], list[str]] | None = None
    negate: bool = False
    normed: str | None = None  # the key of the eps of a norm after the turn
    two_attentions: bool = False  # two attentions in each layer
    sinks: frozenset[str] = frozenset()
    temperature: Callable[[Config, Mapping, bool], Callable[[Tensor], Tensor] | None] | None = None
    counts: bool = False  # the temperature's positions are numbers of tokens
    gate: tuple[str, object] | None = None
    windowed_types: frozenset[str] = frozenset({"sliding_attention"})
    width: Callable[[Config], int | None] = lambda config: config.get("sliding_window")
    causal: bool = True
    extra: frozenset[str] = frozenset()
    ignored_keys: frozenset[str] = field(default=frozenset())

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        types, window = self.layer_types(config), self.width(config)
        depth = len(types)
        if config.get("use_sliding_window") is False:
            window = None
        said = parameters(config, self.base, self.share)
        nope = frozenset() if self.nope_beside_windows and window is None else self.nope_layer_types
        turns = self.turns(config, depth)
        layers = []
        for number, kind in enumerate(types):
            if kind in ELSE:
                layers.append(Layer(attends=False))
                continue
            if kind not in ATTENTION:
                raise ValueError(f"layer type {kind!r} of {family} is not understood")
            one = said[kind] if kind in said else said.get(None, {})
            if one is None and kind not in said and not self.baseless:
                raise ValueError("rope_parameters must have rope_theta, and have none")
            if one is not None and not one:
                raise ValueError(f"rope_parameters must have {kind!r}, and has {', '.join(map(repr, said))}")
            encoding, scale, features = None, 1.0, None
            open_ = self.gate is None or config.get(self.gate[0]) == self.gate[1]
            if one is not None and turns[number] and kind not in nope and open_:
                encoding, scale, features = self.encoding(config, one, tokens, number)
            temperature = self.temperature(config, one or {}, encoding is not None) if self.temperature else None
            layers.append(
                Layer(
                    encoding=encoding,
                    features=features,
                    window=window if kind in self.windowed_types else None,
                    chunk=config.get("attention_chunk_size") if kind == "chunked_attention" else None,
                    temperature=temperature,
                    counts=self.counts and temperature is not None,
                    scale=scale,
                    sinks=kind in self.sinks,
                )
            )
        return Reading(family, tuple(layers), causal=self.causal or bool(config.get("is_decoder")))

    def layer_types(self, config: Config) -> list[str]:
        types = config.get("layer_types") or config.get("layers_block_type")
        depth = config.first(*self.depth, default=types and len(types)) * (1 + self.two_attentions)
        if self.types is not None:
            types = self.types(config, depth) if types is None else types
            config.used |= PATTERNS  # which `layer_types` replaces
        if types is None:
            windowed = self.window and config.get("sliding_window") is not None
            types = ["sliding_attention" if windowed else "full_attention"] * depth
        if len(types) < depth:
            raise ValueError(f"layer_types must name {depth} layers; got {len(types)}")
        return types[:depth]

    def turns(self, config: Config, depth: int) -> list[bool]:
        """Which layers turn, where the configuration lists them; transformers calls those that do no_rope_layers."""
        listed = config.get("no_rope_layers")
        every = config.get("no_rope_layer_interval")
        if listed:
            return list(map(bool, listed))
        return [not every or (number + 1) % every != 0 for number in range(depth)]

    def encoding(
        self, config: Config, said: Mapping, tokens: int | None, number: int
    ) -> tuple[Encoding | None, float, tuple[int, int] | None]:
        listed = config.get("layer_rope_theta")
        if listed is not None:
            if not listed[number]:
                return None, 1.0, None
            said = {**said, "rope_theta": listed[number]}
        rule, scale = rule_of(said, config, tokens, self.extra | ({"mrope_section"} if self.mrope_layout else set()))
        rule = backward(rule) if self.negate else rule
        layout = self.layout
        if self.rope_is_last:
            nope, dim = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
            layout = "half" if config.get("rope_interleave") is False else layout
            return (
                turning({**said, "partial_rotary_factor": 1.0}, dim, layout, rule, None),
                scale,
                (nope, nope + dim),
            )
        dim = config.first(*self.dim, default=0) or config.first(*self.hidden) // config.first(*self.heads)
        single = {int(key): said for key, said in (config.get("per_layer_config") or {}).items()}  # "05", too
        dim = single.get(number, {}).get("head_dim", dim)
        rotary = config.get("rotary_dim")
        said = said if rotary is None else {**said, "partial_rotary_factor": rotary / dim}
        rope = turning(said, dim, layout, rule, self.mrope_layout)
        if rope is not None and self.normed:
            return Normed(rope, eps=config.first(self.normed, default=1e-5)), 1.0, None
        return rope, 1.0, None


# Types of layers where a configuration names none.


def every(period: int, first: str = "sliding_attention", last: str = "full_attention") -> Callable:
    """Each period-th layer is `last`, all others are `first`."""

    def types(config: Config, depth: int) -> list[str]:
        n = config.get("sliding_window_pattern") or config.get("global_attn_every_n_layers") or period
        return [first if (i + 1) % n else last for i in range(depth)]

    return types


def named(config: Config, depth: int) -> list[str]:
    """Layers differ, and no rule says how."""
    raise ValueError("config must have layer_types, and has none")


def in_groups(config: Config, depth: int) -> list[str]:
    """Bailing's: attention in the last layer of each group of `layer_group_size`."""
    n = config["layer_group_size"]
    return ["linear_attention" if (i + 1) % n else "full_attention" for i in range(depth)]


def late_windows(config: Config, depth: int) -> list[str]:
    """Qwen's: windows from layer `max_window_layers` on, where `use_sliding_window` says so."""
    windowed = config.get("use_sliding_window") and config.get("sliding_window") is not None
    full = config.get("max_window_layers") if windowed else depth
    if full is None:
        raise ValueError("config must have max_window_layers with use_sliding_window, and has none")
    return ["full_attention" if i < full else "sliding_attention" for i in range(depth)]


def named_attention(config: Config, depth: int) -> list[str]:
    """LFM 2's: attention in the layers that `full_attn_idxs` lists, a convolution in the others."""
    listed = config.get("full_attn_idxs")
    return ["full_attention" if listed is None or i in listed else "conv" for i in range(depth)]


def in_a_period(config: Config, depth: int) -> list[str]:
    """Jamba's: one attention layer in each `attn_layer_period`, the one of `attn_layer_offset`."""
    n, at = config["attn_layer_period"], config["attn_layer_offset"]
    return ["full_attention" if i % n == at else "mamba" for i in range(depth)]


def listed_attention(config: Config, depth: int) -> list[str]:
    """Bamba's: attention in the layers of `attn_layer_indices`."""
    listed = config.get("attn_layer_indices") or []
    return ["full_attention" if i in listed else "mamba" for i in range(depth)]


def blocks_in_turn(config: Config, depth: int) -> list[str]:
    """RecurrentGemma's: `block_types` over and over; attention has a window."""
    blocks = config["block_types"]
    return [
        "sliding_attention" if blocks[i % len(blocks)] == "attention" else "recurrent" for i in range(depth)
    ]


def recurrent(config: Config, depth: int) -> list[str]:
    """No layer attends."""
    return ["recurrent"] * depth


def chunks_where_it_turns(config: Config, depth: int) -> list[str]:
    """Llama 4's: chunks in the layers that turn."""
    listed, n = config.get("no_rope_layers"), config.get("no_rope_layer_interval") or 4
    turns = listed or [(i + 1) % n for i in range(depth)]
    return ["chunked_attention" if turn else "full_attention" for turn in turns]


# Temperatures


def llama4(config: Config, said: Mapping, turns: bool) -> Callable[[Tensor], Tensor] | None:
    length, scale = config.get("floor_scale"), config.get("attn_scale")
    if turns or not config.get("attn_temperature_tuning"):
        return None
    return partial(steps, length=length, scale=scale, counted=True)


def ministral(config: Config, said: Mapping, turns: bool) -> Callable[[Tensor], Tensor] | None:
    scale = said.get("llama_4_scaling_beta")
    return scale and partial(steps, length=said["original_max_position_embeddings"], scale=scale)


def beam(config: Config, said: Mapping, turns: bool) -> Callable[[Tensor], Tensor] | None:
    return None if turns else partial(power, length=2048, exponent=0.1)
