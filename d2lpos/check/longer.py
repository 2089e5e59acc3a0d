"""The checks of chapter 10: a lead in a crowd, keys that move up, blocks, a wrong setting, a base, what layers carry."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..input.sinusoids import frequencies
from ..rotary.rope import rotate
from ..rotary.scaling import yarn
from .cases import either, number
from .verdict import Answer, Case, Check, call, nothing

# A lead in a crowd ------------------------------------------------------------------------------------------


def leader(lead: float, keys: Tensor, scale: float) -> Tensor:
    return torch.sigmoid(scale * lead * keys.log() - (keys - 1).log())


def led_by(advantage: Callable, others: Callable = lambda keys: keys - 1) -> Callable:
    """As the right answer, where the scaled lead is advantage(lead, keys, scale) over so many others."""
    return lambda lead, keys, scale: torch.sigmoid(
        advantage(lead, keys.double(), scale) - others(keys.double()).log()
    )


def overflowing(lead: float, keys: Tensor, scale: float) -> Tensor:
    mine = (scale * lead * keys.log()).exp()
    return mine / (mine + keys - 1)


def lead_case(lead: float, keys: list[int], scale: float) -> Case:
    return either(call(lead=lead, keys=torch.tensor(keys), scale=scale))


weight = Check(
    "weight",
    reference=leader,
    properties={
        "few keys: the leader's weight among keys − 1 others": [
            lead_case(1.0, [2, 3, 4], 1.0),
            lead_case(2.0, [2, 5, 32], 0.5),
            lead_case(0.0, [2, 3, 4], 1.0),
            lead_case(3.0, [2, 32, 1000], 0.25),
            lead_case(1.75, [4, 10, 100], 0.5),
        ],
        "up to 10¹² keys, and numbers that stay finite": [
            lead_case(1.0, [10**6, 10**12], 1.0),
            lead_case(2.0, [10**6, 10**12], 0.45),
            lead_case(40.0, [10**11, 10**12], 1.0),
        ],
        "one key gets all": [lead_case(1.0, [1, 10**6], 1.0)],
    },
    mistakes={
        "The scores are multiplied by scale · ln(keys), not by scale alone.": led_by(
            lambda lead, keys, scale: scale * lead
        ),
        "Nothing is scaled: this is the weight at lead as it is.": led_by(lambda lead, keys, scale: lead),
        "The scale is missing. It is an argument.": led_by(lambda lead, keys, scale: lead * keys.log()),
        "1 is added to the factor. It is scale · ln(keys).": led_by(
            lambda lead, keys, scale: (1 + scale * keys.log()) * lead
        ),
        "ln is the natural logarithm: torch.log.": (
            led_by(lambda lead, keys, scale: scale * lead * keys.log2()),
            led_by(lambda lead, keys, scale: scale * lead * keys.log10()),
        ),
        "The factor is scale · ln(keys), and ln of all keys, the leader's included.": led_by(
            lambda lead, keys, scale: scale * lead * (keys - 1).log()
        ),
        "The leader leads keys − 1 others, not so many as there are keys.": led_by(
            lambda lead, keys, scale: scale * lead * keys.log(), lambda keys: keys
        ),
        "The sum below has the leader's own part, too.": lambda lead, keys, scale: (
            (scale * lead * keys.double().log()).exp() / (keys - 1)
        ),
        "This is what all others have together.": lambda lead, keys, scale: 1 - leader(lead, keys, scale),
        "The factor multiplies the scores, before the softmax. Here it multiplies a weight.": (
            lambda lead, keys, scale: scale * keys.log() * torch.sigmoid(lead - (keys - 1).log())
        ),
        "exp overflows, and inf/inf is nan. Stay with logarithms up to the end: a sigmoid.": overflowing,
    },
    answers=(
        Answer(
            "least_lead",
            math.log(32),
            {
                "This is the scale. What is it to be multiplied with?": 1 / math.log(32),
                "So much is enough under the scale 1.": 1.0,
                "This is a number of tokens. A lead is in nats.": 32,
                "ln is the natural logarithm.": lambda lead: min(abs(lead - 5), abs(lead - 1.505)) < 0.01,
                "It has a lead. Under which does the weight fall below a half, if there are enough keys?": 0,
            },
            within=0.01,
        ),
    ),
)


# Evict and re-base ------------------------------------------------------------------------------------------


def moved_up(keys: Tensor, positions: Tensor, kept: Tensor, omega: Tensor) -> Tensor:
    turns = torch.arange(len(kept)) - positions[kept]
    return rotate(keys[kept], turns[:, None] * omega)


def turned_by(turns: Callable, layout: str = "half") -> Callable:
    """As the right answer, but key n of the kept turns by turns(new, positions, kept)[n] positions."""

    def answer(keys: Tensor, positions: Tensor, kept: Tensor, omega: Tensor) -> Tensor:
        by = turns(torch.arange(len(kept)), positions, kept)
        return rotate(keys[kept], by[:, None] * omega, layout)

    return answer


def cache_case(positions: list[int], kept: list[int], d: int = 4, base: float = 10_000.0) -> Case:
    draw = torch.Generator().manual_seed(len(positions))
    keys = torch.randint(-8, 9, (len(positions), d), generator=draw) / 4
    case = call(
        f"keys ({len(positions)}, {d}), positions = {positions}, kept = {kept}, base = {base:g}",
        keys=keys,
        positions=torch.tensor(positions),
        kept=torch.tensor(kept),
        omega=frequencies(d, base),
    )
    return either(case)


rebase = Check(
    "rebase",
    reference=moved_up,
    properties={
        "the kept keys stand at 0, 1, 2, …": [
            cache_case([0, 1, 2, 3], [0, 3]),
            cache_case([0, 1, 2, 3, 4, 5, 6], [0, 1, 4, 5, 6], d=8),
            cache_case([0, 1, 2, 3, 4], [2, 3, 4], d=2),
            cache_case([0, 1, 2, 3, 4, 5], [1, 3, 5], d=6, base=100.0),
        ],
        "positions with gaps": [
            cache_case([0, 1, 4, 7, 9], [0, 1, 3, 4]),
            cache_case([0, 5, 6, 20, 21, 22], [0, 1, 2, 4, 5], d=8),
        ],
        "positions that begin elsewhere": [
            cache_case([7, 8, 9, 10], [0, 2, 3]),
            cache_case([100, 101, 102, 103], [0, 1, 3], d=8),
        ],
    },
    mistakes={
        "Nothing has turned: these keys still stand where they stood.": turned_by(
            lambda new, positions, kept: 0 * new
        ),
        "The keys come turned by their old positions. Turn by new − old.": turned_by(
            lambda new, positions, kept: new
        ),
        "The keys are turned back, and all stand at 0. Turn them on, to 0, 1, 2, …": turned_by(
            lambda new, positions, kept: -positions[kept]
        ),
        "The turn goes the wrong way: it is new − old.": turned_by(
            lambda new, positions, kept: positions[kept] - new
        ),
        "kept are indices. Where such a key stands, positions tells.": turned_by(
            lambda new, positions, kept: new - kept
        ),
        "All keys turn by one angle, so that gaps between them stay.": (
            turned_by(lambda new, positions, kept: (new - positions[kept])[-1:].expand(len(new))),
            turned_by(lambda new, positions, kept: -positions[kept][:1].expand(len(new))),
        ),
        "The gaps are closed, but the first key stays where it was. It is to stand at 0.": turned_by(
            lambda new, positions, kept: new + positions[kept][0] - positions[kept]
        ),
        "Positions need not begin at 0. Here the first of the text is taken for 0.": turned_by(
            lambda new, positions, kept: new - positions[kept] + positions[0]
        ),
        "The pairs are neighbors here. In this exercise they lie half a vector apart.": turned_by(
            lambda new, positions, kept: new - positions[kept], "interleaved"
        ),
        "The frequencies are given: omega.": lambda keys, positions, kept, omega: moved_up(
            keys, positions, kept, frequencies(keys.shape[1])
        ),
    },
)


# A window with first tokens, by blocks ----------------------------------------------------------------------


def pairs(length: int, window: int, first: int) -> Tensor:
    q, k = torch.arange(length)[:, None], torch.arange(length)
    return (k <= q) & ((q - k < window) | (k < first))


def graded(seen: Tensor, size: int) -> Tensor:
    tiles = seen.unflatten(0, (-1, size)).unflatten(2, (-1, size))
    return tiles.any(dim=(1, 3)).long() + tiles.all(dim=(1, 3))


def kinds(length: int, size: int, window: int, first: int) -> Tensor:
    return graded(pairs(length, window, first), size)


def seen_if(see: Callable) -> Callable:
    """As the right answer, where see(q, k, window, first) tells who is seen."""

    def answer(length: int, size: int, window: int, first: int) -> Tensor:
        q, k = torch.arange(length)[:, None], torch.arange(length)
        return graded(see(q, k, window, first), size)

    return answer


def named(none: int, some: int, all_: int) -> Callable:
    """As the right answer, with other numbers for the three kinds."""
    return lambda *given: torch.tensor([none, some, all_])[kinds(*given)]


def mixed(length: int, size: int, window: int, first: int) -> Tensor:
    """The pairs are cut into blocks in the order in which they lie in memory."""
    here = length // size
    tiles = pairs(length, window, first).view(here, here, size, size)
    return tiles.any(dim=(2, 3)).long() + tiles.all(dim=(2, 3)).long()


def block_case(length: int, size: int, window: int, first: int) -> Case:
    return either(call(length=length, size=size, window=window, first=first), torch.int64)


blocks = Check(
    "blocks",
    reference=kinds,
    properties={
        "causal, where the window is as long as the text": [
            block_case(6, 2, 6, 0),
            block_case(12, 4, 12, 0),
            block_case(4, 1, 4, 0),
        ],
        "a window, which need not end with a block": [
            block_case(10, 2, 3, 0),
            block_case(12, 3, 5, 0),
            block_case(12, 4, 2, 0),
            block_case(16, 4, 10, 0),
            block_case(12, 2, 6, 0),
        ],
        "first tokens, which all later queries see": [
            block_case(12, 2, 2, 2),
            block_case(12, 3, 3, 1),
            block_case(12, 2, 4, 3),
            block_case(12, 2, 2, 4),
        ],
    },
    mistakes={
        "A block is 2 only if all its queries see all its keys.": named(0, 2, 2),
        "This is 1 where all see all, and 2 where some do. It is 2 where all do.": named(0, 2, 1),
        "Blocks where all see all are 2, and need no mask.": named(0, 1, 1),
        "This tells what is hidden: 0 is where nobody sees anything.": named(2, 1, 0),
        "Later keys are seen.": seen_if(lambda q, k, window, first: ((q - k).abs() < window) | (k < first)),
        "First tokens, too, are seen only where they do not come later than the query.": seen_if(
            lambda q, k, window, first: (k <= q) & (q - k < window) | (k < first)
        ),
        "This window has a key too many. With window 1 a query sees itself alone.": seen_if(
            lambda q, k, window, first: (k <= q) & ((q - k <= window) | (k < first))
        ),
        "This window has a key too few. With window 1 a query sees itself.": seen_if(
            lambda q, k, window, first: (k <= q) & ((q - k < window - 1) | (k < first))
        ),
        "The window is missing.": seen_if(lambda q, k, window, first: k <= q),
        "The first tokens are missing.": seen_if(lambda q, k, window, first: (k <= q) & (q - k < window)),
        "A key is to be among the first or in the window. Here it is to be both.": seen_if(
            lambda q, k, window, first: (k <= q) & (q - k < window) & (k < first)
        ),
        "There is one first token too many.": seen_if(
            lambda q, k, window, first: (k <= q) & ((q - k < window) | (k <= first))
        ),
        "Rows are queries, columns are keys.": lambda *given: kinds(*given).mT,
        "These are not blocks. Axes (blocks, size, blocks, size) are what reshape gives.": mixed,
    },
    answers=(
        Answer(
            "skipped",
            749 / 1024,
            {
                "These are the blocks that a kernel computes.": 275 / 1024,
                "The first tokens are missing: their column of blocks is computed.": 772 / 1024,
                "The blocks above the diagonal are skipped, too. Divide by all blocks.": 253 / 528,
                "Those are the blocks above the diagonal. The window skips more.": 496 / 1024,
                "A block that is seen in part is computed, too. Only those of 0 are skipped.": 828 / 1024,
                "This is a share of pairs. A kernel skips whole blocks.": 0.7805,
            },
            within=0.001,
        ),
    ),
)


# Which setting is wrong? ------------------------------------------------------------------------------------


def settings(dim: int, base: float, factor: int, length: int) -> dict[str, Tensor]:
    omega = frequencies(dim, base)
    once, _ = yarn(omega, factor, length)
    return {
        "right": once,
        "length": yarn(omega, factor, factor * length)[0],
        "twice": yarn(once, factor, length)[0],
        "base": yarn(frequencies(dim), factor, length)[0],
        "off": omega,
    }


def matching(found: Tensor, dim: int, base: float, factor: int, length: int) -> str:
    known = settings(dim, base, factor, length)
    return next(name for name, one in known.items() if torch.allclose(found, one, rtol=0.01))


def by_pair(pair: int) -> Callable:
    """The first setting that agrees at one pair."""

    def answer(found: Tensor, *given: float) -> str:
        known = settings(*given)
        return next((name for name, one in known.items() if 0.99 < found[pair] / one[pair] < 1.01), "off")

    return answer


def within(otherwise: str | None = None, **tolerance: float) -> Callable:
    """As the right answer, with another tolerance."""

    def answer(found: Tensor, *given: float) -> str | None:
        known = settings(*given)
        return next(
            (name for name, one in known.items() if torch.allclose(found, one, **tolerance)), otherwise
        )

    return answer


def unknown(name: str) -> tuple[Callable, ...]:
    """As the right answer, but one setting is not recognized, and something else is said."""

    def instead(other: str | None) -> Callable:
        return lambda *given: other if (found := matching(*given)) == name else found

    return tuple(
        instead(other) for other in (None, "right", "length", "twice", "base", "off") if other != name
    )


def server_case(
    setting: str,
    dim: int = 128,
    base: float = 500_000.0,
    factor: int = 8,
    length: int = 8192,
    rounded: bool = False,
) -> Case:
    found = settings(dim, base, factor, length)[setting]
    if rounded:
        found = torch.tensor([float(f"{one:.2e}") for one in found.tolist()], dtype=torch.float64)
    numbers = f"dim = {dim}, base = {base:g}, factor = {factor}, length = {length}"
    label = f'found as "{setting}" has them{", to three digits" * rounded}, {numbers}'
    return call(label, found=found, dim=dim, base=base, factor=factor, length=length)


def server_cases(setting: str) -> list[Case]:
    return [server_case(setting), server_case(setting, 64, 1_000_000.0, 4, 4096, rounded=True)]


diagnose = Check(
    "diagnose",
    reference=matching,
    properties={
        '"right": as it should be': server_cases("right"),
        '"length": a ramp for a longer training': server_cases("length"),
        '"twice": the rule on what it gave': server_cases("twice"),
        '"base": the rule on other frequencies': server_cases("base"),
        '"off": the model\'s own frequencies': server_cases("off"),
    },
    mistakes={
        "found may be rounded to three digits. Allow a difference of a percent.": (
            within(),
            within("right"),
            within("off"),
        ),
        "Slow pairs turn by millionths, and an absolute tolerance does not see them. Compare ratios.": (
            within(rtol=0, atol=0.01),
            within(rtol=0, atol=0.001),
        ),
        "The fastest pair is the same in all settings. Look at the slow ones, too.": by_pair(0),
        "A ramp for factor · length tokens lies at slower pairs. The slowest of all are divided as they should be.": (
            unknown("length")
        ),
        "To apply the rule twice is to give it what it gave. With factor² the ramp is another.": (
            unknown("twice")
        ),
        "The base changes all frequencies but the first, and the ramp: begin with frequencies(dim, 10_000).": (
            unknown("base")
        ),
    },
)


# How large a base? ------------------------------------------------------------------------------------------


def least_sum(dim: int, length: int, base: float) -> Tensor:
    return (torch.arange(length)[:, None] * frequencies(dim, base)).cos().sum(dim=-1).min()


def first_fit(dim: int, length: int, bases: list[float]) -> float | None:
    return next((base for base in bases if least_sum(dim, length, base) >= 0), None)


def first_where(fits: Callable) -> Callable:
    """As the right answer, where fits(angles) tells whether a base is large enough; angles are (length, dim/2)."""

    def answer(dim: int, length: int, bases: list[float]) -> float | None:
        places = torch.arange(length)[:, None]
        return next((base for base in bases if fits(places * frequencies(dim, base))), None)

    return answer


def up_to(more: int) -> Callable:
    return lambda dim, length, bases: first_fit(dim, length + more, bases)


def halving(dim: int, length: int, bases: list[float]) -> float | None:
    low, high = -1, len(bases)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if least_sum(dim, length, bases[middle]) >= 0 else (middle, high)
    return bases[high] if high < len(bases) else None


def last_too_small(dim: int, length: int, bases: list[float]) -> float | None:
    fit = first_fit(dim, length, bases)
    return None if fit is None else bases[bases.index(fit) - 1]


def largest_fit(dim: int, length: int, bases: list[float]) -> float | None:
    return first_fit(dim, length, bases[::-1])


def else_last(dim: int, length: int, bases: list[float]) -> float:
    return first_fit(dim, length, bases) or bases[-1]


def base_case(dim: int, length: int, bases: list[float], none: bool = False) -> Case:
    case = call(dim=dim, length=length, bases=bases)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        if none:
            return f"{found}"
        return found if nothing(found) else number(found, "the base")

    return Case(case.text, ask)


smallest_base = Check(
    "smallest_base",
    reference=first_fit,
    properties={
        "the first base without a negative sum": [
            base_case(6, 9, [20.0, 50.0, 100.0]),
            base_case(8, 32, [100.0, 1000.0, 10_000.0, 100_000.0]),
            base_case(16, 59, [1000.0, 2000.0, 5000.0, 10_000.0]),
            base_case(16, 60, [1000.0, 2000.0, 5000.0, 10_000.0]),
            base_case(16, 161, [100.0, 1000.0, 20_000.0]),
            base_case(64, 1024, [1000.0, 10_000.0, 20_000.0, 50_000.0]),
            base_case(128, 4096, [10_000.0, 30_000.0, 50_000.0, 100_000.0]),
        ],
        "the first, even where a larger one fails": [
            base_case(16, 128, [2000.0, 3000.0, 10_000.0, 20_000.0, 50_000.0])
        ],
        "None where no base is large enough": [
            base_case(16, 128, [100.0, 1000.0], none=True),
            base_case(64, 2048, [10_000.0, 20_000.0], none=True),
        ],
    },
    mistakes={
        "Only the farthest distance is asked. Ask for all, from 0 on.": first_where(
            lambda angles: angles[-1].cos().sum() >= 0
        ),
        "Only the slowest pair is asked. The sum is over all.": first_where(
            lambda angles: (angles[:, -1].cos() >= 0).all()
        ),
        "Each cosine is asked to be at least 0. Their sum is.": first_where(
            lambda angles: (angles.cos() >= 0).all()
        ),
        "The sum over all distances is asked to be at least 0. Each is.": first_where(
            lambda angles: angles.cos().sum() >= 0
        ),
        "One distance is enough here. All are to have a sum of at least 0.": first_where(
            lambda angles: (angles.cos().sum(dim=-1) >= 0).any()
        ),
        "The sum is of cosines.": first_where(lambda angles: (angles.sin().sum(dim=-1) >= 0).all()),
        "The farthest of length tokens are length − 1 apart.": up_to(1),
        "Of length tokens the farthest are length − 1 apart, and that distance counts.": up_to(-1),
        "This is the last base that is too small.": last_too_small,
        "This is the largest base that is large enough.": largest_fit,
        "A larger base may fail where a smaller one does not. Ask for each, in order.": halving,
        "Where no base is large enough, the answer is None.": else_last,
    },
    answers=(
        Answer(
            "for_32k",
            2_000_000,
            {
                "At a distance of 28,259 its sum is −0.8. Ask for all distances.": 1_000_000,
                "This is enough. A smaller one is, too.": 5_000_000,
                "With 8,192 tokens it would be enough.": 500_000,
                "This is enough for a much shorter text.": lambda base: base in (100_000, 200_000),
            },
        ),
    ),
)


# Lost in the middle -----------------------------------------------------------------------------------------


def carried(layers: int, length: int, slope: float) -> Tensor:
    here = torch.arange(length)
    scores = slope * (here - here[:, None])
    weights = scores.masked_fill(here > here[:, None], -math.inf).softmax(dim=-1)
    return torch.linalg.matrix_power((weights + torch.eye(length)) / 2, layers)[-1]


def half_kept(weights: Tensor, layers: int) -> Tensor:
    return torch.linalg.matrix_power((weights + torch.eye(len(weights))) / 2, layers)


def through(
    all_layers: Callable = half_kept,
    toll: Callable = lambda back: back,
    hidden: Callable = lambda back: back < 0,
    row: Callable = lambda shares: shares[-1],
    dim: int = -1,
) -> Callable:
    """As the right answer, where all_layers(weights, layers) tells what the layers do; back is how far a key lies."""

    def answer(layers: int, length: int, slope: float) -> Tensor:
        back = torch.arange(length).double()[:, None] - torch.arange(length)
        scores = (-slope * toll(back)).masked_fill(hidden(back), -math.inf)
        return row(all_layers(scores.softmax(dim=dim), layers))

    return answer


def more_layers(more: int) -> Callable:
    return lambda layers, length, slope: carried(layers + more, length, slope)


def by_geometric_series(layers: int, length: int, slope: float) -> Tensor:
    """0/0 where there is no slope."""
    back = torch.arange(length).double()[:, None] - torch.arange(length)
    q = torch.tensor(-slope).double().exp()
    sums = (1 - q ** torch.arange(1, length + 1)) / (1 - q)
    return half_kept((q**back).tril() / sums[:, None], layers)[-1]


def shares_case(layers: int, length: int, slope: float) -> Case:
    return either(call(layers=layers, length=length, slope=slope))


shares = Check(
    "shares",
    reference=carried,
    properties={
        "each layer keeps half, and takes half from what it looks at": [
            shares_case(1, 3, 0.5),
            shares_case(2, 3, 0.5),
            shares_case(5, 6, 1.0),
            shares_case(24, 8, 0.25),
        ],
        "uniform attention, where the slope is 0": [shares_case(1, 4, 0.0), shares_case(3, 5, 0.0)],
    },
    mistakes={
        "Nothing is kept. Average the weights with the identity.": through(torch.linalg.matrix_power),
        "Shares are to add up to 1. In each layer they double here: it is half of A + I.": (
            lambda layers, length, slope: 2**layers * carried(layers, length, slope)
        ),
        "Half is kept once, not in each layer.": through(
            lambda weights, layers: half_kept(torch.linalg.matrix_power(weights, layers), 1)
        ),
        "The toll grows the wrong way: the farther a key, the lower its score.": through(
            toll=lambda back: -back
        ),
        "Later tokens are seen.": (
            through(hidden=lambda back: back.isnan()),
            through(toll=torch.abs, hidden=lambda back: back.isnan()),
        ),
        "A layer acts on what the layer before gave. To raise each number to a power is not that.": through(
            lambda weights, layers: half_kept(weights, 1) ** layers
        ),
        "The weights of a query add up to 1: the softmax runs over keys.": through(dim=0),
        "This is a column: what all tokens have from the last. Take a row.": through(
            row=lambda shares: shares[:, -1]
        ),
        "This is the first token, which sees itself alone.": through(row=lambda shares: shares[0]),
        "This is the mean of all tokens. The last is asked.": through(row=lambda shares: shares.mean(dim=0)),
        "This is one layer too few.": more_layers(-1),
        "This is one layer too many.": more_layers(1),
        "The sum of a geometric series is 0/0 where the slope is 0.": by_geometric_series,
    },
    answers=(
        Answer(
            "middle",
            0.1,
            {
                "With no toll nearly all comes from the first third.": 0,
                "A hop goes 100 tokens back, and twelve hops end at the first.": 0.01,
                "A hop goes 33 tokens back, and twelve hops are more than the text.": 0.03,
                "A hop hardly goes one token back: all comes from the last third.": 1,
            },
        ),
    ),
)
