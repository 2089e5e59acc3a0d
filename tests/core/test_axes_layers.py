"""Layers whose positions have axes: masks count tokens, causal is by their order, and caches take pictures and words."""

import pytest
import torch
from torch.testing import assert_close

from d2lpos import Attention, RoPE, Transformer
from d2lpos.positions import cells, next_positions
from d2lpos.transformer.cache import Cache, crop, rebase, reorder
from d2lpos.transformer.masks import Mask
from tests.core.conftest import GRIDS

TURNS = ("rope, two axes", "mixed", "m-rope")
ALL = pytest.mark.parametrize("encoding", [pytest.param(GRIDS[name], id=name) for name in TURNS])


def row(encoding):
    """Three words, a picture of 2 × 3 cells and three more words; (12, axes)."""
    axes = encoding.axes
    words = torch.arange(3)[:, None].expand(3, axes)
    picture = cells(2, 3) + 3
    if axes == 3:
        picture = torch.cat([torch.full((6, 1), 3), picture], dim=-1)
    places = torch.cat([words, picture])
    return torch.cat([places, next_positions(places, 3, axes)])


def model(encoding):
    return Transformer(7, 3, dim=16, heads=2, encoding=encoding, causal=True).double()


TOKENS = torch.tensor([[1, 5, 2, 0, 3, 6, 4, 1, 1, 0, 2, 5], [0, 0, 6, 1, 2, 5, 5, 3, 2, 4, 6, 1]])


@ALL
def test_pictures_of_two_sizes_in_a_batch_are_read_as_each_alone(encoding):
    layer = Attention(16, 2, encoding()).double()
    places = torch.zeros(2, 12, layer.encoding.axes, dtype=torch.int64)
    places[0, :, -2:], places[1, :6, -2:] = cells(3, 4), cells(2, 3)
    real = torch.tensor([[True] * 12, [True] * 6 + [False] * 6])
    x = torch.randn(2, 12, 16, dtype=torch.float64)
    for mask in (real[:, None, :].expand(2, 12, 12), real[:, None, None, :]):
        y = layer(x, places, mask)
        assert_close(y[0], layer(x[:1], places[0])[0])
        assert_close(y[1, :6], layer(x[1:, :6], places[1, :6])[0])


@ALL
def test_causal_is_by_the_order_of_tokens(encoding):
    net, order = model(encoding()), torch.arange(12)
    places = row(net.encoding)
    plain = Attention(16, 2, net.encoding)
    x = torch.randn(2, 12, 16)
    causal = Attention(16, 2, net.encoding, causal=True)
    causal.load_state_dict(plain.state_dict())
    assert_close(causal(x, places), plain(x, places, order <= order[:, None]))
    assert Mask(places, axes=net.encoding.axes).in_order
    assert Mask(places[-1:], places, axes=net.encoding.axes).everything


@ALL
@pytest.mark.parametrize("kind", [{}, {"capacity": 2}, {"rotated": True, "capacity": 2}], ids=str)
@torch.no_grad()
def test_decoding_pictures_and_words_equals_one_pass(encoding, kind):
    net = model([encoding(), None])
    places, steps = row(net.encoding), [(0, 3), (3, 9), (9, 10), (10, 12)]
    for tokens in TOKENS, TOKENS[:1]:
        caches = net.new_caches(**kind)
        got = [net(tokens[:, start:end], places[start:end], caches=caches) for start, end in steps]
        assert_close(torch.cat(got, dim=1), net(tokens, places))


@ALL
@torch.no_grad()
def test_a_cache_of_axes_is_cropped_and_reordered(encoding):
    net = model(encoding())
    places, caches = row(net.encoding), net.new_caches()
    net(TOKENS[:, :9], places[:9], caches=caches)
    net(TOKENS.flip(-1)[:, :2], places[9:11], caches=caches)
    caches = [reorder(crop(cache, 9), torch.tensor([1, 0])) for cache in caches]
    got = net(TOKENS.flip(0)[:, 9:], places[9:], caches=caches)
    assert_close(got, net(TOKENS.flip(0), places)[:, 9:])


def test_a_cache_of_other_axes_is_refused():
    layer = Attention(16, 2, RoPE(8, base=100, axes=2), causal=True)
    with pytest.raises(ValueError, match="cache must"):
        layer(torch.randn(1, 2, 16), torch.zeros(2, 2, dtype=torch.int64), cache=Cache())


@pytest.mark.parametrize("name", ["rope, two axes", "m-rope"])
def test_turned_keys_of_several_axes_are_re_based(name):
    encoding = GRIDS[name]()
    keys, places = torch.randn(1, 2, 12, 8, dtype=torch.float64), row(encoding)
    cache = Cache(encoding.rotate_at(keys, places), keys, places, rotated=True, axes=encoding.axes)
    moved = rebase(cache, places + torch.arange(encoding.axes), encoding)
    assert_close(moved.keys, encoding.rotate_at(keys, places + torch.arange(encoding.axes)))
