"""Wrong answers to the exercises of chapter 4."""

import math

import torch

from d2lpos.check import rope as check
from d2lpos.input.sinusoids import angles as angles_of
from d2lpos.input.sinusoids import frequencies
from d2lpos.rotary.rope import convert, convert_rows, rotate

from . import wrong

# Both layouts


def members(x, layout):
    if layout == "half":
        return x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x[..., ::2], x[..., 1::2]


def together(a, c, layout):
    if layout == "half":
        return torch.cat((a, c), dim=-1)
    out = torch.empty(*a.shape[:-1], 2 * a.shape[-1])
    out[..., ::2], out[..., 1::2] = a, c
    return out


@wrong(check.turn_pairs, "The pairs turn clockwise")
def clockwise(x, angles, layout):
    a, c = members(x, layout)
    cos, sin = angles.cos(), angles.sin()
    return together(a * cos + c * sin, c * cos - a * sin, layout)


@wrong(check.turn_pairs, "The second feature turns with the new first one.")
def one_after_the_other(x, angles, layout):
    a, c = members(x.clone(), layout)
    a = a * angles.cos() - c * angles.sin()
    c = c * angles.cos() + a * angles.sin()
    return together(a, c, layout)


@wrong(check.turn_pairs, "Only one of the two sums has a minus")
def minus_twice(x, angles, layout):
    a, c = members(x, layout)
    return together(a * angles.cos() - c * angles.sin(), c * angles.cos() - a * angles.sin(), layout)


@wrong(check.turn_pairs, "The two layouts are exchanged.")
def names_confused(x, angles, layout):
    return rotate_by_hand(x, angles, "interleaved" if layout == "half" else "half")


def rotate_by_hand(x, angles, layout):
    a, c = members(x, layout)
    return together(a * angles.cos() - c * angles.sin(), a * angles.sin() + c * angles.cos(), layout)


@wrong(check.turn_pairs, "The layout is ignored: all pairs are neighbors.")
def as_in_the_paper(x, angles, layout):
    return rotate_by_hand(x, angles, "interleaved")


@wrong(check.turn_pairs, "The layout is ignored: all pairs lie half a vector apart.")
def as_in_neox(x, angles, layout):
    return rotate_by_hand(x, angles, "half")


@wrong(check.turn_pairs, "Neighbors have turned, but come back in halves.")
def always_cat(x, angles, layout):
    a, c = members(x, layout)
    return torch.cat([a * angles.cos() - c * angles.sin(), a * angles.sin() + c * angles.cos()], dim=-1)


@wrong(check.turn_pairs, "Halves have turned, but come back interleaved.")
def always_stack(x, angles, layout):
    a, c = members(x, layout)
    pairs = [a * angles.cos() - c * angles.sin(), a * angles.sin() + c * angles.cos()]
    return torch.stack(pairs, dim=-1).flatten(-2)


@wrong(check.turn_pairs, "Two neighbors get different angles.")
def one_table_for_both(x, angles, layout):
    table = torch.cat([angles, angles], dim=-1)
    a, c = members(x, layout)
    return x * table.cos() + together(-c, a, layout) * table.sin()


@wrong(check.turn_pairs, "In the half layout, partners are d/2 apart.")
def repeat_interleave_for_both(x, angles, layout):
    table = angles.repeat_interleave(2, dim=-1)
    a, c = members(x, layout)
    return x * table.cos() + together(-c, a, layout) * table.sin()


@wrong(check.turn_pairs, "In the half layout, the pairs turn clockwise.")
def minus_on_the_first_half(x, angles, layout):
    if layout == "interleaved":
        return rotate_by_hand(x, angles, layout)
    x1, x2 = x.chunk(2, dim=-1)
    table = torch.cat([angles, angles], dim=-1)
    return x * table.cos() + torch.cat([x2, -x1], dim=-1) * table.sin()


@wrong(check.turn_pairs, "fails 1 of 2 properties")
def no_batch(x, angles, layout):
    if x.dim() > 2:
        return torch.stack([rotate_by_hand(one, angles, layout) for one in x[0]])[None]
    return rotate_by_hand(x, angles, layout)


@wrong(check.turn_pairs, "Calls the package's rotate")
def borrowed(x, angles, layout):
    return rotate(x, angles, layout)


# The best key at an offset


@wrong(check.best_key, "This key scores highest at the offset of the other sign.")
def the_other_way(q, offset, base):
    return rotate(q, offset * frequencies(q.shape[-1], base), "interleaved")


@wrong(check.best_key, "This key scores highest at offset 0.")
def itself(q, offset, base):
    return q.clone()


@wrong(check.best_key, "This key scores lowest")
def opposite(q, offset, base):
    return -rotate(q, -offset * frequencies(q.shape[-1], base), "interleaved")


@wrong(check.best_key, "The key is not as long as q.")
def unit(q, offset, base):
    key = rotate(q, -offset * frequencies(q.shape[-1], base), "interleaved")
    return torch.nn.functional.normalize(key, dim=-1)


@wrong(check.best_key, "All pairs turn by the same angle.")
def one_angle(q, offset, base):
    return rotate(q, torch.full((q.shape[-1] // 2,), -float(offset)), "interleaved")


@wrong(check.best_key, "The pairs lie half a vector apart here.")
def default_layout(q, offset, base):
    return rotate(q, -offset * frequencies(q.shape[-1], base))


@wrong(check.best_key, "The sign of the offset is lost.")
def distance(q, offset, base):
    return rotate(q, -abs(offset) * frequencies(q.shape[-1], base), "interleaved")


@wrong(check.best_key, "The base is always 10000 here.")
def default_base(q, offset, base):
    return rotate(q, -offset * frequencies(q.shape[-1]), "interleaved")


@wrong(check.best_key, "The offset is missing")
def one_step_on(q, offset, base):
    return rotate(q, frequencies(q.shape[-1], base), "interleaved")


@wrong(check.best_key, "The offset is always 1 here.")
def one_step_back(q, offset, base):
    return rotate(q, -frequencies(q.shape[-1], base), "interleaved")


@wrong(check.best_key, "fails 1 of 3 properties Property: many queries at once", card=True)
def one_query(q, offset, base):
    return rotate(q, -offset * frequencies(len(q), base), "interleaved")


# A checkpoint's layout


@wrong(check.to_half, "This leads from halves to neighbors.", card=True)
def the_way_back(weight, heads):
    halves = weight.reshape(heads, 2, -1, *weight.shape[1:])
    return halves.transpose(1, 2).reshape(weight.shape)


@wrong(check.to_half, "Second members come first")
def odd_before_even(weight, heads):
    rows = weight.reshape(heads, -1, *weight.shape[1:])
    return torch.cat([rows[:, 1::2], rows[:, 0::2]], dim=1).reshape(weight.shape)


@wrong(check.to_half, "All heads are taken for one.")
def heads_forgotten(weight, heads):
    return torch.cat([weight[::2], weight[1::2]])


@wrong(check.to_half, "Rows of different heads are mixed.")
def heads_last(weight, heads):
    return weight.reshape(-1, 2, heads, *weight.shape[1:]).transpose(0, 1).reshape(weight.shape)


@wrong(check.to_half, "The columns are reordered.")
def columns(weight, heads):
    return torch.cat([weight[:, ::2], weight[:, 1::2]], dim=-1)


@wrong(check.to_half, "Nothing has moved.")
def as_it_is(weight, heads):
    return weight


@wrong(check.to_half, "Calls the package's convert")
def borrowed_rows(weight, heads):
    return convert_rows(weight, heads, "half")


@wrong(check.to_half, "Calls the package's convert")
def borrowed_features(weight, heads):
    by_head = weight.reshape(heads, -1, *weight.shape[1:]).movedim(1, -1)
    return convert(by_head, "half").movedim(-1, 1).reshape(weight.shape)


@wrong(check.to_half, "fails 1 of 4 properties Property: a bias, which has no columns")
def two_axes(weight, heads):
    rows, columns = weight.shape
    return weight.view(heads, rows // heads // 2, 2, columns).transpose(1, 2).reshape(rows, columns)


# A cache


def turned(x, position):
    return rotate(x, angles_of(torch.tensor(position), frequencies(len(x))))


def attended(q, keys, values, scale=None):
    scores = keys @ q / (math.sqrt(len(q)) if scale is None else scale)
    return torch.softmax(scores, dim=0) @ values


def grown(cache, new):
    return torch.cat([cache, new.unsqueeze(0)])


@wrong(check.step, "Nothing turns.")
def no_positions(q, k, v, keys, values):
    keys, values = grown(keys, k), grown(values, v)
    return attended(q, keys, values), keys, values


@wrong(check.step, "Nothing turns.")
def always_position_zero(q, k, v, keys, values):
    keys, values = grown(keys, turned(k, 0)), grown(values, v)
    return attended(turned(q, 0), keys, values), keys, values


@wrong(check.step, "The query does not turn.")
def only_keys(q, k, v, keys, values):
    keys, values = grown(keys, turned(k, len(keys))), grown(values, v)
    return attended(q, keys, values), keys, values


@wrong(check.step, "The new key does not turn.")
def only_queries(q, k, v, keys, values):
    q = turned(q, len(keys))
    keys, values = grown(keys, k), grown(values, v)
    return attended(q, keys, values), keys, values


@wrong(check.step, "The cached keys are turned again")
def turns_everything(q, k, v, keys, values):
    n = len(keys)
    kept = torch.stack([turned(key, n) for key in keys]) if n else keys
    keys, values = grown(kept, turned(k, n)), grown(values, v)
    return attended(turned(q, n), keys, values), keys, values


@wrong(check.step, "The new key turns for its own step, but is kept as it was.")
def forgets_to_keep_the_turned_key(q, k, v, keys, values):
    n = len(keys)
    output = attended(turned(q, n), grown(keys, turned(k, n)), grown(values, v))
    return output, grown(keys, k), grown(values, v)


@wrong(check.step, "The new token does not see itself.")
def attends_before_it_caches(q, k, v, keys, values):
    n = len(keys)
    output = attended(turned(q, n), keys, values) if n else v
    return output, grown(keys, turned(k, n)), grown(values, v)


@wrong(check.step, "The scores lack their division by √d.")
def unscaled(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    return attended(turned(q, n), keys, values, 1), keys, values


@wrong(check.step, "The scores are divided by d.")
def no_root(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    return attended(turned(q, n), keys, values, len(q)), keys, values


@wrong(check.step, "√d is that of queries and keys", card=True)
def root_of_values(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    return attended(turned(q, n), keys, values, v.numel() ** 0.5), keys, values


@wrong(check.step, "Values turn here.")
def turns_values_too(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, turned(v, n))
    return attended(turned(q, n), keys, values), keys, values


@wrong(check.step, "Keys and values are in different orders.")
def newest_key_first(q, k, v, keys, values):
    n = len(keys)
    keys, values = torch.cat([turned(k, n)[None], keys]), grown(values, v)
    return attended(turned(q, n), keys, values), keys, values


@wrong(check.step, "The softmax runs over the wrong axis")
def softmax_over_queries(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    scores = turned(q, n)[None] @ keys.T / math.sqrt(len(q))
    return (scores.softmax(dim=0) @ values)[0], keys, values


@wrong(check.step, "Query and key turn the wrong way.")
def mirrored(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, -n)), grown(values, v)
    return attended(turned(q, -n), keys, values), keys, values


@wrong(check.step, "The cache drops its oldest tokens")
def a_window_of_four(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    return attended(turned(q, n), keys, values), keys[-4:], values[-4:]


@wrong(check.step, "The query is one position before its own key.")
def query_one_early(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    return attended(turned(q, n - 1), keys, values), keys, values


@wrong(check.step, "The query is one position after its own key.", card=True)
def counts_after_adding(q, k, v, keys, values):
    keys, values = grown(keys, turned(k, len(keys))), grown(values, v)
    return attended(turned(q, len(keys)), keys, values), keys, values


@wrong(check.step, "The results come in another order")
def cache_first(q, k, v, keys, values):
    keys, values = grown(keys, turned(k, len(keys))), grown(values, v)
    return keys, values, attended(turned(q, len(keys) - 1), keys, values)


@wrong(check.step, "The results come in another order")
def values_before_keys(q, k, v, keys, values):
    keys, values = grown(keys, turned(k, len(keys))), grown(values, v)
    return attended(turned(q, len(keys) - 1), keys, values), values, keys


@wrong(check.step, "The pairs are neighbors here.")
def interleaved(q, k, v, keys, values):
    angle = angles_of(torch.tensor(len(keys)), frequencies(len(q)))
    keys, values = grown(keys, rotate(k, angle, "interleaved")), grown(values, v)
    return attended(rotate(q, angle, "interleaved"), keys, values), keys, values


# Open circles


def waves(d, base):
    return [2 * math.pi * base ** (2 * i / d) for i in range(d // 2)]


@wrong(check.first_open, "This is the last pair that closes.")
def last_closed(d, base, length):
    return max((i for i, wave in enumerate(waves(d, base)) if wave <= length), default=-1)


@wrong(check.first_open, "This counts the open pairs.")
def how_many(d, base, length):
    return sum(wave > length for wave in waves(d, base))


@wrong(check.first_open, "2π is missing")
def radians_for_turns(d, base, length):
    return int((1 / frequencies(d, base) <= length).sum())


@wrong(check.first_open, "This is the index of a feature.")
def feature(d, base, length):
    return 2 * sum(wave <= length for wave in waves(d, base))


@wrong(check.first_open, "The exponent is −i/d.")
def half_the_exponent(d, base, length):
    return sum(2 * math.pi * base ** (i / d) <= length for i in range(d // 2))


@wrong(check.first_open, "The base is always 10000 here.")
def usual_base(d, base, length):
    return sum(wave <= length for wave in waves(d, 10000.0))


@wrong(check.first_open, "Expected type int, got type float")
def how_long(d, base, length):
    return next(wave for wave in waves(d, base) if wave > length)


@wrong(check.first_open, "argmax gives 0 there.", card=True)
def first_true(d, base, length):
    return (2 * math.pi / frequencies(d, base) > length).int().argmax().item()


@wrong(check.first_open, "which is no index of a pair.")
def last_of_all(d, base, length):
    return next((i for i, wave in enumerate(waves(d, base)) if wave > length), d // 2 - 1)


@wrong(check.first_open, "The next pair above is open.")
def rounded(d, base, length):
    index = d / 2 * math.log(length / (2 * math.pi)) / math.log(base)
    return min(max(round(index), 0), d // 2)


@wrong(check.first_open, "This is a tensor.")
def no_item(d, base, length):
    return (2 * math.pi / frequencies(d, base) <= length).sum()


@wrong(check.first_open, "and the formula goes past it.")
def closed_form(d, base, length):
    return math.ceil(d * math.log(length / 2 / math.pi) / 2 / math.log(base))


@wrong(check.first_open, "and the formula goes below it.")
def clipped_above(d, base, length):
    return min(d // 2, math.ceil(d / 2 * math.log(length / (2 * math.pi), base)))


@wrong(check.first_open, "A pair closes where its wavelength is at most the length")
def up_to_the_last_offset(d, base, length):
    return sum(wave <= length - 1 for wave in waves(d, base))


@wrong(check.first_open, "fails 1 of 4 properties Property: 0 where none does")
def at_least_one(d, base, length):
    return max(1, sum(wave <= length for wave in waves(d, base)))


# YaRN's ramp


def where(turns, d, base, length):
    return d / 2 * math.log(length / (turns * 2 * math.pi), base)


def line(lo, hi, d):
    return torch.clamp((torch.arange(d // 2) - lo) / (hi - lo), 0, 1)


@wrong(check.ramp, "The ramp is upside down")
def as_in_litgpt(d, base, length):
    lo, hi = max(math.floor(where(32, d, base, length)), 0), math.ceil(where(1, d, base, length))
    return 1 - line(lo, hi, d)


@wrong(check.ramp, "lo and hi are whole")
def not_rounded(d, base, length):
    return line(max(where(32, d, base, length), 0), where(1, d, base, length), d)


@wrong(check.ramp, "hi is rounded up")
def both_down(d, base, length):
    return line(max(int(where(32, d, base, length)), 0), int(where(1, d, base, length)), d)


@wrong(check.ramp, "lo is rounded down.")
def both_up(d, base, length):
    return line(max(math.ceil(where(32, d, base, length)), 0), math.ceil(where(1, d, base, length)), d)


@wrong(check.ramp, "Both ends are rounded the wrong way.")
def inward(d, base, length):
    return line(max(math.ceil(where(32, d, base, length)), 0), math.floor(where(1, d, base, length)), d)


@wrong(check.ramp, "Rounding to the nearest index moves both ends.")
def nearest(d, base, length):
    return line(max(round(where(32, d, base, length)), 0), round(where(1, d, base, length)), d)


@wrong(check.ramp, "The line goes on past 0 and 1.")
def no_clip(d, base, length):
    lo, hi = max(math.floor(where(32, d, base, length)), 0), math.ceil(where(1, d, base, length))
    return (torch.arange(d // 2) - lo) / (hi - lo)


@wrong(check.ramp, "This ramp is linear in the number of turns.")
def as_in_the_paper_of_yarn(d, base, length):
    turns = length * frequencies(d, base) / (2 * math.pi)
    return ((32 - turns) / 31).clamp(0, 1)


@wrong(check.ramp, "2π is missing")
def no_pi(d, base, length):
    lo, hi = (d / 2 * math.log(length / turns, base) for turns in (32, 1))
    return line(max(math.floor(lo), 0), math.ceil(hi), d)


@wrong(check.ramp, "lo and hi count features here.")
def in_features(d, base, length):
    lo, hi = 2 * where(32, d, base, length), 2 * where(1, d, base, length)
    return line(max(math.floor(lo), 0), math.ceil(hi), d)


@wrong(check.ramp, "There is no ramp between the two")
def open_or_not(d, base, length):
    return (2 * math.pi / frequencies(d, base) > length).float()


@wrong(check.ramp, "The base is always 10000 here.")
def ramp_at_the_usual_base(d, base, length):
    lo, hi = max(math.floor(where(32, d, 1e4, length)), 0), math.ceil(where(1, d, 1e4, length))
    return line(lo, hi, d)


@wrong(check.ramp, "hi may lie past the last pair.")
def clipped_at_both_ends(d, base, length):
    lo, hi = math.floor(where(32, d, base, length)), math.ceil(where(1, d, base, length))
    return line(max(lo, 0), min(hi, d // 2 - 1), d)


@wrong(check.ramp, "lo belongs to β_fast")
def low_from_slow(d, base, length):
    lo, hi = math.floor(where(1, d, base, length)), math.ceil(where(32, d, base, length))
    return line(lo, hi, d)


@wrong(check.ramp, "lo is below 0, where there is no pair.")
def below_zero(d, base, length):
    return line(math.floor(where(32, d, base, length)), math.ceil(where(1, d, base, length)), d)


@wrong(check.to_half, "Property: several heads, each by itself", card=True)
def heads_of_a_bias_only(weight, heads):
    if weight.dim() == 1:
        return weight.view(heads, -1, 2).mT.flatten()
    return torch.cat([weight[0::2], weight[1::2]])


@wrong(check.to_half, "Input: weight = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], heads = 2")
def heads_of_a_weight_only(weight, heads):
    if weight.dim() == 1:
        return torch.cat([weight[0::2], weight[1::2]])
    return weight.view(heads, -1, 2, weight.shape[1]).transpose(1, 2).flatten(0, 2)


@wrong(check.step, "Input: 3 tokens, one by one, d = 8, e = 8")
def half_the_width(q, k, v, keys, values):
    angle = len(keys) * frequencies(len(q))
    keys, values = torch.cat([keys, rotate(k, angle)[None]]), torch.cat([values, v[None]])
    return (keys @ rotate(q, angle) / (len(q) // 2)).softmax(0) @ values, keys, values


wrong(check.first_open.answers[0], "Take a larger one.")(10_000)
wrong(check.first_open.answers[0], "Take a larger one.")(500_000.0)
wrong(check.first_open.answers[0], "Take a smaller one.")(1e9)
wrong(check.ramp.answers[0], "Compare the two ramps number by number.")(2)
wrong(check.ramp.answers[0], "Compare the two ramps number by number.")(8)


@wrong(check.best_key, "Property: many queries at once")
def queries_of_two_features(q, offset, base):
    if q.dim() == 1:
        return rotate(q, -offset * frequencies(len(q), base), "interleaved")
    turns = torch.polar(torch.ones(1), torch.tensor([-float(offset)]))
    pairs = torch.view_as_complex(q.reshape(-1, 2)) * turns
    return torch.view_as_real(pairs).reshape(q.shape)


@wrong(check.ramp, "Property: 0 for pairs that turn often, 1 for open ones, a line between")
def fast_from_31_turns_on(d, base, length):
    lo, hi = (d / 2 * math.log(length / (2 * math.pi * r), base) for r in (31, 1))
    lo, hi = max(math.floor(lo), 0), math.ceil(hi)
    return ((torch.arange(d // 2) - lo) / (hi - lo)).clamp(0, 1)
