"""Wrong answers to the exercises of chapter 8."""

from functools import partial

import numpy as np

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


def rule(config, kind):
    asked = said(config, kind)
    name = asked.get("rope_type", "default")
    if name == "default":
        return scaling.unscaled
    if name == "linear":
        return partial(scaling.linear, factor=asked["factor"])
    tokens = asked["original_max_position_embeddings"]
    if name == "yarn":
        return partial(scaling.yarn, factor=asked["factor"], length=tokens)
    low, high = asked["low_freq_factor"], asked["high_freq_factor"]
    return partial(scaling.llama3, factor=asked["factor"], length=tokens, low=low, high=high)


@wrong(check.rope_from, "features and base")
def the_larger_of_two(config, kind):
    share = config["hidden_size"] // config["num_attention_heads"]
    dim = max(config.get("head_dim") or 0, share)
    rotary = int(dim * said(config, kind).get("partial_rotary_factor", 1))
    return RoPE(dim, base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "fails 1 of 6 properties Property: linear scaling")
def linear_backwards(config, kind):
    if said(config, kind).get("rope_type") == "linear":
        stretch = partial(scaling.linear, factor=1.0)
    else:
        stretch = rule(config, kind)
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=stretch)


wrong(check.rope_from, "a d2lpos.RoPE is asked for")(
    lambda config, kind: ALiBi(config["num_attention_heads"])
)


# Choose under a constraint


def mean(values):
    return sum(values) / len(values)


wrong(check.choose, "allowed is not asked.")(
    lambda losses, doors, allowed: min(losses, key=lambda name: mean(losses[name]))
)


# What fits


@wrong(check.memory, "The cache holds keys and values")
def keys_alone(layers, heads, kv_heads, features, tokens, size):
    return layers * kv_heads * features * tokens * size, heads * tokens * tokens * size


@wrong(check.memory, "tokens = 131072")
def integers_of_32_bits(layers, heads, kv_heads, features, tokens, size):
    keys = np.prod(np.array([layers, kv_heads, features, tokens, size], dtype=np.int32), dtype=np.int32)
    return 2 * int(keys), heads * tokens * tokens * size


wrong(check.memory.answers[0], "not their number in billions")((1.07, 4.29))

# A fair comparison


def around(differences, t):
    half = t * differences.std() / len(differences) ** 0.5
    return differences.mean() - half, differences.mean() + half


@wrong(check.compare, "The arm is chosen by the test.")
def chosen_by_the_test(validation, test, t):
    arm = int(test[1:].mean(1).argmin()) + 1
    return arm, *around(test[arm] - test[0], t)
