"""Which tokens of a packed row each of several processors holds, and in which order.

Positions and texts are counted in the whole row, before it is dealt. Then both travel with the tokens: a rank's positions
are `from_segments(segments)[indices]`. A rank that counts its own tokens, or takes each step in its own positions for the
border of a text, is wrong wherever its tokens are no neighbors in the row.
"""

import torch
from torch import Tensor

from .arguments import check_positive
from .packing import segments_from_cu_seqlens

__all__ = ["contiguous", "zigzag"]


def contiguous(length: int, ranks: int) -> Tensor:
    """The indices in the row of each rank's tokens, one stretch for each; (ranks, length / ranks), int64.

    So tokens lie in ring attention (Liu et al. 2023, arXiv 2310.01889) and, between layers, in Ulysses (Jacobs et al. 2023,
    arXiv 2309.14509), where for attention each rank gets all tokens of some heads. Raises TypeError for sizes that are no
    integers, ValueError where they are not positive, or length is no multiple of ranks.

    >>> contiguous(8, ranks=2)
    tensor([[0, 1, 2, 3],
            [4, 5, 6, 7]])
    """
    check_positive(length=length, ranks=ranks)
    if length % ranks:
        raise ValueError(f"length must be a multiple of ranks = {ranks}; got {length}")
    return torch.arange(length).view(ranks, -1)


def zigzag(cu_seqlens: Tensor, ranks: int) -> Tensor:
    """As `contiguous`, with chunks r and 2 · ranks − 1 − r of each text for rank r; cu_seqlens (texts + 1,).

    So Megatron-LM deals packed texts, in which every rank has as much to do. With cu_seqlens [0, length] the whole
    row is one zigzag, as torchtitan deals it, and Llama 3 (Grattafiori et al. 2024, section 3.3.2, arXiv 2407.21783).
    Raises as `segments_from_cu_seqlens` does, TypeError or ValueError for ranks that are no positive integer, and
    ValueError for a text whose length is no multiple of 2 · ranks, which must be padded first.

    >>> texts = torch.tensor([0, 4, 8])
    >>> zigzag(texts, ranks=2)
    tensor([[0, 3, 4, 7],
            [1, 2, 5, 6]])
    """
    check_positive(ranks=ranks)
    row = torch.arange(len(segments_from_cu_seqlens(cu_seqlens)), device=cu_seqlens.device)
    lengths = cu_seqlens.diff().tolist()
    for length in lengths:
        if length % (2 * ranks):
            raise ValueError(f"cu_seqlens must have texts of a multiple of 2 · ranks = {2 * ranks} tokens; got {length}")
    held = []
    for text in row.split(lengths):
        chunks = text.view(2, ranks, -1)
        held.append(torch.cat([chunks[0], chunks[1].flip(0)], dim=1))
    return torch.cat(held, dim=1)
