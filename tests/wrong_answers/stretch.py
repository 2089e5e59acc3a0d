"""Wrong answers to the exercises of the project that stretches a model."""

import math

import torch
from scipy import stats

from d2lpos.check import stretch as check
from d2lpos.input.sinusoids import frequencies

from . import wrong

# Angles that training has not shown


@wrong(check.new_angles, "comes round again")
def once_past_always_past(omega, slower, length, longer):
    angles = torch.arange(longer)[:, None] * slower
    arc = length * omega
    new = (angles >= arc) & (arc < 2 * torch.pi)
    return new.double().mean(dim=0)


@wrong(check.new_angles, "nothing is new to it")
def arc_wrapped(omega, slower, length, longer):
    angles = torch.arange(longer)[:, None] * slower
    arc = length * omega % (2 * torch.pi)
    new = angles % (2 * torch.pi) >= arc
    return new.double().mean(dim=0)


@wrong(check.new_angles, "The pairs were slowed after it.")
def arc_of_the_slower(omega, slower, length, longer):
    angles = torch.arange(longer)[:, None] * slower
    new = angles % (2 * torch.pi) >= length * slower
    return new.double().mean(dim=0)


def hands(omega, longer, turn=2 * math.pi, start=0):
    return torch.outer(torch.arange(start, longer).float(), omega).remainder(turn)


@wrong(check.new_angles, "read with the slower frequencies")
def slower_forgotten(omega, slower, length, longer):
    return (hands(omega, longer) >= length * omega).float().mean(0)


@wrong(check.new_angles, "comes round again")
def every_later_place(omega, slower, length, longer):
    return torch.full((len(omega),), (longer - length) / longer)


@wrong(check.new_angles, "The angle at length is new.")
def one_more(omega, slower, length, longer):
    return (hands(slower, longer) > length * omega).float().mean(0)


@wrong(check.new_angles, "A full turn is 2π radians.")
def half_a_turn(omega, slower, length, longer):
    return (hands(slower, longer, math.pi) >= length * omega).float().mean(0)


@wrong(check.new_angles, "a full turn, 2π radians")
def in_degrees(omega, slower, length, longer):
    return (hands(slower, longer, 360) >= length * omega).float().mean(0)


@wrong(check.new_angles, "A full turn is 2π radians.")
def in_turns(omega, slower, length, longer):
    return (hands(slower, longer, 1) >= length * omega).float().mean(0)


@wrong(check.new_angles, "This is how many offsets are new.")
def counted(omega, slower, length, longer):
    return (hands(slower, longer) >= length * omega).float().sum(0)


@wrong(check.new_angles, "not of those past length")
def of_later_offsets(omega, slower, length, longer):
    return (hands(slower, longer, start=length) >= length * omega).float().mean(0)


@wrong(check.new_angles, "the share of what training has shown")
def shown(omega, slower, length, longer):
    return (hands(slower, longer) < length * omega).float().mean(0)


@wrong(check.new_angles, "This is a share of the circle.")
def share_of_the_circle(omega, slower, length, longer):
    full = torch.tensor(2 * math.pi)
    shown = torch.minimum(length * omega, full)
    return (1 - shown / torch.minimum(longer * slower, full)).clamp(min=0)


# A larger base


def opened(dim, base, length):
    return sum(1 for omega in frequencies(dim, base).tolist() if length * omega >= 2 * math.pi)


@wrong(check.larger_base, "So the slowest pair fits alone.")
def slowest_pair_alone(dim, base, length, longer):
    waves = 2 * torch.pi / frequencies(dim, base)
    if (waves <= length).all():
        return base
    return base * (longer / length) ** (dim / (dim - 2))


@wrong(check.larger_base, "This multiplies the base by how much longer the row is.")
def times_the_factor(dim, base, length, longer):
    return base if opened(dim, base, length) == dim // 2 else base * longer / length


@wrong(check.larger_base, "This pair has gone around already.")
def last_closed(dim, base, length, longer):
    i = opened(dim, base, length)
    return base if i == dim // 2 else base * (longer / length) ** (dim / 2 / (i - 1))


@wrong(check.larger_base, "An open pair before this one")
def one_further(dim, base, length, longer):
    i = opened(dim, base, length)
    return base if i == dim // 2 else base * (longer / length) ** (dim / 2 / (i + 1))


@wrong(check.larger_base, "the longer row does not count")
def open_in_the_longer_row(dim, base, length, longer):
    i = opened(dim, base, longer)
    return base if opened(dim, base, length) == dim // 2 else base * (longer / length) ** (dim / 2 / i)


@wrong(check.larger_base, "2i, not i")
def pair_for_feature(dim, base, length, longer):
    i = opened(dim, base, length)
    return base if i == dim // 2 else base * (longer / length) ** (dim / i)


@wrong(check.larger_base, "by what the base grows")
def grows_by(dim, base, length, longer):
    i = opened(dim, base, length)
    return 1.0 if i == dim // 2 else (longer / length) ** (dim / 2 / i)


@wrong(check.larger_base, "the base may stay")
def always_larger(dim, base, length, longer):
    waves = 2 * torch.pi / frequencies(dim, base)
    pair = int((waves <= length).sum())
    return base * (longer / length) ** (dim / (2 * pair))


# A rule of one's own


def turns(omega, length):
    return length * omega / (2 * math.pi)


def logarithmic(factor, length):
    return math.sqrt(1 + math.log(factor) / math.log(length))


def ramp(omega, length, low, high):
    return torch.clamp((turns(omega, length) - low) / (high - low), min=0, max=1)


@wrong(check.own_rule, "Clamp the ramp")
def no_clamp(omega, factor, length, low, high):
    kept = (turns(omega, length) - low) / (high - low)
    return omega * kept + omega / factor * (1 - kept), logarithmic(factor, length)


@wrong(check.own_rule, "fast pairs stay, and slow ones are divided")
def nothing_below_the_ramp(omega, factor, length, low, high):
    kept = ((turns(omega, length) - low) / (high - low)).clamp(max=1)
    return omega * kept + omega / factor * (1 - kept), logarithmic(factor, length)


@wrong(check.own_rule, "The fast pairs are divided here")
def wrong_way_round(omega, factor, length, low, high):
    slow = ramp(omega, length, low, high)
    return omega * (1 - slow) + omega / factor * slow, logarithmic(factor, length)


@wrong(check.own_rule, "divide its frequency")
def faster(omega, factor, length, low, high):
    kept = ramp(omega, length, low, high)
    return omega * kept + omega * factor * (1 - kept), logarithmic(factor, length)


@wrong(check.own_rule, "from divisor to divisor")
def ramp_of_divisors(omega, factor, length, low, high):
    kept = ramp(omega, length, low, high)
    return omega / torch.lerp(torch.full_like(omega, factor), torch.ones_like(omega), kept), logarithmic(factor, length)


@wrong(check.own_rule, "There is no ramp")
def cut_at_low(omega, factor, length, low, high):
    return torch.where(turns(omega, length) > low, omega, omega / factor), logarithmic(factor, length)


@wrong(check.own_rule, "There is no ramp")
def cut_at_high(omega, factor, length, low, high):
    return torch.where(turns(omega, length) < high, omega / factor, omega), logarithmic(factor, length)


@wrong(check.own_rule, "not in the index of the pair")
def ramp_of_indices(omega, factor, length, low, high):
    made = turns(omega, length)
    last, first = int((made >= high).sum()) - 1, int((made > low).sum())
    slow = ((torch.arange(len(omega)) - last) / (first - last)).clamp(0, 1)
    return omega * (1 - slow) + omega / factor * slow, logarithmic(factor, length)


@wrong(check.own_rule, "A turn is 2π radians")
def radians(omega, factor, length, low, high):
    kept = ((length * omega - low) / (high - low)).clamp(0, 1)
    return omega * kept + omega / factor * (1 - kept), logarithmic(factor, length)


@wrong(check.own_rule, "not in the longer ones")
def turns_of_the_longer(omega, factor, length, low, high):
    kept = ramp(omega, factor * length, low, high)
    return omega * kept + omega / factor * (1 - kept), logarithmic(factor, length)


@wrong(check.own_rule, "Take the root.")
def squared(omega, factor, length, low, high):
    turns = length * omega / (2 * torch.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    slower = kept * omega + (1 - kept) * omega / factor
    return slower, math.log(factor * length) / math.log(length)


@wrong(check.own_rule, "This is YaRN's factor.")
def of_yarn(omega, factor, length, low, high):
    kept = ramp(omega, length, low, high)
    return omega * kept + omega / factor * (1 - kept), 1 + 0.1 * math.log(factor)


@wrong(check.own_rule, "ln factor + ln length")
def without_the_old(omega, factor, length, low, high):
    kept = ramp(omega, length, low, high)
    return omega * kept + omega / factor * (1 - kept), math.sqrt(math.log(factor) / math.log(length))


@wrong(check.own_rule, "Here they shrink.")
def duller(omega, factor, length, low, high):
    kept = ramp(omega, length, low, high)
    return omega * kept + omega / factor * (1 - kept), 1 / logarithmic(factor, length)


# What a budget buys


def table(rows, lengths, trained):
    listed = [[r, r * n * (n + 1) // 2, r * max(n - trained, 0)] for r, n in zip(rows, lengths.tolist(), strict=True)]
    return torch.tensor(listed)


def affordable(budget, lengths, shares):
    return [int(budget * share // n) for share, n in zip(shares.tolist(), lengths.tolist(), strict=True)]


@wrong(check.bought, "shares are of the tokens")
def shares_of_rows(budget, lengths, shares, trained):
    mean = (shares * lengths).sum()
    rows = (budget * shares / mean).long()
    pairs = rows * lengths * (lengths + 1) // 2
    new = rows * (lengths - trained).clamp(min=0)
    return torch.stack([rows, pairs, new], dim=1)


@wrong(check.bought, "The shares need not be equal")
def equal_shares(budget, lengths, shares, trained):
    return table([budget // len(lengths) // n for n in lengths.tolist()], lengths, trained)


@wrong(check.bought, "round down")
def rounded_up(budget, lengths, shares, trained):
    return table((budget * shares / lengths).ceil().long().tolist(), lengths, trained)


@wrong(check.bought, "round down")
def to_the_nearest(budget, lengths, shares, trained):
    return table((budget * shares / lengths).round().long().tolist(), lengths, trained)


@wrong(check.bought, "N(N + 1)/2 pairs")
def all_pairs(budget, lengths, shares, trained):
    found = table(affordable(budget, lengths, shares), lengths, trained)
    found[:, 1] = found[:, 0] * lengths * lengths
    return found


@wrong(check.bought, "N(N + 1)/2 pairs")
def without_itself(budget, lengths, shares, trained):
    found = table(affordable(budget, lengths, shares), lengths, trained)
    found[:, 1] = found[:, 0] * lengths * (lengths - 1) // 2
    return found


@wrong(check.bought, "the pairs of one row")
def pairs_of_a_row(budget, lengths, shares, trained):
    found = table(affordable(budget, lengths, shares), lengths, trained)
    found[:, 1] = lengths * (lengths + 1) // 2
    return found


@wrong(check.bought, "Count them in all rows.")
def places_of_a_row(budget, lengths, shares, trained):
    found = table(affordable(budget, lengths, shares), lengths, trained)
    found[:, 2] = (lengths - trained).clamp(min=0)
    return found


@wrong(check.bought, "stand where tokens have stood in training")
def all_of_a_long_row(budget, lengths, shares, trained):
    found = table(affordable(budget, lengths, shares), lengths, trained)
    found[:, 2] = torch.where(lengths > trained, found[:, 0] * lengths, 0)
    return found


@wrong(check.bought, "0, and no negative number")
def fewer_than_none(budget, lengths, shares, trained):
    rows = (budget * shares / lengths).long()
    pairs = rows * lengths * (lengths + 1) // 2
    return torch.stack([rows, pairs, rows * (lengths - trained)], dim=1)


# What is kept


def interval(before, after):
    each = (after - before).mean(1)
    found = stats.ttest_1samp(each.double().numpy(), 0).confidence_interval(0.95)
    return found.low, found.high


def word(low, high, margin):
    return "kept" if high < margin else "lost" if low > margin else "undecided"


def around(each, half, margin):
    return word(each.mean().item() - half, each.mean().item() + half, margin)


@wrong(check.kept, "A mean below the margin may be luck.")
def by_the_mean(before, after, margin):
    rise = (after - before).mean()
    return "kept" if rise < margin else "lost"


@wrong(check.kept, "An interval that holds 0 proves nothing")
def no_significant_rise(before, after, margin):
    low, high = interval(before, after)
    return "kept" if low < 0 < high else "lost"


@wrong(check.kept, "need not be lost")
def lost_unless_kept(before, after, margin):
    return "kept" if interval(before, after)[1] < margin else "lost"


@wrong(check.kept, "What is lost is known, too")
def never_lost(before, after, margin):
    return "kept" if interval(before, after)[1] < margin else "undecided"


@wrong(check.kept, "An interval above 0 is not enough.")
def lost_above_zero(before, after, margin):
    low, high = interval(before, after)
    return "kept" if high < margin else "lost" if low > 0 else "undecided"


@wrong(check.kept, "however far it falls")
def within_both_margins(before, after, margin):
    each = (after - before).mean(dim=1)
    error = each.std().item() / len(each) ** 0.5
    half = stats.t.ppf(0.975, len(each) - 1) * error
    low, high = each.mean().item() - half, each.mean().item() + half
    if -margin < low and high < margin:
        return "kept"
    return "lost" if low > margin else "undecided"


@wrong(check.kept, "This is a fall.")
def a_fall(before, after, margin):
    return word(*interval(after, before), margin)


@wrong(check.kept, "Take each seed's mean first.")
def texts_for_seeds(before, after, margin):
    low, high = interval(before.reshape(-1, 1), after.reshape(-1, 1))
    return word(low, high, margin)


@wrong(check.kept, "Take differences first")
def two_samples(before, after, margin):
    a, b = before.mean(1), after.mean(1)
    half = stats.t.ppf(0.975, len(a) - 1) * math.sqrt((a.var().item() + b.var().item()) / len(a))
    return around(b - a, half, margin)


@wrong(check.kept, "take Student's t")
def normal(before, after, margin):
    each = (after - before).mean(1)
    return around(each, 1.96 * each.std().item() / math.sqrt(len(each)), margin)


@wrong(check.kept, "A mean over n seeds varies less")
def spread(before, after, margin):
    each = (after - before).mean(1)
    return around(each, stats.t.ppf(0.975, len(each) - 1) * each.std().item(), margin)


@wrong(check.kept, "divide by n − 1")
def by_n(before, after, margin):
    each = (after - before).mean(1).numpy()
    return around(each, stats.t.ppf(0.975, len(each) - 1) * each.std() / math.sqrt(len(each)), margin)
