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


@wrong(check.rope_from, "The base is 10,000 here")
def default_base(config, kind):
    return RoPE(features(config), rotary=turning(config, kind), scaling=rule(config, kind))


@wrong(check.rope_from, "features and base")
def base_of_llama(config, kind):
    return RoPE(features(config), 500_000.0, rotary=turning(config, kind), scaling=rule(config, kind))


@wrong(check.rope_from, "a part that turns")
def half_turns(config, kind):
    dim = features(config)
    rotary = dim // 2 if "partial_rotary_factor" in said(config, kind) else dim
    return RoPE(dim, base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "features of all heads together")
def whole_width(config, kind):
    dim = config["hidden_size"]
    rotary = int(dim * said(config, kind).get("partial_rotary_factor", 1))
    return RoPE(dim, base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "The pairs are neighbors here.")
def neighbors(config, kind):
    return RoPE(
        features(config), base(config, kind), "interleaved", turning(config, kind), rule(config, kind)
    )


@wrong(check.rope_from, "head_dim is not read.")
def no_head_dim(config, kind):
    dim = config["hidden_size"] // config["num_attention_heads"]
    rotary = int(dim * said(config, kind).get("partial_rotary_factor", 1))
    return RoPE(dim, base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "one of the head's features")
def part_of_another_width(config, kind):
    share = config["hidden_size"] // config["num_attention_heads"]
    rotary = int(share * said(config, kind).get("partial_rotary_factor", 1))
    return RoPE(features(config), base(config, kind), rotary=rotary, scaling=rule(config, kind))


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


@wrong(check.rope_from, "partial_rotary_factor is not read")
def all_turn(config, kind):
    return RoPE(features(config), base(config, kind), scaling=rule(config, kind))


@wrong(check.rope_from, "No rule is read.")
def no_rule(config, kind):
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind))


@wrong(check.rope_from, "not the longest text")
def longest_text(config, kind):
    asked = rule(config, kind, "max_position_embeddings")
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=asked)


@wrong(check.rope_from, "not the longest text")
def longest_text_for_yarn_alone(config, kind):
    yarn = said(config, kind).get("rope_type") == "yarn"
    length = "max_position_embeddings" if yarn else "original_max_position_embeddings"
    return RoPE(
        features(config), base(config, kind), rotary=turning(config, kind), scaling=rule(config, kind, length)
    )


@wrong(check.rope_from, "Every rule is linear here.")
def linear_only(config, kind):
    factor = said(config, kind).get("factor")
    stretch = partial(scaling.linear, factor=factor) if factor else scaling.unscaled
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=stretch)


@wrong(check.rope_from, "low_freq_factor and high_freq_factor are not read.")
def default_low_and_high(config, kind):
    asked = rule(config, kind)
    if getattr(asked, "func", None) is scaling.llama3:
        asked = partial(scaling.llama3, **{name: asked.keywords[name] for name in ("factor", "length")})
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=asked)


@wrong(check.rope_from, "A configuration may lack the key rope_scaling.")
def always_there(config, kind):
    older = "rope_parameters" not in config and config["rope_scaling"] is None
    stretch = scaling.unscaled if older else rule(config, kind)
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=stretch)


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


@wrong(check.rope_from, "a d2lpos.RoPE is asked for")
def another_encoding(config, kind):
    return ALiBi(config["num_attention_heads"])


@wrong(check.rope_from, "rope_parameters is not read")
def older_files_only(config, kind):
    asked = {**config, **(config.get("rope_scaling") or {})}
    return rope_of(config, asked["rope_theta"], asked)


@wrong(check.rope_from, "features and base")
def a_base_where_none_is_found(config, kind):
    return rope_of(config, config.get("rope_theta", 10_000.0), said(config, kind))


@wrong(check.rope_from, "writes partial_rotary_factor into rope_parameters")
def share_of_older_files(config, kind):
    rotary = int(features(config) * config.get("partial_rotary_factor", 1))
    return RoPE(features(config), base(config, kind), rotary=rotary, scaling=rule(config, kind))


@wrong(check.rope_from, "rope_scaling is not read, where older files name the rule.")
def rules_of_later_files_only(config, kind):
    later = rule(config, kind) if "rope_parameters" in config else scaling.unscaled
    return RoPE(features(config), base(config, kind), rotary=turning(config, kind), scaling=later)


@wrong(check.rope_from, "kind names the one")
def the_same_in_all_layers(config, kind):
    given = config.get("rope_parameters")
    if given is None:
        return rope_of(config, base(config, kind), said(config, kind))
    one = next((value for value in given.values() if isinstance(value, dict)), given)
    return rope_of(config, one["rope_theta"], one)


@wrong(check.rope_from, "fails 1 of 6 properties Property: one for each type of layer")
def full_attention_everywhere(config, kind):
    asked = said(config, "full_attention")
    return rope_of(config, asked["rope_theta"], asked)


# Choose under a constraint


def mean(values):
    return sum(values) / len(values)


def admitted(losses, doors, allowed):
    return {name: values for name, values in losses.items() if all(door in allowed for door in doors[name])}


@wrong(check.choose, "This is the lowest single run.")
def luckiest(losses, doors, allowed):
    left = admitted(losses, doors, allowed)
    return min(left, key=lambda name: min(left[name]))


@wrong(check.choose, "This is the highest mean.")
def worst(losses, doors, allowed):
    left = admitted(losses, doors, allowed)
    return max(left, key=lambda name: mean(left[name]))


@wrong(check.choose, "Only the last seed counts here.")
def last_seed(losses, doors, allowed):
    for name, values in admitted(losses, doors, allowed).items():
        if values[-1] == min(left[-1] for left in admitted(losses, doors, allowed).values()):
            return name


@wrong(check.choose, "Only the first seed counts here.")
def first_seed(losses, doors, allowed):
    left = admitted(losses, doors, allowed)
    return min(left, key=lambda name: left[name][0])


@wrong(check.choose, "The last door decides here.", card=True)
def overwritten(losses, doors, allowed):
    left = []
    for name in losses:
        usable = True
        for door in doors[name]:
            usable = door in allowed
        if usable:
            left.append(name)
    return min(left, key=lambda name: mean(losses[name]))


@wrong(check.choose, "The first door decides here.")
def first_door(losses, doors, allowed):
    left = [name for name in losses if not doors[name] or doors[name][0] in allowed]
    return min(left, key=lambda name: mean(losses[name]))


@wrong(check.choose, "This is the best worst run.", card=True)
def steadiest(losses, doors, allowed):
    left = admitted(losses, doors, allowed)
    return min(left, key=lambda name: max(left[name]))


@wrong(check.choose, "This is the lowest median.")
def middle_run(losses, doors, allowed):
    left = admitted(losses, doors, allowed)
    return min(left, key=lambda name: sorted(left[name])[len(left[name]) // 2])


@wrong(check.choose, "All allowed doors may be open", card=True)
def fewer_doors_than_allowed(losses, doors, allowed):
    left = [name for name in losses if set(doors[name]) < allowed]
    return min(left, key=lambda name: mean(losses[name]))


@wrong(check.choose, "allowed is not asked.")
def anything_goes(losses, doors, allowed):
    return min(losses, key=lambda name: mean(losses[name]))


@wrong(check.choose, "One allowed door is not enough")
def one_allowed_door(losses, doors, allowed):
    left = [name for name in losses if not doors[name] or any(door in allowed for door in doors[name])]
    return min(left, key=lambda name: mean(losses[name]))


@wrong(check.choose, "An encoding that opens no door is always allowed.")
def needs_a_door(losses, doors, allowed):
    left = [name for name in losses if doors[name] and set(doors[name]).issubset(allowed)]
    return min(left, key=lambda name: mean(losses[name]))


@wrong(check.choose, "Expected type str, got type tuple")
def name_and_loss(losses, doors, allowed):
    return min((mean(values), name) for name, values in admitted(losses, doors, allowed).items())


# What fits


@wrong(check.memory, "The cache holds keys and values")
def keys_alone(layers, heads, kv_heads, features, tokens, size):
    return layers * kv_heads * features * tokens * size, heads * tokens * tokens * size


@wrong(check.memory, "The cache has kv_heads")
def a_cache_for_each_head(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * heads * features * tokens * size, heads * tokens * tokens * size


@wrong(check.memory, "Every layer has a cache of its own.")
def one_layer(layers, heads, kv_heads, features, tokens, size):
    return 2 * kv_heads * features * tokens * size, heads * tokens * tokens * size


@wrong(check.memory, "These are numbers, not bytes")
def numbers(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens, heads * tokens * tokens


@wrong(check.memory, "The bias is counted in numbers")
def numbers_of_the_bias(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens * size, heads * tokens**2


@wrong(check.memory, "scores belong to heads, not to kv_heads")
def bias_of_kv_heads(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens * size, kv_heads * tokens * tokens * size


@wrong(check.memory, "This is the bias of all layers.")
def bias_of_all_layers(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens * size, layers * heads * tokens * tokens * size


@wrong(check.memory, "This is the bias of one query: a row.")
def bias_of_one_query(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens * size, heads * tokens * size


@wrong(check.memory, "This is the bias of one head.")
def bias_of_one_head(layers, heads, kv_heads, features, tokens, size):
    return 2 * layers * kv_heads * features * tokens * size, tokens * tokens * size


@wrong(check.memory, "the tensor holds them all the same")
def triangle(layers, heads, kv_heads, features, tokens, size):
    pairs = sum(query + 1 for query in range(tokens))
    return 2 * layers * kv_heads * features * tokens * size, heads * pairs * size


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


@wrong(check.memory, "The two are exchanged")
def bias_first(layers, heads, kv_heads, features, tokens, size):
    return heads * tokens * tokens * size, 2 * layers * kv_heads * features * tokens * size


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


@wrong(check.compare, "by validation and test together")
def chosen_by_both(validation, test, t):
    arm = int((validation[1:].mean(1) + test[1:].mean(1)).argmin()) + 1
    return arm, *around(test[arm] - test[0], t)


@wrong(check.compare, "by its median")
def chosen_by_the_median(validation, test, t):
    ordered = validation[1:].sort(dim=1).values
    seeds = validation.shape[1]
    middle = (ordered[:, (seeds - 1) // 2] + ordered[:, seeds // 2]) / 2
    arm = int(middle.argmin()) + 1
    return arm, *around(test[arm] - test[0], t)


@wrong(check.compare, "by its luckiest seed")
def luckiest_seed(validation, test, t):
    arm = int(validation[1:].amin(1).argmin()) + 1
    return arm, *around(test[arm] - test[0], t)


@wrong(check.compare, "by its highest loss")
def highest(validation, test, t):
    arm = int(validation[1:].mean(1).argmax()) + 1
    return arm, *around(test[arm] - test[0], t)


@wrong(check.compare, "the interval is of paired differences")
def four_seeds(validation, test, t):
    arm = 1 + int(validation[1:].mean(1).argmin())
    return arm, *around(test[arm] - test[0], 3.182)


@wrong(check.compare, "the interval is of paired differences")
def first_arm(validation, test, t):
    return 1 + int(validation[1:].mean(1).argmin()), *around(test[1] - test[0], t)


@wrong(check.compare, "Row 0 is the baseline: add 1.")
def off_by_one(validation, test, t):
    arm = int(validation[1:].mean(1).argmin())
    return arm, *around(test[arm] - test[0], t)


@wrong(check.compare, "The baseline is no arm")
def baseline_among_them(validation, test, t):
    arm = int(validation.mean(1).argmin())
    return arm, *around(test[arm] - test[0], t)


def chosen(validation):
    return int(validation[1:].mean(1).argmin()) + 1


@wrong(check.compare, "The seeds are not paired")
def not_paired(validation, test, t):
    arm = chosen(validation)
    mean = test[arm].mean() - test[0].mean()
    half = t * (test[arm].var() / test.shape[1] + test[0].var() / test.shape[1]) ** 0.5
    return arm, mean - half, mean + half


@wrong(check.compare, "Two standard deviations are added.")
def sum_of_deviations(validation, test, t):
    arm = chosen(validation)
    return arm, *around(test[arm] - test[0], t, test[arm].std() + test[0].std())


@wrong(check.compare, "This is how the arm varies alone.")
def deviation_of_the_arm(validation, test, t):
    arm = chosen(validation)
    return arm, *around(test[arm] - test[0], t, test[arm].std())


@wrong(check.compare, "The interval is of the validation")
def interval_of_the_validation(validation, test, t):
    arm = chosen(validation)
    return arm, *around(validation[arm] - validation[0], t)


@wrong(check.compare, "These are baseline minus arm.")
def the_other_sign(validation, test, t):
    arm = chosen(validation)
    return arm, *around(test[0] - test[arm], t)


@wrong(check.compare, "This is how far runs lie apart.")
def spread_of_runs(validation, test, t):
    arm = chosen(validation)
    d = test[arm] - test[0]
    return arm, d.mean() - t * d.std(), d.mean() + t * d.std()


@wrong(check.compare, "The standard deviation divides by n.")
def divides_by_n(validation, test, t):
    arm = chosen(validation)
    d = test[arm] - test[0]
    return arm, *around(d, t, d.std(correction=0))


@wrong(check.compare, "1.96 is right for many seeds.")
def normal(validation, test, t):
    arm = chosen(validation)
    return arm, *around(test[arm] - test[0], 1.96)


@wrong(check.compare, "Sorted losses are not paired")
def sorted_first(validation, test, t):
    arm = chosen(validation)
    ours, theirs = (torch.tensor(sorted(losses.tolist())) for losses in (test[arm], test[0]))
    return arm, *around(ours - theirs, t)


@wrong(check.compare, "Returns type dict; 3 numbers are asked for")
def named(validation, test, t):
    arm = chosen(validation)
    return dict(zip(("arm", "low", "high"), (arm, *around(test[arm] - test[0], t)), strict=True))


@wrong(check.compare, "Returns 2 entries; 3 numbers are asked for")
def interval_alone(validation, test, t):
    return around((test[chosen(validation)] - test[0]).to(torch.float64), t)
