"""Positions by a convolution over the tokens, as speech models have them: a token hears which sounds stand around it.

Baevski et al. 2020, section 2 (arXiv 2006.11477), after Mohamed et al. 2019 (arXiv 1904.11660).
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu
from torch.nn.utils.parametrizations import weight_norm

from ..positions.arguments import check_floating, check_positive, check_size, check_tensor

__all__ = ["Convolutional"]


class Convolutional(nn.Module):
    """Adds gelu of a grouped convolution over the sequence to x, (batch, sequence, dim), as wav2vec 2 and HuBERT do.

    It is given no positions: a token learns its place from its neighbors, of which it sees kernel // 2 before it and, with
    an even kernel, one fewer behind it. So a text that begins earlier in the row gives the same numbers, and no cache of
    keys can take the place of the neighbors. What lies beyond the row counts as zeros, and so does what mask,
    (batch, sequence), leaves out with False: a row gives the same numbers with padding and without.

    Parameters: a kernel (dim, dim / groups, kernel), with a learned length for each of its taps, and a bias. Raises
    TypeError or ValueError where a size is no positive integer, groups do not divide dim, x is not (batch, sequence, dim)
    and floating-point, or mask is not a Boolean (batch, sequence).

    >>> encoding, x = Convolutional(32, kernel=4), torch.randn(1, 6, 32)
    >>> here, earlier = encoding(x)[:, 3], encoding(x[:, 1:])[:, 2]
    >>> torch.allclose(here, earlier, atol=1e-6)  # both see tokens 1 to 4
    True
    """

    def __init__(self, dim: int, kernel: int = 128, groups: int = 16):
        super().__init__()
        check_positive(dim=dim, kernel=kernel, groups=groups)
        if dim % groups:
            raise ValueError(f"groups must divide dim; got {groups} groups and dim {dim}")
        self.dim, self.kernel = dim, kernel
        convolution = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=groups)
        self.convolution = weight_norm(convolution, dim=2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        check_floating("x", x)
        if x.dim() != 3:
            raise ValueError(f"x must be (batch, sequence, dim); got {tuple(x.shape)}")
        check_size("x", x.shape[-1], self.dim, "features, as Convolutional has")
        if mask is not None:
            check_tensor("mask", mask, x.device)
            if mask.dtype != torch.bool or mask.shape != x.shape[:2]:
                raise ValueError(f"mask must be a Boolean {tuple(x.shape[:2])}; got {mask.dtype}, {tuple(mask.shape)}")
            x = x.where(mask[..., None], 0)
        # An even kernel, padded on both sides by half of it, gives one frame too many, the last.
        around = self.convolution(x.mT)[..., : x.shape[1]]  # (batch, dim, sequence)
        return x + gelu(around).mT
