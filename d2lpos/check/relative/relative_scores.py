"""A vector for each offset."""

import math

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call


def key_scores(q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
    clip = len(vectors) // 2
    rows = (k_positions - q_positions[:, None]).clamp(-clip, clip) + clip
    return (q @ k.mT + (q @ vectors.mT).gather(1, rows)) / math.sqrt(q.shape[-1])


def rows_as_they_are(
    q: Tensor, k: Tensor, vectors: Tensor, q_positions: Tensor, k_positions: Tensor
) -> Tensor:
    """Offsets are made rows, and never clipped."""
    keys = k + vectors[k_positions - q_positions[:, None] + len(vectors) // 2]
    return (q[:, None] * keys).sum(-1) / math.sqrt(q.shape[-1])


def scores_case(q: list, k: list, clip: int, d: int = 3) -> Case:
    stream = torch.Generator().manual_seed(5)
    query, key, vectors = (torch.randn(n, d, generator=stream) for n in (len(q), len(k), 2 * clip + 1))
    return call(
        f"queries at {q}, keys at {k}, clip {clip}, d = {d}",
        q=query, k=key, vectors=vectors, q_positions=torch.tensor(q), k_positions=torch.tensor(k),
    )


def offsets(q_positions, k_positions):
    return k_positions[None, :] - q_positions[:, None]


def clamp_forgotten_in_gather(q, k, vectors, q_positions, k_positions):
    rows = offsets(q_positions, k_positions) + (len(vectors) - 1) // 2
    return (q @ k.T + torch.gather(q @ vectors.T, 1, rows)) * q.shape[-1] ** -0.5


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
            scores_case([*range(20)], [*range(20)], 16, d=64),
        ],
        "positions as they come": [
            scores_case([7, 5], [6, 3, 9], 4),
            scores_case([2, 0, 1], [2, 0, 1], 2),
            scores_case([5, 2, 2], [1, 4, 0], 5, d=2),
            scores_case([20000003, 20000000], [19999998, 20000004, 20000000, 20000005], 5),
        ],
    },
    mistakes={
        "The sign is turned around: an offset is the key's position minus the query's.":
            lambda q, k, vectors, *positions: key_scores(q, k, vectors.flip(0), *positions),
        "Nothing is divided by √d.": lambda q, *others: key_scores(q, *others) * q.shape[-1] ** 0.5,
        "The key term is missing.": lambda q, k, vectors, *args: key_scores(q, k, 0 * vectors, *args),
        "Left and right share a vector. The offset has a sign.":
            "(k_positions - q_positions[:, None]) → (k_positions - q_positions[:, None]).abs()",
        "Offsets beyond the table are not clipped: clamp them to −C … C before you add C.": rows_as_they_are,
        "Beyond the table there is nothing to gather: clamp offsets to −C … C before you add C.": clamp_forgotten_in_gather,
        "The table begins with offset −C: add C to the clipped offset.":
            "clamp(-clip, clip) + clip → clamp(-clip, clip) % len(vectors)",
        "Positions are taken to be 0, 1, 2, … They are data.":
            lambda q, k, vectors, *_: key_scores(q, k, vectors, torch.arange(len(q)), torch.arange(len(k))),
    },
    answers=(Answer("whose", lambda name: "shaw" in name, {
        "Huang et al., with the Music Transformer, took Shaw's vectors over. What they added is the skew.":
            lambda name: "huang" in name or "music" in name,
        "Dai et al., with Transformer-XL, give an offset a sinusoid, a year later.":
            lambda name: "dai" in name or "xl" in name,
        "Vaswani et al. add codes of positions to the words.": lambda name: "vaswani" in name,
    }),),
    cards=(clamp_forgotten_in_gather,),
    as_good={
        "(q @ vectors.mT).gather(1, rows) → (q @ vectors.mT).gather(-1, rows)": "Of two axes, 1 is the last.",
        "q.shape[-1] → k.shape[-1]": "Queries and keys have as many features.",
        "q.shape[-1] → vectors.shape[-1]": "Queries and vectors have as many features.",
        "q.shape[-1] → q.shape[1]": "Of two axes, 1 is the last.",
    },
)
