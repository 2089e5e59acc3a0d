"""The checks of chapter 5: vectors of offsets, the skew for both sides, buckets, and biases that see offsets."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.overrides import TorchFunctionMode

from .. import relative as package
from ..relative import bucket
from .cases import by_hand, either, no_loop
from .verdict import Case, Check, Misconduct, call, nothing

# A vector for each offset -----------------------------------------------------------------------------------


def key_scores(
    q: Tensor,
    k: Tensor,
    vectors: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    sign: int = 1,
    content: float = 1.0,
    root: float | None = None,
    clip: int | None = None,
) -> Tensor:
    clip = len(vectors) // 2 if clip is None else clip
    rows = (sign * (k_positions - q_positions[:, None])).clamp(-clip, clip) + len(vectors) // 2
    products = (q @ vectors.mT).gather(1, rows)
    return (content * q @ k.mT + products) / (math.sqrt(q.shape[-1]) if root is None else root)


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


def half_scaled(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """Only the content is divided by √d."""
    root = math.sqrt(q.shape[-1])
    return key_scores(q, k, vectors * root, q_positions, k_positions)


def added_to_queries(
    q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor
) -> Tensor:
    """The vector of the offset meets the key, not the query."""
    return key_scores(k, q, vectors, k_positions, q_positions, sign=-1).mT


def scores_case(q: list, k: list, clip: int) -> Case:
    stream = torch.Generator().manual_seed(5)
    query, key, vectors = (torch.randn(n, 3, generator=stream) for n in (len(q), len(k), 2 * clip + 1))
    case = call(
        f"queries at {q}, keys at {k}, clip {clip}",
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
        ],
        "positions as they come": [
            scores_case([7, 5], [6, 3, 9], 4),
            scores_case([2, 0, 1], [2, 0, 1], 2),
        ],
    },
    mistakes={
        "The sign is turned around: an offset is the key's position minus the query's.": (
            lambda *args: key_scores(*args, sign=-1)
        ),
        "Nothing is divided by √d.": lambda *args: key_scores(*args, root=1.0),
        "The key term is not divided by √d; (5.2) divides both.": half_scaled,
        "This is divided by d. Divide by its root.": lambda *args: key_scores(*args, root=args[0].shape[-1]),
        "The content is missing: add q · k.": lambda *args: key_scores(*args, content=0.0),
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
        "The clip is one too small: the table has 2C + 1 rows.": (
            lambda q, k, vectors, *args: key_scores(q, k, vectors, *args, clip=max(len(vectors) // 2 - 1, 0))
        ),
        "Positions are taken to be 0, 1, 2, … They are data.": by_place,
        "This is (N, T). A row is a query: (T, N).": lambda *args: key_scores(*args).mT,
        "These are weights. Return the scores, before the softmax.": (
            lambda *args: key_scores(*args).softmax(dim=-1)
        ),
    },
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


class Refuse(TorchFunctionMode):
    """Raises Misconduct where torch is asked to pick numbers by an index."""

    names = ("gather", "take", "take_along_dim", "index_select", "masked_select", "scatter", "scatter_")

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in self.names:
            raise Misconduct(f"Calls {name}, where padding, reshaping and slices are enough")
        if name in ("__getitem__", "__setitem__"):
            keys = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(key, Tensor | list) for key in keys):
                raise Misconduct("Picks numbers by an index, where padding, reshaping and slices are enough")
        return function(*args, **(kwargs or {}))


def picked(answer: Callable) -> str:
    with Refuse():
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


def products_case(*shape: int) -> Case:
    stream = torch.Generator().manual_seed(7)
    return call(
        f"products {shape}, whole numbers", products=torch.randint(1, 100, shape, generator=stream).float()
    )


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
        "no gather and no index": [Case("three rows", picked)],
        "no loop over the rows": [
            no_loop("three rows, then twelve", "3 rows", *((torch.ones(T, 2 * T - 1),) for T in (3, 12)))
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
        "That is an index in disguise. (5.5) needs none.": by_gather,
        "Row by row is slow. One reshape moves all of them.": row_by_row,
    },
)


# Buckets, both ways -----------------------------------------------------------------------------------------


def side(distance: Tensor, count: int, far: int, cut: bool = True, whole: Callable = torch.floor) -> Tensor:
    """The bucket of each distance among the `count` of one side."""
    near = count // 2
    octaves = (distance.clamp(min=1).double() / near).log() / math.log(far / near)
    beyond = near + whole(octaves * (count - near)).long()
    return torch.where(distance < near, distance, beyond.clamp(max=count - 1) if cut else beyond)


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
    return side(distance.clamp(max=far), count, far, cut=False)


def ratio_of_all(distance: Tensor, count: int, far: int) -> Tensor:
    """The logarithm reaches from 1 to the maximum, not from the exact ones on."""
    near = count // 2
    octaves = (distance.clamp(min=1).double() / near).log() / math.log(far)
    beyond = near + (octaves * (count - near)).floor().long()
    return torch.where(distance < near, distance, beyond.clamp(max=count - 1))


def bucket_case(offsets: list, buckets: int, max_distance: int, bidirectional: bool) -> Case:
    kind = "two sides" if bidirectional else "causal"
    case = call(
        f"offsets {offsets}, {buckets} buckets, maximum {max_distance}, {kind}",
        offset=torch.tensor(offsets),
        buckets=buckets,
        max_distance=max_distance,
        bidirectional=bidirectional,
    )
    return either(case, torch.int64)


to_bucket = Check(
    "to_bucket",
    reference=buckets_of,
    properties={
        "causal: exact, then logarithmic, then the last; keys after the query get 0": [
            bucket_case([0, -1, -7, -15, -16], 32, 128, False),
            bucket_case([-17, -20, -34, -65, -98], 32, 128, False),
            bucket_case([-5, -6, -9, -13, -22], 8, 40, False),
            bucket_case([-112, -113, -127, -500, -10000], 32, 128, False),
            bucket_case([1, 5, 40], 32, 128, False),
        ],
        "two sides, each with half of the buckets": [
            bucket_case([-3, -1, 0, 1, 3], 32, 128, True),
            bucket_case([-100, -25, -9, 9, 25, 100], 32, 128, True),
            bucket_case([[-300, -21, -6], [6, 21, 300]], 16, 50, True),
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
            lambda *args: buckets_of(*args, one=lambda *side_of: side(*side_of, cut=False))
        ),
        "The distance is cut at the maximum, but the maximum has no bucket either. Cut the bucket.": (
            lambda *args: buckets_of(*args, one=clipped_first)
        ),
        "The far buckets are rounded to the nearest. Round down.": (
            lambda *args: buckets_of(*args, one=lambda *side_of: side(*side_of, whole=torch.round))
        ),
        "The far buckets are rounded up. Round down.": (
            lambda *args: buckets_of(*args, one=lambda *side_of: side(*side_of, whole=torch.ceil))
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
)


# The widest buckets that training fills ---------------------------------------------------------------------


def widest_by_search(length: int, buckets: int) -> int:
    """By bisection, since the last bucket only moves away as the maximum grows."""
    low, high = length, 2 * length**2
    farthest = torch.tensor(1 - length)
    while high - low > 1:
        middle = (low + high) // 2
        reached = bucket(farthest, buckets, middle, bidirectional=False) == buckets - 1
        low, high = (middle, high) if reached else (low, middle)
    return low


def by_formula(length: float, buckets: int) -> float:
    return length * (2 * length / buckets) ** (2 / (buckets - 2))


def too_far(length: int, buckets: int, far: int) -> str:
    excess = far - widest_by_search(length, buckets)
    return f"too far by {excess}: a bucket stays empty" if excess > 0 else "all are filled"


def too_near(length: int, buckets: int, far: int) -> str:
    room = widest_by_search(length, buckets) - far
    return f"{room} more would do" if room > 0 else "no more would do"


def length_cases(verdict: Callable) -> list[Case]:
    """In words, how far an answer is off to one side; what is no whole number comes back as it is."""

    def case(length: int, buckets: int) -> Case:
        question = call(f"length = {length}, buckets = {buckets}", length=length, buckets=buckets)

        def ask(answer: Callable) -> object:
            far = question.ask(answer)
            if nothing(far):
                return far
            return verdict(length, buckets, far) if type(far) is int else f"a {type(far).__name__}, no int"

        return Case(question.text, ask)

    return [case(64, 32), case(16, 8), case(24, 8), case(113, 32), case(512, 32), case(200, 64)]


widest = Check(
    "widest",
    reference=widest_by_search,
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
            lambda length, buckets: widest_by_search(length + 1, buckets)
        ),
        "One too large: with this maximum the last bucket stays empty.": (
            lambda length, buckets: widest_by_search(length, buckets) + 1
        ),
        "One too small: the next maximum leaves no bucket empty either.": (
            lambda length, buckets: widest_by_search(length, buckets) - 1
        ),
        "These are the buckets of a model that sees both sides. This one is causal: all are for the past.": (
            lambda length, buckets: widest_by_search(length, buckets // 2)
        ),
        "This asks for the last bucket but one.": (
            lambda length, buckets: (
                math.floor((length - 1) * (2 * (length - 1) / buckets) ** (4 / (buckets - 4)))
                if buckets > 4
                else length
            )
        ),
        "This is where the last bucket begins if the maximum is the length. Turn the formula around.": (
            lambda length, buckets: math.ceil(length * (buckets / (2 * length)) ** (2 / buckets))
        ),
        "Solved for D, the exponent is 2/(G − 2), not 2/G.": (
            lambda length, buckets: math.floor((length - 1) * (2 * (length - 1) / buckets) ** (2 / buckets))
        ),
        "This is a float. Return an int, rounded down.": (
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


def bias_case(name: str, bias: Tensor) -> Case:
    return call(f"the bias {name}", bias=bias)


def biases() -> dict[str, list[Case]]:
    i, j = grid(5)
    numbers = torch.randn(9, generator=torch.Generator().manual_seed(1))
    free = numbers[(j - i + 4).long()]
    tiny = torch.tensor([[0, 3e-7], [2e-7, 4e-7]]).repeat(3, 3)[:5, :5]
    return {
        "a function of the offset passes, whatever is added to a row": [
            bias_case("−|i − j|", -(i - j).abs()),
            bias_case("of 9 free numbers", free),
            bias_case("j, whatever i", 0 * i + j),
            bias_case("i², whatever j", i**2 + 0 * j),
            bias_case("of 9 free numbers, plus sin(i)", free + i.sin()),
            bias_case("of 9 free numbers, plus sin(i), rounded", free + i.sin() + tiny),
        ],
        "others do not": [
            bias_case("j²", 0 * i + j**2),
            bias_case("−j² / 1000", 0 * i - j**2 / 1000),
            bias_case("−|i − j| / (i + 1)", -(i - j).abs() / (i + 1)),
            bias_case("i · j", i * j),
            bias_case("of 9 free numbers, 1 added in row 4, column 2", free + ((i == 4) & (j == 2)).float()),
            bias_case("of 9 free numbers, 1 added in row 2, column 3", free + ((i == 2) & (j == 3)).float()),
            bias_case("|j − 2|, whatever i", 0 * i + (j - 2).abs()),
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
        "Rounding makes a difference here. Compare with a tolerance.": lambda bias: bool(
            ((bias[1:, 1:] - bias[:-1, :-1]) - (bias[1:, 1:] - bias[:-1, :-1])[:, :1] == 0).all()
        ),
        "This is a tensor of one Boolean. Return a bool.": lambda bias: torch.tensor(
            diagonal_up_to_rows(bias)
        ),
    },
)
