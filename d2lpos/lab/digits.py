"""Handwritten digits as patches: which digit is it? The 1,797 pictures of 8 × 8 pixels in scikit-learn.

1,197 to train, 300 to validate, 300 to test, all ten digits in the same shares. The split is the same on every
machine.
"""

from functools import cache
from math import isqrt

import torch
from torch import Tensor

from ..positions.arguments import check_name, check_positive

PATCHES = 256  # kinds of patches of 2 × 2 pixels; more than the 17 gray levels of a pixel
SPLITS = ("train", "validation", "test")


def digits(size: int, length: int, generator: torch.Generator, split: str = "train") -> tuple[Tensor, Tensor]:
    """Pictures drawn from a split, as patches row by row, and the digits that they show.

    length 64: the pixels, gray levels 0 (white) … 16. length 256 or 576: the same, each pixel cut into
    2 × 2 or 3 × 3. length 16: patches of 2 × 2 pixels with four gray levels each, as numbers 0 … 255 whose
    digits to base 4 are the pixels.
    Returns tokens (size, length) and labels (size,), int64.
    Raises ValueError for another length, and for a split that is not "train", "validation" or "test".

    >>> tokens, labels = digits(2, 16, torch.Generator().manual_seed(0))
    >>> tokens[0].reshape(4, 4)  # a one
    tensor([[  0, 115,   4,   0],
            [  0,  51,   4,   0],
            [  0, 178, 140,   0],
            [  0, 178, 255, 232]])
    """
    check_positive(size=size, length=length)
    if length not in (16, 64, 256, 576):
        raise ValueError(
            f"length must be 64, 256 or 576, for pixels, or 16, for patches of 2 × 2 pixels; got {length}"
        )
    pixels, labels = pictures(split)
    rows = torch.randint(len(labels), (size,), generator=generator)
    tokens = patches(pixels[rows]) if length == 16 else finer(pixels[rows], isqrt(length // 64)).flatten(1)
    return tokens, labels[rows]


def finer(pixels: Tensor, factor: int) -> Tensor:
    """The same pictures, each pixel cut into factor × factor; (…, 8, 8) gives (…, 8 · factor, 8 · factor).

    >>> finer(torch.tensor([[0, 16]]), 2)
    tensor([[ 0,  0, 16, 16],
            [ 0,  0, 16, 16]])
    """
    return pixels.repeat_interleave(factor, dim=-2).repeat_interleave(factor, dim=-1)


def patches(pixels: Tensor) -> Tensor:
    """Gray levels (…, 8, 8), 0 … 16, as patches of 2 × 2 pixels; (…, 16), below 256.

    >>> patches(torch.tensor([[16] * 8] + [[0] * 8] * 7)).reshape(4, 4)
    tensor([[240, 240, 240, 240],
            [  0,   0,   0,   0],
            [  0,   0,   0,   0],
            [  0,   0,   0,   0]])
    """
    levels = pixels * 4 // 17
    corners = [levels[..., i::2, j::2] * 4 ** (3 - 2 * i - j) for i in (0, 1) for j in (0, 1)]
    return torch.stack(corners).sum(dim=0).flatten(-2)


@cache
def pictures(split: str) -> tuple[Tensor, Tensor]:
    """All pictures of a split: pixels (pictures, 8, 8) and labels (pictures,), int64."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    check_name("split", split, SPLITS)
    data = load_digits()
    train, rest = train_test_split(
        range(len(data.target)), test_size=600, random_state=0, stratify=data.target
    )
    halves = train_test_split(rest, test_size=300, random_state=0, stratify=data.target[rest])
    rows = [train, *halves][SPLITS.index(split)]
    return torch.from_numpy(data.images[rows]).long(), torch.from_numpy(data.target[rows]).long()
