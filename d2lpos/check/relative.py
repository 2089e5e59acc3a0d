"""The checks of chapter 5: vectors of offsets, the skew for both sides, buckets, and biases that see offsets."""

import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import product
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.overrides import TorchFunctionMode

from ..bias import t5 as package
from .cases import by_hand, either, no_loop
from .verdict import Answer, Case, Check, Misconduct, attempt, call, nothing

# A vector for each offset -----------------------------------------------------------------------------------


def key_scores(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    clip = len(vectors) // 2
    rows = (k_positions - q_positions[:, None]).clamp(-clip, clip) + clip
    return (q @ k.mT + (q @ vectors.mT).gather(1, rows)) / math.sqrt(q.shape[-1])


def by_place(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    return key_scores(q, k, vectors, torch.arange(len(q)), torch.arange(len(k)))


def wrapped(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Offsets beyond the table come in at its other end."""
    rows = (k_positions - q_positions[:, None] + len(vectors) // 2) % len(vectors)
    return (q @ k.mT + (q @ vectors.mT).gather(1, rows)) / math.sqrt(q.shape[-1])


def rows_as_they_are(
    q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor
) -> Tensor:
    """Offsets are made rows, and never clipped."""
    keys = k + vectors[k_positions - q_positions[:, None] + len(vectors) // 2]
    return (q[:, None] * keys).sum(-1) / math.sqrt(q.shape[-1])


def gathered_as_they_are(
    q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor
) -> Tensor:
    """The same with a gather, which raises another error."""
    rows = k_positions - q_positions[:, None] + len(vectors) // 2
    return (q @ k.mT + (q @ vectors.mT).gather(1, rows)) / math.sqrt(q.shape[-1])


def from_row_zero(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Offset 0 is taken for row 0, so that negative offsets come in at the end."""
    clip = len(vectors) // 2
    keys = k + vectors[(k_positions - q_positions[:, None]).clamp(-clip, clip)]
    return (q[:, None] * keys).sum(-1) / math.sqrt(q.shape[-1])


def beyond_is_nothing(
    q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor
) -> Tensor:
    far = (k_positions - q_positions[:, None]).abs() > len(vectors) // 2
    content = q @ k.mT / math.sqrt(q.shape[-1])
    return torch.where(far, content, key_scores(q, k, vectors, q_positions, k_positions))


def by_distance(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    rows = (k_positions - q_positions[:, None]).abs().clamp(max=len(vectors) // 2) + len(vectors) // 2
    return (q @ k.mT + (q @ vectors.mT).gather(1, rows)) / math.sqrt(q.shape[-1])


def scaled(by: Callable) -> Callable:
    """Scores that are multiplied with a function of d."""
    return lambda q, *others: key_scores(q, *others) * by(q.shape[-1])


def half_scaled(q: Tensor, k: Tensor, vectors: Tensor, *positions: Tensor) -> Tensor:
    """Only the content is divided by √d."""
    return key_scores(q, k, vectors * math.sqrt(q.shape[-1]), *positions)


def narrower(q: Tensor, k: Tensor, vectors: Tensor, *positions: Tensor) -> Tensor:
    """The outermost vectors are never used."""
    inner = torch.arange(len(vectors)).clamp(1, len(vectors) - 2)
    return key_scores(q, k, vectors[inner], *positions)


def added_to_queries(
    q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor
) -> Tensor:
    """The vector of the offset meets the key, not the query."""
    return key_scores(k, q, vectors.flip(0), k_positions, q_positions).mT


def scores_case(q: list, k: list, clip: int, d: int = 3) -> Case:
    stream = torch.Generator().manual_seed(5)
    query, key, vectors = (torch.randn(n, d, generator=stream) for n in (len(q), len(k), 2 * clip + 1))
    case = call(
        f"queries at {q}, keys at {k}, clip {clip}, d = {d}",
        q=query,
        k=key,
        vectors=vectors,
        q_positions=torch.tensor(q),
        k_positions=torch.tensor(k),
    )
    return either(case, torch.float32)


relative_scores = Check(
    "relative_scores",
    reference=key_scores,
    properties={
        "content and the vector of the offset, over √d; beyond the table, the one at its end": [
            scores_case([0, 1], [0, 1], 1),
            scores_case([0, 1, 2], [0, 1, 2], 2),
            scores_case([0, 1], [0, 1, 2], 2),
            scores_case([0, 1, 2, 3, 4], [0, 1, 2, 3, 4], 2),
            scores_case([0, 1, 2], [0, 1, 2], 1, d=5),
        ],
        "positions as they come": [
            scores_case([7, 5], [6, 3, 9], 4),
            scores_case([2, 0, 1], [2, 0, 1], 2),
            scores_case([5, 2, 2], [1, 4, 0], 5, d=2),
            scores_case([1003, 1000], [998, 1004, 1000, 1005], 5),
        ],
    },
    mistakes={
        "The sign is turned around: an offset is the key's position minus the query's.": (
            lambda q, k, vectors, *positions: key_scores(q, k, vectors.flip(0), *positions)
        ),
        "Nothing is divided by √d.": scaled(math.sqrt),
        "The key term is not divided by √d; (5.2) divides both.": half_scaled,
        "This is divided by d. Divide by its root.": scaled(lambda d: d**-0.5),
        "The content is missing: add q · k.": lambda q, k, *others: key_scores(q, 0 * k, *others),
        "The key term is missing.": lambda q, k, vectors, *args: key_scores(q, k, 0 * vectors, *args),
        "The vector belongs to the key, so that the query meets it. Here the key does.": added_to_queries,
        "Left and right share a vector. The offset has a sign.": by_distance,
        "Offsets beyond the table come in at its other end. Clamp them before you index.": wrapped,
        "Offsets beyond the table are not clipped: clamp them to −C … C before you add C.": rows_as_they_are,
        "Beyond the table there is nothing to gather: clamp offsets to −C … C before you add C.": (
            gathered_as_they_are
        ),
        "The table begins with offset −C: add C to the clipped offset.": from_row_zero,
        "Beyond the table nothing is added. Clip: the vector at the end serves.": beyond_is_nothing,
        "The clip is one too small: the table has 2C + 1 rows.": narrower,
        "Positions are taken to be 0, 1, 2, … They are data.": by_place,
        "This is (N, T). A row is a query: (T, N).": lambda *args: key_scores(*args).mT,
        "These are weights. Return the scores, before the softmax.": (
            lambda *args: key_scores(*args).softmax(dim=-1)
        ),
    },
    answers=(
        Answer(
            "whose",
            lambda name: "shaw" in name,
            {
                "Huang et al., with the Music Transformer, took Shaw's vectors over. What they added is the skew.": (
                    lambda name: "huang" in name or "music" in name
                ),
                "Dai et al., with Transformer-XL, give an offset a sinusoid, a year later.": (
                    lambda name: "dai" in name or "xl" in name
                ),
                "Vaswani et al. add codes of positions to the words.": lambda name: "vaswani" in name,
            },
        ),
    ),
)


# The skew for both sides ------------------------------------------------------------------------------------


def skew_by_slices(products: Tensor) -> Tensor:
    length = products.shape[-2]
    later = pad(products, (0, 1)).flatten(-2)[..., length - 1 : 2 * length**2 - 1]
    return later.unflatten(-1, (length, 2 * length - 1))[..., :length]


def from_place(products: Tensor, start: int) -> Tensor:
    """As the right answer, but what is skipped at the start is `start` numbers."""
    length = products.shape[-2]
    flat = pad(pad(products, (0, 1)).flatten(-2), (0, length))
    later = flat[..., start : start + length * (2 * length - 1)]
    return later.unflatten(-1, (length, 2 * length - 1))[..., :length]


def causal_only(products: Tensor) -> Tensor:
    """Music Transformer's own, for the first T columns."""
    length = products.shape[-2]
    folded = pad(products[..., :length], (1, 0)).flatten(-2).unflatten(-1, (length + 1, length))
    return folded[..., 1:, :]


def first_size(products: Tensor) -> Tensor:
    """T is taken to be the first size, whatever axes stand in front."""
    length = len(products)
    later = pad(products, (0, 1)).reshape(-1)[length - 1 : 2 * length**2 - 1]
    return later.reshape(length, -1)[:, :length]


PICKS = {
    *("gather", "take", "take_along_dim", "take_along_axis", "index_select", "masked_select", "scatter"),
    *("scatter_", "choose", "compress", "extract", "tolist"),
}


def refuse(function: Callable, *arguments: object) -> None:
    """Raises Misconduct where torch or NumPy is asked to pick numbers one by one."""
    name = getattr(function, "__name__", "")
    if name in PICKS:
        raise Misconduct(f"Calls {name}, where padding, reshaping and slices are enough")
    if name in ("__getitem__", "__setitem__"):
        keys = arguments[1] if isinstance(arguments[1], tuple) else (arguments[1],)
        if any(isinstance(key, Tensor | np.ndarray | list) for key in keys):
            raise Misconduct("Picks numbers by an index, where padding, reshaping and slices are enough")


class Watched(np.ndarray):
    """An array that lets nobody pick its numbers, nor those of what becomes of it."""

    def __array_function__(self, function, types, args, kwargs):
        refuse(function)
        found = super().__array_function__(function, types, args, kwargs)
        return found.view(Watched) if isinstance(found, np.ndarray) else found

    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if callable(found):
            refuse(found)
        return found

    def __getitem__(self, key):
        refuse(np.ndarray.__getitem__, self, key)
        return super().__getitem__(key)


class Watch(TorchFunctionMode):
    """Refuses what picks numbers, in torch and in the arrays that come of its tensors."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        refuse(function, *args)
        found = function(*args, **(kwargs or {}))
        return found.view(Watched) if type(found) is np.ndarray else found


def picked(answer: Callable) -> str:
    keep = {"asarray": np.asanyarray, "array": partial(np.array, subok=True)}  # both would lose the watch
    with Watch(), patch.multiple(np, **keep):
        answer(torch.ones(3, 5))
    return "no index"


def row_by_row(products: Tensor) -> Tensor:
    length = products.shape[-2]
    rows = [products[..., i, length - 1 - i : 2 * length - 1 - i] for i in range(length)]
    return torch.stack(rows, dim=-2)


def by_gather(products: Tensor) -> Tensor:
    length = products.shape[-2]
    here = torch.arange(length)
    rows = here - here[:, None] + length - 1
    return products.gather(-1, rows.expand(*products.shape[:-1], -1))


def by_one_hot(products: Tensor) -> Tensor:
    here = torch.arange(length := products.shape[-2])
    wanted = torch.arange(2 * length - 1)[:, None] == here - here[:, None, None] + length - 1
    return (products[..., None, :] @ wanted.float())[..., 0, :]


def products_of(*shape: int) -> Tensor:
    return torch.randint(1, 10_000, shape, generator=torch.Generator().manual_seed(7)).float()


def products_case(*shape: int) -> Case:
    return call(f"products {shape}, whole numbers", products=products_of(*shape))


def moved_case(length: int) -> Case:
    """Products of which those that no key needs are not a number, and so is every sum that takes them in."""
    here, column = torch.arange(length)[:, None], torch.arange(2 * length - 1)
    needed = (column >= length - 1 - here) & (column < 2 * length - 1 - here)
    products = products_of(length, 2 * length - 1).masked_fill(~needed, torch.nan)
    return call(f"products {tuple(products.shape)}, nan where no key needs a number", products=products)


skew_both = Check(
    "skew_both",
    reference=skew_by_slices,
    properties={
        "column j has the key at j, on both sides": [
            products_case(2, 3),
            products_case(3, 5),
            products_case(6, 11),
            products_case(2, 4, 3, 5),
        ],
        "a single token": [products_case(1, 1)],
        "no gather, no index, no arithmetic": [Case("three rows", picked), moved_case(3), moved_case(4)],
        "no loop over the rows": [
            no_loop("three rows, then thirty", "3 rows", *((torch.ones(T, 2 * T - 1),) for T in (3, 30)))
        ],
    },
    mistakes={
        "This is Music Transformer's skew. It has no offsets above 0.": causal_only,
        "The first numbers are not skipped: row 0 begins with offset 0, in column T − 1.": (
            lambda products: from_place(products, 0)
        ),
        "One number too many is skipped at the start.": (
            lambda products: from_place(products, products.shape[-2])
        ),
        "One number too few is skipped at the start.": (
            lambda products: from_place(products, max(products.shape[-2] - 2, 0))
        ),
        "Rows do not move: this is the same slice of each.": (
            lambda products: products[..., products.shape[-2] - 1 :]
        ),
        "The result is mirrored: rows are queries, and columns are keys.": (
            lambda products: skew_by_slices(products).mT
        ),
        "The offsets are taken in reverse order.": lambda products: skew_by_slices(products.flip(-1)),
        "products may have axes in front. T is its last size but one: shape[-2].": first_size,
        "One axis too many is laid flat. Only the last two are: flatten(-2).": (
            lambda products: skew_by_slices(products.reshape(-1, products.shape[-1])[: products.shape[-2]])
        ),
        "With one token, rows of 2T − 2 numbers are empty. Pad each row by one.": (
            lambda products: (
                products.flatten()[:0].reshape(1, 0) if products.shape[-2] == 1 else skew_by_slices(products)
            )
        ),
        "That is an index in disguise. (5A.1) needs none.": by_gather,
        "Row by row is slow. One reshape moves all of them.": row_by_row,
        "This adds up what the other numbers of a row are multiplied with. Move numbers, compute none.": (
            by_one_hot
        ),
    },
    answers=(
        Answer(
            "places",
            (7, 15),
            {
                "Memory counts from 0, and row 0 begins with offset 0, in column T − 1.": (8, 15),
                "That is a whole row of memory. In row 1 the first that you need stands one column earlier.": (
                    7,
                    16,
                ),
                "Each row has one number of padding behind it, so rows are 16 long.": (7, 14),
                "Row 0 begins with offset −7. Its first key has offset 0.": (0, 16),
            },
        ),
    ),
)


# Buckets, both ways -----------------------------------------------------------------------------------------


def never_cut(distance: Tensor, count: int, far: int, whole: Callable = Tensor.long) -> Tensor:
    near = count // 2
    octaves = (distance.double() / near).log() / math.log(far / near)
    return torch.where(distance < near, distance, near + whole(octaves * near))


def side(distance: Tensor, count: int, far: int) -> Tensor:
    """The bucket of each distance among the `count` of one side."""
    return never_cut(distance, count, far).clamp(max=count - 1)


def rounded(whole: Callable) -> Callable:
    """Another way to make whole numbers of what lies between two buckets."""
    return lambda distance, count, far: never_cut(distance, count, far, whole).clamp(max=count - 1).long()


def buckets_of(
    offset: Tensor, buckets: int, max_distance: int, bidirectional: bool, one: Callable = side
) -> Tensor:
    if not bidirectional:
        return one((-offset).clamp(min=0), buckets, max_distance)
    return one(offset.abs(), buckets // 2, max_distance) + buckets // 2 * (offset > 0)


def never_halved(offset: Tensor, buckets: int, max_distance: int, bidirectional: bool) -> Tensor:
    if not bidirectional:
        return buckets_of(offset, buckets, max_distance, False)
    return side(offset.abs(), buckets, max_distance) + buckets * (offset > 0)


def whole_logarithm(offset: Tensor, buckets: int, max_distance: int, bidirectional: bool) -> Tensor:
    """The upper half is added, and the logarithm goes on as if there were one side."""
    if not bidirectional:
        return buckets_of(offset, buckets, max_distance, False)
    return side(offset.abs(), buckets, max_distance) + buckets // 2 * (offset > 0)


def future_as_past(offset: Tensor, buckets: int, max_distance: int, bidirectional: bool) -> Tensor:
    if bidirectional:
        return buckets_of(offset, buckets, max_distance, True)
    return side(offset.abs(), buckets, max_distance)


def zero_in_the_upper_half(offset: Tensor, buckets: int, max_distance: int, bidirectional: bool) -> Tensor:
    found = buckets_of(offset, buckets, max_distance, bidirectional)
    return found + buckets // 2 * (offset == 0) if bidirectional else found


def all_logarithmic(distance: Tensor, count: int, far: int) -> Tensor:
    octaves = distance.clamp(min=1).double().log() / math.log(far)
    return (octaves * count).long().clamp(max=count - 1)


def always_exact(distance: Tensor, count: int, far: int) -> Tensor:
    return distance.clamp(max=count - 1)


def clipped_first(distance: Tensor, count: int, far: int) -> Tensor:
    """Distances are cut at the maximum, so that it gets the bucket that there is not."""
    return never_cut(distance.clamp(max=far), count, far)


def ratio_of_all(distance: Tensor, count: int, far: int) -> Tensor:
    """The logarithm reaches from 1 to the maximum, not from the exact ones on."""
    near = count // 2
    octaves = (distance.clamp(min=1).double() / near).log() / math.log(far)
    beyond = near + (octaves * (count - near)).floor().long()
    return torch.where(distance < near, distance, beyond.clamp(max=count - 1))


def bucket_case(offsets: list, buckets: int, max_distance: int, bidirectional: bool, shown: str = "") -> Case:
    kind = "two sides" if bidirectional else "causal"
    case = call(
        f"offsets {shown or offsets}, {buckets} buckets, maximum {max_distance}, {kind}",
        offset=torch.tensor(offsets),
        buckets=buckets,
        max_distance=max_distance,
        bidirectional=bidirectional,
    )
    return either(case, torch.int64)


def all_offsets(buckets: int, max_distance: int, bidirectional: bool) -> Case:
    """But those at which a bucket begins by the formula, so that rounding may leave them in the one before."""
    count = buckets // 2 if bidirectional else buckets
    near = count // 2

    def is_clear(distance: int) -> bool:
        place = (count - near) * math.log(max(distance, near) / near) / math.log(max_distance / near)
        return distance in range(near + 1) or distance >= max_distance or abs(place - round(place)) > 1e-4

    reach = 2 * max_distance
    offsets = [offset for offset in range(-reach, reach + 1) if is_clear(abs(offset))]
    return bucket_case(offsets, buckets, max_distance, bidirectional, f"−{reach} … {reach}")


to_bucket = Check(
    "to_bucket",
    reference=buckets_of,
    properties={
        "causal: exact, then logarithmic, then the last; keys after the query get 0": [
            bucket_case([0, -1, -7, -15, -16], 32, 128, False),
            bucket_case([-17, -20, -34, -65, -98], 32, 128, False),
            bucket_case([-5, -6, -9, -13, -22], 8, 40, False),
            bucket_case([-112, -113, -127, -500, -10000], 32, 128, False),
            bucket_case([[1, 5, 40]], 32, 128, False),
            all_offsets(32, 128, False),
            all_offsets(12, 50, False),
        ],
        "two sides, each with half of the buckets": [
            bucket_case([-3, -1, 0, 1, 3], 32, 128, True),
            bucket_case([-100, -25, -9, 9, 25, 100], 32, 128, True),
            bucket_case([[-300, -21, -6], [6, 21, 300]], 16, 50, True),
            all_offsets(32, 128, True),
            all_offsets(24, 77, True),
        ],
        "written by hand": [
            by_hand("one offset", package, "check_positive", "bucket", (torch.tensor([-1]), 32, 128, False))
        ],
    },
    mistakes={
        "The sign is turned around: keys before the query have negative offsets.": (
            lambda offset, *args: buckets_of(-offset, *args)
        ),
        "The last bucket is missing its cut: clamp to the number of buckets − 1.": (
            lambda *args: buckets_of(*args, one=never_cut)
        ),
        "The distance is cut at the maximum, but the maximum has no bucket either. Cut the bucket.": (
            lambda *args: buckets_of(*args, one=clipped_first)
        ),
        "The far buckets are rounded to the nearest. Round down.": (
            lambda *args: buckets_of(*args, one=rounded(torch.round))
        ),
        "The far buckets are rounded up. Round down.": (
            lambda *args: buckets_of(*args, one=rounded(torch.ceil))
        ),
        "All buckets are logarithmic. The first half of them hold one distance each.": (
            lambda *args: buckets_of(*args, one=all_logarithmic)
        ),
        "All buckets hold one distance. The second half grow with the logarithm.": (
            lambda *args: buckets_of(*args, one=always_exact)
        ),
        "The logarithm is divided by ln D. From the exact half on, it must reach 1 at D: ln(2D/G).": (
            lambda *args: buckets_of(*args, one=ratio_of_all)
        ),
        "In a causal model keys after the query are hidden, and get bucket 0.": future_as_past,
        "With two sides, each has half of the buckets.": never_halved,
        "Each side has its half of the buckets in the logarithm, too.": whole_logarithm,
        "Left and right share their buckets. Keys after the query use the upper half.": (
            lambda offset, buckets, far, both: (
                side(offset.abs(), buckets // 2, far) if both else buckets_of(offset, buckets, far, False)
            )
        ),
        "The sides are exchanged: keys after the query use the upper half.": (
            lambda offset, buckets, far, both: buckets_of(-offset if both else offset, buckets, far, both)
        ),
        "Offset 0 belongs to the lower half.": zero_in_the_upper_half,
        "These are not whole numbers: .long() makes them indices.": (
            lambda *args: buckets_of(*args).double()
        ),
    },
    answers=(
        Answer(
            "unused",
            16,
            {
                "Bucket 15 has all keys far before the query.": 15,
                "Bucket 0 has the query's own place.": 0,
                "Bucket 17 has the key behind the query. Count the upper half from distance 0.": 17,
                "Bucket 31 has all keys far behind the query.": 31,
            },
        ),
    ),
)


# The widest buckets that training fills ---------------------------------------------------------------------


def by_formula(farthest: int, buckets: int) -> float:
    """The maximum at which the last bucket begins at the farthest distance."""
    return farthest * (2 * farthest / buckets) ** (2 / (buckets - 2))


def fitted(length: int, buckets: int) -> int:
    return math.floor(by_formula(length - 1, buckets))


def too_far(length: int, buckets: int, far: int) -> str:
    excess = far - fitted(length, buckets)
    return f"too far by {excess}: a bucket stays empty" if excess > 0 else "all are filled"


def too_near(length: int, buckets: int, far: int) -> str:
    room = fitted(length, buckets) - far
    return f"{room} more would do" if room > 0 else "no more would do"


def length_cases(verdict: Callable) -> list[Case]:
    """In words, how far an answer is off to one side."""

    def case(length: int, buckets: int) -> Case:
        question = call(f"length = {length}, buckets = {buckets}", length=length, buckets=buckets)

        def ask(answer: Callable) -> object:
            far = question.ask(answer)
            if nothing(far):
                return far
            if isinstance(attempt(operator.index, far), Exception):
                raise Misconduct(f"Returns type {type(far).__name__}; a whole number is asked for")
            return verdict(length, buckets, operator.index(far))

        return Case(question.text, ask)

    sizes = [(64, 32), (16, 8), (24, 8), (113, 32), (512, 32), (200, 64), (95, 12)]
    return [case(*size) for size in sizes]


widest = Check(
    "widest",
    reference=fitted,
    properties={
        "no bucket stays empty": length_cases(too_far),
        "no larger maximum does that": length_cases(too_near),
    },
    mistakes={
        "That is the length of training. The last bucket begins before the maximum, so there is room.": (
            lambda length, buckets: length
        ),
        "That is the farthest distance. The last bucket begins before the maximum, so there is room.": (
            lambda length, buckets: length - 1
        ),
        "Training has distances up to length − 1. Here it has one more.": (
            lambda length, buckets: fitted(length + 1, buckets)
        ),
        "One too large: with this maximum the last bucket stays empty.": (
            lambda length, buckets: fitted(length, buckets) + 1
        ),
        "One too small: the next maximum leaves no bucket empty either.": (
            lambda length, buckets: fitted(length, buckets) - 1
        ),
        "These are the buckets of a model that sees both sides. This one is causal: all are for the past.": (
            lambda length, buckets: fitted(length, buckets // 2)
        ),
        "This asks for the last bucket but one.": (
            lambda length, buckets: math.floor(
                (length - 1) * (2 * (length - 1) / buckets) ** (4 / (buckets - 4))
            )
        ),
        "This is where the last bucket begins if the maximum is the length. Turn the formula around.": (
            lambda length, buckets: math.ceil(length * (buckets / (2 * length)) ** (2 / buckets))
        ),
        "Solved for D, the exponent is 2/(G − 2), not 2/G.": (
            lambda length, buckets: math.floor((length - 1) * (2 * (length - 1) / buckets) ** (2 / buckets))
        ),
        "This is a float. Round it down to a whole number.": (
            lambda length, buckets: by_formula(length - 1, buckets)
        ),
    },
)


# Biases that see offsets ------------------------------------------------------------------------------------


def diagonal_up_to_rows(bias: Tensor) -> bool:
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change - change[:, :1]).abs().lt(1e-5).all())


def toeplitz(bias: Tensor) -> bool:
    return bool((bias[1:, 1:] - bias[:-1, :-1]).abs().lt(1e-5).all())


def up_to_columns(bias: Tensor) -> bool:
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change - change[:1]).abs().lt(1e-5).all())


def up_to_both(bias: Tensor) -> bool:
    change = bias[1:, 1:] - bias[:-1, :-1]
    return bool((change - change[:, :1] - change[:1] + change[:1, :1]).abs().lt(1e-5).all())


def grid(size: int) -> tuple[Tensor, Tensor]:
    places = torch.arange(size).float()
    return places[:, None], places


def free(size: int) -> Tensor:
    """Each offset has a number of its own."""
    i, j = grid(size)
    numbers = torch.randn(2 * size - 1, generator=torch.Generator().manual_seed(1))
    return numbers[(j - i + size - 1).long()]


def at(size: int, **changes: float) -> Tensor:
    """0 but in a few places: `r4c2=1.0` is 1 in row 4, column 2."""
    change = torch.zeros(size, size)
    for place, value in changes.items():
        row, column = place[1:].split("c")
        change[int(row), int(column)] = value
    return change


def bias_case(name: str, bias: Tensor) -> Case:
    size = f"({len(bias)}, {len(bias)})"
    return call(f"the bias {name}, {size}", bias=bias)


def everywhere(size: int) -> Case:
    """Whether a change in any one place is noticed; the two corners that are alone on their diagonal are free."""
    corners = {(0, size - 1), (size - 1, 0)}
    places = [place for place in product(range(size), repeat=2) if place not in corners]

    def ask(answer: Callable) -> str:
        for row, column in places:
            if answer(free(size) + at(size, **{f"r{row}c{column}": 1.0})):
                return f"True with the 1 in row {row}, column {column}"
        return "always False"

    return Case(f"the bias of {2 * size - 1} free numbers, with 1 added in one place, {(size, size)}", ask)


def biases() -> dict[str, list[Case]]:
    i, j = grid(5)
    tiny = torch.tensor([[0, 3e-7], [2e-7, 4e-7]]).repeat(3, 3)[:5, :5]
    return {
        "a function of the offset passes, whatever is added to a row": [
            bias_case("−|i − j|", -(i - j).abs()),
            bias_case("of 9 free numbers", free(5)),
            bias_case("j, whatever i", 0 * i + j),
            bias_case("i², whatever j", i**2 + 0 * j),
            bias_case("of 9 free numbers, plus sin(i)", free(5) + i.sin()),
            bias_case("of 9 free numbers, plus sin(i), rounded", free(5) + i.sin() + tiny),
            bias_case("of 15 free numbers, plus sin(i)", free(8) + grid(8)[0].sin()),
            bias_case("of 9 free numbers, with 1 added in row 4, column 0", free(5) + at(5, r4c0=1.0)),
        ],
        "others do not": [
            bias_case("j²", 0 * i + j**2),
            bias_case("−j² / 1000", 0 * i - j**2 / 1000),
            bias_case("−|i − j| / (i + 1)", -(i - j).abs() / (i + 1)),
            bias_case("i · j", i * j),
            bias_case("of 9 free numbers, with 1 added in row 4, column 2", free(5) + at(5, r4c2=1.0)),
            bias_case("of 9 free numbers, with 1 added in row 2, column 3", free(5) + at(5, r2c3=1.0)),
            bias_case("|j − 2|, whatever i", 0 * i + (j - 2).abs()),
            bias_case(
                "of 9 free numbers, with 1 added in row 4, column 2, and taken in column 3",
                free(5) + at(5, r4c2=1.0, r4c3=-1.0),
            ),
            bias_case(
                "of 9 free numbers, plus sin(i), with 0.0002 added in row 2, column 1",
                free(5) + i.sin() + at(5, r2c1=2e-4),
            ),
            everywhere(8),
        ],
    }


offsets_only = Check(
    "offsets_only",
    reference=diagonal_up_to_rows,
    properties=biases(),
    mistakes={
        "Equal diagonals are asked for. A softmax also ignores what is added to a whole row.": toeplitz,
        "What is ignored is constant along each row, not each column.": up_to_columns,
        "Softmax, mean and first entry depend on where a row is cut off. Take differences along diagonals.": (
            lambda bias: toeplitz(bias - bias.mean(-1, keepdim=True))
        ),
        "Rows may have a constant of their own, columns may not: j² would pass.": up_to_both,
        "Symmetry is another matter: f(j − i) need not be f(i − j).": (
            lambda bias: torch.allclose(bias, bias.mT, atol=1e-5)
        ),
        "Every bias passes here.": lambda bias: True,
        "No bias passes here.": lambda bias: False,
        "Only the first two rows are compared.": lambda bias: diagonal_up_to_rows(bias[:2]),
        "Rounding makes a difference here. Compare with a tolerance, of more than 0.000001.": lambda bias: (
            bool(((bias[1:, 1:] - bias[:-1, :-1]) - (bias[1:, 1:] - bias[:-1, :-1])[:, :1] == 0).all())
        ),
        "This is a tensor of one Boolean. Return a bool.": lambda bias: torch.tensor(
            diagonal_up_to_rows(bias)
        ),
    },
    answers=(
        Answer(
            "three",
            (True, False, False),
            {
                "The bias j is j − i plus i, and i is the same along a row: to a softmax it is the offset.": (
                    False,
                    False,
                    False,
                ),
                "The bias j² is (j − i)² + 2ij − i², and 2ij is neither of the offset nor of the row alone.": (
                    True,
                    True,
                    False,
                ),
                "The last has another slope in each row, and a slope is nothing that a row has in common.": (
                    True,
                    False,
                    True,
                ),
            },
        ),
    ),
)
