"""Where tokens stand: positions of padded, packed, continued, stretched and shifted sequences.

Every encoding takes any positions, so each of these is a small function that makes them, and no encoding
knows of it. Count first (`from_padding`, `from_segments`, `next_positions`), then transform (`interpolate`, `shift`).
"""


import torch
from torch import Tensor

from .arguments import check_boolean, check_positive, check_scale, check_tensor
from .checks import as_float, signed
from .looks import Look, is_integer, recall, remember

__all__ = ["from_padding", "from_segments", "interpolate", "next_positions", "random_positions", "shift"]


def from_padding(tokens: Tensor) -> Tensor:
    """Positions that pass over padding; tokens (…, sequence), True for a token, gives int64 of the same shape.

    The first token of each sequence stands at 0, whatever comes before it. Padding shares a position with a
    neighbor, so hide it with a mask. Raises TypeError where tokens is no Boolean tensor.

    >>> tokens = torch.tensor([[False, True, True], [True, True, False]])
    >>> from_padding(tokens)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    check_boolean("tokens", tokens, ", True for a token, False for padding")
    check_sequence("tokens", tokens)
    return (tokens.cumsum(dim=-1) - 1).clamp(min=0)


def from_segments(segments: Tensor) -> Tensor:
    """Positions that begin again at 0 with each segment; (…, sequence) gives int64 of the same shape.

    A segment is a run of equal integers. Raises TypeError where segments are no integers.

    >>> from_segments(torch.tensor([7, 7, 7, 2, 2, 5]))
    tensor([0, 1, 2, 0, 1, 0])
    """
    check_segments(segments)
    index = torch.arange(segments.shape[-1], device=segments.device)
    segments = segments.long()  # of some unsigned ones PyTorch takes no difference
    begins = segments.diff(dim=-1, prepend=segments[..., :1]) != 0
    return index - (index * begins).cummax(dim=-1).values


def next_positions(positions: Tensor, length: int, axes: int = 1) -> Tensor:
    """The `length` positions after those of a cache; (…, sequence) gives (…, length).

    They count on from the greatest of each sequence. With several axes, (…, sequence, axes) gives
    (…, length, axes): words, whose coordinates are equal, count on from the greatest of all, as behind a picture in
    Qwen2-VL (Wang et al. 2024, section 2.1, arXiv 2409.12191). Raises TypeError and ValueError as `positions.as_float`
    does, and ValueError where there is no position to follow.

    >>> next_positions(torch.tensor([[0, 0, 1]]), length=2)
    tensor([[2, 3]])
    >>> word_and_cell = torch.tensor([[0, 0, 0], [1, 1, 2]])
    >>> next_positions(word_and_cell, length=1, axes=3)
    tensor([[3, 3, 3]])
    """
    positions = signed("positions", positions)
    check_sequence("positions", positions)
    check_positive(length=length, axes=axes)
    if axes > 1:
        if positions.dim() < 2 or positions.shape[-1] != axes:
            raise ValueError(f"positions must be (…, sequence, {axes}); got {tuple(positions.shape)}")
        words = next_positions(remember(positions.flatten(-2), recall(positions)), length)
        return remember(words[..., None].expand(*positions.shape[:-2], length, axes), recall(words))
    if not positions.shape[-1]:
        raise ValueError(f"positions must hold at least one to follow; got {tuple(positions.shape)}")
    after = positions.amax(dim=-1, keepdim=True) + torch.arange(1, length + 1, device=positions.device)
    if (look := recall(positions)) is None:
        return after
    one_row = positions.numel() == positions.shape[-1]
    return remember(after, Look((look.high if one_row else look.low) + 1, look.high + length, rising=True))


def interpolate(positions: Tensor, factor: float) -> Tensor:
    """Positions moved together, so that a text `factor` times as long spans the range that was trained.

    (…,) gives the same shape, in the dtype of `positions.as_float`. Raises as `positions.as_float` does,
    and ValueError where factor is not finite and positive.

    Source: Chen et al. 2023, section 2.3 (arXiv 2306.15595).

    >>> interpolate(torch.arange(4), factor=2)
    tensor([0.0000, 0.5000, 1.0000, 1.5000])
    """
    check_scale(factor=factor)
    return as_float(positions) / factor


def shift(positions: Tensor, largest: int, generator: torch.Generator | None = None) -> Tensor:
    """Positions plus one random integer in 0 … largest for each sequence; shape unchanged.

    Trained so, a model cannot rely on where a sequence begins (SHAPE). Positions (sequence,) are one
    sequence, (batch, sequence) are many. Raises as `positions.as_float` does, and for a `largest` that is no
    positive integer.

    Source: Kiyono et al. 2021 (arXiv 2109.05644).

    >>> shifted = shift(torch.arange(4).expand(2, 4), largest=100)
    >>> shifted - shifted[:, :1]
    tensor([[0, 1, 2, 3],
            [0, 1, 2, 3]])
    """
    positions = signed("positions", positions)
    check_sequence("positions", positions)
    check_positive(largest=largest)
    sequences = (*positions.shape[:-1], 1)
    return positions + torch.randint(largest + 1, sequences, generator=generator, device=positions.device)


def random_positions(batch: int, length: int, limit: int, generator: torch.Generator | None = None) -> Tensor:
    """For each sequence `length` different positions of 0 … limit − 1, in order; (batch, length), int64.

    Trained so, a model meets every position of a long sequence in short ones. Raises ValueError where length
    exceeds limit, and for sizes that are no positive integers.

    Source: Ruoss et al. 2023 (arXiv 2305.16843).

    >>> random_positions(batch=1, length=5, limit=5)
    tensor([[0, 1, 2, 3, 4]])
    """
    check_positive(batch=batch, length=length, limit=limit)
    if length > limit:
        raise ValueError(f"length must be at most limit = {limit}, because no position repeats; got {length}")
    return torch.rand(batch, limit, generator=generator, dtype=torch.float).topk(length).indices.sort().values


def check_sequence(name: str, x: Tensor) -> None:
    """Raise a ValueError where x has no axis for the sequence."""
    if not x.dim():
        raise ValueError(f"{name} must be (…, sequence); got a tensor without axes")


def check_segments(segments: Tensor) -> None:
    """Raise a TypeError or ValueError where segments are no integers, or have no axis for the sequence."""
    check_tensor("segments", segments)
    if not is_integer(segments):
        raise TypeError(f"segments must be integers; got {segments.dtype}")
    check_sequence("segments", segments)
