"""The emblems: each matrix is what its encoding makes of position."""

import pytest
import torch

from d2lpos.figures import STYLE, emblem, emblems
from d2lpos.figures.emblem import matrix


def toeplitz(values):
    return torch.allclose(values[1:, 1:], values[:-1, :-1], atol=1e-5)


def symmetric(values):
    return torch.allclose(values, values.T, atol=1e-5)


@pytest.mark.parametrize(("key", "by_offset", "mirrored"), [
    ("none", True, True),
    ("sinusoidal", True, True),
    ("learned", False, True),
    ("rope", True, True),
    ("relative", True, False),
    ("alibi", True, True),
])
def test_what_each_matrix_depends_on(key, by_offset, mirrored):
    values = matrix(key)
    assert values.shape == (16, 16)
    assert (toeplitz(values), symmetric(values)) == (by_offset, mirrored)


def test_no_position_is_an_empty_frame_and_the_others_are_not():
    assert not matrix("none").any()
    assert "fill-opacity" not in emblem("none").svg
    for key in set(STYLE) - {"none"}:
        assert "fill-opacity" in emblem(key).svg, key


def test_every_run_draws_the_same():
    torch.manual_seed(1)
    first = emblems()
    torch.manual_seed(2)
    assert emblems() == first


def test_an_unknown_encoding_is_refused_with_the_known_ones():
    with pytest.raises(
        ValueError, match="key is 'rotary'; the encodings are none, sinusoidal, learned, rope"
    ):
        emblem("rotary")
