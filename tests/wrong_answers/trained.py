"""Wrong answers to the exercises of chapter 9."""

import torch
from torch.nn.functional import cosine_similarity

from d2lpos.check import trained as check

from . import wrong

# The head that looks one back


def best(values):
    layer, head = (values == values.max()).nonzero()[0].tolist()
    return layer, head


def at(weights, offset):
    return torch.diagonal(weights, offset, dim1=-2, dim2=-1).mean(dim=-1)


@wrong(check.previous_head, "This is (head, layer).")
def head_first(weights):
    layer, head = best(at(weights, -1))
    return head, layer


@wrong(check.previous_head, "Here the weight goes to the next token")
def one_ahead(weights):
    return best(at(weights, 1))


@wrong(check.previous_head, "Here the weight goes to the next token")
def rows_taken_for_keys(weights):
    return best(at(weights.mT, -1))


@wrong(check.previous_head, "This head looks at the token itself.")
def itself(weights):
    return best(at(weights, 0))


@wrong(check.previous_head, "This head looks two back.")
def two_back(weights):
    return best(at(weights, -2))


@wrong(check.previous_head, "an attention sink")
def first_token(weights):
    return best(weights[..., 1:, 0].sum(dim=-1))


@wrong(check.previous_head, "One query is enough for this head to win.")
def strongest_look(weights):
    return best(torch.diagonal(weights, -1, dim1=-2, dim2=-1).max(dim=-1).values)


@wrong(check.previous_head, "Only the last query is asked.")
def at_the_end(weights):
    return best(weights[..., -1, -2])


@wrong(check.previous_head, "This counts how often the previous token gets the most.")
def votes(weights):
    chosen = weights.argmax(dim=-1)
    return best((chosen[..., 1:] == torch.arange(weights.shape[-1] - 1)).sum(dim=-1))


@wrong(check.previous_head, "The best head of the layer that looks back most")
def layer_then_head(weights):
    mean = at(weights, -1)
    layer = mean.sum(dim=1).argmax()
    return int(layer), int(mean[layer].argmax())


@wrong(check.previous_head, "fails 1 of 3 properties Property: weights that look both ways", card=True)
def with_a_shifted_index(weights):
    tokens = range(weights.shape[-1])
    return best(sum(weights[:, :, i, i - 1] for i in tokens))


@wrong(check.previous_head, "A flat index counts heads first")
def divided_by_layers(weights):
    flat = int(at(weights, -1).argmax())
    return flat // weights.shape[0], flat % weights.shape[0]


@wrong(check.previous_head, "2 numbers are asked for: layer, head")
def flat_index(weights):
    return at(weights, -1).argmax()


@wrong(check.previous_head, "Returns 1 entry; 2 numbers are asked for")
def only_the_head(weights):
    return [at(weights, -1).mean(dim=0).argmax()]


# Which layout?


def pairs(rows, layout):
    """The two members of each pair, on the axis of a head's rows."""
    if layout == "interleaved":
        return rows[:, ::2], rows[:, 1::2]
    half = rows.shape[1] // 2
    return rows[:, :half], rows[:, half:]


def heads_of(weight, heads):
    return weight.reshape(heads, -1, weight.shape[-1])


def the_smaller(cost):
    return "half" if cost("half") < cost("interleaved") else "interleaved"


def crossed(wq, wk, heads, kv_heads, layout):
    q, k = heads_of(wq, heads), heads_of(wk, kv_heads)
    k = k.repeat_interleave(heads // kv_heads, dim=0)
    (q1, q2), (k1, k2) = pairs(q, layout), pairs(k, layout)
    return (q1 * k2).sum(dim=-1), (q2 * k1).sum(dim=-1)


@wrong(check.layout, "The two layouts are exchanged")
def names_confused(wq, wk, heads, kv_heads):
    def products(layout):
        return sum(one.abs().sum() for one in crossed(wq, wk, heads, kv_heads, layout))

    return "half" if products("interleaved") > products("half") else "interleaved"


@wrong(check.layout, "Lengths mislead")
def as_long_as_its_partner(wq, wk, heads, kv_heads):
    def apart(layout):
        a, b = pairs(heads_of(wq, heads), layout)
        return (a.norm(dim=-1) - b.norm(dim=-1)).abs().sum()

    return the_smaller(apart)


@wrong(check.layout, "Lengths mislead")
def keys_as_long_as_their_partners(wq, wk, heads, kv_heads):
    def apart(layout):
        a, b = pairs(heads_of(wk, kv_heads), layout)
        return (a.norm(dim=-1).log() - b.norm(dim=-1).log()).square().mean()

    return the_smaller(apart)


@wrong(check.layout, "Rows of one matrix never meet each other.")
def like_its_partner(wq, wk, heads, kv_heads):
    def alike(layout):
        return -cosine_similarity(*pairs(heads_of(wk, kv_heads), layout), dim=-1).abs().mean()

    return the_smaller(alike)


@wrong(check.layout, "Products of partners have both signs, and cancel.")
def sum_of_products(wq, wk, heads, kv_heads):
    return the_smaller(lambda layout: -sum(one.sum() for one in crossed(wq, wk, heads, kv_heads, layout)))


@wrong(check.layout, "All heads are taken for one.")
def one_head(wq, wk, heads, kv_heads):
    size = len(wk) // kv_heads
    served = wk.reshape(kv_heads, size, -1).repeat_interleave(heads // kv_heads, dim=0).reshape(len(wq), -1)
    return the_smaller(lambda layout: -sum(one.abs().sum() for one in crossed(wq, served, 1, 1, layout)))


@wrong(check.layout, "fails 1 of 3 properties Property: several heads, which may share keys")
@wrong(check.layout, "One head may mislead.")
def the_first_head(wq, wk, heads, kv_heads):
    size = len(wq) // heads
    return the_smaller(
        lambda layout: -sum(one.abs().sum() for one in crossed(wq[:size], wk[:size], 1, 1, layout))
    )


@wrong(check.layout, "One head may mislead.")
def the_last_head(wq, wk, heads, kv_heads):
    size = len(wq) // heads
    return the_smaller(
        lambda layout: -sum(one.abs().sum() for one in crossed(wq[-size:], wk[-size:], 1, 1, layout))
    )


@wrong(check.layout, "Here queries meet the keys of another head.")
def keys_in_turn(wq, wk, heads, kv_heads):
    k = heads_of(wk, kv_heads)
    k = torch.stack([k[a % kv_heads] for a in range(heads)]).reshape(len(wq), -1)
    return the_smaller(lambda layout: -sum(one.abs().sum() for one in crossed(wq, k, heads, heads, layout)))


@wrong(check.layout, 'This is "half" whatever the weights are.')
def as_transformers_has_it(wq, wk, heads, kv_heads):
    return "half"


@wrong(check.layout, 'This is "interleaved" whatever the weights are.')
def as_the_paper_has_it(wq, wk, heads, kv_heads):
    return "interleaved"


@wrong(check.layout, "fails 1 of 3 properties Property: heads of any size")
def always_64_features(wq, wk, heads, kv_heads):
    heads, kv_heads = len(wq) // 64, len(wk) // 64
    return the_smaller(
        lambda layout: -sum(one.abs().sum() for one in crossed(wq, wk, heads, kv_heads, layout))
    )


@wrong(check.layout, "Expected half, got halves")
def another_name(wq, wk, heads, kv_heads):
    costs = {
        name: sum(one.abs().sum() for one in crossed(wq, wk, heads, kv_heads, layout))
        for name, layout in (("halves", "half"), ("neighbors", "interleaved"))
    }
    return max(costs, key=costs.get)


in_file = check.layout.answers[0]
wrong(in_file, "It is not 'diagonal'")("diagonal")
wrong(in_file, "Expected a name in quotes, got 7")(7)


# Left padding


def lower(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


def mask_of(real):
    n = real.shape[1]
    return (lower(n) & real[:, None, None, :]) | torch.eye(n, dtype=torch.bool)


def places(real):
    return torch.relu(real.long().cumsum(-1) - 1)


@wrong(check.padded, "This is the column.")
def by_column(real):
    return torch.arange(real.shape[1]).repeat(len(real), 1), mask_of(real)


@wrong(check.padded, "The first token stands at 1.")
def from_one(real):
    return real.long().cumsum(-1), mask_of(real)


@wrong(check.padded, "The padding of the first text is taken from all.")
def one_offset_for_all(real):
    padding = int((~real[0]).sum())
    return torch.relu(torch.arange(real.shape[1]).repeat(len(real), 1) - padding), mask_of(real)


@wrong(check.padded, "Padding stands below 0")
def minus_one(real):
    return real.long().cumsum(-1) - 1, mask_of(real)


@wrong(check.padded, "Padding stands below 0", card=True)
def minus_many(real):
    padding = (~real).sum(dim=-1, keepdim=True)
    return torch.arange(real.shape[1]) - padding, mask_of(real)


@wrong(check.padded, "Padding is seen.")
def causal_alone(real):
    return places(real), lower(real.shape[1]).repeat(len(real), 1, 1, 1)


@wrong(check.padded, "Padding is seen.")
def queries_hidden(real):
    return places(real), lower(real.shape[1]) & real[:, None, :, None]


@wrong(check.padded, "fails 1 of 4 properties Property: a real token sees the real ones up to itself")
def padding_alone(real):
    n = real.shape[1]
    return places(real), real[:, None, None, :].repeat(1, 1, n, 1) | torch.eye(n, dtype=torch.bool)


@wrong(check.padded, "Later tokens are seen.")
def real_keys(real):
    return places(real), real[:, None, None, :] | torch.eye(real.shape[1], dtype=torch.bool)


@wrong(check.padded, "The mask is turned around")
def true_hides(real):
    return places(real), ~mask_of(real)


@wrong(check.padded, "the softmax of its row is 0/0")
def only_real_tokens(real):
    return places(real), lower(real.shape[1]) & real[:, None, None, :] & real[:, None, :, None]


@wrong(check.padded, "the softmax of its row is 0/0")
def empty_rows(real):
    return places(real), lower(real.shape[1]) & real[:, None, None, :]


@wrong(check.padded, "The mask is torch.float32; it is to be Boolean")
def added_mask(real):
    return places(real), torch.zeros(mask_of(real).shape).masked_fill(~mask_of(real), -torch.inf)


@wrong(check.padded, "Returns shapes (1, 5) and (1, 5, 5)")
def no_axis_for_heads(real):
    return places(real), mask_of(real)[:, 0]


@wrong(check.padded, "whole numbers choose rows of a table")
def fractions(real):
    return torch.relu(real.float().cumsum(-1) - 1), mask_of(real)


@wrong(check.padded, "Two tensors are asked for: positions and mask")
def positions_alone(real):
    return places(real)


# Which pairs can be held for nothing?


def search(loss, pairs, fits):
    """The smallest p that fits, by halves."""
    low, high = 0, pairs + 1
    while low < high - 1:
        middle = (low + high) // 2
        if fits(middle - 1):
            high = middle
        else:
            low = middle
    return high - 1


@wrong(check.frozen, "This is the last that is too much.")
def one_before(loss, pairs, allowed):
    limit = loss(pairs) + allowed
    return search(loss, pairs, lambda p: loss(p) <= limit) - 1


@wrong(check.frozen, "This is how many pairs are held.")
def how_many(loss, pairs, allowed):
    limit = loss(pairs) + allowed
    return pairs - search(loss, pairs, lambda p: loss(p) <= limit)


@wrong(check.frozen, "Exactly as much as allowed is allowed.")
def strictly_less(loss, pairs, allowed):
    base = loss(pairs)
    return search(loss, pairs, lambda p: loss(p) - base < allowed)


@wrong(check.frozen, "The loss itself is compared with what is allowed.")
def no_base(loss, pairs, allowed):
    loss(pairs)
    return search(loss, pairs, lambda p: loss(p) <= allowed)


@wrong(check.frozen, "This is a share of the loss.")
def in_percent(loss, pairs, allowed):
    base = loss(pairs)
    return search(loss, pairs, lambda p: loss(p) / base - 1 <= allowed)


@wrong(check.frozen, "The loss is compared with the lowest so far.")
def lowest_so_far(loss, pairs, allowed):
    known = [loss(pairs)]

    def fits(p):
        known.append(loss(p))
        return known[-1] - min(known) <= allowed

    return search(loss, pairs, fits)


@wrong(check.frozen, "fails 1 of 5 properties Property: 0 where all may be")
@wrong(check.frozen, "0 is never tried, and may be allowed.")
def from_pair_one(loss, pairs, allowed):
    limit, low, high = loss(pairs) + allowed, 0, pairs
    while high - low > 1:
        middle = (low + high) // 2
        if loss(middle) > limit:
            low = middle
        else:
            high = middle
    return high


@wrong(check.frozen, "fails 1 of 5 properties Property: as many as there are pairs, where none may be")
@wrong(check.frozen, "None held may be all that is allowed")
def some_pair_is_held(loss, pairs, allowed):
    limit, low, high = loss(pairs) + allowed, -1, pairs - 1
    while high - low > 1:
        middle = (low + high) // 2
        if loss(middle) > limit:
            low = middle
        else:
            high = middle
    return high


@wrong(check.frozen, "Each loss is a run of the model.")
def down_from_the_top(loss, pairs, allowed):
    limit, p = loss(pairs) + allowed, pairs
    while p > 0 and loss(p - 1) <= limit:
        p -= 1
    return p


@wrong(check.frozen, "Each loss is a run of the model.")
def up_from_the_bottom(loss, pairs, allowed):
    limit, p = loss(pairs) + allowed, 0
    while loss(p) > limit:
        p += 1
    return p


@wrong(check.frozen, "Each loss is a run of the model.")
def whole_curve(loss, pairs, allowed):
    curve = torch.tensor([loss(p) for p in range(pairs + 1)])
    return int((curve <= curve[-1] + allowed).nonzero()[0])


@wrong(check.frozen, "loss(pairs) is asked for again and again.", card=True)
def base_each_time(loss, pairs, allowed):
    low, high = -1, pairs
    while high - low > 1:
        middle = (low + high) // 2
        if loss(middle) - loss(pairs) <= allowed:
            high = middle
        else:
            low = middle
    return high


@wrong(check.frozen, "Expected type int, got type float")
def by_true_division(loss, pairs, allowed):
    limit, low, high = loss(pairs) + allowed, -1, pairs
    while high - low > 1:
        middle = (low + high) / 2
        if loss(int(middle)) <= limit:
            high = middle
        else:
            low = middle
    return high


# Where were the texts cut?


def cosines(table):
    return cosine_similarity(table[1:], table[:-1], dim=1).tolist()


def unlike_both(table, below, rows, likeness=cosines):
    near, last = likeness(table), len(table) - 1
    return [r + 1 for r in rows if (not r or near[r - 1] < below) and (r == last or near[r] < below)]


@wrong(check.cuts, "These are rows. A text that ends with row r has r + 1 tokens.")
def rows_instead(table, below):
    return [n - 1 for n in unlike_both(table, below, range(1, len(table)))]


@wrong(check.cuts, "One neighbor is enough here.")
def after_a_gap(table, below):
    return [r + 2 for r, near in enumerate(cosines(table)) if near < below]


@wrong(check.cuts, "One neighbor is enough here.")
def before_a_gap(table, below):
    return [r + 1 for r, near in enumerate(cosines(table)) if near < below and r] + [len(table)]


@wrong(check.cuts, "One neighbor is enough here.")
def on_either_side(table, below):
    near = [*cosines(table), -1.0]
    return [r + 1 for r in range(1, len(table)) if min(near[r - 1], near[r]) < below]


@wrong(check.cuts, "fails 1 of 4 properties Property: not where rows change for good")
@wrong(check.cuts, "Where rows change for good there is one gap.")
def one_cut_for_gaps_in_a_row(table, below):
    found, gap, near = [], 0, cosines(table)
    while gap < len(near):
        first = gap
        while gap < len(near) and near[gap] < below:
            gap += 1
        if gap - first > (first == 0):
            found.append(first + 2)
        gap += 1
    return found


@wrong(check.cuts, "The last row has one neighbor, and is unlike it.")
def inner_rows(table, below):
    return unlike_both(table, below, range(1, len(table) - 1))


@wrong(check.cuts, "The last row is one only if it is unlike its neighbor.")
def last_row_always(table, below):
    return [*unlike_both(table, below, range(1, len(table) - 1)), len(table)]


@wrong(check.cuts, "No text was cut to one token.")
def all_rows(table, below):
    return unlike_both(table, below, range(len(table)))


@wrong(check.cuts, "These are rows that are like their neighbors")
def alike(table, below):
    near = [*cosines(table), -1.0]
    return [r + 1 for r in range(1, len(table)) if near[r - 1] >= below and near[r] >= below]


@wrong(check.cuts, "A product of rows grows with their lengths.")
def dot_products(table, below):
    rows = range(1, len(table))
    return unlike_both(table, below, rows, lambda x: (x[1:] * x[:-1]).sum(dim=1).tolist())


@wrong(check.cuts, "below is an argument.")
def seven_tenths(table, below):
    return unlike_both(table, 0.7, range(1, len(table)))


wrong(check.previous_head.answers[0], "Expected 2 entries, got 1")([144])
wrong(check.frozen.answers[0], "It is not 20")(20)
wrong(check.cuts.answers[0], "Expected 2 entries, got 3")([128, 256, 512])
