"""The checks of the project that builds a language model: its attention, its loss, its test rows, a law, a comparison."""

from collections.abc import Callable

import torch
from scipy.stats import t
from torch import Tensor
from torch.nn.functional import cross_entropy

from .cases import several
from .verdict import Case, Check, Misconduct, call, nothing


def drawn(*shape: int, seed: int, low: int = -4, high: int = 5) -> Tensor:
    """Quarters, drawn by seed."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)) / 4


# Attention --------------------------------------------------------------------------------------------------


def logits_of(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / q.shape[-1] ** 0.5


def causal_attention(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, score: Callable) -> Tensor:
    logits = logits_of(q, k) + score(positions, positions)
    later = positions > positions[:, None]
    return logits.masked_fill(later, -torch.inf).softmax(dim=-1) @ v


def hidden(change: Callable[[Tensor], Tensor]) -> Callable:
    """As the right answer, with other keys hidden: `change` gives them from the positions."""

    def answer(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, score: Callable) -> Tensor:
        logits = logits_of(q, k) + score(positions, positions)
        return logits.masked_fill(change(positions), -torch.inf).softmax(dim=-1) @ v

    return answer


def weighed(weigh: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable:
    """As the right answer, with weights from (q · k, the encoding's score, what is hidden)."""

    def answer(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, score: Callable) -> Tensor:
        later = positions > positions[:, None]
        return weigh(q @ k.mT, score(positions, positions), later, q.shape[-1] ** 0.5) @ v

    return answer


def counted(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, score: Callable) -> Tensor:
    return causal_attention(q, k, v, torch.arange(len(positions)), score)


def exchanged(q: Tensor, k: Tensor, v: Tensor, positions: Tensor, score: Callable) -> Tensor:
    return causal_attention(q, k, v, positions, lambda mine, theirs: score(mine, theirs).mT)


def masked(logits: Tensor, later: Tensor) -> Tensor:
    return logits.masked_fill(later, -torch.inf)


def steps(slopes: Tensor) -> Callable:
    """A score that falls with the distance to a key before."""
    return lambda q_positions, k_positions: slopes * (k_positions - q_positions[:, None])


def attend_case(batch: int, heads: int, size: int, positions: list[int], seed: int) -> Case:
    q, k, v = (drawn(batch, heads, len(positions), size, seed=seed + n) for n in range(3))
    slopes = torch.arange(1, heads + 1).view(-1, 1, 1) / 4
    label = (
        f"q, k, v: ({batch}, {heads}, {len(positions)}, {size}), positions = {positions}, and head h (from 0) "
        "scores (key position − query position)·(h + 1)/4"
    )
    return call(label, q=q, k=k, v=v, positions=torch.tensor(positions), score=steps(slopes))


attend = Check(
    "attend",
    reference=causal_attention,
    properties={
        "positions that count from 0": [
            attend_case(1, 1, 4, [0, 1], seed=0),
            attend_case(1, 2, 1, [0, 1, 2], seed=3),
            attend_case(2, 2, 16, [0, 1, 2, 3], seed=6),
        ],
        "positions with gaps": [
            attend_case(1, 1, 4, [5, 7], seed=9),
            attend_case(2, 3, 4, [1, 4, 10], seed=12),
        ],
        "tokens in any order": [
            attend_case(1, 1, 4, [1, 0], seed=15),
            attend_case(1, 2, 4, [2, 0, 3, 1], seed=18),
        ],
    },
    mistakes={
        "No key is hidden. A query must not see keys at later positions.": hidden(
            lambda positions: torch.zeros(len(positions), len(positions), dtype=torch.bool)
        ),
        "A token sees itself, too: hide positions above its own alone.": weighed(
            lambda dots, score, later, root: masked(dots / root + score, ~later.mT).softmax(dim=-1).nan_to_num()
        ),
        "This hides the past and shows the future.": hidden(lambda positions: positions < positions[:, None]),
        "Hidden by the place in the row. Compare positions: a row may hold its tokens in any order.": hidden(
            lambda positions: torch.ones(len(positions), len(positions)).triu(1) > 0
        ),
        "These positions are counted along the row. Use the ones that are given.": counted,
        "Hidden after the softmax, the keys to come have taken their share already.": weighed(
            lambda dots, score, later, root: (dots / root + score).softmax(dim=-1).masked_fill(later, 0)
        ),
        "The score is added to the weights. Add it to the logits, before the softmax.": weighed(
            lambda dots, score, later, root: masked(dots / root, later).softmax(dim=-1) + score
        ),
        "The encoding's score is divided as well. The root divides q · k alone.": weighed(
            lambda dots, score, later, root: masked((dots + score) / root, later).softmax(dim=-1)
        ),
        "q · k is divided by the root of the number of features.": (
            weighed(lambda dots, score, later, root: masked(dots + score, later).softmax(dim=-1)),
            weighed(lambda dots, score, later, root: masked(dots / root**2 + score, later).softmax(dim=-1)),
        ),
        "The encoding's score is left out.": weighed(
            lambda dots, score, later, root: masked(dots / root, later).softmax(dim=-1)
        ),
        "Queries are rows and keys are columns, in the encoding's score as well.": exchanged,
        "Each query shares out a weight of 1: softmax runs over the last axis.": weighed(
            lambda dots, score, later, root: masked(dots / root + score, later).softmax(dim=-2)
        ),
    },
)


# The loss of the next token ---------------------------------------------------------------------------------


def told(logits: Tensor, tokens: Tensor, padding: int) -> tuple[Tensor, Tensor]:
    """The logits that count, and the tokens that came."""
    real = tokens != padding
    asked = real[:, 1:] & real[:, :-1]
    return logits[:, :-1][asked], tokens[:, 1:][asked]


def loss_of_the_next(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    return cross_entropy(*told(logits, tokens, padding))


def not_shifted(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    real = tokens != padding
    return cross_entropy(logits[real], tokens[real])


def shifted_back(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    real = (tokens[:, 1:] != padding) & (tokens[:, :-1] != padding)
    return cross_entropy(logits[:, 1:][real], tokens[:, :-1][real])


def kept(keep: Callable[[Tensor], Tensor]) -> Callable:
    """As the right answer, with other pairs of neighbors that count: `keep` gives them from what is real."""

    def answer(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
        asked = keep(tokens != padding)
        return cross_entropy(logits[:, :-1][asked], tokens[:, 1:][asked])

    return answer


def row_by_row(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    rows = zip(logits, tokens, strict=True)
    return torch.stack([loss_of_the_next(a[None], b[None], padding) for a, b in rows]).mean()


def over_all_places(logits: Tensor, tokens: Tensor, padding: int) -> Tensor:
    return cross_entropy(*told(logits, tokens, padding), reduction="sum") / tokens[:, 1:].numel()


def loss_case(*rows: list[int], seed: int, classes: int = 3) -> Case:
    tokens = torch.tensor(rows)
    return call(logits=drawn(*tokens.shape, classes, seed=seed, low=-8, high=9), tokens=tokens, padding=0)


next_loss = Check(
    "next_loss",
    reference=loss_of_the_next,
    properties={
        "each token is told by the place before it": [
            loss_case([1, 2], seed=0),
            loss_case([2, 1, 1], [1, 2, 2], seed=1),
        ],
        "padding behind the text": [
            loss_case([1, 2, 0], seed=2),
            loss_case([1, 2, 2, 1], [2, 1, 0, 0], seed=3),
            call(
                logits=drawn(2, 4, 4, seed=7, low=-8, high=9),
                tokens=torch.tensor([[1, 2, 0, 3], [2, 1, 3, 3]]),
                padding=3,
            ),
        ],
        "padding before the text": [
            loss_case([0, 1, 2], seed=4),
            loss_case([0, 0, 2, 1], [1, 1, 2, 2], seed=5),
        ],
    },
    mistakes={
        "No shift: each place is asked for the token that it reads.": not_shifted,
        "Shifted the wrong way: place i is asked for token i − 1, which it has read.": shifted_back,
        "Padding is asked for. It is no text.": kept(lambda real: real[:, :-1]),
        "The first token of a text stands behind padding, and nothing tells it. Leave it out.": kept(
            lambda real: real[:, 1:]
        ),
        "All places count here, those of padding, too.": kept(lambda real: torch.ones_like(real[:, 1:])),
        "A mean of rows gives the tokens of short rows more weight. Take the mean over all tokens.": row_by_row,
        "The sum is right. Divide it by the number of tokens that count.": over_all_places,
        "This is a sum. Take the mean.": lambda logits, tokens, padding: cross_entropy(
            *told(logits, tokens, padding), reduction="sum"
        ),
        "This is the perplexity. Its logarithm is asked for.": (
            lambda logits, tokens, padding: loss_of_the_next(logits, tokens, padding).exp()
        ),
    },
)


# Rows for a fair test ---------------------------------------------------------------------------------------


def rows_that_end(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    places = ends[:, None] + torch.arange(-length, 0)
    targets = text[places + 1]
    targets[:, :-asked] = -100
    return text[places], targets


def from_there(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    return rows_that_end(text, ends + length, length, asked)


def same_as_read(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    tokens, targets = rows_that_end(text, ends, length, asked)
    return tokens, targets.where(targets < 0, tokens)


def all_asked(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    return rows_that_end(text, ends, length, length)


def first_asked(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    tokens, targets = all_asked(text, ends, length, asked)
    targets[:, asked:] = -100
    return tokens, targets


def zeros_elsewhere(text: Tensor, ends: Tensor, length: int, asked: int) -> tuple[Tensor, Tensor]:
    tokens, targets = rows_that_end(text, ends, length, asked)
    return tokens, targets.clamp(min=0)


def row_case(text: list[int], ends: list[int], length: int, asked: int) -> Case:
    case = call(text=torch.tensor(text), ends=torch.tensor(ends), length=length, asked=asked)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        if nothing(found):
            return found
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise Misconduct("Two tensors are asked for: tokens, targets")
        return torch.stack([*found])

    return Case(case.text, ask)


TEXT = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4]
fair_rows = Check(
    "fair_rows",
    reference=rows_that_end,
    properties={
        "all of a row is asked": [row_case(TEXT[:8], [3], 3, 3), row_case(TEXT, [7, 5], 3, 3)],
        "the last of a row are asked": [row_case(TEXT[:8], [4], 3, 1), row_case(TEXT, [6, 9, 12], 5, 2)],
        "a row that ends with the text": [row_case(TEXT[:5], [4], 3, 2), row_case(TEXT, [19, 11], 8, 3)],
    },
    mistakes={
        "A longer row begins earlier and ends where the shorter one does. These begin at `ends`.": from_there,
        "The targets are the tokens themselves. Each is asked for the next one.": same_as_read,
        "The first ones are asked for. The last ones have the most text before them.": first_asked,
        "All are asked for. Then a longer row is asked for other characters than a short one.": all_asked,
        "Where nothing is asked stands −100. A 0 is a character.": zeros_elsewhere,
        "The row holds text[end]. It is the last target: the row ends just before it.": (
            lambda text, ends, length, asked: rows_that_end(text, ends + 1, length, asked)
        ),
        "One target too many, or too few: the last `asked` of each row are asked for.": (
            lambda text, ends, length, asked: rows_that_end(text, ends, length, asked + 1)
        ),
    },
)


# Does it see places, or offsets? ----------------------------------------------------------------------------


def unmoved(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
    here = torch.arange(q.shape[-2])
    first = scores(q, k, here)
    starts = range(longest - len(here) + 1)
    return all(torch.allclose(scores(q, k, here + start), first, atol=1e-4) for start in starts)


def at_starts(pick: Callable[[int], list[int]], within: float = 1e-4) -> Callable:
    """As the right answer, where the positions begin at other places alone; `pick` gives them from the last one."""

    def answer(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
        here = torch.arange(q.shape[-2])
        first = scores(q, k, here)
        found = [scores(q, k, here + start) for start in pick(longest - len(here))]
        return all(bool(((one - first).abs() <= within).all()) for one in found)

    return answer


def without_contents(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
    return unmoved(scores, torch.zeros_like(q), torch.zeros_like(k), longest)


def stretched(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
    here = torch.arange(q.shape[-2])
    return torch.allclose(scores(q, k, 2 * here), scores(q, k, here), atol=1e-4)


def in_the_mean(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
    return unmoved(lambda *given: scores(*given).mean(), q, k, longest)


def one_pair(scores: Callable, q: Tensor, k: Tensor, longest: int) -> bool:
    return unmoved(lambda *given: scores(*given)[..., :1, :1], q, k, longest)


def turned(x: Tensor, positions: Tensor) -> Tensor:
    """Two features, turned by one radian a position."""
    angle = positions.float()[:, None]
    return torch.cat(
        [
            x[..., :1] * angle.cos() - x[..., 1:] * angle.sin(),
            x[..., :1] * angle.sin() + x[..., 1:] * angle.cos(),
        ],
        dim=-1,
    )


def offset(positions: Tensor) -> Tensor:
    return positions[:, None] - positions


def biased(bias: Callable[[Tensor], Tensor]) -> Callable:
    """Scores with a bias that knows the positions."""
    return lambda q, k, positions: logits_of(q, k) + bias(positions)


def moved_by_place(positions: Tensor) -> Tensor:
    """Nothing in the mean: each score changes, and their sum does not."""
    sign = torch.tensor([1.0, -1.0, 0.0])
    return positions[:1] * (sign[:, None] + sign) * 0.25


ENCODINGS: dict[str, Callable] = {
    "no position": biased(lambda p: torch.zeros(len(p), len(p))),
    "−distance/4": biased(lambda p: -offset(p).abs() / 4),
    "pairs that turn": lambda q, k, p: logits_of(turned(q, p), turned(k, p)),
    "a bell around offset 2": biased(lambda p: -((offset(p) - 2) ** 2)),
    "the key's position/4": biased(lambda p: p / 4),
    "the key's position/1000": biased(lambda p: p / 1000),
    "a table that starts again after 4 rows": biased(lambda p: (p % 4) / 4),
    "a table whose last row serves positions from 2 on": biased(lambda p: p.clamp(max=2) / 4),
    "a bonus for position 0": biased(lambda p: (p == 0) / 4),
    "distance/4, and 1 from position 7 on": biased(lambda p: -offset(p).abs() / 4 + (p >= 7)),
    "distance/4, and 1 at position 11": biased(lambda p: -offset(p).abs() / 4 + (p == 11)),
    "distance/4, and 1 at position 5": biased(lambda p: -offset(p).abs() / 4 + (p == 5)),
    "distance over the query's place": biased(lambda p: -offset(p).abs() / (p[:, None] + 1)),
    "a bias that cancels in the mean": biased(moved_by_place),
    "keys that turn, queries that do not": lambda q, k, p: logits_of(q, turned(k, p)),
}


def law_case(name: str, longest: int = 12) -> Case:
    q, k = drawn(2, 3, 2, seed=1), drawn(2, 3, 2, seed=4)
    label = f"scores: {name}; q and k: (2, 3, 2), longest = {longest}"
    return call(label, scores=ENCODINGS[name], q=q, k=k, longest=longest)


NAMES = list(ENCODINGS)
offsets_alone = Check(
    "offsets_alone",
    reference=unmoved,
    properties={
        "True where offsets alone count": [law_case(name) for name in NAMES[:4]],
        "False where places count": [law_case(name) for name in [*NAMES[4:9], *NAMES[12:]]],
        "False where one place counts": [law_case(name) for name in NAMES[9:12]],
        "True where no such place is reached": [law_case(NAMES[9], 7), law_case(NAMES[10], 11)],
    },
    mistakes={
        "A turn rounds differently at each place. Allow 0.0001.": at_starts(
            lambda last: list(range(last + 1)), within=0
        ),
        "One shift is not enough. Some encodings change at certain places alone.": (
            at_starts(lambda last: [1]),
            at_starts(lambda last: [last]),
            at_starts(lambda last: [last // 2]),
        ),
        "A shift by 4 is a whole turn of a table of 4 rows. Try all starts.": at_starts(
            lambda last: list(range(0, last + 1, 4))
        ),
        "The last start is missing: n tokens fit at longest − n, too.": at_starts(
            lambda last: list(range(last))
        ),
        "These positions go past `longest`: the last token of a row would stand outside.": at_starts(
            lambda last: list(range(last + 3))
        ),
        "Without contents nobody sees what queries and keys do. Pass the q and k that are given.": without_contents,
        "Twice the positions is another law: offsets double, too. Add one number to all.": stretched,
        "Means hide changes that cancel. Compare each score.": in_the_mean,
        "One pair is not all of them.": one_pair,
    },
)


# Beside the book's --------------------------------------------------------------------------------------------


def with_interval(each: Tensor) -> tuple[float, float]:
    """The mean, and half its 95 % interval, by Student's t."""
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / n**0.5


def differences(mine: dict[int, float], theirs: dict[int, float]) -> Tensor:
    return torch.tensor([mine[seed] - theirs[seed] for seed in mine if seed in theirs], dtype=torch.float64)


def paired_by_seed(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    return with_interval(differences(mine, theirs))


def in_order(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    pairs = zip(mine.values(), theirs.values(), strict=False)
    return with_interval(torch.tensor([a - b for a, b in pairs], dtype=torch.float64))


def not_paired(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    a, b = (torch.tensor([*side.values()], dtype=torch.float64) for side in (mine, theirs))
    error = (a.var() / len(a) + b.var() / len(b)).sqrt().item()
    return (a.mean() - b.mean()).item(), t.ppf(0.975, len(a) - 1) * error


def zero_where_missing(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    each = [mine.get(seed, 0) - theirs.get(seed, 0) for seed in mine | theirs]
    return with_interval(torch.tensor(each, dtype=torch.float64))


def instead(half: Callable[[Tensor], float]) -> Callable:
    """As the right answer, with another half of the interval."""

    def answer(mine: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
        each = differences(mine, theirs)
        return each.mean().item(), half(each)

    return answer


def beside_case(mine: dict[int, float], theirs: dict[int, float]) -> Case:
    case = call(f"mine = {mine}, theirs = {theirs}", mine=mine, theirs=theirs)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        return found if nothing(found) else torch.tensor(several(found, "mean", "half"), dtype=torch.float64)

    return Case(case.text, ask)


beside = Check(
    "beside",
    reference=paired_by_seed,
    properties={
        "the mean difference, and half its interval": [
            beside_case({0: 1.5, 1: 2.5}, {0: 1.25, 1: 2.0}),
            beside_case({0: 1.5, 1: 1.25, 2: 2.0, 3: 1.75}, {0: 1.0, 1: 1.25, 2: 1.5, 3: 1.5}),
        ],
        "seeds in another order": [
            beside_case({0: 1.5, 1: 2.5}, {1: 2.0, 0: 1.25}),
            beside_case({4: 1.5, 2: 1.25, 7: 2.5}, {7: 2.0, 4: 1.25, 2: 1.25}),
        ],
        "seeds that one of the two lacks": [
            beside_case({0: 1.5, 1: 2.5}, {0: 1.25, 1: 2.0, 2: 9.0}),
            beside_case({0: 1.5, 1: 2.5, 3: 8.0, 4: 2.0}, {0: 1.25, 1: 2.0, 4: 1.75}),
        ],
    },
    mistakes={
        "Paired by their place in the dictionary. The same seed belongs together.": in_order,
        "A seed that one lacks is no loss of 0. Leave it out.": zero_where_missing,
        "Theirs comes off mine: below 0, mine has the lower loss.": lambda mine, theirs: paired_by_seed(
            theirs, mine
        ),
        "Seeds share their batches. Take differences first, and their spread.": not_paired,
        "1.96 is for many seeds. For a few, take Student's t with one degree less than seeds.": instead(
            lambda each: 1.96 * each.std().item() / len(each) ** 0.5
        ),
        "This is the spread of seeds. A mean over n seeds varies less, by the root of n.": instead(
            lambda each: t.ppf(0.975, len(each) - 1) * each.std().item()
        ),
        "This divides squares by n. For the spread of a sample, divide by n − 1.": instead(
            lambda each: t.ppf(0.975, len(each) - 1) * each.std(correction=0).item() / len(each) ** 0.5
        ),
        "This is the whole interval. Half of it is asked for.": instead(
            lambda each: 2 * t.ppf(0.975, len(each) - 1) * each.std().item() / len(each) ** 0.5
        ),
        "With n seeds there are n − 1 degrees.": instead(
            lambda each: t.ppf(0.975, len(each)) * each.std().item() / len(each) ** 0.5
        ),
    },
)
