"""The pictures are scikit-learn's, in splits that never change."""

from hashlib import sha256

import pytest
import torch

from d2lpos.lab.digits import SPLITS, digits, pictures


def test_the_splits_never_change():
    """Records tell of these splits. If a newer scikit-learn splits otherwise, keep the rows, not the seed."""
    content = b"".join(pictures(name)[0].numpy().astype("uint8").tobytes() for name in SPLITS)
    assert sha256(content).hexdigest()[:16] == "d344df63f08ee665"


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("length", [16, 64])
def test_rows_are_pictures_of_the_split_with_their_labels(split, length):
    tokens, labels = digits(64, length, torch.Generator().manual_seed(0), split=split)
    images, known = pictures(split)
    rows = {}
    for image, label in zip(images.tolist(), known.tolist(), strict=True):
        row = [gray for line in image for gray in line] if length == 64 else slowly(image)
        rows.setdefault(tuple(row), set()).add(label)
    for row, label in zip(tokens.tolist(), labels.tolist(), strict=True):
        assert label in rows[tuple(row)]
    many, _ = digits(16_384, length, torch.Generator().manual_seed(0), split=split)
    assert {*map(tuple, many.tolist())} == rows.keys(), "each picture is drawn"


def slowly(image):
    """Patches from left to right and from top to bottom, their four pixels too."""
    levels = [[min(3, int(gray * 4 / 17)) for gray in line] for line in image]
    return [
        64 * levels[i][j] + 16 * levels[i][j + 1] + 4 * levels[i + 1][j] + levels[i + 1][j + 1]
        for i in range(0, 8, 2)
        for j in range(0, 8, 2)
    ]


@pytest.mark.parametrize(("length", "factor"), [(256, 2), (576, 3)])
def test_a_finer_picture_shows_the_same(length, factor):
    """Each pixel is there factor × factor times, side by side, and the rows that are drawn are the same."""
    tokens, labels = digits(64, 64, torch.Generator().manual_seed(0), split="test")
    finer, labels_again = digits(64, length, torch.Generator().manual_seed(0), split="test")
    assert torch.equal(labels_again, labels)
    edge = 8 * factor
    for place in range(length):
        row, column = place // edge // factor, place % edge // factor
        assert torch.equal(finer[:, place], tokens[:, 8 * row + column])
