"""The checks of chapter 4: turning pairs, undoing a distance, two layouts, a cache, open circles, a ramp."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..rotary import rope as package
from .cases import by_hand, either
from .verdict import Answer, Case, Check, call, count, nothing

EXACT = torch.Generator().manual_seed(0)


def draw(*shape: int) -> Tensor:
    """Quarters from −2 to 2, which add and multiply without rounding."""
    return torch.randint(-8, 9, shape, generator=EXACT) / 4


# Both layouts -----------------------------------------------------------------------------------------------


def split(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    return (x[..., 0::2], x[..., 1::2]) if layout == "interleaved" else x.chunk(2, dim=-1)


def joined(a: Tensor, b: Tensor, layout: str) -> Tensor:
    return torch.stack([a, b], dim=-1).flatten(-2) if layout == "interleaved" else torch.cat([a, b], dim=-1)


def turned(a: Tensor, b: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    return a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()


def turn_both(x: Tensor, angles: Tensor, layout: str) -> Tensor:
    return joined(*turned(*split(x, layout), angles), layout)


def overwrite(x: Tensor, angles: Tensor, layout: str) -> Tensor:
    a, b = split(x, layout)
    a = a * angles.cos() - b * angles.sin()
    return joined(a, a * angles.sin() + b * angles.cos(), layout)


def two_minuses(x: Tensor, angles: Tensor, layout: str) -> Tensor:
    a, b = split(x, layout)
    return joined(a * angles.cos() - b * angles.sin(), b * angles.cos() - a * angles.sin(), layout)


def spread(x: Tensor, both: Tensor, layout: str) -> Tensor:
    """A turn feature by feature, with an angle for each."""
    a, b = split(x, layout)
    return x * both.cos() + joined(-b, a, layout) * both.sin()


def other(layout: str) -> str:
    return "half" if layout == "interleaved" else "interleaved"


def turn_case(x: list, angles: list, layout: str) -> Case:
    label = f"x = {x}, angles = {angles}, layout = {layout}"
    return either(call(label, x=torch.tensor(x), angles=torch.tensor(angles), layout=layout))


def turn_many(layout: str, *shape: int) -> Case:
    x = draw(*shape, 6)
    angles = draw(shape[-1], 3)
    label = f"x {tuple(x.shape)}, angles {tuple(angles.shape)}, layout = {layout}"
    return either(call(label, x=x, angles=angles, layout=layout))


turn_pairs = Check(
    "turn_pairs",
    reference=turn_both,
    properties={
        "each pair turns by its angle, in both layouts": [
            turn_case([[1.0, 0.0]], [[0.5]], "interleaved"),
            turn_case([[1.0, 2.0, 3.0, 4.0]], [[0.5, 0.25]], "interleaved"),
            turn_case([[1.0, 2.0, 3.0, 4.0]], [[0.5, 0.25]], "half"),
            turn_case([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], [[0.5, 0.25, 2.0]], "half"),
            turn_many("interleaved", 4),
            turn_many("half", 4),
            turn_many("interleaved", 2, 3, 4),
            turn_many("half", 2, 3, 4),
        ],
        "written by hand": [
            by_hand(
                "ones, both layouts",
                package,
                "widened",
                "rotate",
                *[(torch.ones(3, 4), torch.ones(3, 2), layout) for layout in ("interleaved", "half")],
            )
        ],
    },
    mistakes={
        "The pairs turn clockwise: this is the angle −α.": lambda x, angles, layout: turn_both(
            x, -angles, layout
        ),
        "The second feature turns with the new first one. Both sums need the old one.": overwrite,
        "Only one of the two sums has a minus: the first.": two_minuses,
        "The two layouts are exchanged.": lambda x, angles, layout: turn_both(x, angles, other(layout)),
        "The layout is ignored: all pairs are neighbors.": lambda x, angles, layout: turn_both(
            x, angles, "interleaved"
        ),
        "The layout is ignored: all pairs lie half a vector apart.": lambda x, angles, layout: turn_both(
            x, angles, "half"
        ),
        "Neighbors have turned, but come back in halves. Put each one next to its partner.": (
            lambda x, angles, layout: joined(*turned(*split(x, layout), angles), "half")
        ),
        "Halves have turned, but come back interleaved. Lay them end to end.": (
            lambda x, angles, layout: joined(*turned(*split(x, layout), angles), "interleaved")
        ),
        "Two neighbors get different angles. Repeat each angle twice in a row: repeat_interleave.": (
            lambda x, angles, layout: spread(x, torch.cat([angles, angles], dim=-1), layout)
        ),
        "In the half layout, partners are d/2 apart. Lay the angles end to end: cat([angles, angles]).": (
            lambda x, angles, layout: spread(x, angles.repeat_interleave(2, dim=-1), layout)
        ),
        "In the half layout, the pairs turn clockwise. The minus belongs to the second half: cat([-x2, x1]).": (
            lambda x, angles, layout: turn_both(x, -angles if layout == "half" else angles, layout)
        ),
    },
)


# The best key at an offset ----------------------------------------------------------------------------------


def pair_angles(d: int, base: float) -> Tensor:
    return base ** -(torch.arange(0, d, 2).double() / d)


def turn_back(q: Tensor, offset: float, base: float) -> Tensor:
    return turn_both(q, -offset * pair_angles(q.shape[-1], base), "interleaved")


def key_case(offset: float, base: float, *shape: int) -> Case:
    return either(call(q=draw(*shape).double(), offset=offset, base=base))


best_key = Check(
    "best_key",
    reference=turn_back,
    properties={
        "the key of q's length that scores highest at this offset": [
            key_case(1, 1e4, 2),
            key_case(3, 1e4, 4),
            key_case(40, 1e4, 8),
            key_case(2, 100.0, 8),
        ],
        "keys to the left, where the offset is negative": [key_case(-3, 1e4, 2)],
        "many queries at once": [key_case(2, 1e4, 3, 2), key_case(2, 1e4, 2, 3, 6)],
    },
    mistakes={
        "This key scores highest at the offset of the other sign. It is going to be turned by +offset.": (
            lambda q, offset, base: turn_back(q, -offset, base)
        ),
        "This key scores highest at offset 0. Turn it, so that its own turn brings it back.": (
            lambda q, offset, base: q
        ),
        "This key scores lowest: a cosine is largest at angle 0.": (
            lambda q, offset, base: -turn_back(q, offset, base)
        ),
        "The key is not as long as q.": (
            lambda q, offset, base: turn_back(q, offset, base) / q.norm(dim=-1, keepdim=True)
        ),
        "All pairs turn by the same angle. Pair i turns by the offset times its own frequency.": (
            lambda q, offset, base: turn_both(q, torch.tensor(-float(offset)), "interleaved")
        ),
        "The pairs lie half a vector apart here. In this exercise they are neighbors.": (
            lambda q, offset, base: turn_both(q, -offset * pair_angles(q.shape[-1], base), "half")
        ),
        "The sign of the offset is lost.": lambda q, offset, base: turn_back(q, abs(offset), base),
        "The base is always 10000 here. It is an argument.": (
            lambda q, offset, base: turn_back(q, offset, 10_000.0)
        ),
        "The offset is missing: pair i turns by −offset · ω_i.": lambda q, offset, base: turn_back(
            q, -1, base
        ),
        "The offset is always 1 here. It is an argument.": lambda q, offset, base: turn_back(q, 1, base),
    },
)


# A checkpoint's layout --------------------------------------------------------------------------------------


def rows_to_half(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def rows_to_interleaved(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def odd_first(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (heads, -1, 2)).flip(2).transpose(1, 2).flatten(0, 2)


def across_heads(weight: Tensor, heads: int) -> Tensor:
    """Evens of all heads, then odds of all heads."""
    return torch.cat([weight[0::2], weight[1::2]])


def swap_heads(weight: Tensor, heads: int) -> Tensor:
    return weight.unflatten(0, (-1, 2, heads)).transpose(0, 1).flatten(0, 2)


def rows_case(heads: int, d: int, *columns: int, first: int = 0, dtype: torch.dtype = torch.float32) -> Case:
    weight = first + torch.arange(heads * d * math.prod(columns)).reshape(heads * d, *columns)
    return call(weight=weight.to(dtype), heads=heads)


to_half = Check(
    "to_half",
    reference=rows_to_half,
    properties={
        "one head: first members first, then second members": [
            rows_case(1, 4, 2),
            rows_case(1, 6, 3),
            rows_case(1, 8, 8),
        ],
        "several heads, each by itself": [
            rows_case(2, 4, 3),
            rows_case(3, 4, 5, first=5000),
            rows_case(2, 4, 2, dtype=torch.bfloat16),
        ],
        "a bias, which has no columns": [rows_case(1, 4), rows_case(2, 4)],
        "written by hand": [by_hand("one head", package, "check_layout", "convert", (torch.ones(4, 2), 1))],
    },
    mistakes={
        "This leads from halves to neighbors. The other way is asked for.": rows_to_interleaved,
        "Second members come first: the even rows are the first of their pairs.": odd_first,
        "All heads are taken for one. Each has d rows of its own, and d/2 pairs in them.": across_heads,
        "Rows of different heads are mixed. Rows of one head lie together: the heads are the first axis.": (
            swap_heads
        ),
        "The columns are reordered. They are features of the input, which does not turn.": (
            lambda weight, heads: torch.cat([weight[:, 0::2], weight[:, 1::2]], dim=1)
        ),
        "Nothing has moved.": lambda weight, heads: weight.clone(),
    },
    answers=(
        Answer(
            "key_heads",
            4,
            {
                "That is the number for W_Q. The rows of W_K belong to the key heads.": 32,
                "So many query heads share one key head. The rows of W_K are those of all key heads.": 8,
                "Queries have a weight of their own.": 36,
            },
        ),
    ),
)


# A cache ----------------------------------------------------------------------------------------------------


def turned_at(x: Tensor, position: float) -> Tensor:
    angles = position * pair_angles(len(x), 10_000.0).to(x)
    return torch.cat(turned(*x.chunk(2), angles))


def decode_step(q, k, v, keys, values):
    position = len(keys)
    keys = torch.cat([keys, turned_at(k, position)[None]])
    values = torch.cat([values, v[None]])
    return (keys @ turned_at(q, position) / math.sqrt(len(q))).softmax(0) @ values, keys, values


def decode(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    keys: Tensor,
    values: Tensor,
    turn_q: Callable = turned_at,
    turn_k: Callable = turned_at,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """A wrong step: the other arguments are what it does otherwise."""
    position = len(keys)
    keys = torch.cat([keys, turn_k(k, position)[None]])
    values = torch.cat([values, v[None]])
    scale = math.sqrt(len(q)) if scale is None else scale
    return (keys @ turn_q(q, position) / scale).softmax(0) @ values, keys, values


def in_order(results: tuple, *order: int) -> tuple:
    return tuple(results[i] for i in order)


def as_they_are(x: Tensor, position: float) -> Tensor:
    return x


def turned_again(q, k, v, keys, values):
    """The whole cache is turned by the newest position, as if nothing in it had turned."""
    angles = len(keys) * pair_angles(len(q), 10_000.0).to(q)
    return decode_step(q, k, v, turn_both(keys, angles, "half"), values)


def kept_unturned(q, k, v, keys, values):
    output, _, values = decode_step(q, k, v, keys, values)
    return output, torch.cat([keys, k[None]]), values


def blind_to_itself(q, k, v, keys, values):
    _, new_keys, new_values = decode_step(q, k, v, keys, values)
    seen, kept = (keys, values) if len(keys) else (new_keys, new_values)
    query = turned_at(q, len(keys))
    return (seen @ query / math.sqrt(len(q))).softmax(0) @ kept, new_keys, new_values


def turned_values(q, k, v, keys, values):
    return decode_step(q, k, turned_at(v, len(keys)), keys, values)


def keys_in_front(q, k, v, keys, values):
    keys = torch.cat([turned_at(k, len(keys))[None], keys])
    values = torch.cat([values, v[None]])
    query = turned_at(q, len(keys) - 1)
    return (keys @ query / math.sqrt(len(q))).softmax(0) @ values, keys, values


def weights_of_one(q, k, v, keys, values):
    _, keys, values = decode_step(q, k, v, keys, values)
    return values.sum(dim=0), keys, values


def forgetful(q, k, v, keys, values):
    output, keys, values = decode_step(q, k, v, keys, values)
    return output, keys[-4:], values[-4:]


def decoding(tokens: int, d: int, e: int) -> Case:
    """All outputs of a text that is read token by token."""
    q, k, v = draw(tokens, d), draw(tokens, d), draw(tokens, e)

    def ask(answer: Callable) -> object:
        keys, values, outputs = q[:0], v[:0], []
        for t in range(tokens):
            one = answer(q[t].clone(), k[t].clone(), v[t].clone(), keys, values)
            if nothing(one):
                return one
            output, keys, values = one
            outputs.append(output)
        return torch.stack(outputs)

    return either(Case(f"{count(tokens, 'token')}, one by one, d = {d}, e = {e}", ask))


step = Check(
    "step",
    reference=decode_step,
    properties={
        "a text read token by token": [
            decoding(1, 4, 4),
            decoding(2, 4, 4),
            decoding(6, 4, 4),
            decoding(3, 8, 8),
        ],
        "values of another length than keys": [decoding(1, 4, 2), decoding(3, 4, 2), decoding(3, 4, 6)],
    },
    mistakes={
        "Nothing turns. Query and key turn by the position of the new token, which is len(keys).": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, as_they_are, as_they_are)
        ),
        "The query does not turn. It has the position of the new token, as its key has.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, as_they_are)
        ),
        "The new key does not turn.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, turned_at, as_they_are)
        ),
        "The cached keys are turned again, by the newest position. They have turned by their own.": (
            turned_again
        ),
        "The new key turns for its own step, but is kept as it was. Keep the turned one.": kept_unturned,
        "The new token does not see itself. Put its key and value into the cache first.": blind_to_itself,
        "The scores lack their division by √d.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, scale=1.0)
        ),
        "The scores are divided by d. It is √d.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, scale=float(len(q)))
        ),
        "√d is that of queries and keys, not of values.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, scale=math.sqrt(len(v)))
        ),
        "Values turn here. Only queries and keys do.": turned_values,
        "Keys and values are in different orders.": keys_in_front,
        "The softmax runs over the wrong axis: the weights of the keys must add up to 1.": weights_of_one,
        "Query and key turn the wrong way. The scores mirror left and right.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, *[lambda x, p: turned_at(x, -p)] * 2)
        ),
        "The cache drops its oldest tokens, and no longer counts them.": forgetful,
        "The query is one position before its own key.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, lambda x, p: turned_at(x, p - 1))
        ),
        "The query is one position after its own key.": (
            lambda q, k, v, keys, values: decode(q, k, v, keys, values, lambda x, p: turned_at(x, p + 1))
        ),
        "The results come in another order: the output first, then keys, then values.": (
            lambda *given: in_order(decode_step(*given), 1, 2, 0),
            lambda *given: in_order(decode_step(*given), 0, 2, 1),
        ),
        "The pairs are neighbors here. In this exercise they lie half a vector apart.": (
            lambda q, k, v, keys, values: decode(
                q,
                k,
                v,
                keys,
                values,
                *[lambda x, p: turn_both(x, p * pair_angles(len(x), 1e4).to(x), "interleaved")] * 2,
            )
        ),
    },
)


# Open circles -----------------------------------------------------------------------------------------------


def wavelengths(d: int, base: float) -> Tensor:
    return 2 * math.pi / pair_angles(d, base)


def count_closed(d: int, base: float, length: int) -> int:
    """Wavelengths grow with the index, so those that fit come first."""
    return int((wavelengths(d, base) <= length).sum())


def index_of(turns: float, d: int, base: float, length: int) -> float:
    """Where on the ladder a pair makes this many turns in `length` positions."""
    return d * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


def nearest_pair(d: int, base: float, length: int) -> int:
    return min(max(round(index_of(1, d, base, length)), 0), d // 2)


def open_case(d: int, base: float, length: int) -> Case:
    return call(f"d = {d}, base = {base:g}, length = {length}", d=d, base=base, length=length)


first_open = Check(
    "first_open",
    reference=count_closed,
    properties={
        "the first pair whose wavelength is longer than the text": [
            open_case(4, 10_000.0, 64),
            open_case(16, 10_000.0, 64),
            open_case(64, 10_000.0, 4096),
            open_case(16, 10_000.0, 65),
            open_case(16, 10_000.0, 62),
            open_case(16, 10_000.0, 63),
        ],
        "any base": [open_case(64, 500_000.0, 4096), open_case(16, 10.0, 25)],
        "d/2 where all circles close": [
            open_case(2, 10_000.0, 1000),
            open_case(16, 10_000.0, 50_000),
            open_case(16, 10_000.0, 100_000),
        ],
        "0 where none does": [open_case(16, 10_000.0, 6), open_case(16, 10_000.0, 1)],
    },
    mistakes={
        "This is the last pair that closes. The next one is the first that does not.": (
            lambda d, base, length: count_closed(d, base, length) - 1
        ),
        "This counts the open pairs. The first of them is asked for.": (
            lambda d, base, length: d // 2 - count_closed(d, base, length)
        ),
        "2π is missing: a turn takes 2π/ω positions, not 1/ω.": (
            lambda d, base, length: int((1 / pair_angles(d, base) <= length).sum())
        ),
        "This is the index of a feature. Pair i holds two of them.": (
            lambda d, base, length: 2 * count_closed(d, base, length)
        ),
        "The exponent is −i/d. It is −2i/d.": (
            lambda d, base, length: int(
                (2 * math.pi * base ** (torch.arange(d // 2).double() / d) <= length).sum()
            )
        ),
        "The base is always 10000 here. It is an argument.": (
            lambda d, base, length: count_closed(d, 10_000.0, length)
        ),
        "The formula gives the place where a wavelength is exactly the length. The next pair above is open.": (
            nearest_pair
        ),
        "Where all circles close, the answer is d/2. argmax gives 0 there.": (
            lambda d, base, length: count_closed(d, base, length) % (d // 2)
        ),
        "Where all circles close, the answer is d/2, which is no index of a pair.": (
            lambda d, base, length: min(count_closed(d, base, length), d // 2 - 1)
        ),
        "Where all circles close, the answer is d/2, and the formula goes past it. Clip it.": (
            lambda d, base, length: math.ceil(index_of(1, d, base, length))
        ),
        "Where no circle closes, the answer is 0, and the formula goes below it. Clip it.": (
            lambda d, base, length: min(math.ceil(index_of(1, d, base, length)), d // 2)
        ),
        "A pair closes where its wavelength is at most the length, not the length − 1.": (
            lambda d, base, length: count_closed(d, base, length - 1)
        ),
        "This is a tensor. Return an int: call .item().": (
            lambda d, base, length: torch.tensor(count_closed(d, base, length))
        ),
    },
    answers=(
        Answer(
            "half_base",
            lambda base: count_closed(128, base, 131_072) == 32,
            {
                "With this base more than half of the pairs close. Take a larger one.": (
                    lambda base: count_closed(128, base, 131_072) > 32
                ),
                "With this base fewer than half of the pairs close. Take a smaller one.": (
                    lambda base: count_closed(128, base, 131_072) < 32
                ),
            },
        ),
    ),
)


# YaRN's ramp ------------------------------------------------------------------------------------------------


def ramp_between(low: float, high: float, d: int) -> Tensor:
    return ((torch.arange(d // 2).double() - low) / (high - low)).clamp(0, 1)


def ramp_of(low: Callable, high: Callable, least: float = 0, fast: float = 32, slow: float = 1) -> Callable:
    """The ramp whose ends are rounded by `low` and `high`, and that begins at `least` at the earliest."""

    def answer(d: int, base: float, length: int) -> Tensor:
        first, last = (index_of(turns, d, base, length) for turns in (fast, slow))
        return ramp_between(max(low(first), least), high(last), d)

    return answer


def yarn_ramp(d: int, base: float, length: int) -> Tensor:
    low, high = (index_of(turns, d, base, length) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), math.ceil(high), d)


def unclipped(d: int, base: float, length: int) -> Tensor:
    low = max(math.floor(index_of(32, d, base, length)), 0)
    return (torch.arange(d // 2).double() - low) / (math.ceil(index_of(1, d, base, length)) - low)


def ramp_to_the_last_pair(d: int, base: float, length: int) -> Tensor:
    low, high = (index_of(turns, d, base, length) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), min(math.ceil(high), d // 2 - 1), d)


def ramp_in_turns(d: int, base: float, length: int) -> Tensor:
    turns = length * pair_angles(d, base) / (2 * math.pi)
    return 1 - ((turns - 1) / 31).clamp(0, 1)


def ramp_without_pi(d: int, base: float, length: int) -> Tensor:
    low, high = (d * math.log(length / turns) / (2 * math.log(base)) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), math.ceil(high), d)


def ramp_of_features(d: int, base: float, length: int) -> Tensor:
    low, high = (2 * index_of(turns, d, base, length) for turns in (32, 1))
    return ramp_between(max(math.floor(low), 0), math.ceil(high), d)


def a_step(d: int, base: float, length: int) -> Tensor:
    return (length * pair_angles(d, base) < 2 * math.pi).double()


def ramp_case(d: int, base: float, length: int) -> Case:
    label = f"d = {d}, base = {base:g}, length = {length}"
    return either(call(label, d=d, base=base, length=length))


ramp = Check(
    "ramp",
    reference=yarn_ramp,
    properties={
        "0 for pairs that turn often, 1 for open ones, a line between": [
            ramp_case(16, 10_000.0, 4096),
            ramp_case(64, 10_000.0, 4096),
            ramp_case(128, 10_000.0, 4096),
            ramp_case(128, 10_000.0, 8192),
            ramp_case(16, 10_000.0, 2048),
            ramp_case(16, 10_000.0, 100_000),
        ],
        "any base": [ramp_case(128, 500_000.0, 8192)],
        "short training, where no pair turns 32 times": [ramp_case(16, 10_000.0, 120)],
    },
    mistakes={
        "The ramp is upside down: 0 keeps a pair, and the fast ones are kept.": (
            lambda d, base, length: 1 - yarn_ramp(d, base, length)
        ),
        "lo and hi are whole: round lo down and hi up.": ramp_of(float, float),
        "hi is rounded up, so that no open pair is kept in part.": ramp_of(math.floor, math.floor),
        "lo is rounded down.": ramp_of(math.ceil, math.ceil),
        "Both ends are rounded the wrong way. Round lo down and hi up.": ramp_of(math.ceil, math.floor),
        "Rounding to the nearest index moves both ends. Round lo down and hi up.": ramp_of(round, round),
        "The line goes on past 0 and 1. Clip it.": unclipped,
        "This ramp is linear in the number of turns. YaRN's is linear in the index.": ramp_in_turns,
        "2π is missing: a pair makes Lω/2π turns.": ramp_without_pi,
        "lo and hi count features here. They are indices of pairs.": ramp_of_features,
        "There is no ramp between the two, only a step.": a_step,
        "The base is always 10000 here. It is an argument.": (
            lambda d, base, length: yarn_ramp(d, 10_000.0, length)
        ),
        "lo is below 0, where there is no pair. Begin at pair 0.": (
            ramp_of(math.floor, math.ceil, least=-math.inf)
        ),
        "hi may lie past the last pair. Do not clip it.": ramp_to_the_last_pair,
        "lo belongs to β_fast: pairs that turn often have small indices.": (
            ramp_of(math.floor, math.ceil, fast=1, slow=32)
        ),
    },
    answers=(
        Answer(
            "changed",
            0,
            {
                "The index of 4 turns is 0.8, which rounds down to the same lo as before.": 1,
                "Compare the two ramps number by number.": lambda n: n > 1,
            },
        ),
    ),
)
