"""The checks of the project that stretches a model: new angles, a larger base, a rule, a budget, what is kept."""

import math
from collections.abc import Callable

import torch
from scipy.stats import t
from torch import Tensor

from ..input.sinusoids import frequencies
from .cases import either, number
from .verdict import Answer, Case, Check, call, nothing

TURN = 2 * math.pi

# Angles that training has not shown -------------------------------------------------------------------------


def past_the_arc(omega: Tensor, slower: Tensor, length: int, longer: int) -> Tensor:
    angles = torch.arange(longer)[:, None] * slower % TURN
    return (angles >= length * omega).double().mean(dim=0)


def new_where(new: Callable[[Tensor, Tensor], Tensor]) -> Callable:
    """As the right answer, where new(angles, arc) tells which offsets are new to which pair."""

    def answer(omega: Tensor, slower: Tensor, length: int, longer: int) -> Tensor:
        angles = torch.arange(longer)[:, None] * slower
        return new(angles, length * omega).double().mean(dim=0)

    return answer


def of_the_circle(omega: Tensor, slower: Tensor, length: int, longer: int) -> Tensor:
    shown, met = ((n * turn).clamp(max=TURN) for n, turn in ((length, omega), (longer, slower)))
    return 1 - shown / torch.maximum(met, shown)


def angles_case(omega: list[float], length: int, longer: int, slower: list[float] | None = None) -> Case:
    given = {"omega": torch.tensor(omega), "slower": torch.tensor(slower or omega)}
    return either(call(**given, length=length, longer=longer))


new_angles = Check(
    "new_angles",
    reference=past_the_arc,
    properties={
        "pairs that have shown an arc": [
            angles_case([0.125], 8, 20),
            angles_case([0.25, 0.0625], 8, 32),
            angles_case([0.25, 0.03125], 8, 64),
            angles_case([0.375, 0.25, 0.125], 12, 100),
        ],
        "pairs that have gone around": [
            angles_case([1.0, 0.5], 16, 32),
            angles_case([1.0, 0.25], 64, 200),
        ],
        "slower pairs, and the arc that training has shown": [
            angles_case([0.25, 0.125], 8, 32, [0.125, 0.03125]),
            angles_case([0.25, 0.0625], 16, 64, [0.0625, 0.03125]),
            angles_case([0.125], 32, 96, [0.0625]),
        ],
    },
    mistakes={
        "A hand that has left its arc comes round again: take the angle modulo a full turn, 2π radians.": new_where(
            lambda angles, arc: (angles >= arc) & (arc < TURN)
        ),
        "A pair that has gone around has shown every angle, and nothing is new to it.": new_where(
            lambda angles, arc: angles % TURN >= arc % TURN
        ),
        "Training has shown the arc length · omega. The pairs were slowed after it.": (
            lambda omega, slower, *given: past_the_arc(slower, slower, *given)
        ),
        "The row is read with the slower frequencies.": (
            lambda omega, slower, *given: past_the_arc(omega, omega, *given)
        ),
        "The last offset of training is length − 1. The angle at length is new.": new_where(
            lambda angles, arc: angles % TURN > arc
        ),
        "A full turn is 2π radians.": (
            new_where(lambda angles, arc: angles % math.pi >= arc),
            new_where(lambda angles, arc: angles % 1 >= arc),
        ),
        "This is how many offsets are new. Divide by longer.": lambda omega, slower, length, longer: (
            longer * past_the_arc(omega, slower, length, longer)
        ),
        "Of all offsets 0 … longer − 1 the share is asked for, not of those past length.": (
            lambda omega, slower, length, longer: (
                past_the_arc(omega, slower, length, longer) * longer / (longer - length)
            )
        ),
        "This is the share of what training has shown.": lambda *given: 1 - past_the_arc(*given),
        "This is a share of the circle. Count offsets, some of which come back to the arc.": of_the_circle,
    },
    answers=(
        Answer(
            "meet_new",
            5,
            {
                "Those have gone around in training.": 3,
                "Pair 2 turns by 6.4 radians in 64 positions. A full turn is 6.28.": 6,
                "The slow pairs, too, leave the arc that they have shown.": 1,
                "A pair that has gone around has shown every angle.": 8,
            },
        ),
    ),
)


# A larger base ----------------------------------------------------------------------------------------------


def first_open(dim: int, base: float, length: int) -> int:
    return int((length * frequencies(dim, base) >= TURN).sum())


def fitting_base(dim: int, base: float, length: int, longer: int) -> float:
    pair = first_open(dim, base, length)
    return base if pair == dim // 2 else base * (longer / length) ** (dim / (2 * pair))


def based_on(exponent: Callable[[int, int], float]) -> Callable:
    """As the right answer, with another exponent, of the first open pair and dim."""

    def answer(dim: int, base: float, length: int, longer: int) -> float:
        if first_open(dim, base, length) == dim // 2:
            return base
        return base * (longer / length) ** exponent(first_open(dim, base, length), dim)

    return answer


def open_later(dim: int, base: float, length: int, longer: int) -> float:
    """The first pair that is open in the longer row decides."""
    pair = first_open(dim, base, longer)
    return base if first_open(dim, base, length) == dim // 2 else base * (longer / length) ** (dim / (2 * pair))


def never_done(dim: int, base: float, length: int, longer: int) -> float:
    return base * (longer / length) ** (dim / (2 * first_open(dim, base, length)))


def growth(dim: int, base: float, length: int, longer: int) -> float:
    return fitting_base(dim, base, length, longer) / base


def wanted_base(dim: int, base: float, length: int, longer: int) -> Case:
    case = call(dim=dim, base=base, length=length, longer=longer)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        return found if nothing(found) else torch.tensor(number(found, "the base"), dtype=torch.float64)

    return Case(case.text, ask)


larger_base = Check(
    "larger_base",
    reference=fitting_base,
    properties={
        "no pair that was open leaves its arc": [
            wanted_base(16, 10_000.0, 64, 256),
            wanted_base(8, 100.0, 30, 60),
            wanted_base(12, 10_000.0, 200, 1000),
            wanted_base(64, 10_000.0, 128, 1024),
            wanted_base(128, 500_000.0, 8192, 32_768),
        ],
        "nothing to do, where every pair has gone around": [
            wanted_base(4, 16.0, 64, 128),
            wanted_base(8, 100.0, 512, 1024),
        ],
    },
    mistakes={
        "So the slowest pair fits alone. The first open pair must slow down as much, and a base slows it less.": (
            based_on(lambda pair, dim: dim / (dim - 2))
        ),
        "This multiplies the base by how much longer the row is. Which pair does that slow enough?": based_on(
            lambda pair, dim: 1
        ),
        "This pair has gone around already. The first open one comes after it.": based_on(
            lambda pair, dim: dim / (2 * (pair - 1))
        ),
        "An open pair before this one leaves its arc.": based_on(lambda pair, dim: dim / (2 * (pair + 1))),
        "A pair is open if it has not gone around in training; the longer row does not count.": open_later,
        "The frequency of pair i is base^(−2i/dim): 2i, not i.": based_on(lambda pair, dim: dim / pair),
        "This is by what the base grows.": growth,
        "Where every pair has gone around, the base may stay.": never_done,
    },
    answers=(
        Answer(
            "fitting",
            10_000 * 4 ** (8 / 3),
            {
                "This is NTK's, for the slowest pair alone.": 10_000 * 4 ** (8 / 7),
                "Four times the base slows no pair by four.": 40_000,
                "Pair 3 is the first open one: 6.4 radians are a full turn.": 640_000,
                "This is the base of the records, which is more than enough.": 500_000,
            },
            within=1000,
        ),
    ),
)


# A rule of one's own ----------------------------------------------------------------------------------------


def keeps(omega: Tensor, length: int, low: float, high: float) -> Tensor:
    """1 for a pair that stays, 0 for one that is divided; linear in its turns between."""
    return ((length * omega / TURN - low) / (high - low)).clamp(0, 1)


def grown(factor: float, length: int) -> float:
    """By what scores are to grow."""
    return math.log(factor * length) / math.log(length)


def ramped(omega: Tensor, factor: float, length: int, low: float, high: float) -> tuple[Tensor, float]:
    stays = keeps(omega, length, low, high)
    return omega * (stays + (1 - stays) / factor), grown(factor, length) ** 0.5


def slowing(slow: Callable[..., Tensor]) -> Callable:
    """As the right answer, where slow(omega, factor, length, low, high) gives the frequencies."""
    return lambda *given: (slow(*given), ramped(*given)[1])


def divided(share: Callable[..., Tensor]) -> Callable:
    """As the right answer, where share(omega, length, low, high) of a frequency is kept."""

    def slow(omega: Tensor, factor: float, *given: float) -> Tensor:
        stays = share(omega, *given)
        return omega * (stays + (1 - stays) / factor)

    return slowing(slow)


def sharpening(sharper: Callable[[float, int], float]) -> Callable:
    """As the right answer, with another attention factor, of factor and length."""
    return lambda omega, factor, length, low, high: (
        ramped(omega, factor, length, low, high)[0],
        sharper(factor, length),
    )


def by_index(omega: Tensor, length: int, low: float, high: float) -> Tensor:
    """Linear in the index of the pair: the ramp goes from the last kept to the first divided."""
    turns = length * omega / TURN
    last, first = int((turns >= high).sum()) - 1, int((turns > low).sum())
    return ((first - torch.arange(len(omega))) / (first - last)).clamp(0, 1).to(omega)


def unclamped(omega: Tensor, length: int, low: float, high: float) -> Tensor:
    return (length * omega / TURN - low) / (high - low)


def rule_case(part: int, omega: list[float], factor: float, length: int, low: float, high: float) -> Case:
    given = {"factor": factor, "length": length, "low": low, "high": high}
    case = call(omega=torch.tensor(omega), **given)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        if not isinstance(found, tuple) or len(found) != 2:
            return found
        return torch.tensor(number(found[1], "sharper"), dtype=torch.float64) if part else found[0]

    return either(Case(case.text, ask))


own_rule = Check(
    "own_rule",
    reference=ramped,
    properties={
        "fast pairs stay, and slow ones are divided": [
            rule_case(0, [1.0, 0.125], 4.0, 32, 1.0, 4.0),
            rule_case(0, [1.0, 0.5, 0.0625, 0.03125], 8.0, 64, 1.0, 4.0),
            rule_case(0, [1.0, 0.25, 0.125], 2.0, 128, 3.0, 5.0),
        ],
        "between them, a ramp in the number of turns": [
            rule_case(0, [0.375, 0.25], 4.0, 64, 1.0, 4.0),
            rule_case(0, [0.9375, 0.6875], 4.0, 32, 1.0, 8.0),
            rule_case(0, [1.0, 0.75, 0.5, 0.25, 0.125], 4.0, 64, 1.0, 8.0),
            rule_case(0, [0.5, 0.375, 0.25], 8.0, 128, 2.0, 16.0),
        ],
        "scores grow with the logarithm of the row": [
            rule_case(1, [1.0, 0.125], 4.0, 64, 1.0, 4.0),
            rule_case(1, [1.0, 0.125], 8.0, 32, 1.0, 4.0),
            rule_case(1, [1.0, 0.125], 2.0, 4096, 1.0, 4.0),
        ],
    },
    mistakes={
        "Clamp the ramp: a fast pair must not turn faster, and a slow one not backward.": divided(unclamped),
        "The fast pairs are divided here, and the slow ones stay.": divided(lambda *given: 1 - keeps(*given)),
        "To slow a pair down, divide its frequency.": slowing(
            lambda omega, factor, *given: omega * (keeps(omega, *given) + (1 - keeps(omega, *given)) * factor)
        ),
        "The ramp leads from the frequency to the divided frequency. Here it leads from divisor to divisor.": (
            slowing(
                lambda omega, factor, *given: (
                    omega / (keeps(omega, *given) + (1 - keeps(omega, *given)) * factor)
                )
            )
        ),
        "There is no ramp: a pair between low and high turns is kept in part.": (
            divided(lambda omega, length, low, high: (length * omega / TURN > low).to(omega)),
            divided(lambda omega, length, low, high: (length * omega / TURN >= high).to(omega)),
        ),
        "The ramp is linear in the number of turns, not in the index of the pair.": divided(by_index),
        "A turn is 2π radians: length · omega is an angle.": divided(
            lambda omega, length, low, high: keeps(TURN * omega, length, low, high)
        ),
        "Turns are counted in the rows of training, not in the longer ones.": slowing(
            lambda omega, factor, length, low, high: (
                omega
                * (
                    keeps(omega, factor * length, low, high)
                    + (1 - keeps(omega, factor * length, low, high)) / factor
                )
            )
        ),
        "Queries and keys are both multiplied, so scores grow by the square. Take the root.": sharpening(grown),
        "This is YaRN's factor. Asked for is one by which scores grow as ln of the row does.": sharpening(
            lambda factor, length: 0.1 * math.log(factor) + 1
        ),
        "The longer row has factor · length tokens: its logarithm is ln factor + ln length.": sharpening(
            lambda factor, length: (math.log(factor) / math.log(length)) ** 0.5
        ),
        "Scores are to grow in longer rows. Here they shrink.": sharpening(
            lambda factor, length: grown(factor, length) ** -0.5
        ),
    },
)


# What a budget buys -----------------------------------------------------------------------------------------


def worth(rows: Tensor, lengths: Tensor, trained: int) -> Tensor:
    """(n, 3): rows, pairs of query and key, and tokens that stand past the rows of training."""
    pairs = rows * lengths * (lengths + 1) // 2
    return torch.stack([rows, pairs, rows * (lengths - trained).clamp(min=0)], dim=1)


def by_tokens(budget: int, lengths: Tensor, shares: Tensor, trained: int) -> Tensor:
    return worth((budget * shares / lengths).long(), lengths, trained)


def by_rows(budget: int, lengths: Tensor, shares: Tensor, trained: int) -> Tensor:
    total = budget / (shares * lengths).sum()
    return worth((total * shares).long(), lengths, trained)


def evenly(budget: int, lengths: Tensor, shares: Tensor, trained: int) -> Tensor:
    return by_tokens(budget, lengths, torch.ones_like(shares) / len(shares), trained)


def rounded(round_: Callable[[Tensor], Tensor]) -> Callable:
    """As the right answer, with rows rounded in another way."""
    return lambda budget, lengths, shares, trained: worth(
        round_(budget * shares / lengths).long(), lengths, trained
    )


def otherwise(column: int, value: Callable[[Tensor, Tensor, int], Tensor]) -> Callable:
    """As the right answer, with value(rows, lengths, trained) in one column."""

    def answer(budget: int, lengths: Tensor, shares: Tensor, trained: int) -> Tensor:
        found = by_tokens(budget, lengths, shares, trained)
        found[:, column] = value(found[:, 0], lengths, trained)
        return found

    return answer


def budget_case(budget: int, lengths: list[int], shares: list[float], trained: int) -> Case:
    given = {"lengths": torch.tensor(lengths), "shares": torch.tensor(shares)}
    return either(call(budget=budget, **given, trained=trained), torch.int64)


bought = Check(
    "bought",
    reference=by_tokens,
    properties={
        "a mixture, by shares of the tokens": [
            budget_case(64, [8, 16], [0.5, 0.5], 4),
            budget_case(4096, [128, 256], [0.25, 0.75], 64),
            budget_case(2048, [16, 32, 64], [0.25, 0.25, 0.5], 8),
        ],
        "whole rows alone": [
            budget_case(100, [8], [1.0], 4),
            budget_case(1000, [30], [1.0], 10),
            budget_case(999, [100], [1.0], 64),
        ],
        "rows as short as those of training": [
            budget_case(64, [8], [1.0], 8),
            budget_case(128, [4], [1.0], 16),
        ],
    },
    mistakes={
        "shares are of the tokens. A row of 256 takes four times as many as a row of 64.": by_rows,
        "The shares need not be equal: they are given.": evenly,
        "A row that the budget does not pay for is not bought: round down.": (
            rounded(torch.ceil),
            rounded(torch.round),
        ),
        "A token sees itself and those before it: a row of N has N(N + 1)/2 pairs.": (
            otherwise(1, lambda rows, lengths, trained: rows * lengths**2),
            otherwise(1, lambda rows, lengths, trained: rows * lengths * (lengths - 1) // 2),
        ),
        "These are the pairs of one row.": otherwise(
            1, lambda rows, lengths, trained: lengths * (lengths + 1) // 2
        ),
        "These are the places of one row that are new. Count them in all rows.": otherwise(
            2, lambda rows, lengths, trained: (lengths - trained).clamp(min=0)
        ),
        "In a long row the first tokens stand where tokens have stood in training.": otherwise(
            2, lambda rows, lengths, trained: rows * lengths * (lengths > trained)
        ),
        "A row that is shorter than those of training has no token past them: 0, and no negative number.": (
            otherwise(2, lambda rows, lengths, trained: rows * (lengths - trained))
        ),
    },
    answers=(
        Answer(
            "dearer",
            257 / 65,
            {
                "So many pairs more has a single row. The same tokens buy a quarter of the rows.": 4 * 257 / 65,
                "A token sees itself, too: a row has N(N + 1)/2 pairs.": 255 / 63,
                "It is nearly that. How many pairs has a row of 256, and how many has a row of 64?": 4,
                "The tokens are as many. The pairs are not.": 1,
                "Divide the pairs of the long rows by those of the short ones.": 0.25,
            },
            within=0.01,
        ),
    ),
)


# What is kept -----------------------------------------------------------------------------------------------


def judged(each: Tensor, margin: float, half: float) -> str:
    mean = each.mean().item()
    if mean + half < margin:
        return "kept"
    return "lost" if mean - half > margin else "undecided"


def error(each: Tensor) -> float:
    return each.std().item() / len(each) ** 0.5


def student(each: Tensor) -> float:
    return t.ppf(0.975, len(each) - 1) * error(each)


def rises(before: Tensor, after: Tensor) -> Tensor:
    """How much the loss of each seed has risen."""
    return (after - before).mean(dim=1)


def paired_word(before: Tensor, after: Tensor, margin: float) -> str:
    each = rises(before, after)
    return judged(each, margin, student(each))


def within(half: Callable[[Tensor], float]) -> Callable:
    """As the right answer, with another half of the interval."""

    def answer(before: Tensor, after: Tensor, margin: float) -> str:
        each = rises(before, after)
        return judged(each, margin, half(each))

    return answer


def words(kept: Callable[..., bool], lost: Callable[..., bool], neither: str = "undecided") -> Callable:
    """As the right answer, with other conditions on the mean rise, half of its interval, and the margin."""

    def answer(before: Tensor, after: Tensor, margin: float) -> str:
        each = rises(before, after)
        given = each.mean().item(), student(each), margin
        return "kept" if kept(*given) else "lost" if lost(*given) else neither

    return answer


def below(mean: float, half: float, margin: float) -> bool:
    return mean + half < margin


def above(mean: float, half: float, margin: float) -> bool:
    return mean - half > margin


def each_text(before: Tensor, after: Tensor, margin: float) -> str:
    each = (after - before).flatten()
    return judged(each, margin, student(each))


def not_paired(before: Tensor, after: Tensor, margin: float) -> str:
    a, b = before.mean(dim=1), after.mean(dim=1)
    half = t.ppf(0.975, len(a) - 1) * (error(a) ** 2 + error(b) ** 2) ** 0.5
    return judged(b - a, margin, half)


def word_case(margin: float, *rise: list[float]) -> Case:
    """The losses of seeds, which differ more than they rise; a list for each text."""
    rises = torch.tensor(rise).T
    before = 1.5 + torch.tensor([0.0, 1.0, 0.5] * 2)[: len(rises), None] + torch.arange(len(rise)) / 4
    return call(before=before, after=before + rises, margin=margin)


kept = Check(
    "kept",
    reference=paired_word,
    properties={
        "kept, where the whole interval lies below the margin": [
            word_case(0.375, [0.125, 0.25, 0.125, 0.25]),
            word_case(0.75, [0.25, 0.375, 0.5]),
            word_case(0.5, [-1.5, -1.375, -1.625]),
            word_case(0.5, [1.0, 1.125, 1.0], [-1.0, -0.875, -1.125]),
        ],
        "lost, where the whole interval lies above the margin": [
            word_case(0.5, [1.0, 1.125, 1.0, 1.25]),
            word_case(0.75, [2.0, 1.875, 2.0], [1.0, 1.125, 1.25]),
            word_case(1.0, [1.5, 1.625, 1.5, 1.625]),
        ],
        "undecided, where the margin lies within the interval": [
            word_case(0.5, [0.0, 0.5, 0.0, 0.5]),
            word_case(0.625, [0.25, 0.375, 0.5]),
            word_case(0.65, [0.25, 0.375, 0.5]),
            word_case(0.5, [0.5, 1.25, 0.625, 1.0]),
            word_case(1.75, [1.5, 1.75, 2.0, 2.25, 2.5]),
            word_case(2.45, [1.5, 1.75, 2.0, 2.25, 2.5]),
        ],
    },
    mistakes={
        "A mean below the margin may be luck. The whole interval must lie there.": words(
            lambda mean, half, margin: mean < margin, lambda *given: True
        ),
        "An interval that holds 0 proves nothing: with noisy seeds everything would be kept.": words(
            lambda mean, half, margin: abs(mean) < half, lambda *given: True
        ),
        "What is not kept need not be lost: the margin may lie within the interval.": words(
            below, lambda *given: True
        ),
        "What is lost is known, too: there the whole interval lies above the margin.": words(
            below, lambda *given: False
        ),
        "Lost is more than the margin. An interval above 0 is not enough.": words(
            below, lambda mean, half, margin: mean > half
        ),
        "A loss that falls is kept, too, however far it falls.": words(
            lambda mean, half, margin: below(mean, half, margin) and mean - half > -margin, above
        ),
        "A rise is after − before. This is a fall.": lambda before, after, margin: paired_word(
            after, before, margin
        ),
        "Texts read by one model are not independent of each other. Take each seed's mean first.": each_text,
        "Seeds differ, and before and after share that. Take differences first, and their spread.": not_paired,
        "1.96 is for many seeds. For a few, take Student's t with one degree less than seeds.": within(
            lambda each: 1.96 * error(each)
        ),
        "This is the spread of seeds. A mean over n seeds varies less, by the root of n.": within(
            lambda each: t.ppf(0.975, len(each) - 1) * each.std().item()
        ),
        "This divides squares by n. For the spread of a sample, divide by n − 1.": within(
            lambda each: t.ppf(0.975, len(each) - 1) * each.std(correction=0).item() / len(each) ** 0.5
        ),
    },
)
