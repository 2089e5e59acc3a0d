"""The checks of the project that reads heads: their weights, two scores, a fair null, and what a head is worth."""

from collections.abc import Callable

import torch
from scipy.stats import t
from torch import Tensor

from .cases import several
from .verdict import Case, Check, call, nothing


def drawn(*shape: int, seed: int, low: int = -4, high: int = 5) -> Tensor:
    """Quarters, drawn by seed."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)) / 4


# All weights of a layer -------------------------------------------------------------------------------------


def served(q: Tensor, k: Tensor) -> Tensor:
    """Each head's keys; (heads, tokens, features)."""
    return k.repeat_interleave(len(q) // len(k), dim=0)


def later(scores: Tensor, diagonal: int = 1) -> Tensor:
    """Where a key comes after its query."""
    return torch.ones_like(scores, dtype=torch.bool).triu(diagonal)


def scored(q: Tensor, k: Tensor) -> Tensor:
    return q @ served(q, k).mT / q.shape[-1] ** 0.5


def causal_weights(q: Tensor, k: Tensor) -> Tensor:
    scores = scored(q, k)
    return scores.masked_fill(later(scores), -torch.inf).softmax(dim=-1)


def hidden_afterwards(q: Tensor, k: Tensor) -> Tensor:
    found = scored(q, k).softmax(dim=-1)
    return found.masked_fill(later(found), 0)


def own_hidden(q: Tensor, k: Tensor) -> Tensor:
    scores = scored(q, k)
    return scores.masked_fill(later(scores, 0), -torch.inf).softmax(dim=-1)


def past_hidden(q: Tensor, k: Tensor) -> Tensor:
    scores = scored(q, k)
    return scores.masked_fill(later(scores).mT, -torch.inf).softmax(dim=-1)


def over_queries(q: Tensor, k: Tensor) -> Tensor:
    scores = scored(q, k)
    return scores.masked_fill(later(scores), -torch.inf).softmax(dim=-2)


def weights_case(heads: int, kv_heads: int, tokens: int, size: int, seed: int) -> Case:
    q, k = drawn(heads, tokens, size, seed=seed), drawn(kv_heads, tokens, size, seed=seed + 1)
    return call(q=q, k=k)


all_weights = Check(
    "all_weights",
    reference=causal_weights,
    properties={
        "heads with keys of their own": [
            weights_case(1, 1, 2, 4, seed=0),
            weights_case(1, 1, 3, 2, seed=2),
            weights_case(2, 2, 5, 16, seed=4),
        ],
        "neighboring heads that share their keys": [
            weights_case(6, 2, 3, 2, seed=6),
            weights_case(9, 3, 4, 8, seed=8),
        ],
    },
    mistakes={
        "Queries are rows and keys are columns: softmax runs over the last axis.": over_queries,
        "A token sees itself, too: hide the keys behind the diagonal, not those on it.": own_hidden,
        "This hides the past and shows the future.": past_hidden,
        "No key is hidden. A token must not see those after it.": lambda q, k: scored(q, k).softmax(dim=-1),
        "Hidden after the softmax, the keys to come have taken their share already: rows do not sum to 1.": (
            hidden_afterwards
        ),
        "Scores are divided by the root of the number of features.": (
            lambda q, k: causal_weights(q * q.shape[-1] ** 0.5, k),
            lambda q, k: causal_weights(q / q.shape[-1] ** 0.5, k),
        ),
        "Heads that share keys are neighbors: 0, 1, 2 have the first keys. `repeat` gives these to 0, 3, 6.": (
            lambda q, k: causal_weights(q, k.repeat(len(q) // len(k), 1, 1))
        ),
    },
)


# The weight at an offset ------------------------------------------------------------------------------------


def back(weights: Tensor, offset: int) -> Tensor:
    """The weights of the keys that stand `offset` back, for the queries that have such a key."""
    return weights.diagonal(-offset, dim1=-2, dim2=-1)


def mean_back(weights: Tensor, seen: Tensor, offset: int) -> Tensor:
    return back(weights, offset)[..., seen.diagonal(-offset)].mean(dim=-1)


def made_up(*shape: int, seed: int, seen: Tensor | None = None, habit: int = 0) -> Tensor:
    """Attention weights (…, tokens, tokens) under a mask, causal where none is given; more at the offset `habit`."""
    draw = torch.Generator().manual_seed(seed)
    found = torch.randint(1, 9, (*shape, shape[-1]), generator=draw).double()
    found = found.tril() if seen is None else found * seen
    back(found, habit).add_(20 * (habit > 0))
    return (found / found.sum(dim=-1, keepdim=True).clamp(min=1)).float()


def causal(n: int) -> Tensor:
    return torch.ones(n, n).tril() > 0


def packed(*lengths: int) -> Tensor:
    """The causal mask of several texts in one row."""
    return torch.block_diag(*(causal(n).float() for n in lengths)) > 0


def score_case(seen: Tensor, offset: int, heads: tuple[int, ...] = (2,), seed: int = 0) -> Case:
    return call(weights=made_up(*heads, len(seen), seed=seed, seen=seen), seen=seen, offset=offset)


score = Check(
    "score",
    reference=mean_back,
    properties={
        "the mean weight at an offset, over the queries that may see that key": [
            score_case(causal(3), 1, (1,)),
            score_case(causal(4), 2),
            score_case(causal(6), 0),
            score_case(packed(2, 2), 1, (1,)),
            score_case(packed(2, 3, 4), 1),
            score_case(packed(3, 5), 2),
        ],
        "any number of layers and heads": [score_case(causal(4), 1, (3, 2)), score_case(causal(5), 2, ())],
    },
    mistakes={
        "The first queries have no key that far back. As zeros they dilute the mean.": (
            lambda weights, seen, offset: back(weights, offset).sum(dim=-1) / len(seen)
        ),
        "A query that may not see that key has no choice. Leave it out of the mean.": (
            lambda weights, seen, offset: back(weights, offset).mean(dim=-1)
        ),
        "This is a sum. Long texts have larger ones.": (
            lambda weights, seen, offset: back(weights, offset).sum(dim=-1)
        ),
        "A positive diagonal has the keys to come. Those before the query lie below the main one.": (
            lambda weights, seen, offset: back(weights, -offset)[..., seen.diagonal(-offset)].mean(dim=-1)
        ),
        "One query is enough for this maximum. A habit is a mean.": (
            lambda weights, seen, offset: back(weights, offset)[..., seen.diagonal(-offset)].amax(dim=-1)
        ),
    },
)


# The weight of what followed --------------------------------------------------------------------------------


def what_followed(weights: Tensor, period: int) -> Tensor:
    return back(weights, period - 1)[..., 1:].mean(dim=-1)


def all_that_followed(weights: Tensor, period: int) -> Tensor:
    """What followed all earlier ones counts."""
    times, last = range(period, weights.shape[-1], period), weights.shape[-1] - period
    return sum(back(weights, time - 1)[..., 1:].sum(dim=-1) for time in times) / last


def induction_case(period: int, tokens: int, heads: tuple[int, ...] = (2,), habit: int = 0) -> Case:
    return call(weights=made_up(*heads, tokens, seed=0, habit=habit), period=period)


induction = Check(
    "induction",
    reference=what_followed,
    properties={
        "the mean weight of the token that followed the last time": [
            induction_case(2, 4, (1,)),
            induction_case(3, 6),
            induction_case(4, 7),
        ],
        "more than one repeat": [induction_case(2, 6), induction_case(3, 12)],
        "any number of layers and heads": [induction_case(3, 6, (5, 4), habit=2), induction_case(3, 6, ())],
    },
    mistakes={
        "The last token of the first copy sees token 0 at this offset, but its word has not come before.": (
            lambda weights, period: back(weights, period - 1).mean(dim=-1)
        ),
        "This is the same word earlier. What will come is the token after it.": (
            lambda weights, period: back(weights, period).mean(dim=-1)
        ),
        "This is the token before the same word. What will come stands after it.": (
            lambda weights, period: back(weights, period + 1).mean(dim=-1)
        ),
        "Queries of the first copy have nothing to repeat. As zeros they dilute the mean.": (
            lambda weights, period: back(weights, period - 1)[..., 1:].sum(dim=-1) / weights.shape[-1]
        ),
        "Queries of the second copy alone are asked. All that repeat count.": (
            lambda weights, period: back(weights, period - 1)[..., 1 : period + 1].mean(dim=-1)
        ),
        "This adds what followed every earlier time. Only the last time is asked for.": all_that_followed,
    },
)


# A fair null ------------------------------------------------------------------------------------------------


def indifferent(queries: Tensor) -> Tensor:
    """The mean weight of one key, where each query shares its weight equally among those that it sees."""
    return (1 / (queries + 1)).mean()


def ranked(share: Tensor, least: float) -> Tensor:
    """(n, 2): layer and head of each share that is at least so large, the largest first."""
    order = share.flatten().argsort(descending=True)
    order = order[share.flatten()[order] >= least]
    return torch.stack([order // share.shape[1], order % share.shape[1]], dim=1)


def beyond(null: Tensor, scores: Tensor, least: float) -> Tensor:
    return ranked((scores - null) / (1 - null), least)


def beyond_the_null(scores: Tensor, queries: Tensor, least: float) -> Tensor:
    return beyond(indifferent(queries), scores, least)


def against(null: Callable[[Tensor], Tensor]) -> Callable:
    """As the right answer, with another null."""
    return lambda scores, queries, least: beyond(null(queries), scores, least)


def largest_last(scores: Tensor, queries: Tensor, least: float) -> Tensor:
    return beyond_the_null(scores, queries, least).flip(0)


def null_case(scores: list[list[float]], queries: list[int], least: float) -> Case:
    return call(scores=torch.tensor(scores), queries=torch.tensor(queries), least=least)


standing_out = Check(
    "standing_out",
    reference=beyond_the_null,
    properties={
        "all that come so far from the null to 1": [
            null_case([[0.55, 0.65, 0.5, 0.4, 0.12, 0.05]], [1, 3], 0.3),
            null_case([[0.7, 0.3]], [1, 3], 0.3),
            null_case([[0.1], [0.9], [0.2]], [1, 2, 3, 7], 0.25),
            null_case([[0.5, 0.625]], [1], 0.25),
        ],
        "the largest first": [
            null_case([[0.5, 0.75], [1.0, 0.875]], [1], 0.25),
            null_case([[0.875, 0.5], [0.75, 1.0], [0.625, 0.25]], [3], 0.1),
        ],
        "nobody, where nobody stands out": [null_case([[0.25, 0.5]], [1, 2], 0.75)],
    },
    mistakes={
        "The largest comes first.": largest_last,
        "This is (head, layer). The layer comes first.": lambda scores, queries, least: beyond_the_null(
            scores, queries, least
        ).flip(1),
        "Query i sees i + 1 tokens: those before it and itself.": against(
            lambda queries: (1 / queries).mean()
        ),
        "Of 1/(i + 1) the mean is asked for. One over the mean is less.": against(
            lambda queries: 1 / (queries + 1.0).mean()
        ),
        "Under a causal mask nobody sees all tokens. The last query alone sees that many.": against(
            lambda queries: 1 / (queries.max() + 1)
        ),
        "This is the distance from the null. Divide it by the distance from the null to 1.": (
            lambda scores, queries, least: ranked(scores - indifferent(queries), least)
        ),
        "This takes scores as they are. What would a head get that has no habit?": (
            lambda scores, queries, least: ranked(scores, least)
        ),
        "This is how many times the null a score is. Asked for is the share of the way to 1.": (
            lambda scores, queries, least: ranked(scores / indifferent(queries), least)
        ),
    },
)


# What a head is worth ---------------------------------------------------------------------------------------


def known(losses: Tensor, period: int) -> Tensor:
    """The losses of the tokens that a repeat can tell: those after the first of the second copy."""
    return losses[:, period:]


def with_interval(each: Tensor) -> tuple[float, float]:
    """The mean, and half its 95 % interval, by Student's t."""
    n = len(each)
    return each.mean().item(), t.ppf(0.975, n - 1) * each.std().item() / n**0.5


def paired_rise(before: Tensor, after: Tensor, period: int) -> tuple[float, float]:
    return with_interval(known(after - before, period).mean(dim=1))


def from_column(first: Callable[[int], int]) -> Callable:
    """As the right answer, from another column on."""
    return lambda before, after, period: paired_rise(before, after, first(period))


def each_token(before: Tensor, after: Tensor, period: int) -> tuple[float, float]:
    return with_interval(known(after - before, period).flatten())


def not_paired(before: Tensor, after: Tensor, period: int) -> tuple[float, float]:
    a, b = (known(losses, period).mean(dim=1) for losses in (before, after))
    half = t.ppf(0.975, len(a) - 1) * ((a.var() + b.var()).item() / len(a)) ** 0.5
    return (b - a).mean().item(), half


def instead(half: Callable[[Tensor], float]) -> Callable:
    """As the right answer, with another half of the interval."""

    def answer(before: Tensor, after: Tensor, period: int) -> tuple[float, float]:
        each = known(after - before, period).mean(dim=1)
        return each.mean().item(), half(each)

    return answer


def rise_case(texts: int, tokens: int, period: int, seed: int) -> Case:
    """Losses of texts that differ more from each other than a change moves them."""
    level = 4 * drawn(texts, 1, seed=seed + 1, low=0, high=9)
    before = level + drawn(texts, tokens - 1, seed=seed, low=0, high=9)
    after = before + drawn(texts, tokens - 1, seed=seed + 2, low=-2, high=9)
    case = call(before=before, after=after, period=period)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        return found if nothing(found) else torch.tensor(several(found, "rise", "half"), dtype=torch.float64)

    return Case(case.text, ask)


worth = Check(
    "worth",
    reference=paired_rise,
    properties={
        "the mean rise where a repeat can help, and half its interval over texts": [
            rise_case(2, 4, 2, seed=0),
            rise_case(3, 8, 4, seed=3),
            rise_case(4, 16, 8, seed=6),
        ],
        "more than one repeat": [rise_case(8, 9, 3, seed=9)],
    },
    mistakes={
        "The first token of a copy cannot be known. Column c is the loss of token c + 1.": from_column(
            lambda period: period - 1
        ),
        "One column is missing: the second token of the copy follows a word that has come before.": from_column(
            lambda period: period + 1
        ),
        "In the first copy nothing repeats. Leave it out.": from_column(lambda period: 0),
        "This is a fall: before comes off after.": lambda before, after, period: paired_rise(
            after, before, period
        ),
        "Tokens of one text are not independent: their number makes the interval too narrow. Take the mean of a "
        "text first.": each_token,
        "Texts differ, and both readings share that. Take differences first, and their spread.": not_paired,
        "1.96 is for many texts. For a few, take Student's t with one degree less than texts.": instead(
            lambda each: 1.96 * each.std().item() / len(each) ** 0.5
        ),
        "This is the spread of texts. A mean over n texts varies less, by the root of n.": instead(
            lambda each: t.ppf(0.975, len(each) - 1) * each.std().item()
        ),
        "This divides squares by n. For the spread of a sample, divide by n − 1.": instead(
            lambda each: t.ppf(0.975, len(each) - 1) * each.std(correction=0).item() / len(each) ** 0.5
        ),
    },
)
