"""Positions that are handed out anew, so that no pair of tokens is further apart than in training.

SelfExtend, Jin et al. 2024 (arXiv 2401.01325); dual chunk attention, An et al. 2024 (arXiv 2402.17463). Frequencies
stay as they are. A part is a triple: positions of queries, positions of keys, and Boolean (…, query, key), the pairs that
meet at these positions. The parts of a rule share out all pairs.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..encoding import Encoding, check_encoding
from ..positions.arguments import check_function, check_positive, check_sequence
from ..positions.checks import comparable

__all__ = ["InParts", "Part", "dual_chunk", "dual_chunk_for", "relative", "self_extend", "self_extend_for"]

ROWS = 16  # of a batch, so that what is made on the way is small
Part = tuple[Tensor, Tensor, Tensor]


def self_extend(q_positions: Tensor, k_positions: Tensor, group: int, window: int) -> list[Part]:
    """Nearer than `window` as they are; further away by groups, which begin where the window ends.

    Raises ValueError for a group or a window that is not positive, and as `positions.as_float` does.

    >>> p = torch.arange(10)
    >>> relative(self_extend(p, p, group=3, window=4))[9]
    tensor([6, 6, 6, 5, 5, 5, 3, 2, 1, 0])
    """
    check_positive(group=group, window=window)
    q_positions, k_positions = comparable(q_positions, k_positions)
    near = q_positions[..., :, None] - k_positions[..., None, :] < window
    start = window - window // group
    return [
        (q_positions, k_positions, near),
        (q_positions // group + start, k_positions // group, ~near),
    ]


def dual_chunk(q_positions: Tensor, k_positions: Tensor, chunk: int, furthest: int) -> list[Part]:
    """Keys count from the beginning of their chunk; queries on into the next chunk, up to `furthest`.

    Raises ValueError for a chunk that is not positive, where `furthest` is less than chunk, and as `positions.as_float`
    does.

    >>> p = torch.arange(10)
    >>> relative(dual_chunk(p, p, chunk=3, furthest=4))[9]
    tensor([4, 3, 2, 4, 3, 2, 3, 2, 1, 0])
    """
    check_positive(chunk=chunk, furthest=furthest)
    q_positions, k_positions = comparable(q_positions, k_positions)
    if furthest < chunk:
        raise ValueError(f"furthest must be at least chunk, {chunk}; got {furthest}")
    own, keys = q_positions % chunk, k_positions % chunk
    back = (q_positions // chunk)[..., :, None] - (k_positions // chunk)[..., None, :]
    return [
        (own, keys, back < 1),
        ((own + chunk).clamp(max=furthest), keys, back == 1),
        (torch.full_like(own, furthest), keys, back > 1),
    ]


def relative(parts: list[Part]) -> Tensor:
    """How far each key is from each query to a head, (…, query, key); raises as `InParts` does for parts that are none."""
    check_parts(parts)
    offsets = [(q[..., :, None] - k[..., None, :]) * met for q, k, met in parts]
    return torch.stack(offsets).sum(dim=0)


def self_extend_for(trained: int, length: int) -> dict[str, int]:
    """A window of a quarter of training, and the smallest group with which no pair is more than `trained` apart."""
    check_lengths(trained, length)
    window = max(1, trained // 4)
    return {"group": max(1, math.ceil((length - window) / (trained - window))), "window": window}


def dual_chunk_for(trained: int) -> dict[str, int]:
    """As the authors' code has it: at most 3/4 of training apart, an eighth of which is exact across a border."""
    check_lengths(trained)
    furthest = trained * 3 // 4
    return {"chunk": furthest - trained // 8, "furthest": furthest}


def check_lengths(trained: int, length: int = 1) -> None:
    """Raise a TypeError or ValueError where these are no numbers of tokens, or training has no two to be apart."""
    check_positive(trained=trained, length=length)
    if trained < 2:
        raise ValueError(f"trained must be at least 2; got {trained}")


def check_parts(parts: list[Part]) -> None:
    """Raise a TypeError where a rule gave no list of triples."""
    check_sequence("parts", parts)
    if not parts or any(not isinstance(part, tuple) or len(part) != 3 for part in parts):
        raise TypeError(f"parts must be triples of queries' positions, keys' positions and who meets; got {parts!r}")


class InParts(Encoding):
    """RoPE whose queries and keys stand where a rule puts them: from two tensors of positions to parts.

    Raises TypeError where inner is no encoding or rule no function, ValueError where inner opens another door than 2.
    """

    def __init__(self, inner: Encoding, rule: Callable[[Tensor, Tensor], list[Part]]):
        super().__init__()
        check_encoding(inner)
        check_function("rule", rule, "a rule, such as partial(self_extend, group=4, window=64)")
        if inner.doors != ("rotate",):
            raise ValueError(f"inner must open the door rotate alone; got {inner!r}, which opens {inner.doors}")
        self.inner, self.rule = inner, rule

    def score(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """The turned scores, less those that `attend` has of what does not turn; a few rows of the batch at a time.

        In at least float32: two scores may be large where their difference is small.
        """
        q, k = (x.to(torch.promote_types(x.dtype, torch.float32)) for x in (q, k))
        pieces, total = len(q.split(ROWS)), []
        # Positions are one line for the batch or one for each row of it.
        here, there = (p.split(ROWS) if p.dim() > 1 and len(p) > 1 else [p] * pieces for p in (q_positions, k_positions))
        for some, keys, q_here, k_here in zip(q.split(ROWS), k.split(ROWS), here, there, strict=True):
            parts = self.rule(q_here, k_here)
            check_parts(parts)
            scores = -(some @ keys.mT)
            for q_there, k_there, met in parts:
                turned_q, turned_k = self.inner.rotate(some, keys, q_there, k_there)
                scores += (turned_q @ turned_k.mT).mul_(met[..., None, :, :])
            total.append(scores.div_(math.sqrt(q.shape[-1])))
        return torch.cat(total)
