"""Wrong answers to the exercises of chapter 8."""

from functools import partial

import numpy as np
import torch

from d2lpos import ALiBi, RoPE
from d2lpos.check import choosing as check
from d2lpos.rotary import scaling

from . import wrong

# Read a configuration


def features(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def said(config, kind):
    given = config.get("rope_parameters")
    if given is None:
        return {**config, **(config.get("rope_scaling") or {})}
    return given.get(kind, given)


def turning(config, kind):
    return int(features(config) * said(config, kind).get("partial_rotary_factor", 1.0))


def base(config, kind):
    return said(config, kind)["rope_theta"]


def rule(config, kind, length="original_max_position_embeddings"):
    asked = said(config, kind)
    name = asked.get("rope_type", "default")
    if name == "default":
        return scaling.unscaled
    if name == "linear":
        return partial(scaling.linear, factor=asked["factor"])
    tokens = (asked | config)[length] if length in config else asked[length]
    if name == "yarn":
        return partial(scaling.yarn, factor=asked["factor"], length=tokens)
    low, high = asked["low_freq_factor"], asked["high_freq_factor"]
    return partial(scaling.llama3, factor=asked["factor"], length=tokens, low=low, high=high)


def rope_of(config, theta, asked):
    entry = config | {"rope_parameters": asked}
    return RoPE(features(config), theta, rotary=turning(entry, ""), scaling=rule(entry, ""))


@wrong(check.rope_from, "features and base")
def base_of_llama(config, kind):
    return RoPE(features(config), 500_000.0, rotary=turning(config, kind), scaling=rule(config, kind))


@wrong(check.rope_from, "a part that turns")
def half_turns(config, kind):
    dim = features(config)
    rotary = dim // 2 if "partial_rotary_factor" in said(config, kind) else dim
    return RoPE(dim, base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "features and base")
def the_larger_of_two(config, kind):
    share = config["hidden_size"] // config["num_attention_heads"]
    dim = max(config.get("head_dim") or 0, share)
    rotary = int(dim * said(config, kind).get("partial_rotary_factor", 1))
    return RoPE(dim, base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "Property: linear scaling")
def head_dim_of_unscaled_models(config, kind):
    if said(config, kind).get("rope_type", "default") != "default":
        config = {key: value for key, value in config.items() if key != "head_dim"}
    return RoPE(
        features(config), base(config, kind), rotary=turning(config, kind), scaling=rule(config, kind)
    )


@wrong(check.rope_from, "fails 1 of 6 properties Property: linear scaling")
def linear_backwards(config, kind):
    if said(config, kind).get("rope_type") == "linear":
        stretch = partial(scaling.linear, factor=1.0)
    else:
        stretch = rule(config, kind)
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=stretch)


@wrong(check.rope_from, "fails 1 of 6 properties Property: YaRN")
def yarn_without_a_length(config, kind):
    asked = rule(config, kind)
    if getattr(asked, "func", None) is scaling.yarn:
        asked = partial(scaling.yarn, factor=8.0, length=8192)
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=asked)


wrong(check.rope_from, "a d2lpos.RoPE is asked for")(
    lambda config, kind: ALiBi(config["num_attention_heads"])
)
wrong(check.rope_from, "features and base")(
    lambda config, kind: rope_of(config, config.get("rope_theta", 10_000.0), said(config, kind))
)


@wrong(check.rope_from, "fails 1 of 6 properties Property: one for each type of layer")
def full_attention_everywhere(config, kind):
    asked = said(config, "full_attention")
    return rope_of(config, asked["rope_theta"], asked)


# Choose under a constraint


def mean(values):
    return sum(values) / len(values)


def admitted(losses, doors, allowed):
    return {name: values for name, values in losses.items() if all(door in allowed for door in doors[name])}


wrong(check.choose, "allowed is not asked.")(
    lambda losses, doors, allowed: min(losses, key=lambda name: mean(losses[name]))
)


@wrong(check.choose, "Expected type str, got type tuple")
def name_and_loss(losses, doors, allowed):
    return min((mean(values), name) for name, values in admitted(losses, doors, allowed).items())


# What fits


@wrong(check.memory, "The cache holds keys and values")
def keys_alone(layers, heads, kv_heads, features, tokens, size):
    return layers * kv_heads * features * tokens * size, heads * tokens * tokens * size


@wrong(check.memory, "Returns 3 entries; 2 numbers are asked for")
def with_the_sum(layers, heads, kv_heads, features, tokens, size):
    cache, bias = 2 * layers * kv_heads * features * tokens * size, heads * tokens * tokens * size
    return cache, bias, cache + bias


@wrong(check.memory, "Returns type int; 2 numbers are asked for")
def both_together(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens * size + heads * tokens * tokens * size


@wrong(check.memory, "Returns type str for the cache; a number is asked for")
def in_words(layers, heads, kv_heads, features, tokens, size):
    cache, bias = 2 * layers * kv_heads * features * tokens * size, heads * tokens * tokens * size
    return f"{cache} bytes", f"{bias} bytes"


@wrong(check.memory, "tokens = 131072")
def integers_of_32_bits(layers, heads, kv_heads, features, tokens, size):
    keys = np.prod(np.array([layers, kv_heads, features, tokens, size], dtype=np.int32), dtype=np.int32)
    return 2 * int(keys), heads * tokens * tokens * size


wrong(check.memory.answers[0], "not their number in billions")((1.07, 4.29))

# A fair comparison


def around(differences, t, spread=None):
    half = t * (differences.std() if spread is None else spread) / len(differences) ** 0.5
    return differences.mean() - half, differences.mean() + half


@wrong(check.compare, "The arm is chosen by the test.")
def chosen_by_the_test(validation, test, t):
    arm = int(test[1:].mean(1).argmin()) + 1
    return arm, *around(test[arm] - test[0], t)


@wrong(check.compare, "the interval is of paired differences")
def four_seeds(validation, test, t):
    arm = 1 + int(validation[1:].mean(1).argmin())
    return arm, *around(test[arm] - test[0], 3.182)


wrong(check.compare, "the interval is of paired differences")(
    lambda validation, test, t: (1 + int(validation[1:].mean(1).argmin()), *around(test[1] - test[0], t))
)


def chosen(validation):
    return int(validation[1:].mean(1).argmin()) + 1


@wrong(check.compare, "Returns type dict; 3 numbers are asked for")
def named(validation, test, t):
    arm = chosen(validation)
    return dict(zip(("arm", "low", "high"), (arm, *around(test[arm] - test[0], t)), strict=True))


wrong(check.compare, "Returns 2 entries; 3 numbers are asked for")(
    lambda validation, test, t: around((test[chosen(validation)] - test[0]).to(torch.float64), t)
)
