"""Families whose queries and keys turn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor

from ..encoding import Encoding
from ..rotary.normed import Normed
from ..rotary.rope import RoPE
from ..transformer.temperature import power, steps
from .layer import Config, Family, Layer, Reading, divided
from .rotary import backward, given_rule, need, parameters, rule_of, turning

ATTENTION = {
    "full_attention",
    "sliding_attention",
    "chunked_attention",
    "attention",
    "hybrid",
    "hybrid_sliding",
}
# Which `layer_types` replaces.
PATTERNS = {
    "_sliding_window_pattern", "full_attention_interval", "full_attn_idxs", "global_attn_every_n_layers",
    "hybrid_layer_ids", "hybrid_layer_pattern", "hybrid_override_pattern", "layer_group_size", "linear_attn_config",
    "max_window_layers", "mtp_hybrid_override_pattern", "sliding_window_pattern",
}  # fmt: skip
SPARSE = {"indexed_attention", "deepseek_sparse_attention", "minimax_m3_sparse"}
ELSE = {"linear_attention", "conv", "mamba", "recurrent", "moe", "mlp"}


def sliding_window(config: Config) -> int | None:
    return config.get("sliding_window")


def turning_layers(config: Config, depth: int) -> list[bool]:
    """Which layers turn, where a configuration lists them; transformers calls those that do no_rope_layers."""
    listed, n = config.get("no_rope_layers"), config.get("no_rope_layer_interval")
    if listed and len(listed) < depth:
        raise ValueError(f"no_rope_layers must have a number for each of {depth} layers; got {len(listed)}")
    return list(map(bool, listed)) if listed else [not n or (i + 1) % n != 0 for i in range(depth)]


@dataclass(frozen=True)
class Turning(Family):
    """A family with RoPE, as data.

    layout is how pairs lie, and dim are the keys of a head's size. nope_layer_types are the types of layers in which
    nothing turns.
    window says that `sliding_window` is for all layers where they have no types. rope_is_last says that only the last
    `qk_rope_head_dim` features of a head turn, as in DeepSeek. mrope_layout is how M-RoPE deals its coordinates, and
    sections how many pairs each gets where no key says it. types is from a configuration without `layer_types` to them,
    and turns to which layers turn. negate says that pairs turn the other way. extra are keys of `rope_parameters` that
    are read here or do not speak of position. Where gate is a key and a value, a model with another value turns nothing.
    windowed_types are the types of layers with a window, and width finds it.
    """

    layout: str = "half"
    dim: tuple[str, ...] = ("head_dim",)
    wide: int = 1  # or how many times hidden size by heads, where no key says it
    full_dim: tuple[str, int] | None = (
        None  # the key of a head's size in layers that see all, and its default
    )
    hidden: tuple[str, ...] = ("hidden_size",)
    heads: tuple[str, ...] = ("num_attention_heads",)
    depth: tuple[str, ...] = ("num_hidden_layers",)
    nope_layer_types: frozenset[str] = frozenset()
    nope_beside_windows: bool = False  # without windows all layers turn
    baseless: bool = False  # where the base is null, nothing turns
    window: bool = False
    rope_is_last: bool = False
    mrope_layout: str | None = None
    sections: tuple[int, ...] = ()
    types: Callable[[Config, int], list[str]] | None = None
    negate: bool = False
    normed: str | None = None  # the key of the eps of a norm after the turn
    listed: bool = False  # the list of layers says how many there are
    two_attentions: bool = False  # two attentions in each layer
    indexer: str | None = None  # the layout in which another, smaller attention turns that chooses the keys
    sinks: frozenset[str] = frozenset()
    rope: Callable[[Config, list[str]], dict] | None = (
        None  # its parameters by type of layer, where it has a way of its own
    )
    temperature: Callable[[Config, Mapping, bool], Callable[[Tensor], Tensor] | None] | None = None
    counts: bool = False  # the temperature's positions are numbers of tokens
    gate: tuple[str, object] | None = None
    windowed_types: frozenset[str] = frozenset({"sliding_attention"})
    turns: Callable[[Config, int], list[bool]] = turning_layers
    width: Callable[[Config], int | None] = sliding_window
    causal: bool = True
    extra: frozenset[str] = frozenset()

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        types = self.layer_types(config)
        depth, windowed = len(types), config.get("use_sliding_window") is not False
        window = self.width(config) if windowed else None
        config.pass_over(("sliding_window",) * (not windowed))
        said = self.rope(config, types) if self.rope else parameters(config)
        nope = frozenset() if self.nope_beside_windows and window is None else self.nope_layer_types
        turns = self.turns(config, depth)
        layers = []
        for number, kind in enumerate(types):
            if kind in ELSE:
                layers.append(Layer(attends=False))
                continue
            if kind == "cross_attention":
                layers.append(Layer(crosses=True))
                continue
            if kind not in ATTENTION and not (self.indexer and kind in SPARSE):
                raise ValueError(f"layer type {kind!r} of {family} is not understood")
            one = said[kind] if kind in said else said.get(None, {})
            if one is None and kind not in said and not self.baseless:
                raise ValueError("rope_parameters must have rope_theta, and have none")
            if one is not None and not one:
                raise ValueError(f"rope_parameters must have {kind!r}, and has {', '.join(map(repr, said))}")
            encoding, scale, features = None, 1.0, None
            open_ = self.gate is None or config.get(self.gate[0]) == self.gate[1]
            if one is not None and turns[number] and kind not in nope and open_:
                encoding, scale, features = self.encoding(config, one, tokens, number, kind)
            temperature = (
                self.temperature(config, one or {}, encoding is not None) if self.temperature else None
            )
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
        if self.indexer:
            layers = self.indexed(config, layers, types)
        ahead = config.get("is_causal") is False or config.get("use_bidirectional_attention") is True
        causal = (self.causal and not ahead) or bool(config.get("is_decoder"))
        return Reading(family, tuple(layers), causal=causal)

    def indexed(self, config: Config, layers: list[Layer], types: list[str]) -> list[Layer]:
        owns = indexers(config, len(types))
        return [self.with_indexer(config, layer, own) for layer, own in zip(layers, owns, strict=True)]

    def with_indexer(self, config: Config, layer: Layer, own: bool) -> Layer:
        """The layer beside an attention of `index_head_dim` features a head whose best `index_topk` keys it sees.

        Where it has none of its own, it sees the keys that were chosen last.
        """
        said = config.get("indexer_rope_interleave")
        layout = self.indexer if said is None else "interleaved" if said else "half"
        if layout != self.indexer:
            raise ValueError(
                f"indexer_rope_interleave must be {not said}, or its code does something else; got {said}"
            )
        rope = at_size(layer.encoding, config["index_head_dim"], layout)
        return replace(layer, indexer=rope if own else None, keys=config["index_topk"])

    def layer_types(self, config: Config) -> list[str]:
        types = config.get("layer_types") or config.get("layers_block_type")
        config.pass_over(PATTERNS if self.types else ())
        if self.listed:
            return types or self.types(config, 0)
        depth = config.first(*self.depth, default=types and len(types)) * (1 + self.two_attentions)
        if self.types is not None:
            types = self.types(config, depth) if types is None else types
        if types is None:
            windowed = self.window and config.get("sliding_window") is not None
            types = ["sliding_attention" if windowed else "full_attention"] * depth
        more = config.get("num_nextn_predict_layers") or 0  # which some files list behind the others
        if len(types) not in (depth, depth + more):
            raise ValueError(f"layer_types must name {depth} layers; got {len(types)}")
        return types[:depth]

    def encoding(
        self, config: Config, said: Mapping, tokens: int | None, number: int, kind: str
    ) -> tuple[Encoding | None, float, tuple[int, int] | None]:
        listed = config.get("layer_rope_theta")
        if listed is not None:
            if len(listed) <= number:
                raise ValueError(f"layer_rope_theta must have a number for each layer; got {len(listed)}")
            if not listed[number]:
                return None, 1.0, None
            said = {**said, "rope_theta": listed[number]}
        scaled = config.get("rope_scaling_layers")
        if scaled is not None and number not in scaled:
            said = {key: said[key] for key in ("rope_theta", "partial_rotary_factor")}
        if self.sections and not said.get("mrope_section"):
            said = {**said, "mrope_section": list(self.sections)}
        said = {**said, "partial_rotary_factor": 1.0} if self.rope_is_last else said
        rule, scale = rule_of(
            said, config, tokens, self.extra | ({"mrope_section"} if self.mrope_layout else set())
        )
        rule = backward(rule) if self.negate else rule
        layout = self.layout
        if self.rope_is_last:
            nope, dim = config.first("qk_nope_head_dim"), config.first("qk_rope_head_dim")
            layout = "half" if config.get("rope_interleave") is False else layout
            return turning(said, dim, layout, rule, None), scale, (nope, nope + dim)
        dim = config.first(*self.dim, default=0) or self.wide * divided(config, self.hidden, self.heads)
        single = {}
        for key, one in (config.get("per_layer_config") or {}).items():
            if not isinstance(one, Mapping):
                raise ValueError(f"per_layer_config must have dictionaries; {key!r} has {one!r}")  # noqa: TRY004
            single[int(key)] = one  # "05", too
        if self.full_dim and "per_layer_config" not in config.given and kind == "full_attention":
            dim = config.first(self.full_dim[0], default=self.full_dim[1])
        dim = single.get(number, {}).get("head_dim", dim)
        if (rotary := config.get("rotary_dim")) is not None:
            share = config.given.get("partial_rotary_factor", given_rule(config).get("partial_rotary_factor"))
            if share is not None and int(dim * share) != rotary:
                raise ValueError(
                    f"rotary_dim and partial_rotary_factor must agree on {dim} features; got {rotary} and {share}"
                )
            said = {**said, "partial_rotary_factor": rotary / dim}
        rope = turning(said, dim, layout, rule, self.mrope_layout, config.known.get("whole", False))
        if rope is not None and self.normed:
            return Normed(rope, eps=config.first(self.normed, default=1e-5)), 1.0, None
        return rope, 1.0, None


# Types of layers where a configuration names none.


def every(
    period: int,
    others: str = "sliding_attention",
    at: int = -1,
    ends: tuple[int, ...] = (),
    key: str | None = None,
) -> Callable:
    """Layers i with i % period == at % period see all, the others do as `others` says; so do those of `ends`.

    key names the period in a configuration.
    """
    return partial(in_periods, period=period, others=others, at=at, ends=ends, key=key)


def in_periods(
    config: Config, depth: int, period: int, others: str, at: int, ends: tuple[int, ...], key: str | None
) -> list[str]:
    n = config.first(key, default=period) if key else period
    if type(n) is not int or n < 1:
        raise ValueError(
            f"{key} must be a whole number of at least 1 where there are no layer_types; got {n!r}"
        )
    found = ["full_attention" if (i - at) % n == 0 else others for i in range(depth)]
    for end in ends:
        found[end] = "full_attention"
    return found


def every_fourth_from_the_last(config: Config, depth: int) -> list[str]:
    """Muse's: the last layer and each fourth before it see all, the others have a window."""
    return ["sliding_attention" if (depth - 1 - i) % 4 else "full_attention" for i in range(depth)]


def alike(kind: str) -> Callable:
    """All layers are of one kind."""
    return partial(of_one_kind, kind=kind)


def of_one_kind(config: Config, depth: int, kind: str) -> list[str]:
    return [kind] * depth


def late_windows(config: Config, depth: int) -> list[str]:
    """Qwen's: windows from layer `max_window_layers` on, where `use_sliding_window` says so."""
    windowed = config.get("use_sliding_window", True) and config.get("sliding_window") is not None
    full = config.first("max_window_layers") if windowed else depth
    return ["full_attention" if i < full else "sliding_attention" for i in range(depth)]


def early_windows(config: Config, depth: int) -> list[str]:
    """Qwen2-MoE's: windows in every other layer before `max_window_layers`, where `use_sliding_window` says so."""
    windowed = config.get("use_sliding_window") and config.get("sliding_window") is not None
    last = config.first("max_window_layers") if windowed else 0
    return ["sliding_attention" if i < last and i % 2 == 0 else "full_attention" for i in range(depth)]


def windows_without_turns(config: Config, depth: int) -> list[str]:
    """SmolLM 3's: windows in the layers that do not turn, where `use_sliding_window` says so."""
    windowed = config.get("use_sliding_window") and config.get("sliding_window") is not None
    return [
        "full_attention" if turn or not windowed else "sliding_attention"
        for turn in turning_layers(config, depth)
    ]


def by_letters(config: Config, depth: int) -> list[str]:
    """Nemotron-H's `hybrid_override_pattern`: * attends, M is a recurrence, - and E are networks."""
    letters = {"*": "full_attention", "M": "recurrent", "-": "mlp", "E": "moe"}
    pattern = config.get("hybrid_override_pattern")
    if pattern is None:
        return ["recurrent", "moe", "full_attention", "mlp"]
    if not set(pattern) <= set(letters):
        raise ValueError(f"hybrid_override_pattern must have letters of {' '.join(letters)}; got {pattern!r}")
    return [letters[letter] for letter in pattern]


def by_groups(config: Config, depth: int) -> list[str]:
    """Kimi Linear's: `linear_attn_config` lists the layers that attend, from 1 on; else every fourth but the first."""
    said = config.get("linear_attn_config") or {}
    if "full_attn_layers" in said and "kda_layers" in said:
        full = [number - 1 for number in said["full_attn_layers"]]
        return ["full_attention" if i in full else "linear_attention" for i in range(depth)]
    return ["full_attention" if i and i % 4 == 0 else "linear_attention" for i in range(depth)]


def convolutions_between(config: Config, depth: int) -> list[str]:
    """LFM 3's: convolutions in every odd layer and the first; between them windows and full attention by turns."""
    kinds = ["sliding_attention", "conv", "full_attention", "conv"]
    return ["conv" if i == 0 else kinds[i % 4] for i in range(depth)]


def third_and_in_a_period(config: Config, depth: int) -> list[str]:
    """Zamba's: attention in the third layer, then in one of each `attn_layer_period` of those after it."""
    n, at = config.first("attn_layer_period"), config["attn_layer_offset"]
    return (
        ["linear_attention"] * 2
        + ["hybrid"]
        + ["hybrid" if i % n == at else "linear_attention" for i in range(depth - 3)]
    )


def of_54_layers(config: Config, depth: int) -> list[str]:
    """Zamba 2's: those of the model with 54 layers, whatever the depth is."""
    found = ["linear_attention", *(["linear_attention"] * 5 + ["hybrid"]) * 7]
    for run in (4, 3):
        found += ["linear_attention"] * run + ["hybrid"]
    return found + ["linear_attention"] * 2


def named_attention(config: Config, depth: int) -> list[str]:
    """LFM 2's: attention in the layers that `full_attn_idxs` lists, a convolution in the others."""
    listed = config.get("full_attn_idxs")
    return ["full_attention" if listed is None or i in listed else "conv" for i in range(depth)]


def in_a_period(config: Config, depth: int) -> list[str]:
    """Jamba's: one attention layer in each `attn_layer_period`, the one of `attn_layer_offset`."""
    n, at = config.first("attn_layer_period"), config["attn_layer_offset"]
    return ["full_attention" if i % n == at else "recurrent" for i in range(depth)]


def listed_attention(config: Config, depth: int) -> list[str]:
    """Bamba's: attention in the layers of `attn_layer_indices`."""
    listed = config.get("attn_layer_indices") or []
    return ["full_attention" if i in listed else "recurrent" for i in range(depth)]


def listed_crossings(config: Config, depth: int) -> list[str]:
    """Llama 3.2's: layers of `cross_attention_layers` see a picture, and none of the text."""
    listed = config.get("cross_attention_layers")
    listed = range(3, 40, 5) if listed is None else listed
    return ["cross_attention" if i in listed else "full_attention" for i in range(depth)]


def blocks_in_turn(config: Config, depth: int) -> list[str]:
    """RecurrentGemma's: `block_types` over and over; attention has a window."""
    blocks = config["block_types"]
    if not blocks:
        raise ValueError("block_types must name a layer; got none")
    return [
        "sliding_attention" if blocks[i % len(blocks)] == "attention" else "recurrent" for i in range(depth)
    ]


def chunks_where_it_turns(config: Config, depth: int) -> list[str]:
    """Llama 4's: chunks in the layers that turn."""
    return ["chunked_attention" if turn else "full_attention" for turn in turning_layers(config, depth)]


def but_every_fourth_from_the_last(config: Config, depth: int) -> list[bool]:
    """Muse's, where `layer_rope_theta` says no other: the last layer and each fourth before it do not turn."""
    listed = config.get("layer_rope_theta") is not None
    return [listed or (depth - 1 - i) % 4 != 0 for i in range(depth)]


def at_size(turned: RoPE, dim: int, layout: str = "half") -> RoPE:
    """The same turn in heads of another size."""
    return RoPE(dim, turned.base, layout, turned.rotary, turned.scaling)


def indexers(config: Config, depth: int) -> list[bool]:
    """Which layers have an indexer of their own; GLM's rule, and all of them where no key speaks of it."""
    n = max(config.first("index_topk_freq", default=1), 1)
    first = config.first("index_skip_topk_offset", default=2)
    both = {key: kinds for key in ("indexer_types", "index_topk_pattern") if (kinds := config.get(key))}
    for key, kinds in both.items():
        if len(kinds) < depth:
            raise ValueError(f"{key} must name {depth} layers; got {len(kinds)}")
        return [kind in ("full", "F") for kind in kinds[:depth]]
    return [max(i - first + 1, 0) % n == 0 for i in range(depth)]


@dataclass(frozen=True)
class InBlocks(Turning):
    """MiniMax-M3: in layers of its own type an indexer, which turns as they do, chooses whole blocks of keys."""

    def indexed(self, config: Config, layers: list[Layer], types: list[str]) -> list[Layer]:
        said = config.get("sparse_attention_config") or {}
        if said.get("sparse_init_block") or said.get("use_sparse_attention") is False:
            raise ValueError(
                "sparse_init_block must be 0 and use_sparse_attention true, or programs read it differently"
            )
        if strange := sorted(said.keys() - BLOCKS.keys() - BESIDE_BLOCKS):
            raise ValueError(f"sparse_attention_config has keys that are not understood: {', '.join(strange)}")
        config.pass_over(BLOCKS.values())
        found = [said[key] if key in said else config[flat] for key, flat in BLOCKS.items()]
        for key, number in zip(BLOCKS, found, strict=True):
            if type(number) is not int or number < 1:
                raise ValueError(f"{key} must be a whole number of at least 1; got {number!r}")
        dim, size, number = found
        return [
            replace(layer, indexer=layer.encoding and at_size(layer.encoding, dim), keys=size * number)
            if kind == "minimax_m3_sparse"
            else layer
            for layer, kind in zip(layers, types, strict=True)
        ]


# What its first files called in one dictionary what has a key of its own since.
BLOCKS = {
    "sparse_index_dim": "index_head_dim",
    "sparse_block_size": "index_block_size",
    "sparse_topk_blocks": "index_topk_blocks",
}
BESIDE_BLOCKS = {
    "sparse_attention_freq", "sparse_disable_index_value", "sparse_init_block", "sparse_local_block",
    "sparse_num_index_heads", "sparse_score_type", "use_sparse_attention",
}  # fmt: skip


def where_sparse(config: Config, depth: int) -> list[str]:
    """MiniMax-M3's: `sparse_attention_config` has a number for each layer, 0 where it sees all."""
    listed = (config.get("sparse_attention_config") or {}).get("sparse_attention_freq")
    if not isinstance(listed, list | None):
        raise ValueError(f"sparse_attention_freq must be a list; got {listed!r}")  # noqa: TRY004
    return ["minimax_m3_sparse" if one else "full_attention" for one in (listed if listed is not None else [0] * depth)]


def by_lists(config: Config, types: list[str]) -> dict[str, dict]:
    """Step's parameters: bases and shares are lists with a number for each layer; a rule is for layers that see all."""
    given = given_rule(config)
    if given and all(isinstance(given.get(kind), Mapping) for kind in types):
        return {kind: {"partial_rotary_factor": 1.0} | dict(given[kind]) for kind in set(types)}
    if config.get("rope_parameters"):
        raise ValueError(f"rope_parameters must name the types of layers that they are for; got {given}")
    bases, shares = config.first("rope_theta", default=10_000.0), config.get("partial_rotary_factors")
    bases = 10_000.0 if isinstance(bases, Mapping) else bases  # what its class has by default
    said = {}
    for kind in set(types):
        first = types.index(kind)
        said[kind] = {
            "rope_theta": bases[first] if isinstance(bases, list) else bases,
            "partial_rotary_factor": 1.0,
        }
        if shares:
            said[kind]["partial_rotary_factor"] = shares[first]
    return {kind: one | (given if kind == "full_attention" else {}) for kind, one in said.items()}


# Temperatures


def steps_where_nothing_turns(config: Config, said: Mapping, turns: bool) -> Callable[[Tensor], Tensor] | None:
    """Llama 4's."""
    length, scale = config.get("floor_scale"), config.get("attn_scale")
    if turns or not config.get("attn_temperature_tuning"):
        return None
    return partial(steps, length=length, scale=scale, counted=True)


def steps_by_beta(config: Config, said: Mapping, turns: bool) -> Callable[[Tensor], Tensor] | None:
    """Ministral 3's."""
    scale = said.get("llama_4_scaling_beta")
    return scale and partial(
        steps, length=need(said, "yarn", "original_max_position_embeddings"), scale=scale
    )


def power_where_nothing_turns(config: Config, said: Mapping, turns: bool) -> Callable[[Tensor], Tensor] | None:
    """Beam's."""
    return None if turns else partial(power, length=2048, exponent=0.1)
