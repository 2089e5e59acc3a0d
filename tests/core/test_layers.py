"""Layers that differ: an encoding, a window and a temperature for each, and one look at the positions per window."""

from functools import partial

import pytest
import torch
from torch.nn.functional import layer_norm
from torch.testing import assert_close

from d2lpos import ALiBi, Attention, Encoding, RoPE, Sinusoidal, Transformer
from d2lpos.transformer import Mask, segment_mask, window_mask
from d2lpos.transformer.temperature import multiply, steps

N = 9
TOKENS = torch.tensor([[1, 5, 2, 0, 3, 6, 4, 4, 1], [0, 0, 6, 1, 2, 5, 5, 3, 2]])
HERE = torch.arange(N)
heat = partial(steps, length=4, scale=0.5, counted=True)


def model(encoding, causal=True, **more):
    torch.manual_seed(0)
    return Transformer(7, 3, dim=16, heads=2, layers=3, encoding=encoding, causal=causal, **more).double()


PATTERNS = {
    "RoPE in windows, nothing in the global layer": {
        "encoding": [RoPE(8), RoPE(8), None],
        "window": [3, 3, None],
    },
    "two bases": {"encoding": (RoPE(8), RoPE(8, base=1e6), RoPE(8)), "window": (3, None, 5)},
    "ALiBi beside none": {"encoding": [ALiBi(2), None, ALiBi(2)]},
    "sinusoids, then RoPE": {"encoding": [Sinusoidal(16), RoPE(8), None]},
    "a window for all": {"encoding": RoPE(8), "window": 4},
    "a temperature where nothing turns": {
        "encoding": [RoPE(8), None, RoPE(8)],
        "temperature": [None, heat, None],
    },
}
each_pattern = pytest.mark.parametrize("arguments", PATTERNS.values(), ids=PATTERNS)


def listed(arguments, name, default=None):
    value = arguments.get(name, default)
    return list(value) if isinstance(value, list | tuple) else [value] * 3


@pytest.mark.parametrize(
    "places", [HERE, torch.tensor([0, 1, 2, 4, 5, 9, 8, 12, 30])], ids=["plain", "with gaps"]
)
@each_pattern
def test_written_out(arguments, places):
    net = model(**arguments)
    encodings = [one or Encoding() for one in listed(arguments, "encoding")]
    windows, temperatures = listed(arguments, "window"), listed(arguments, "temperature")

    def norm(x, layer):
        return layer_norm(x, (16,), layer.weight, layer.bias)

    x = encodings[0].embed(net.tokens.weight[TOKENS], places)
    for block, encoding, window, temperature in zip(
        net.blocks, encodings, windows, temperatures, strict=True
    ):
        parts = block.attention.project(norm(x, block.norm1)).unflatten(-1, (6, 8)).transpose(1, 2)
        q, k, v = parts.split(2, dim=1)
        q = q if temperature is None else multiply(q, places, temperature)
        turned_q, turned_k = encoding.rotate(q, k, places, places)
        logits = turned_q @ turned_k.mT / 8**0.5
        bias = encoding.score(q, k, places, places)
        logits = logits if bias is None else logits + bias
        far = places[:, None] - places
        hidden = (far < 0) if window is None else (far < 0) | (far >= window)
        y = logits.masked_fill(hidden, -torch.inf).softmax(-1) @ v
        x = x + block.attention.out(y.transpose(1, 2).flatten(2))
        x = x + block.feed_forward(norm(x, block.norm2))
    assert_close(net(TOKENS, places), net.head(norm(x, net.norm)))


@each_pattern
def test_a_cache_for_each_layer_gives_what_the_whole_text_gives(arguments):
    net = model(**arguments)
    caches = net.new_caches()
    got = [net(TOKENS[:, part], HERE[part], caches=caches) for part in HERE.split([4, 1, 3, 1])]
    assert_close(torch.cat(got, dim=1), net(TOKENS, HERE))


@each_pattern
def test_packed_texts_are_the_texts_one_by_one(arguments):
    net = model(**arguments)
    segments, places = torch.tensor([0] * 4 + [1] * 5), torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 4])
    apart = torch.cat([net(TOKENS[:, :4], HERE[:4]), net(TOKENS[:, 4:], HERE[:5])], dim=1)
    for form in {"segments": segments}, {"mask": segment_mask(segments, segments)}:
        assert_close(net(TOKENS, places, **form), apart)
    assert_close(net(TOKENS, places, Mask(places, segments=segments)), apart)


def test_a_window_that_no_text_fills_needs_no_pairs():
    assert Mask(HERE, window=N).in_order and Mask(HERE, causal=False, window=N).everything
    assert not Mask(HERE, window=N - 1).in_order and not Mask(HERE, causal=False, window=N - 1).everything
    assert Mask(HERE[-1:], HERE, window=N).everything and not Mask(HERE[-1:], HERE, window=N - 1).everything
    segments, places = torch.tensor([0] * 40 + [1] * 40), torch.arange(40).repeat(2)
    assert Mask(places, segments=segments, window=40).doc_lens == (40, 40)
    assert Mask(places, segments=segments, window=39).doc_lens is None


@pytest.mark.parametrize("causal", [False, True])
def test_a_window_is_a_rule_of_distances(causal):
    far = (HERE[:, None] - HERE).abs()
    want = far < 3
    assert torch.equal(window_mask(HERE, HERE, 3), want)
    assert torch.equal(
        Mask(HERE, causal=causal, window=3).dense, want & (HERE <= HERE[:, None]) if causal else want
    )
    assert torch.equal(window_mask(HERE.to(torch.uint8), HERE.to(torch.uint8), 3), want)


def test_the_narrower_window_holds():
    wide, narrow = Mask(HERE, window=5), Mask(HERE, window=2)
    assert wide.with_window(None) is wide.with_window(5) is wide.with_window(8) is wide
    assert torch.equal(wide.with_window(2).dense, narrow.dense) and narrow.with_window(5) is narrow
    assert torch.equal(Mask(HERE, causal=False).with_window(2).dense, window_mask(HERE, HERE, 2))
    layer, x = Attention(16, 2, causal=True, window=2), torch.randn(1, N, 16)
    assert_close(layer(x, HERE, wide), layer(x, HERE))
