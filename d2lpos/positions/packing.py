"""Texts in a row, as kernels want them: where each begins, and the way back.

Kernels for packed texts (flash-attn's `flash_attn_varlen_func`, PyTorch's `varlen_attn`) take no segment for each
token but `cu_seqlens`, the index at which each text begins, and the end of the last. The positions of such texts
are those of `position_ids.from_segments`.
"""

import torch
from torch import Tensor

from .arguments import check_tensor, check_values
from .checks import signed
from .looks import is_integer
from .position_ids import check_segments, check_sequence

__all__ = ["cu_seqlens", "segments_from_cu_seqlens", "segments_from_positions"]


def cu_seqlens(segments: Tensor) -> Tensor:
    """Where each text begins, and where the last ends; (…, sequence) gives (texts + 1,), int32.

    A text is a run of equal integers. Sequences of a batch count as one long row, and no text goes on from one to
    the next. Raises TypeError where segments are no integers, ValueError where an integer comes again behind
    another.

    >>> cu_seqlens(torch.tensor([[7, 7, 7, 2], [2, 2, 5, 5]]))
    tensor([0, 3, 4, 6, 8], dtype=torch.int32)
    """
    check_segments(segments)
    check_values("segments", segments, torch.device("cpu"))
    segments = segments.long()  # of some unsigned ones PyTorch takes no difference
    if not are_runs(segments):
        raise ValueError("segments must be runs of equal integers; got one that comes again behind another")
    begins = torch.ones_like(segments, dtype=torch.bool)
    begins[..., 1:] = segments.diff(dim=-1) != 0
    last = torch.tensor([segments.numel()], device=segments.device)
    return torch.cat([begins.flatten().nonzero().squeeze(-1), last]).int()


def are_runs(segments: Tensor) -> bool:
    """Whether equal integers of a sequence stand side by side: sorting then parts no more of them."""
    changes = (segments.long().diff(dim=-1) != 0).sum(dim=-1)
    return torch.equal(changes, (segments.long().sort(dim=-1).values.diff(dim=-1) != 0).sum(dim=-1))


def segments_from_cu_seqlens(cu_seqlens: Tensor) -> Tensor:
    """The number of each token's text, from 0; (texts + 1,) gives (tokens,), int64.

    Raises TypeError where cu_seqlens are no integers, ValueError where they do not rise from 0.

    >>> segments_from_cu_seqlens(torch.tensor([0, 3, 4, 6]))
    tensor([0, 0, 0, 1, 2, 2])
    """
    check_tensor("cu_seqlens", cu_seqlens)
    check_values("cu_seqlens", cu_seqlens, torch.device("cpu"))
    if not is_integer(cu_seqlens):
        raise TypeError(f"cu_seqlens must be integers; got {cu_seqlens.dtype}")
    lengths = cu_seqlens.long().diff()
    if cu_seqlens.dim() != 1 or cu_seqlens[:1].tolist() != [0] or (lengths < 1).any():
        raise ValueError(f"cu_seqlens must be (texts + 1,) and rise from 0; got {cu_seqlens.tolist()}")
    return torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)


def segments_from_positions(positions: Tensor) -> Tensor:
    """The number of each token's text, from 0, where positions tell it; (…, sequence) gives int64 of the same shape.

    A text goes on where a position is one more than the last, and another begins where it is not. So Hugging Face
    reads position_ids that come without a mask. Raises as `positions.as_float` does.

    >>> segments_from_positions(torch.tensor([0, 1, 2, 0, 1, 0]))
    tensor([0, 0, 0, 1, 1, 2])
    """
    positions = signed("positions", positions)
    check_sequence("positions", positions)
    return (positions.diff(dim=-1, prepend=positions[..., :1] - 1) != 1).cumsum(dim=-1)
