"""The checks of chapter 9: a head that looks one back, a layout found in weights, padding, held pairs, cut texts."""

import math
from collections.abc import Callable
from operator import index

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, normalize

from .cases import several
from .verdict import Answer, Case, Check, Misconduct, call, nothing

# The head that looks one back -------------------------------------------------------------------------------


def largest(values: Tensor) -> tuple[int, int]:
    """Where (layer, head) is largest."""
    return divmod(values.argmax().item(), values.shape[1])


def most_previous(weights: Tensor) -> tuple[int, int]:
    return largest(weights.diagonal(-1, dim1=2, dim2=3).mean(dim=-1))


def on_diagonal(offset: int) -> Callable:
    """As the right answer, for keys at another offset from the query."""
    return lambda weights: largest(weights.diagonal(offset, dim1=2, dim2=3).mean(dim=-1))


def around_the_end(weights: Tensor) -> tuple[int, int]:
    """The first query's previous token is the last of the text."""
    before = torch.arange(weights.shape[3]) - 1
    return largest(weights[:, :, torch.arange(len(before)), before].mean(dim=-1))


def most_often_first_choice(weights: Tensor) -> tuple[int, int]:
    here = torch.arange(1, weights.shape[2])
    return largest((weights[:, :, 1:].argmax(dim=-1) == here - 1).float().mean(dim=-1))


def best_in_the_best_layer(weights: Tensor) -> tuple[int, int]:
    mean = weights.diagonal(-1, dim1=2, dim2=3).mean(dim=-1)
    layer = mean.mean(dim=1).argmax().item()
    return layer, mean[layer].argmax().item()


def looks(*shape: int, seed: int, causal: bool = True, more: Tensor | float = 0) -> Tensor:
    """Attention weights (layer, head, token, token); `more` joins what the previous token gets."""
    draw = torch.Generator().manual_seed(seed)
    found = torch.randint(1, 9, (*shape, shape[-1]), generator=draw).double()
    found = found.tril() if causal else found
    found.diagonal(-1, dim1=2, dim2=3).add_(more)
    return (found / found.sum(dim=-1, keepdim=True)).float()


def head_case(label: str, weights: Tensor) -> Case:
    case = call(f"{label}, {tuple(weights.shape)}", weights=weights)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        return found if nothing(found) else tuple(several(found, "layer", "head"))

    return Case(case.text, ask)


clear = 100 * (torch.arange(12).view(2, 6, 1) == 4)
previous_head = Check(
    "previous_head",
    reference=most_previous,
    properties={
        "the head with the largest mean weight of the previous token": [
            head_case("causal weights", looks(2, 2, 4, seed=3)),
            head_case("causal weights", looks(3, 3, 5, seed=6)),
            head_case("causal weights", looks(3, 3, 5, seed=17)),
        ],
        "any number of layers and heads": [
            head_case("causal weights, one head looks back", looks(2, 6, 5, seed=0, more=clear)),
            head_case(
                "causal weights, one head looks back", looks(6, 2, 5, seed=0, more=clear.view(6, 2, 1))
            ),
        ],
        "weights that look both ways": [
            head_case("no mask", looks(2, 2, 3, seed=16, causal=False)),
        ],
    },
    mistakes={
        "This is (head, layer). The layer comes first.": lambda weights: most_previous(weights)[::-1],
        "Queries are rows. Here the weight goes to the next token, which a causal mask hides.": on_diagonal(
            1
        ),
        "This head looks at the token itself. The previous one is a diagonal lower.": on_diagonal(0),
        "This head looks two back.": on_diagonal(-2),
        "This head looks at the first token, which is another habit: an attention sink.": (
            lambda weights: largest(weights[:, :, 1:, 0].mean(dim=-1))
        ),
        "One query is enough for this head to win. Take the mean over all queries but the first.": (
            lambda weights: largest(weights.diagonal(-1, dim1=2, dim2=3).amax(dim=-1))
        ),
        "Only the last query is asked. Take the mean over all queries but the first.": (
            lambda weights: largest(weights[:, :, -1, -2])
        ),
        "This counts how often the previous token gets the most. Take its mean weight.": most_often_first_choice,
        "The best head of the layer that looks back most is not the best of all.": best_in_the_best_layer,
        "The first query has no previous token. The index −1 is the last one.": around_the_end,
        "A flat index counts heads first: divide it by the number of heads, not of layers.": (
            lambda weights: divmod(
                weights.diagonal(-1, dim1=2, dim2=3).mean(dim=-1).argmax().item(), weights.shape[0]
            )
        ),
    },
    answers=(
        Answer(
            "found",
            (16, 0),
            {
                "The layer comes first.": (0, 16),
                "This head looks at the first token: an attention sink.": (18, 8),
                "This head looks at the token itself.": (11, 6),
                "Layers and heads count from 0.": (17, 1),
            },
        ),
    ),
)


# Which layout? ----------------------------------------------------------------------------------------------


def by_head(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1))


def keys_of(wk: Tensor, heads: int, kv_heads: int) -> Tensor:
    """The rows of keys that each head of queries meets; (heads, size, dim)."""
    return by_head(wk, kv_heads).repeat_interleave(heads // kv_heads, dim=0)


def met(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> Tensor:
    """How much, on average over heads, each row of the queries has of each row of its keys; (size, size)."""
    return (by_head(wq, heads) @ keys_of(wk, heads, kv_heads).mT).abs().mean(dim=0)


def partners(table: Tensor) -> tuple[Tensor, Tensor]:
    """The entries (size, size) of rows and their partners, if these are neighbors, and if half a head lies between."""
    i = torch.arange(len(table))
    return table[i, i ^ 1], table[i, i - len(i) // 2]


def larger(table: Tensor) -> str:
    """The layout whose partners have the larger entries."""
    neighbors, apart = partners(table)
    return "half" if apart.mean() > neighbors.mean() else "interleaved"


def told_by_products(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
    return larger(met(wq, wk, heads, kv_heads))


def told_by_lengths(weight: Tensor, heads: int) -> str:
    lengths = by_head(weight, heads).norm(dim=-1)
    return larger(-(lengths[:, :, None] - lengths[:, None]).abs().mean(dim=0))


def told_among_themselves(weight: Tensor, heads: int) -> str:
    rows = by_head(weight, heads)
    return larger((rows @ rows.mT).abs().mean(dim=0))


def heads_forgotten(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
    return told_by_products(wq, keys_of(wk, heads, kv_heads).flatten(0, 1), 1, 1)


def told_by_one_head(at: int) -> Callable:
    """As the right answer, for one head of queries and its keys."""

    def answer(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
        return told_by_products(by_head(wq, heads)[at], keys_of(wk, heads, kv_heads)[at], 1, 1)

    return answer


def keys_of_others(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
    """Heads of queries take the heads of keys in turn."""
    return told_by_products(wq, wk.repeat(heads // kv_heads, 1), heads, heads)


def with_signs(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
    return larger((by_head(wq, heads) @ keys_of(wk, heads, kv_heads).mT).mean(dim=0))


def exchanged(wq: Tensor, wk: Tensor, heads: int, kv_heads: int) -> str:
    return {"half": "interleaved", "interleaved": "half"}[told_by_products(wq, wk, heads, kv_heads)]


def walk(count: int, dim: int, like: float, draw: torch.Generator) -> Tensor:
    """Directions (count, dim), each like the one before."""
    found = [normalize(torch.randn(dim, generator=draw, dtype=torch.float64), dim=0)]
    while len(found) < count:
        new = normalize(torch.randn(dim, generator=draw, dtype=torch.float64), dim=0)
        found.append(normalize(like * found[-1] + (1 - like**2) ** 0.5 * new, dim=0))
    return torch.stack(found)


def projections(
    layout: str,
    size: int,
    heads: int = 1,
    kv_heads: int = 1,
    uneven: float = 0.0,
    beside: float = 0.6,
    within: float = 0.3,
    angle: float = 1.0,
    far: float = 0.0,
    astray: tuple[int, ...] = (),
) -> tuple[Tensor, Tensor]:
    """W_Q and W_K as training leaves them: partners have met, and lengths change slowly from pair to pair.

    uneven: how much longer the first row of a pair is in W_Q, and shorter in W_K, as a logarithm. beside: how much a
    row of the keys is like that of the pair before; within: how much like its partner. far: how much like that
    of the pair half a head before. angle: by how much queries are turned from keys, in radians. astray: heads of
    queries that ask for the keys of another pair, whose rows stand where the other layout has partners.
    """
    draw, dim = torch.Generator().manual_seed(0), 64
    lengths = torch.linspace(-1, 1, size // 2, dtype=torch.float64)[:, None].exp()
    cos, sin, longer = math.cos(angle), math.sin(angle), math.exp(uneven)
    queries, keys = [], []
    other = torch.arange(size // 2)
    other = other ^ 1 if layout == "half" else other - size // 4
    for kv_head in range(kv_heads):
        first = walk(size // 2, dim, beside, draw)
        first = normalize(first + far * first.roll(size // 4, dims=0), dim=-1)
        second = normalize(walk(size // 2, dim, beside, draw) + within * first, dim=-1)
        keys.append((first * lengths / longer, second * lengths * longer))
        for head in range(heads // kv_heads):
            turned = first * cos - second * sin, first * sin + second * cos
            if kv_head * (heads // kv_heads) + head in astray:
                turned = first[other], second[other]
            one, two = (normalize(x + 0.3 * walk(size // 2, dim, 0, draw), dim=-1) for x in turned)
            queries.append((one * lengths * longer, two * lengths / longer))
    axis = 1 if layout == "interleaved" else 0
    wq, wk = (
        torch.cat([torch.stack(pair, dim=axis).flatten(0, 1) for pair in rows]) for rows in (queries, keys)
    )
    return wq.float(), wk.float()


def layout_case(layout: str, size: int, heads: int = 1, kv_heads: int = 1, **how: float | tuple) -> Case:
    wq, wk = projections(layout, size, heads, kv_heads, **how)
    label = f"W_Q {tuple(wq.shape)}, W_K {tuple(wk.shape)}, heads = {heads}, kv_heads = {kv_heads}"
    return call(label, wq=wq, wk=wk, heads=heads, kv_heads=kv_heads)


def always(name: str) -> Callable:
    return lambda wq, wk, heads, kv_heads: name


layout = Check(
    "layout",
    reference=told_by_products,
    properties={
        "heads of any size": [
            layout_case("half", 8),
            layout_case("interleaved", 8),
            layout_case("half", 6),
            layout_case("interleaved", 4),
            layout_case("half", 64),
            layout_case("interleaved", 64),
            layout_case("half", 64, beside=0.0),
            layout_case("interleaved", 64, within=-0.3),
            layout_case("half", 64, beside=0.8),
            layout_case("interleaved", 64, far=0.6),
            layout_case("half", 64, beside=0.2, angle=0.5),
            layout_case("interleaved", 64, beside=0.2, angle=0.5),
        ],
        "several heads, which may share keys": [
            layout_case("half", 64, 2, 2),
            layout_case("interleaved", 64, 2, 2),
            layout_case("half", 64, 4, 2),
            layout_case("interleaved", 64, 3, 1),
            layout_case("half", 64, 6, 6, beside=0.0, astray=(0, 5)),
            layout_case("half", 64, 6, 3, beside=0.0, astray=(0, 5)),
            layout_case("interleaved", 64, 6, 3, beside=0.0, astray=(0, 5)),
        ],
        "rows of unequal lengths": [
            layout_case("half", 64, uneven=0.25),
            layout_case("interleaved", 64, uneven=0.25),
        ],
    },
    mistakes={
        "The two layouts are exchanged: in halves, partners are size/2 rows apart.": exchanged,
        "Lengths mislead: in halves, neighbors belong to neighboring frequencies, and are about as long. Compare "
        "rows of W_Q with rows of W_K.": (
            lambda wq, wk, heads, kv_heads: told_by_lengths(wq, heads),
            lambda wq, wk, heads, kv_heads: told_by_lengths(wk, kv_heads),
        ),
        "Rows of one matrix never meet each other. A score multiplies queries with keys.": (
            lambda wq, wk, heads, kv_heads: told_among_themselves(wq, heads),
            lambda wq, wk, heads, kv_heads: told_among_themselves(wk, kv_heads),
            lambda wq, wk, heads, kv_heads: told_among_themselves(normalize(wq, dim=-1), heads),
            lambda wq, wk, heads, kv_heads: told_among_themselves(normalize(wk, dim=-1), kv_heads),
        ),
        "Products of partners have both signs, and cancel. Take absolute values.": with_signs,
        "All heads are taken for one. Each has its own rows, and its own halves.": heads_forgotten,
        "One head may mislead. Take the mean over all heads.": (told_by_one_head(0), told_by_one_head(-1)),
        "Here queries meet the keys of another head. Heads that share keys are neighbors.": keys_of_others,
        'This is "half" whatever the weights are.': always("half"),
        'This is "interleaved" whatever the weights are.': always("interleaved"),
    },
    answers=(
        Answer(
            "in_file",
            "interleaved",
            {
                "Those are smol's rows, which were moved when it was loaded. Read the file's own.": "half",
                'Neighbors they are. The name of that layout is "interleaved".': "neighbors",
                'Half a head apart would be "half". Which products are large?': "halves",
            },
        ),
    ),
)


# Left padding -----------------------------------------------------------------------------------------------


def count_and_hide(real: Tensor) -> tuple[Tensor, Tensor]:
    positions = (real.cumsum(dim=1) - 1).clamp(min=0)
    here = torch.arange(real.shape[1])
    past = here <= here[:, None]
    return positions, past & real[:, None, None] | torch.eye(len(here)).bool()


def counted(count: Callable) -> Callable:
    """As the right answer, with other positions."""
    return lambda real: (count(real), count_and_hide(real)[1])


def hidden(hide: Callable) -> Callable:
    """As the right answer, with another mask: `hide` gets what is real, (batch, 1, 1, n), and who is past, (n, n)."""

    def answer(real: Tensor) -> tuple[Tensor, Tensor]:
        here = torch.arange(real.shape[1])
        mask = hide(real[:, None, None], here <= here[:, None])
        return count_and_hide(real)[0], mask.expand(len(real), 1, len(here), len(here)).clone()

    return answer


def columns(real: Tensor) -> Tensor:
    return torch.arange(real.shape[1]).expand(real.shape)


def padding_case(look: Callable, *texts: str) -> Case:
    """A batch, in which a dot is padding; look(positions, mask, real) is what is compared."""
    real = torch.tensor([[token != "." for token in text] for text in texts])
    case = call(real=real)

    def ask(answer: Callable) -> object:
        found = case.ask(answer)
        if nothing(found):
            return found
        if (
            not isinstance(found, tuple | list)
            or len(found) != 2
            or not all(isinstance(x, Tensor) for x in found)
        ):
            raise Misconduct("Two tensors are asked for: positions and mask")
        positions, mask = found
        shape = len(real), 1, real.shape[1], real.shape[1]
        if positions.shape != real.shape or mask.shape != shape:
            shown = f"{tuple(positions.shape)} and {tuple(mask.shape)}"
            raise Misconduct(
                f"Returns shapes {shown}; (batch, n) and (batch, 1, n, n) are {tuple(real.shape)} and {shape}"
            )
        if positions.is_floating_point() or positions.dtype == torch.bool:
            raise Misconduct(f"Positions are {positions.dtype}; whole numbers choose rows of a table")
        if mask.dtype != torch.bool:
            raise Misconduct(f"The mask is {mask.dtype}; it is to be Boolean, True where a query may look")
        return look(positions.long(), mask, real)

    return Case(case.text, ask)


def of_real(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return positions.masked_fill(~real, 0)


def seen_by_real(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return mask & real[:, None, :, None]


def sees_any(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return mask.any(dim=-1)


def has_a_row(positions: Tensor, mask: Tensor, real: Tensor) -> Tensor:
    return (positions >= 0) & (positions < real.shape[1])


def padding_cases(look: Callable) -> list[Case]:
    batches = (["..abc"], ["..abc", "abcde"], [".abc", "...a", "..ab"])
    return [padding_case(look, *texts) for texts in batches]


padded = Check(
    "padded",
    reference=count_and_hide,
    properties={
        "each text counts from its first real token": padding_cases(of_real),
        "a real token sees the real ones up to itself": padding_cases(seen_by_real),
        "every query sees a key, or its softmax is 0/0": padding_cases(sees_any),
        "padding stands on some row of the table, too": padding_cases(has_a_row),
    },
    mistakes={
        "This is the column. A text counts from its own first token.": counted(columns),
        "The first token stands at 1. In a table that is another row: begin with 0.": (
            counted(lambda real: real.cumsum(dim=1))
        ),
        "The padding of the first text is taken from all. Each text has its own.": counted(
            lambda real: (columns(real) - (~real[:1]).sum()).clamp(min=0)
        ),
        "Padding stands below 0, where a table has no row, or gives one from its end. Clip it.": (
            counted(lambda real: real.cumsum(dim=1) - 1),
            counted(lambda real: columns(real) - (~real).sum(dim=1, keepdim=True)),
        ),
        "Padding is seen. Hide it as a key: columns of the mask are keys, rows are queries.": (
            hidden(lambda real, past: past),
            hidden(lambda real, past: past & real.mT),
        ),
        "Later tokens are seen. Hide the padding, and what comes later.": hidden(
            lambda real, past: real | torch.eye(len(past)).bool()
        ),
        "The mask is turned around: True is where a query may look.": hidden(
            lambda real, past: ~(past & real | torch.eye(len(past)).bool())
        ),
        "A padding token sees nothing, and the softmax of its row is 0/0. Let it see itself.": (
            hidden(lambda real, past: past & real),
            hidden(lambda real, past: past & real & real.mT),
        ),
    },
    answers=(
        Answer(
            "needed",
            "mask",
            {
                "Try the mask alone: what do RoPE's scores know of positions?": "both",
                "Try it: with positions alone, every token sees the padding.": "positions",
                "Try it: without either, every token sees the padding.": "neither",
            },
        ),
    ),
)


# Which pairs can be held for nothing? -----------------------------------------------------------------------

MOST = 7  # runs of the model, where there are 32 pairs


def halve(loss: Callable, pairs: int, allowed: float) -> int:
    limit = loss(pairs) + allowed
    low, high = -1, pairs
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if loss(middle) <= limit else (middle, high)
    return high


def halve_by(
    within: Callable, bottom: int = -1, top: int = 0, found: Callable = lambda low, high, pairs: high
) -> Callable:
    """As the right answer, with another idea of what is allowed, other ends, or another result."""

    def answer(loss: Callable, pairs: int, allowed: float) -> int:
        base = loss(pairs)
        low, high = bottom, pairs + top
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if within(loss, middle, base, allowed, pairs) else (middle, high)
        return found(low, high, pairs)

    return answer


def at_most(loss: Callable, p: int, base: float, allowed: float, pairs: int) -> bool:
    return loss(p) <= base + allowed


def from_the_top(loss: Callable, pairs: int, allowed: float) -> int:
    limit = loss(pairs) + allowed
    return next((p + 1 for p in range(pairs - 1, -1, -1) if loss(p) > limit), 0)


def from_the_bottom(loss: Callable, pairs: int, allowed: float) -> int:
    limit = loss(pairs) + allowed
    return next(p for p in range(pairs + 1) if loss(p) <= limit)


def all_at_once(loss: Callable, pairs: int, allowed: float) -> int:
    losses = [loss(p) for p in range(pairs + 1)]
    return min(p for p in range(pairs + 1) if losses[p] <= losses[pairs] + allowed)


def below_the_best(loss: Callable, pairs: int, allowed: float) -> int:
    """The loss to compare with is the lowest so far."""
    low, high, best = -1, pairs, loss(pairs)
    while high - low > 1:
        middle = (low + high) // 2
        now = loss(middle)
        best = min(best, now)
        low, high = (low, middle) if now <= best + allowed else (middle, high)
    return high


def held_case(losses: list, allowed: float, look: Callable, label: str = "") -> Case:
    """Pairs are as many as losses, less one: the last loss is that with none held. look(found, asked) is compared."""

    def ask(answer: Callable) -> object:
        asked = []

        def loss(p: int) -> float:
            if index(p) < 0:
                raise ValueError(f"pairs must lie in 0 … {len(losses) - 2}; got {p}")
            asked.append(index(p))
            return losses[min(index(p), len(losses) - 1)]

        found = answer(loss, len(losses) - 1, allowed)
        return found if nothing(found) else look(found, asked)

    return Case(f"{label or f'losses {losses}'}, allowed = {allowed:g}", ask)


def first_case(losses: list, allowed: float) -> Case:
    return held_case(losses, allowed, lambda found, asked: found)


def edge_case(losses: list, allowed: float) -> Case:
    limit = losses[-1] + allowed

    def look(found: object, asked: list) -> object:
        if not isinstance(found, int) or not 0 <= found < len(losses):
            return found
        told = [
            f"{p}: {'allowed' if losses[p] <= limit else 'too much'}" for p in (found - 1, found) if p >= 0
        ]
        return (
            "an edge"
            if told[-1].endswith("allowed") and "allowed" not in "".join(told[:-1])
            else ", ".join(told)
        )

    return held_case(losses, allowed, look)


def runs_case(edge: int) -> Case:
    losses = [3.0 if p >= edge else 4.0 for p in range(33)]

    def look(found: object, asked: list) -> object:
        if len(asked) > MOST >= len(set(asked)):
            return "some of them more than once"
        return f"at most {MOST}" if len(asked) <= MOST else "more"

    return held_case(losses, 0.5, look, f"losses asked for; 32 pairs, too much below {edge}")


frozen = Check(
    "frozen",
    reference=halve,
    properties={
        "from here on all may be held, where losses only fall": [
            first_case([6.0, 5.0, 4.5, 4.0], 0.5),
            first_case([6.0, 5.0, 4.25, 4.0], 0.25),
            first_case([6.0, 5.0, 4.5, 4.0], 1.0),
            first_case([7.0, 6.5, 6.0, 4.0, 3.75, 3.5, 3.25, 3.0], 1.0),
            first_case([7.0, 6.5, 4.5, 4.0, 3.75, 3.5, 3.25, 3.0], 1.75),
            first_case([9.0, 7.0, 5.0, 3.25, 3.0, 3.0], 0.0),
        ],
        "0 where all may be": [
            first_case([4.5, 4.25, 4.0], 1.0),
            first_case([3.5, 3.5, 3.25, 3.25, 3.0], 0.75),
        ],
        "as many as there are pairs, where none may be": [
            first_case([6.0, 5.0, 4.0], 0.5),
            first_case([7.0, 6.0, 5.0, 4.0, 3.0], 0.25),
        ],
        "an edge where losses rise and fall": [
            edge_case([9.0, 4.25, 2.0, 3.0, 3.0, 3.5, 4.0], 0.5),
            edge_case([6.0, 5.0, 4.0, 3.0, 2.0, 3.0, 4.0], 0.5),
            edge_case([6.0, 4.0, 6.0, 4.0, 4.0, 6.0, 4.0], 0.5),
            edge_case([3.0, 5.0, 3.0, 5.0, 3.0, 5.0, 3.0, 5.0, 3.0], 0.25),
        ],
        "7 losses at most for 32 pairs": [runs_case(edge) for edge in (16, 0, 32, 3, 31)],
    },
    mistakes={
        "This is the last that is too much. The next one is allowed.": (
            halve_by(at_most, found=lambda low, high, pairs: max(low, 0)),
            halve_by(at_most, found=lambda low, high, pairs: low),
        ),
        "This is how many pairs are held. From which one on?": halve_by(
            at_most, found=lambda low, high, pairs: pairs - high
        ),
        "Exactly as much as allowed is allowed.": halve_by(
            lambda loss, p, base, allowed, pairs: loss(p) < base + allowed
        ),
        "The loss itself is compared with what is allowed. It may be that much above loss(pairs).": halve_by(
            lambda loss, p, base, allowed, pairs: loss(p) <= allowed
        ),
        "This is a share of the loss. allowed is in nats, to be added.": halve_by(
            lambda loss, p, base, allowed, pairs: loss(p) <= base * (1 + allowed)
        ),
        "The loss is compared with the lowest so far. loss(pairs) is the one to compare with.": below_the_best,
        "0 is never tried, and may be allowed.": halve_by(at_most, bottom=0),
        "None held may be all that is allowed: the answer is then the number of pairs.": halve_by(
            at_most, top=-1
        ),
        "Each loss is a run of the model. Halve the range in which the edge lies: every answer leaves one half.": (
            from_the_top,
            from_the_bottom,
            all_at_once,
        ),
        "loss(pairs) is asked for again and again. Keep it.": halve_by(
            lambda loss, p, base, allowed, pairs: loss(p) <= loss(pairs) + allowed
        ),
    },
    answers=(
        Answer(
            "first",
            14,
            {
                "Pair 14 may be held, too: that costs 0.03 in all.": 15,
                "To hold pair 13 costs 0.07.": 13,
                "So many pairs are held. From which one on?": 18,
                "With all pairs held the model loses 2 nats.": 0,
            },
        ),
    ),
)


# Where were the texts cut? ----------------------------------------------------------------------------------


def last_of_cut(table: Tensor, below: float) -> list[int]:
    unlike = cosine_similarity(table[:-1], table[1:], dim=-1) < below
    unlike = torch.cat([unlike, torch.ones(1).bool()])
    return [row + 1 for row in range(1, len(table)) if unlike[row - 1] and unlike[row]]


def gaps(table: Tensor, below: float) -> list[bool]:
    """Whether a row is unlike the next."""
    return (cosine_similarity(table[:-1], table[1:], dim=-1) < below).tolist()


def by_gaps(rule: Callable) -> Callable:
    """rule(left, right) tells whether a row is one, by whether it is unlike the row before and the row after."""

    def answer(table: Tensor, below: float) -> list[int]:
        unlike = [*gaps(table, below), True]
        return [row + 1 for row in range(1, len(table)) if rule(unlike[row - 1], unlike[row])]

    return answer


def runs_of_gaps(table: Tensor, below: float) -> list[int]:
    """Behind the first of gaps in a row; one alone before row 1 is that of row 0."""
    unlike = [False, *gaps(table, below)]
    begins = [row for row in range(1, len(unlike)) if unlike[row] and not unlike[row - 1]]
    return [row + 1 for row in begins if row > 1 or unlike[2]]


def by_products(table: Tensor, below: float) -> list[int]:
    unlike = [*((table[:-1] * table[1:]).sum(dim=-1) < below).tolist(), True]
    return [row + 1 for row in range(1, len(table)) if unlike[row - 1] and unlike[row]]


def as_numbers(found: object) -> object:
    """A list of whole numbers, in whatever it came."""
    return (
        found.tolist() if isinstance(found, Tensor) else [*found] if isinstance(found, tuple | set) else found
    )


def table_case(rows: str, below: float = 0.7) -> Case:
    """A table (rows, 2): a, b, c and d are directions 30° apart, y and z are far from them; capitals are longer rows."""
    turns = {"a": 0.0, "b": 30.0, "c": 60.0, "d": 90.0, "y": 300.0, "z": 225.0}
    degrees = torch.tensor([turns[row.lower()] for row in rows], dtype=torch.float64)
    lengths = torch.tensor([10.0 if row.isupper() else 1.0 for row in rows], dtype=torch.float64)
    angles = degrees * math.pi / 180
    table = (lengths * torch.stack([angles.cos(), angles.sin()])).mT.float()
    turned = ", ".join(f"{turn:g}" for turn in degrees.tolist())
    case = call(f"rows in the directions {turned} degrees, below = {below:g}", table=table, below=below)
    return Case(case.text, lambda answer: as_numbers(case.ask(answer)))


def with_first(table: Tensor, below: float) -> list[int]:
    return [1] * gaps(table, below)[0] + last_of_cut(table, below)


cuts = Check(
    "cuts",
    reference=last_of_cut,
    properties={
        "rows unlike both their neighbors": [
            table_case("aabzcd"),
            table_case("aabzbaayab"),
            table_case("aacazaa", 0.4),
            table_case("aaabaaa", 0.9),
            table_case("aaCaab"),
            table_case("AAABzBAA"),
        ],
        "the last row, unlike its one neighbor": [table_case("aabbcz"), table_case("abzccby")],
        "not the first row": [table_case("zaabybb"), table_case("zabbycc"), table_case("azabbcc")],
        "not where rows change for good": [table_case("aaayyyayy"), table_case("abbbyyyzyy")],
    },
    mistakes={
        "These are rows. A text that ends with row r has r + 1 tokens.": (
            lambda table, below: [n - 1 for n in last_of_cut(table, below)]
        ),
        "One neighbor is enough here. A row is asked for that is unlike both.": (
            by_gaps(lambda left, right: left or right),
            by_gaps(lambda left, right: left),
            by_gaps(lambda left, right: right),
        ),
        "Where rows change for good there is one gap. A row that is unlike both neighbors makes two.": runs_of_gaps,
        "The last row has one neighbor, and is unlike it.": (
            lambda table, below: [n for n in last_of_cut(table, below) if n < len(table)]
        ),
        "The last row is one only if it is unlike its neighbor.": (
            lambda table, below: sorted({*last_of_cut(table, below), len(table)})
        ),
        "Row 0 is unlike all others because every text begins there. No text was cut to one token.": with_first,
        "These are rows that are like their neighbors: below is the largest cosine that counts as unlike.": (
            by_gaps(lambda left, right: not left and not right)
        ),
        "A product of rows grows with their lengths. Take cosines.": by_products,
        "below is an argument.": lambda table, below: last_of_cut(table, 0.7),
    },
    answers=(
        Answer(
            "lengths",
            {128, 512},
            {
                "These are rows. A text that ends with row r has r + 1 tokens.": {127, 511},
                "Row 0 is [CLS]'s in every text. No text was cut to one token.": {1, 128, 512},
                "The last row has one neighbor. What of it?": {128},
                "Row 510 is rather like row 509.": {128, 511, 512},
            },
        ),
    ),
)
