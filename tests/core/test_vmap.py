"""`vmap` over any argument equals a loop over it, and bad values are still seen."""

from functools import partial

import pytest
import torch
from torch.func import vmap
from torch.testing import assert_close

from d2lpos import KERPLE, ALiBi, Attention, RoPE, T5Bias
from d2lpos.bias.sandwich import cosines
from d2lpos.bias.t5 import bucket
from d2lpos.input.sinusoids import angles, frequencies, sinusoidal
from d2lpos.offset.skew import key_term
from d2lpos.positions import as_float, as_index, from_padding, from_segments, interpolate
from d2lpos.rotary.rope import convert, rotate, rotate_fast
from d2lpos.transformer.attention import attend, attention_weights, causal_mask
from d2lpos.transformer.masks import WORTHWHILE

pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")  # PyTorch's attention

ALSO = ("rope, values", "cope")
SIZE = 3
WHOLE = torch.tensor([[0, 1, 2, 3], [5, 1, 0, 9], [2, 2, 7, 4]])
REAL = WHOLE / 2.0
X = torch.randn(SIZE, 2, 4, 8, generator=torch.Generator().manual_seed(0))


def equals_a_loop(function, *inputs):
    assert_close(vmap(function)(*inputs), torch.stack([function(*one) for one in zip(*inputs, strict=True)]))


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (partial(angles, frequencies=frequencies(8)), [REAL]),
        (partial(sinusoidal, dim=8), [REAL]),
        (rotate, [X, angles(REAL, frequencies(8))]),
        (rotate_fast, [X, angles(REAL, frequencies(8))]),
        (partial(rotate_fast, angles=angles(REAL[0], frequencies(8))), [X]),
        (partial(convert, layout="half"), [X]),
        (bucket, [WHOLE - 4]),
        (partial(as_index, length=10), [WHOLE]),
        (partial(cosines, dim=8), [REAL, REAL + 1]),
        (key_term, [X, X[:, 0]]),
        (causal_mask, [REAL, REAL + 1]),
        (partial(interpolate, factor=2), [REAL]),
        (from_padding, [WHOLE > 1]),
        (from_segments, [WHOLE]),
    ],
    ids=lambda x: getattr(x, "func", x).__name__ if callable(x) else "",
)
def test_pure_functions(function, inputs):
    equals_a_loop(function, *inputs)


@pytest.mark.parametrize("bias", [T5Bias(2), ALiBi(2), KERPLE(2)], ids=lambda bias: type(bias).__name__)
def test_a_bias_by_offset_and_head(bias):
    equals_a_loop(bias.at, WHOLE[:, 0] - 4, torch.tensor([0, 1, 1]))


def test_attention(encoding, place):
    qkv, positions = torch.randn(3, SIZE, 1, 2, 4, 8).double(), place(REAL.floor())
    equals_a_loop(partial(attention_weights, encoding=encoding), *qkv[:2], positions, positions)
    with torch.no_grad():
        equals_a_loop(partial(attend, encoding=encoding), *qkv, positions, positions)


def test_embeddings(encoding, place):
    equals_a_loop(encoding.embed, torch.randn(SIZE, 1, 4, 16).double(), place(REAL.floor()))


def test_bad_values_are_seen():
    with pytest.raises(ValueError, match="positions must be finite; got nan"):
        vmap(as_float)(REAL * torch.nan)
    with pytest.raises(ValueError, match="positions must lie in 0 … 8, the rows of the table; got 9"):
        vmap(partial(as_index, length=9))(WHOLE)


def test_packed_texts_whose_positions_alone_vary():
    layer, segments = Attention(8, 2, RoPE(4), causal=True), torch.arange(2 * WORTHWHILE) // WORTHWHILE
    x = torch.randn(1, 2 * WORTHWHILE, 8)
    positions = torch.stack([start + from_segments(segments) for start in (0, 5)])
    equals_a_loop(lambda p: layer(x, p, segments=segments), positions)
