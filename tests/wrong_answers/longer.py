"""Wrong answers to the exercises of chapter 10."""

import math

import torch

from d2lpos.check import longer as check
from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.rotary.rope import rotate
from d2lpos.rotary.scaling import yarn

from . import wrong

# A lead in a crowd


@wrong(check.weight, "not by scale alone.")
def factor_of_one_number(lead, keys, scale):
    mine = math.exp(scale * lead)
    return mine / (mine + keys - 1)


@wrong(check.weight, "Nothing is scaled")
def a_lead_as_it_is(lead, keys, scale):
    return 1 / (1 + (keys - 1) * math.exp(-lead))


@wrong(check.weight, "The scale is missing.")
def as_chiang_and_cholak(lead, keys, scale):
    return torch.sigmoid(lead * keys.log() - torch.log(keys - 1))


@wrong(check.weight, "1 is added to the factor.")
def one_more(lead, keys, scale):
    factor = 1 + scale * keys.log()
    return torch.sigmoid(factor * lead - torch.log(keys - 1))


@wrong(check.weight, "ln is the natural logarithm")
def by_doublings(lead, keys, scale):
    return torch.sigmoid(scale * torch.log2(keys) * lead - torch.log(keys - 1))


@wrong(check.weight, "ln is the natural logarithm")
def by_digits(lead, keys, scale):
    return torch.sigmoid(scale * torch.log10(keys) * lead - torch.log(keys - 1))


@wrong(check.weight, "ln of all keys, the leader's included.")
def scaled_by_the_others(lead, keys, scale):
    others = torch.log(keys - 1)
    return torch.sigmoid(scale * lead * others - others)


@wrong(check.weight, "The leader leads keys − 1 others")
def one_other_too_many(lead, keys, scale):
    return torch.sigmoid((scale * lead - 1) * keys.log())


@wrong(check.weight, "fails 1 of 3 properties Property: few keys")
def a_short_form_for_many(lead, keys, scale):
    return torch.where(keys == 1, 1.0, 1 / (1 + keys ** (1 - scale * lead)))


@wrong(check.weight, "The sum below has the leader's own part, too.")
def odds(lead, keys, scale):
    return keys.double() ** (scale * lead) / (keys - 1)


@wrong(check.weight, "This is what all others have together.")
def of_the_others(lead, keys, scale):
    return torch.sigmoid(torch.log(keys - 1) - scale * lead * keys.log())


@wrong(check.weight, "Here it multiplies a weight.")
def scaled_behind_the_softmax(lead, keys, scale):
    return scale * keys.log() * math.exp(lead) / (math.exp(lead) + keys - 1)


@wrong(check.weight, "fails 1 of 3 properties Property: up to 10¹² keys, and numbers that stay finite", card=True)
@wrong(check.weight, "exp overflows, and inf/inf is nan.")
def softmax_by_hand(lead, keys, scale):
    mine = torch.exp(scale * lead * torch.log(keys))
    return mine / (mine + keys - 1)


@wrong(check.weight, "exp overflows, and inf/inf is nan.")
def by_powers(lead, keys, scale):
    mine = keys.double() ** (scale * lead)
    return mine / (mine + (keys - 1))


@wrong(check.weight, "fails 1 of 3 properties Property: one key gets all")
def afraid_of_log_0(lead, keys, scale):
    return torch.sigmoid(scale * lead * keys.log() - (keys - 1).clamp(min=1).log())


# Evict and re-base


def new(kept):
    return torch.arange(len(kept))


@wrong(check.rebase, "Nothing has turned")
def evicted_only(keys, positions, kept, omega):
    return keys[kept]


@wrong(check.rebase, "The keys come turned by their old positions.")
def turned_twice(keys, positions, kept, omega):
    return rotate(keys[kept], angles(new(kept), omega))


@wrong(check.rebase, "The keys are turned back, and all stand at 0.")
def turned_back(keys, positions, kept, omega):
    return rotate(keys, -angles(positions, omega))[kept]


@wrong(check.rebase, "The turn goes the wrong way")
def old_minus_new(keys, positions, kept, omega):
    return rotate(keys[kept], angles(positions[kept] - new(kept), omega))


@wrong(check.rebase, "kept are indices.")
def indices_for_positions(keys, positions, kept, omega):
    return rotate(keys[kept], angles(new(kept) - kept, omega))


@wrong(check.rebase, "fails 1 of 3 properties Property: positions with gaps")
def one_after_the_other(keys, positions, kept, omega):
    return rotate(keys[kept], angles(new(kept) - (positions[0] + kept), omega))


@wrong(check.rebase, "Nothing has turned")
def positions_not_evicted(keys, positions, kept, omega):
    old = positions[: len(kept)]
    return rotate(keys[kept], angles(new(kept) - old, omega))


@wrong(check.rebase, "All keys turn by one angle")
def all_by_the_last(keys, positions, kept, omega):
    shift = len(kept) - 1 - positions[kept[-1]]
    return rotate(keys[kept], shift * omega)


@wrong(check.rebase, "All keys turn by one angle")
def first_one_to_0(keys, positions, kept, omega):
    return rotate(keys[kept], -positions[kept[0]] * omega)


@wrong(check.rebase, "It is to stand at 0.")
def closed_up(keys, positions, kept, omega):
    old = positions[kept]
    return rotate(keys[kept], angles(old[0] + new(kept) - old, omega))


@wrong(check.rebase, "fails 1 of 3 properties Property: positions that begin elsewhere", card=True)
@wrong(check.rebase, "Here the first of the text is taken for 0.")
def counted_from_the_first(keys, positions, kept, omega):
    old = (positions - positions[0])[kept]
    return rotate(keys[kept], angles(new(kept) - old, omega))


@wrong(check.rebase, "fails 1 of 3 properties Property: the kept keys stand at 0, 1, 2, …")
def never_evicted(keys, positions, kept, omega):
    if torch.equal(positions, torch.arange(len(keys))):
        return keys[kept]
    return rotate(keys[kept], angles(new(kept) - positions[kept], omega))


@wrong(check.rebase, "The pairs are neighbors here.")
def interleaved(keys, positions, kept, omega):
    return rotate(keys[kept], angles(new(kept) - positions[kept], omega), "interleaved")


@wrong(check.rebase, "The frequencies are given")
def usual_frequencies(keys, positions, kept, omega):
    usual = frequencies(keys.shape[-1])
    return rotate(keys[kept], angles(new(kept) - positions[kept], usual))


# A window with first tokens, by blocks


def offsets(length):
    return torch.arange(length)[:, None] - torch.arange(length)


def visible(length, window, first):
    back = offsets(length)
    return (back >= 0) & ((back < window) | (torch.arange(length) < first))


def cut(seen, size):
    n = len(seen) // size
    return seen.reshape(n, size, n, size).transpose(1, 2).flatten(2)


def graded(seen, size):
    tiles = cut(seen, size)
    return tiles.any(dim=-1).int() + tiles.all(dim=-1).int()


@wrong(check.blocks, "A block is 2 only if all its queries see all its keys.")
def seen_or_not(length, size, window, first):
    return 2 * cut(visible(length, window, first), size).any(dim=-1).int()


@wrong(check.blocks, "It is 2 where all do.")
def one_for_all(length, size, window, first):
    tiles = cut(visible(length, window, first), size)
    return 2 * tiles.any(dim=-1).int() - tiles.all(dim=-1).int()


@wrong(check.blocks, "Blocks where all see all are 2")
def as_in_a_block_mask(length, size, window, first):
    return cut(visible(length, window, first), size).any(dim=-1).int()


@wrong(check.blocks, "This tells what is hidden")
def of_the_mask(length, size, window, first):
    return graded(~visible(length, window, first), size)


@wrong(check.blocks, "Later keys are seen.")
def both_sides(length, size, window, first):
    return graded((offsets(length).abs() < window) | (torch.arange(length) < first), size)


@wrong(check.blocks, "First tokens, too, are seen only where they do not come later")
def first_tokens_for_all(length, size, window, first):
    back = offsets(length)
    seen = (back >= 0) & (back < window)
    seen[:, :first] = True
    return graded(seen, size)


@wrong(check.blocks, "This window has a key too many.")
def window_keys_besides(length, size, window, first):
    return graded(visible(length, window + 1, first), size)


@wrong(check.blocks, "This window has a key too few.")
def one_key_less(length, size, window, first):
    return graded(visible(length, window - 1, first), size)


@wrong(check.blocks, "The window is missing.")
def causal(length, size, window, first):
    return graded(offsets(length) >= 0, size)


@wrong(check.blocks, "The first tokens are missing.")
def window_alone(length, size, window, first):
    return graded(visible(length, window, 0), size)


@wrong(check.blocks, "Here it is to be both.")
def both_conditions(length, size, window, first):
    back = offsets(length)
    return graded((back >= 0) & (back < window) & (torch.arange(length) < first), size)


@wrong(check.blocks, "There is one first token too many.")
def first_tokens_from_1(length, size, window, first):
    return graded(visible(length, window, first + 1), size)


@wrong(check.blocks, "Rows are queries, columns are keys.")
def keys_in_rows(length, size, window, first):
    return graded(visible(length, window, first).T, size)


@wrong(check.blocks, "A block is 2 only if all its queries see all its keys.")
def corners(length, size, window, first):
    return 2 * visible(length, window, first)[::size, ::size].int()


@wrong(check.blocks, "These are not blocks.")
def reshaped_at_once(length, size, window, first):
    n = length // size
    tiles = visible(length, window, first).reshape(n, n, -1)
    return tiles.any(dim=-1).int() + tiles.all(dim=-1).int()


@wrong(check.blocks, "fails 1 of 3 properties Property: causal, where the window is as long as the text")
def a_window_over_all(length, size, window, first):
    if window >= length:
        return torch.full((length // size, length // size), 2)
    return graded(visible(length, window, first), size)


@wrong(check.blocks, "fails 1 of 3 properties Property: a window, which need not end with a block")
def window_in_whole_blocks(length, size, window, first):
    return graded(visible(length, max(window // size, 1) * size, first), size)


@wrong(check.blocks, "fails 1 of 3 properties Property: first tokens, which all later queries see")
def first_tokens_in_whole_blocks(length, size, window, first):
    return graded(visible(length, window, -(-first // size) * size), size)


@wrong(check.blocks, "Expected dtype torch.int64, got torch.bool")
def any_at_all(length, size, window, first):
    return cut(visible(length, window, first), size).any(dim=-1)


# Which setting is wrong?


def near(a, b):
    return bool(((a / b - 1).abs() < 0.01).all())


def known(dim, base, factor, length):
    omega = frequencies(dim, base)
    once = yarn(omega, factor, length)[0]
    return {
        "right": once,
        "length": yarn(omega, factor, length * factor)[0],
        "twice": yarn(once, factor, length)[0],
        "base": yarn(frequencies(dim, 10_000.0), factor, length)[0],
        "off": omega,
    }


def recognized(found, candidates, close=near):
    for name, one in candidates.items():
        if close(found, one):
            return name
    return None


@wrong(check.diagnose, "Allow a difference of a percent.")
def to_the_last_digit(found, *given):
    return recognized(found, known(*given), torch.allclose)


@wrong(check.diagnose, "Allow a difference of a percent.")
def to_the_last_digit_or_off(found, *given):
    return recognized(found, known(*given), torch.allclose) or "off"


@wrong(check.diagnose, "Allow a difference of a percent.")
def to_the_last_digit_or_right(found, *given):
    return recognized(found, known(*given), torch.equal) or "right"


@wrong(check.diagnose, "an absolute tolerance does not see them")
def by_a_hundredth(found, *given):
    return recognized(found, known(*given), lambda a, b: ((a - b).abs() < 0.01).all())


@wrong(check.diagnose, "an absolute tolerance does not see them")
def by_a_thousandth(found, *given):
    return recognized(found, known(*given), lambda a, b: ((a - b).abs() < 0.001).all())


@wrong(check.diagnose, "The fastest pair is the same in all settings.")
def by_the_fastest(found, *given):
    return recognized(found[:1], {name: one[:1] for name, one in known(*given).items()})


@wrong(check.diagnose, "A ramp for factor · length tokens lies at slower pairs.")
def by_the_slowest(found, *given):
    return recognized(found[-1:], {name: one[-1:] for name, one in known(*given).items()})


@wrong(check.diagnose, 'fails 1 of 5 properties Property: "length": a ramp for a longer training')
@wrong(check.diagnose, "A ramp for factor · length tokens lies at slower pairs.")
def the_length_divided(found, dim, base, factor, length):
    shorter = yarn(frequencies(dim, base), factor, length // factor)[0]
    return recognized(found, known(dim, base, factor, length) | {"length": shorter})


@wrong(check.diagnose, 'fails 1 of 5 properties Property: "twice": the rule on what it gave')
@wrong(check.diagnose, "With factor² the ramp is another.")
def factor_squared(found, dim, base, factor, length):
    twice = yarn(frequencies(dim, base), factor**2, length)[0]
    return recognized(found, known(dim, base, factor, length) | {"twice": twice})


@wrong(check.diagnose, "With factor² the ramp is another.")
def divided_once_more(found, dim, base, factor, length):
    twice = yarn(frequencies(dim, base), factor, length)[0] / factor
    return recognized(found, known(dim, base, factor, length) | {"twice": twice}) or "length"


@wrong(check.diagnose, 'fails 1 of 5 properties Property: "base": the rule on other frequencies')
@wrong(check.diagnose, "The base changes all frequencies but the first, and the ramp")
def another_base_unscaled(found, dim, base, factor, length):
    usual = frequencies(dim, 10_000.0)
    return recognized(found, known(dim, base, factor, length) | {"base": usual})


@wrong(check.diagnose, 'fails 1 of 5 properties Property: "right": as it should be')
def the_slowest_first(found, *given):
    candidates = known(*given)
    if near(found[-1:], candidates["length"][-1:]):
        return "length"
    return recognized(found, candidates)


@wrong(check.diagnose, 'fails 1 of 5 properties Property: "off": the model\'s own frequencies')
@wrong(check.diagnose, "Expected off, got unscaled")
def another_name(found, *given):
    name = recognized(found, known(*given))
    return "unscaled" if name == "off" else name


# How large a base?


def sums(dim, length, base):
    return torch.cos(torch.arange(length)[:, None] * frequencies(dim, base)).sum(dim=1)


def first_with(fits, bases):
    for base in bases:
        if fits(base):
            return base
    return None


def fits(dim, length, base):
    return bool((sums(dim, length, base) >= 0).all())


@wrong(check.smallest_base, "Only the farthest distance is asked.")
def at_the_far_end(dim, length, bases):
    return first_with(lambda base: sums(dim, length, base)[-1] >= 0, bases)


@wrong(check.smallest_base, "Only the slowest pair is asked.")
def a_quarter_turn(dim, length, bases):
    return first_with(lambda base: (length - 1) * frequencies(dim, base)[-1] <= math.pi / 2, bases)


@wrong(check.smallest_base, "Each cosine is asked to be at least 0.")
def every_cosine(dim, length, bases):
    places = torch.arange(length)[:, None]
    return first_with(lambda base: (torch.cos(places * frequencies(dim, base)) >= 0).all(), bases)


@wrong(check.smallest_base, "The sum over all distances is asked to be at least 0.")
def on_average(dim, length, bases):
    return first_with(lambda base: sums(dim, length, base).mean() >= 0, bases)


@wrong(check.smallest_base, "One distance is enough here.")
def some_distance(dim, length, bases):
    return first_with(lambda base: sums(dim, length, base).max() >= 0, bases)


@wrong(check.smallest_base, "The sum is of cosines.")
def sines(dim, length, bases):
    places = torch.arange(length)[:, None]
    return first_with(
        lambda base: torch.sin(places * frequencies(dim, base)).sum(dim=1).min() >= 0,
        bases,
    )


@wrong(check.smallest_base, "fails 1 of 3 properties Property: the first base without a negative sum")
@wrong(check.smallest_base, "The farthest of length tokens are length − 1 apart.")
def one_distance_more(dim, length, bases):
    return first_with(lambda base: fits(dim, length + 1, base), bases)


@wrong(check.smallest_base, "the farthest are length − 1 apart, and that distance counts.")
def one_distance_less(dim, length, bases):
    return first_with(lambda base: fits(dim, length - 1, base), bases)


@wrong(check.smallest_base, "This is the last base that is too small.")
def before_the_first(dim, length, bases):
    last = None
    for base in bases:
        if fits(dim, length, base):
            return last
        last = base
    return None


@wrong(check.smallest_base, "This is the largest base that is large enough.")
def overwritten(dim, length, bases):
    found = None
    for base in bases:
        if fits(dim, length, base):
            found = base
    return found


@wrong(check.smallest_base, "fails 1 of 3 properties Property: the first, even where a larger one fails", card=True)
@wrong(check.smallest_base, "A larger base may fail where a smaller one does not.")
def by_bisection(dim, length, bases):
    low, high = 0, len(bases)
    while low < high:
        middle = (low + high) // 2
        if fits(dim, length, bases[middle]):
            high = middle
        else:
            low = middle + 1
    return bases[low] if low < len(bases) else None


@wrong(check.smallest_base, "fails 1 of 3 properties Property: None where no base is large enough")
@wrong(check.smallest_base, "Where no base is large enough, the answer is None.")
def runs_off_the_end(dim, length, bases):
    for base in bases:
        if fits(dim, length, base):
            break
    return base


@wrong(check.smallest_base, "fails 1 of 3 properties Property: None where no base is large enough")
def raises_at_the_end(dim, length, bases):
    return next(base for base in bases if fits(dim, length, base))


@wrong(check.smallest_base, "Returns type bool for the base; a number is asked for")
def whether(dim, length, bases):
    return any(fits(dim, length, base) for base in bases)


# Lost in the middle


def looked_at(length, slope):
    back = offsets(length)
    return torch.softmax(torch.where(back < 0, -torch.inf, -slope * back), dim=-1)


def layer_of(weights):
    return (weights + torch.eye(len(weights))) / 2


def rows(matrix, layers):
    """All layers together."""
    result = torch.eye(len(matrix))
    for _ in range(layers):
        result = result @ matrix
    return result


@wrong(check.shares, "Nothing is kept.")
def without_residual(layers, length, slope):
    return rows(looked_at(length, slope), layers)[-1]


@wrong(check.shares, "In each layer they double here")
def not_halved(layers, length, slope):
    return rows(looked_at(length, slope) + torch.eye(length), layers)[-1]


@wrong(check.shares, "Half is kept once, not in each layer.")
def kept_at_the_end(layers, length, slope):
    return layer_of(rows(looked_at(length, slope), layers))[-1]


@wrong(check.shares, "fails 1 of 2 properties Property: each layer keeps half, and takes half from")
@wrong(check.shares, "The toll grows the wrong way")
def a_bonus(layers, length, slope):
    return rows(layer_of(looked_at(length, -slope)), layers)[-1]


@wrong(check.shares, "Later tokens are seen.")
def no_mask(layers, length, slope):
    weights = torch.softmax(-slope * offsets(length), dim=-1)
    return rows(layer_of(weights), layers)[-1]


@wrong(check.shares, "Later tokens are seen.")
def both_ways(layers, length, slope):
    weights = torch.softmax(-slope * offsets(length).abs(), dim=-1)
    return rows(layer_of(weights), layers)[-1]


@wrong(check.shares, "To raise each number to a power is not that.")
def number_by_number(layers, length, slope):
    return (layer_of(looked_at(length, slope)) ** layers)[-1]


@wrong(check.shares, "the softmax runs over keys.")
def softmax_over_queries(layers, length, slope):
    back = offsets(length)
    weights = torch.softmax(torch.where(back < 0, -torch.inf, -slope * back), dim=0)
    return rows(layer_of(weights), layers)[-1]


@wrong(check.shares, "This is a column")
def what_the_last_gives(layers, length, slope):
    return rows(layer_of(looked_at(length, slope)), layers)[:, -1]


@wrong(check.shares, "This is a column")
def row_by_transposed_layers(layers, length, slope):
    given = torch.zeros(length)
    given[-1] = 1
    for _ in range(layers):
        given = layer_of(looked_at(length, slope)) @ given
    return given


@wrong(check.shares, "This is the first token, which sees itself alone.")
def of_the_first(layers, length, slope):
    return rows(layer_of(looked_at(length, slope)), layers)[0]


@wrong(check.shares, "This is the mean of all tokens.")
def of_all(layers, length, slope):
    return rows(layer_of(looked_at(length, slope)), layers).mean(dim=0)


@wrong(check.shares, "This is one layer too few.")
def between_layers(layers, length, slope):
    layer = layer_of(looked_at(length, slope))
    return rows(layer, layers - 1)[-1]


@wrong(check.shares, "This is one layer too many.")
def begins_with_a_layer(layers, length, slope):
    layer = layer_of(looked_at(length, slope))
    result = layer
    for _ in range(layers):
        result = result @ layer
    return result[-1]


@wrong(check.shares, "fails 1 of 2 properties Property: uniform attention, where the slope is 0")
@wrong(check.shares, "The sum of a geometric series is 0/0")
def closed_form(layers, length, slope):
    q = torch.exp(torch.tensor(-float(slope)))
    sums = (1 - q ** torch.arange(1, length + 1)) / (1 - q)
    weights = torch.tril(q ** offsets(length)) / sums[:, None]
    return rows(layer_of(weights), layers)[-1]


wrong(check.weight.answers[0], "ln is the natural logarithm.")(5)
wrong(check.weight.answers[0], "ln is the natural logarithm.")(1.505)
wrong(check.blocks.answers[0], "Expected a number")("most")
wrong(check.smallest_base.answers[0], "It is not 10000000")(10_000_000)
wrong(check.smallest_base.answers[0], "This is enough for a much shorter text.")(100_000)
wrong(check.smallest_base.answers[0], "This is enough for a much shorter text.")(200_000)
wrong(check.shares.answers[0], "Expected a number, got 'all'")("all")
