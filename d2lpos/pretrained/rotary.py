"""RoPE as configurations describe it: one dictionary for all layers, or one for each type of layer."""

from collections.abc import Callable, Mapping
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

# What each rule reads besides rope_type, rope_theta and partial_rotary_factor.
READ = {
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor"},
    "proportional": {"factor"},
    "llama3": {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
    "yarn": {
        "factor",
        "original_max_position_embeddings",
        "attention_factor",
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
READ["mrope"] = READ["default"]  # what transformers 4 calls the default, dealt to three axes
ALWAYS = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}
Rule = Callable[[Tensor], tuple[Tensor, float]]


def parameters(config: Mapping, base: object, share: float) -> dict:
    """The dictionary of each type of layer, under None where all layers have the same, in the form of transformers 5.

    base and share hold where the configuration names none; base is a number, or one for each type of layer.
    """
    given = config.get("rope_parameters") or config.get("rope_scaling") or {}
    shared = {"partial_rotary_factor": share}
    for name, known in (
        ("rope_theta", "rotary_emb_base"),
        ("rope_theta", "rope_theta"),
        ("partial_rotary_factor", "rotary_pct"),
        ("partial_rotary_factor", "partial_rotary_factor"),
    ):
        if config.get(known) is not None:
            shared[name] = config[known]
    types = {name: value for name, value in given.items() if value is None or isinstance(value, Mapping)}
    types = {name: value for name, value in types.items() if name not in ALWAYS and name not in READ["yarn"]}
    if types:
        base = base if isinstance(base, Mapping) else dict.fromkeys(types, base)
        return {
            name: None if value is None else {"rope_theta": base.get(name)} | shared | dict(value)
            for name, value in types.items()
        }
    if given.get("rope_theta", base) is None and "rope_theta" in given:
        return {None: None}
    given = {key: value for key, value in given.items() if value is not None}
    if isinstance(base, Mapping):
        plain = {name: {"rope_theta": number} | shared for name, number in base.items()}
        local = config.get("rope_local_base_freq") or config.get("local_rope_theta")
        glob = config.get("global_rope_theta")
        if local is not None:
            plain["sliding_attention"]["rope_theta"] = local
        elif "rope_theta" in shared:
            plain["sliding_attention"]["rope_theta"] = base["sliding_attention"]
        if glob is not None:
            plain["full_attention"]["rope_theta"] = glob
        plain["full_attention"] |= given
        return plain
    return {None: {"rope_theta": base} | shared | given}


def rule_of(said: Mapping, config: Mapping, tokens: int | None, extra: set[str]) -> tuple[Rule, float]:
    """The scaling rule, and what scores are multiplied by besides; raises a ValueError as `encoding_of` does."""
    kind = said.get("rope_type") or said.get("type") or "default"
    if kind not in READ:
        raise ValueError(f"rope_type must be one of {', '.join(READ)}; got {kind!r}")
    for key in sorted(said):
        if key not in ALWAYS | READ[kind] | extra and said[key] is not None:
            raise ValueError(
                f"key {key!r} of rope_type {kind!r} is not understood; its value is {said[key]!r}"
            )
    longest = config.get("max_position_embeddings")
    length = (
        config.get("original_max_position_embeddings")
        or said.get("original_max_position_embeddings")
        or longest
    )
    factor = said.get("factor")
    if kind in ("default", "mrope"):
        return unscaled, 1.0
    if kind == "proportional":
        share = said["partial_rotary_factor"]
        return partial(proportional, share=share, factor=1.0 if factor is None else factor), 1.0
    if factor is None:
        if kind not in ("yarn", "longrope") or not (length and longest):
            raise ValueError(f"rope_type {kind!r} must have a factor, and has none")
        factor = longest / length
    if kind == "linear":
        return partial(linear, factor=factor), 1.0
    if not length:
        raise ValueError(f"rope_type {kind!r} must have original_max_position_embeddings, and has none")
    if kind in ("dynamic", "longrope") and tokens is None:
        raise ValueError(
            f"tokens must say how long the text is, because rope_type {kind!r} depends on it; got None"
        )
    if kind == "dynamic":
        return partial(dynamic_ntk, factor=factor, length=longest, current=tokens), 1.0
    if kind == "llama3":
        band = {"low": said["low_freq_factor"], "high": said["high_freq_factor"]}
        return partial(llama3, factor=factor, length=length, **band), 1.0
    attention = said.get("attention_factor")
    if kind == "longrope":
        lists = {"short": said["short_factor"], "long": said["long_factor"]}
        rule = partial(longrope, **lists, length=length, current=tokens, factor=max(factor, 1.0))
        return partial(rule, attention_factor=attention), 1.0
    each, whole = said.get("mscale"), said.get("mscale_all_dim")
    if attention is None and each and whole:
        attention = mscale(factor, each) / mscale(factor, whole)
    rule = partial(
        yarn,
        factor=factor,
        length=length,
        beta_fast=said.get("beta_fast") or 32,
        beta_slow=said.get("beta_slow") or 1,
        truncate=said.get("truncate", True),
        attention_factor=attention,
    )
    return rule, mscale(factor, whole) ** 2 if whole else 1.0


def backward(rule: Rule) -> Rule:
    """The rule, then turned the other way."""

    def turned(frequencies: Tensor) -> tuple[Tensor, float]:
        scaled, factor = rule(frequencies)
        return negated(scaled)[0], factor

    return turned


def turning(said: Mapping, dim: int, layout: str, rule: Rule, deal: str | None) -> RoPE | MRoPE | None:
    """The encoding of a dictionary, for `dim` features a head; None where no feature turns."""
    proportion = (said.get("rope_type") or said.get("type")) == "proportional"
    rotary = dim if proportion else int(dim * said["partial_rotary_factor"])
    if not rotary:
        return None
    if rotary % 2:
        share = said["partial_rotary_factor"]
        raise ValueError(f"partial_rotary_factor must leave an even number of {dim} features; got {share}")
    if said["rope_theta"] is None:
        raise ValueError("rope_parameters must have rope_theta, and have none")
    base = float(said["rope_theta"])
    sizes = said.get("mrope_section")
    if deal and sizes:
        axes = {"blocks": blocks, "in turn": in_turn}[deal](sizes)
        if 2 * len(axes) != rotary:
            raise ValueError(f"mrope_section must have {rotary // 2} pairs in all; got {sizes}")
        return MRoPE(dim, axes, base, layout, rule)
    return RoPE(dim, base, layout, rotary, rule)
