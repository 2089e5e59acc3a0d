"""A mask of chunks."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import boolean, read_as
from ..verdict import Answer, Case, Check, Misconduct, call


def by_chunks(q: Tensor, k: Tensor, chunk: int, left: int) -> Tensor:
    back = q[:, None] // chunk - k // chunk
    return (back >= 0) & (back <= left // chunk)


def frames_back(q, k, chunk, left):
    back = q[:, None] // chunk - k // chunk
    return (back == 0) | (back > 0) & (q[:, None] - k <= left)


def causal_inside(q, k, chunk, left):
    back = q[:, None] // chunk - k // chunk
    return (back <= left // chunk) & (k <= q[:, None])


def from_the_first_query(q, k, chunk, left):
    return by_chunks(torch.arange(len(q)), k, chunk, left)


def among(case: Case, pairs: Tensor) -> Case:
    """The case, in which only these pairs of query and key are compared."""

    def read(mask: object) -> Tensor:
        if not isinstance(mask, Tensor) or mask.shape != pairs.shape:
            raise Misconduct(f"A tensor {tuple(pairs.shape)} is asked for here, of queries and keys")
        return boolean(mask) & pairs

    return read_as(case, read)


TEXTS = [
    (range(6), range(6), 2, 2), (range(9), range(9), 3, 3), (range(4, 8), range(8), 4, 4), (range(6, 9), range(1, 9), 3, 5),
    (range(18), range(18), 2, 11), (range(10, 12), range(1, 16, 3), 2, 4), (range(5), range(11), 5, 0), (range(8, 10), range(10), 1, 3),
    (range(3, 12, 4), range(12), 4, 4), (range(2, 9), range(7), 3, 2),
]  # fmt: skip


def streams(pairs: Callable) -> list[Case]:
    cases = []
    for queries, keys, chunk, left in TEXTS:
        q, k = torch.tensor(queries), torch.tensor(keys)
        looked_at = pairs(q[:, None] // chunk - k // chunk)
        cases.append(among(call(q=q, k=k, chunk=chunk, left=left), looked_at))
    return cases


chunk_mask = Check(
    "chunk_mask",
    reference=by_chunks,
    properties={
        "all frames of its own chunk, the later ones, too": streams(lambda back: back == 0),
        "none of a later chunk": streams(lambda back: back < 0),
        "as many whole chunks to the left as fit": streams(lambda back: back > 0),
    },
    mistakes={
        "This mask is causal. The frames of a chunk arrive together, so each sees all of them.": causal_inside,
        "The left context is counted back from the frame. Count whole chunks, so that all frames of a chunk see the same "
        "keys.": frames_back,
        "A query sees the next chunk here, which has not arrived.": "back >= 0 → back >= -1",
        "The frame's own chunk does not count as left context.": "back <= left // chunk → back < max(left // chunk, 1)",
        "A part of a chunk does not count. You rounded up.": "left // chunk → -(-left // chunk)",
        "The left context has no end here. A cache that keeps only `left` frames gives another answer.":
            lambda q, k, chunk, left: q[:, None] // chunk >= k // chunk,
        "Queries are counted from 0 here. With a cache the first query is further on, so use its position.": from_the_first_query,
    },
    answers=(Answer("ahead", 7, {
        "Within a chunk the frames see each other in each layer, so no layer adds frames from beyond its end.": 12 * 7,
        "The frame itself is not a later one.": 8,
        "A frame sees the rest of its chunk.": 0,
        "The later chunks are hidden in every layer, so nothing of them comes in through another frame.": 12 * 8,
    }),),
    as_good={
        "(back >= 0) & (back <= left // chunk) → (back <= left // chunk) & (back >= 0)": "The order does not matter.",
        "left // chunk → left / chunk": "A whole number is at most 7/2 where it is at most 3.",
    },
    cards=(causal_inside, frames_back),
)
