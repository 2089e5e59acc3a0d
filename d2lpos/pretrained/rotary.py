"""RoPE as configurations describe it: one dictionary for all layers, or one for each type of layer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from torch import Tensor

from ..rotary.mrope import MRoPE, blocks, in_turn
from ..rotary.rope import RoPE
from ..rotary.scaling import (
    dynamic_ntk,
    linear,
    llama3,
    longrope,
    mscale,
    negated,
    proportional,
    unscaled,
    yarn,
)
from .layer import Config, Missing

# What each rule reads besides rope_type, rope_theta and partial_rotary_factor.
READ = {
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor", "original_max_position_embeddings"},  # and does not use the length
    "proportional": {"factor"},
    "llama3": {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
    "yarn": {
        "factor",
        "original_max_position_embeddings",
        "attention_factor",
        "attn_factor",  # which is passed over
        "beta_fast",
        "beta_slow",
        "mscale",
        "mscale_all_dim",
        "truncate",
    },
    "longrope": {
        "factor",
        "short_factor",
        "long_factor",
        "original_max_position_embeddings",
        "attention_factor",
    },
}
WORDS = frozenset().union(*READ.values())
# Where null is not as if the key were missing: the classes take it for a value.
NULLS = ("factor", "original_max_position_embeddings", "truncate")
FLAT = {"rope_theta", "partial_rotary_factor"}  # which transformers 4 writes outside of rope_scaling
ALWAYS = FLAT | {"rope_type", "type"}
SPELLINGS = ("rope_scaling", "rope_parameters")  # of transformers 4 and 5
LONG = 80  # characters of a value that a refusal shows
SYNONYMS = {"su": "longrope", "mrope": "default"}  # as the first files spelled them
Rule = Callable[[Tensor], tuple[Tensor, float]]


def parameters(config: Config) -> dict[str | None, dict | None]:
    """The parameters of each type of layer, under None where all layers have the same, as transformers 5 writes them."""
    given, thetas = given_rule(config), config.known.get("thetas", {})
    every = [one for one in given.values() if isinstance(one, Mapping)] or [given]
    asked = [key for key in ("rope_theta", "partial_rotary_factor") if any(key not in one for one in every)]
    flat = {"rope_theta": None, "partial_rotary_factor": 1.0}
    flat |= {key: config[key] for key in asked if config.get(key) is not None}
    for key in set(flat).difference(asked).intersection(config.given):
        config.used.add(key)
        if (
            not thetas
            and any(config.given.get(name) for name in SPELLINGS)
            and given.get(key, config.given[key]) != config.given[key]
        ):
            raise ValueError(f"{key} must be one number; got {config.given[key]} and {given[key]}")
    if isinstance(config.given.get("rope_theta"), Mapping):
        raise ValueError(f"rope_theta must be one number; got {config.given['rope_theta']!r}")  # noqa: TRY004
    bases = dict(flat["rope_theta"]) if isinstance(flat["rope_theta"], Mapping) else {}
    if thetas:
        for key in thetas.values():
            if config.given.get(key, 1) is None:
                raise ValueError(f"{key} must be a positive number; got None")
        bases = dict(config.known["keys"]["rope_theta"])
        bases |= {
            kind: config[key] for kind, key in thetas.items() if isinstance(config.get(key), int | float)
        }
    types = {name: value for name, value in given.items() if value is None or isinstance(value, Mapping)}
    types = {name: value for name, value in types.items() if name not in ALWAYS | WORDS}
    if types:
        return {
            name: None
            if value is None
            else flat | {"rope_theta": bases.get(name, flat["rope_theta"])} | dict(value)
            for name, value in types.items()
        }
    default = config.known.get("keys", {}).get("rope_parameters", {})
    only_by_kind = any(isinstance(one, Mapping | None) for one in default.values())
    if given and (only_by_kind or thetas and config.get("rope_parameters")):
        raise ValueError(f"rope_parameters must name the types of layers that they are for; got {given}")
    if bases:
        scaled = config.known["scaled"]
        return {
            name: flat | {"rope_theta": base} | (given if name in scaled else {})
            for name, base in bases.items()
        }
    if "rope_theta" in given and given["rope_theta"] is None:
        return {None: None}
    return {None: flat | {key: value for key, value in given.items() if value is not None or key in NULLS}}


def given_rule(config: Config) -> dict:
    """What a configuration says under either spelling; raises a ValueError where it contradicts itself."""
    both = {name: config[name] for name in SPELLINGS if config.get(name)}
    for name, value in both.items():
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} must be a dictionary; got {value!r}")  # noqa: TRY004
        for one in (value, *(one for one in value.values() if isinstance(one, Mapping))):
            for key in ("type", "rope_type"):
                if not isinstance(one.get(key), str | None):
                    raise ValueError(f"rope_type must be one of {', '.join(READ)}; got {one[key]!r}")  # noqa: TRY004
            kinds = {SYNONYMS.get(one[key], one[key]) for key in ("type", "rope_type") if one.get(key)}
            if len(kinds) > 1:
                raise ValueError(
                    f"type and rope_type of {name} must agree; got {one['type']!r} and {one['rope_type']!r}"
                )
    if len(both) == 2 and plain(both["rope_scaling"]) != plain(both["rope_parameters"]):
        raise ValueError(
            f"rope_scaling and rope_parameters must agree; got {both['rope_scaling']} and {both['rope_parameters']}"
        )
    return dict(next(iter(both.values()), {}))


def plain(said: Mapping) -> dict:
    """What rope_scaling and rope_parameters have in common where they agree."""
    return {
        "rope_type" if key == "type" else key: value
        for key, value in said.items()
        if key not in FLAT and value is not None
    }


def rule_of(said: Mapping, config: Mapping, tokens: int | None, extra: set[str]) -> tuple[Rule, float]:
    """The scaling rule, and what scores are multiplied by besides; raises a ValueError as `encoding_of` does."""
    kind = kind_of(said)
    if kind not in READ:
        raise ValueError(f"rope_type must be one of {', '.join(READ)}; got {kind!r}")
    strange = [
        key for key in sorted(said) if key not in ALWAYS | READ[kind] | extra and said[key] is not None
    ]
    if strange:
        place = next((name for name in SPELLINGS if config.given.get(name)), SPELLINGS[0])
        told = not_understood({f"{place}.{key}": said[key] for key in strange})
        raise ValueError(f"rope_type {kind!r} has keys that are not understood: {told}")
    if (
        config.known.get("whole")
        and kind not in ("default", "proportional")
        and said["partial_rotary_factor"] != 1
    ):
        share = said["partial_rotary_factor"]
        raise ValueError(
            f"partial_rotary_factor must be 1 beside rope_type {kind!r}, or the family's code fails; got {share}"
        )
    both = [said.get("original_max_position_embeddings"), config.get("original_max_position_embeddings")]
    if all(both) and both[0] != both[1] and kind not in ("default", "dynamic"):
        raise ValueError(f"original_max_position_embeddings must be one number; got {both[0]} and {both[1]}")
    if kind == "default":
        return unscaled, 1.0
    length = both[1] or both[0] or config.get("max_position_embeddings")
    factor = said.get("factor", 1.0 if kind == "proportional" else None)
    if factor is None:
        longest, null = config.get("max_position_embeddings"), "factor" in said
        # The classes make it of two lengths: LongRoPE's where it is missing or null, YaRN's where it is null.
        if not (kind == "longrope" or kind == "yarn" and null and any(both)) or not (length and longest):
            raise ValueError(f"rope_type {kind!r} must have a factor, and has none")
        factor = longest / length
    if kind == "proportional":
        return partial(proportional, share=said["partial_rotary_factor"], factor=factor), 1.0
    if kind == "linear":
        return partial(linear, factor=factor), 1.0
    null = said.get("original_max_position_embeddings", length) is None and not both[1]
    if not length or null and kind != "dynamic":
        raise ValueError(f"rope_type {kind!r} must have original_max_position_embeddings, and has none")
    if kind in ("dynamic", "longrope") and tokens is None:
        raise ValueError(
            f"tokens must say how long the text is, because rope_type {kind!r} depends on it; got None"
        )
    if kind == "dynamic":
        return partial(
            dynamic_ntk, factor=factor, length=config.first("max_position_embeddings"), current=tokens
        ), 1.0
    if kind == "llama3":
        band = {"low": need(said, kind, "low_freq_factor"), "high": need(said, kind, "high_freq_factor")}
        return partial(llama3, factor=factor, length=length, **band), 1.0
    attention = said.get("attention_factor")
    if kind == "longrope":
        if "long_mscale" in said or "short_mscale" in said:  # Phi-3.5-MoE's, in place of the factor
            attention = need(said, kind, "long_mscale" if tokens > length else "short_mscale")
        lists = {"short": need(said, kind, "short_factor"), "long": need(said, kind, "long_factor")}
        rule = partial(longrope, **lists, length=length, current=tokens, factor=max(factor, 1.0))
        return partial(rule, attention_factor=attention), 1.0
    each, whole = said.get("mscale"), said.get("mscale_all_dim")
    if attention is None and each and whole:
        attention = mscale(factor, each) / mscale(factor, whole)
    truncate = said.get("truncate", True)
    rule = partial(
        yarn,
        factor=factor,
        length=length,
        beta_fast=said.get("beta_fast") or 32,
        beta_slow=said.get("beta_slow") or 1,
        truncate=truncate is not None and truncate,
        attention_factor=attention,
    )
    return rule, mscale(factor, whole) ** 2 if whole else 1.0


def not_understood(strange: Mapping[str, object]) -> str:
    """Keys with their values, long ones cut, and what passes them over."""
    values = {key: repr(value) for key, value in strange.items()}
    values = {key: value if len(value) <= LONG else f"{value[: LONG - 1]}…" for key, value in values.items()}
    told, names = ", ".join(f"{key} = {value}" for key, value in values.items()), tuple(strange)
    return f"{told}. A key may speak of positions by any word; to pass over those that do not, ignore={names}"


def kind_of(said: Mapping) -> str:
    """The name of the rule; Phi 3 called the one with two lists YaRN at first."""
    kind = said.get("rope_type") or said.get("type") or "default"
    kind = SYNONYMS.get(kind, kind)
    return "longrope" if kind == "yarn" and "short_factor" in said else kind


def need(said: Mapping, kind: str, key: str) -> object:
    if said.get(key) is None:
        raise Missing(f"rope_type {kind!r} must have {key}, and has none")
    return said[key]


def rows_and_columns(sizes: Sequence[int]) -> list[int]:
    """ERNIE's deal: row and column by turns, then time; sizes count the pairs of rows, columns and times."""
    rows, columns, times = sizes
    if rows != columns:
        raise ValueError(f"mrope_section must have as many pairs for rows as for columns; got {list(sizes)}")
    return [1, 2] * rows + [0] * times


def backward(rule: Rule) -> Rule:
    """The rule, then turned the other way."""

    def turned(frequencies: Tensor) -> tuple[Tensor, float]:
        scaled, factor = rule(frequencies)
        return negated(scaled)[0], factor

    turned.rule = rule
    return turned


def turning(
    said: Mapping, dim: int, layout: str, rule: Rule, deal: str | None, whole: bool = False
) -> RoPE | MRoPE | None:
    """The encoding of a dictionary, for `dim` features a head; None where no feature turns.

    whole says that the family's code turns whole heads where no rule scales.
    """
    kind = kind_of(said)
    share = 1.0 if whole and kind == "default" else said["partial_rotary_factor"]
    rotary = dim if kind == "proportional" else int(dim * share)
    if not rotary:
        return None
    if rotary % 2:
        raise ValueError(f"partial_rotary_factor must leave an even number of {dim} features; got {share}")
    if said["rope_theta"] is None:
        raise ValueError("rope_parameters must have rope_theta, and have none")
    if isinstance(said["rope_theta"], list | Mapping):
        raise ValueError(f"rope_theta must be one number; got {said['rope_theta']!r}")  # noqa: TRY004
    base = float(said["rope_theta"])
    sizes = said.get("mrope_section")
    if deal and sizes:
        axes = {"blocks": blocks, "in turn": in_turn, "rows and columns": rows_and_columns}[deal](sizes)
        if 2 * len(axes) != rotary:
            raise ValueError(f"mrope_section must have {rotary // 2} pairs in all; got {sizes}")
        return MRoPE(dim, axes, base, layout, rule)
    return RoPE(dim, base, layout, rotary, rule)
