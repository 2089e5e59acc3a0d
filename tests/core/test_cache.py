"""Decoding with a cache gives what one pass over the whole text gives."""

from functools import partial

import pytest
import torch
from torch.testing import assert_close

from d2lpos import ALiBi, RoPE, Transformer
from d2lpos.offset.transformer_xl import TransformerXL
from d2lpos.rotary.scaling import dynamic_ntk, linear, llama3, ntk, yarn
from d2lpos.transformer.attention import Attention, attend
from d2lpos.transformer.cache import Cache, crop, evict, rebase, reorder
from d2lpos.transformer.masks import Mask

N = 7
TOKENS = torch.tensor([[1, 5, 2, 0, 3, 6, 4], [0, 0, 6, 1, 2, 5, 5]])
RULES = {
    "linear": partial(linear, factor=4),
    "ntk": partial(ntk, factor=4),
    "dynamic ntk": partial(dynamic_ntk, factor=4, length=4, current=N),
    "yarn": partial(yarn, factor=4, length=4, beta_fast=0.6, beta_slow=0.01),
    "llama3": partial(llama3, factor=4, length=4, low=0.01, high=0.6),
}


def model(encoding, layers=2, **sizes):
    return Transformer(7, 3, dim=16, heads=2, layers=layers, encoding=encoding, causal=True, **sizes).double()


def decode(net, positions, chunks, mask=None, before=lambda end: None, caches=None, **kind):
    """The outputs of all tokens, chunk by chunk; before(end) is called ahead of each chunk."""
    caches, outputs, start = caches or net.new_caches(**kind), [], 0
    for chunk in chunks:
        end = start + chunk
        before(end)
        rows = None if mask is None else mask[..., start:end, :end]
        outputs.append(net(TOKENS[:, start:end], positions[..., start:end], rows, caches))
        start = end
    return torch.cat(outputs, dim=1)


@pytest.mark.parametrize(("chunks", "capacity"), [([3, 1, 2, 1], 0), ([1, 6], 0), ([3, 1, 2, 1], 1), ([3, 1, 2, 1], 4)], ids=str)
@torch.no_grad()
def test_decoding_equals_the_full_pass(encoding, place, chunks, capacity):
    net = model(encoding)
    for positions in place(range(N)), place([[0, 1, 2, 3, 4, 5, 6], [0, 1, 3, 4, 6, 8, 11]]):
        assert_close(decode(net, positions, chunks, capacity=capacity), net(TOKENS, positions))
    if capacity != 1:
        return
    two_kinds = [Cache(rotated=True, capacity=capacity), Cache()]
    assert_close(decode(net, positions, chunks, caches=two_kinds), net(TOKENS, positions))


@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("encoding", ["cope", "fox", "path", "inkling"], indirect=True)
def test_rulers_that_read_the_text_decode_as_they_read(encoding, place, window):
    net, positions = model(encoding, window=window), place(range(N))
    assert_close(decode(net, positions, [3, 1, 2, 1]), net(TOKENS, positions))


def test_a_cache_and_what_it_appends_are_no_views_of_what_came():
    keys, here = torch.ones(1, 2, 3, 8), torch.arange(3)
    first, cache = Cache().append(keys, keys, here), Cache(keys.clone(), keys.clone(), here)
    joined = cache.append(keys[:, :, :1], keys[:, :, :1], torch.tensor([7]))
    keys += 1
    here += 5
    assert isinstance(first, tuple) and first[0].eq(1).all() and first[2].tolist() == cache.positions.tolist() == [0, 1, 2]
    assert joined[2].tolist() == [0, 1, 2, 7] and cache.keys.shape[-2] == 3


def test_unturned_keys_follow_a_change_of_frequencies_and_turned_ones_do_not():
    """One layer's last answer is that of the full pass, even where the rule changed on the way."""
    net, positions = model(RoPE(8), layers=1), torch.arange(N).double()

    def follow(end):
        net.encoding.scaling = partial(RULES["dynamic ntk"], current=end)

    for rotated in False, True:
        by_token = decode(net, positions, [1] * N, before=follow, rotated=rotated)
        off = (by_token - net(TOKENS, positions))[:, -1].abs().max()
        assert off > 1e-4 if rotated else off < 1e-7


# Room, and turned keys


def test_room_is_taken_once_and_doubled():
    cache, x, places = Cache(capacity=4), torch.randn(1, 2, 1, 8), []
    for step in range(9):
        cache.keys, cache.values, cache.positions = cache.append(x + step, x, torch.tensor([step]))
        places.append(cache.keys.data_ptr())
    assert len(set(places[:4])) == len(set(places[4:8])) == 1 and len(set(places)) == 3
    assert_close(cache.keys, torch.cat([x + step for step in range(9)], dim=-2))
    assert cache.buffers["keys"].shape[-2] == 16
    cropped = crop(cache, 2)
    cropped.append(x, x, torch.tensor([2]))
    assert cropped.buffers["keys"].shape[-2] == 4


def test_keys_from_elsewhere_come_into_the_room():
    cache, x = Cache(capacity=9), torch.randn(1, 2, 3, 8)
    cache.keys, cache.values, cache.positions = cache.append(x, x, torch.arange(3))
    cache.keys = x.flip(-2)
    assert_close(cache.append(x, x, torch.arange(3))[0], torch.cat([x.flip(-2), x], dim=-2))


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_turned_keys_serve_while_the_frequencies_stay(rule, rotated):
    net, positions = model(RoPE(8, scaling=rule, rotary=4), kv_heads=1), torch.arange(N).double()
    assert_close(decode(net, positions, [3, 1, 2, 1], rotated=rotated), net(TOKENS, positions))


# Evicting and re-basing


def filled(turned, rope=None, length=9, dtype=torch.float64):
    """A cache of 9 tokens, and the keys as they were before door 2."""
    k, v = torch.randn(2, 2, 2, length, 8, dtype=dtype)
    positions = torch.arange(length) + 3
    keys = rope.rotate(k, k, positions, positions)[1] if turned else k
    return Cache(keys, v, positions, turned), k


def test_what_is_evicted_is_what_a_mask_hides(encoding, place):
    (cache, _), sinks = filled(turned=False), 2
    cache.positions = place(cache.positions)
    q, here = torch.randn(2, 2, 1, 8).double(), place([20])
    fewer = evict(cache, sinks, window=3)
    visible = torch.zeros(1, 9, dtype=torch.bool)
    visible[:, :sinks] = visible[:, -3:] = True
    want = attend(q, cache.keys, cache.values, here, cache.positions, encoding, visible)
    assert_close(attend(q, fewer.keys, fewer.values, here, fewer.positions, encoding), want)
    assert fewer.keys.shape[-2] == sinks + 3 and cache.keys.shape[-2] == 9


@torch.no_grad()
def test_layers_may_keep_different_tokens():
    net, caches = model(ALiBi(2)), [Cache(), Cache()]
    net(TOKENS[:, :6], torch.arange(6), caches=caches)
    caches[1] = evict(caches[1], sinks=0, window=3)
    kept, x, new = [evict(cache, 0, 6) for cache in caches], net.tokens(TOKENS[:, 6:]), torch.tensor([6])
    for block, cache in zip(net.blocks, kept, strict=True):
        x = block(x, new, cache=cache)
    assert_close(net(TOKENS[:, 6:], new, caches=caches), net.head(net.norm(x)))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("encoding", [RoPE(8), TransformerXL(16, heads=2)], ids=["rope", "transformer_xl"])
@torch.no_grad()
def test_a_stream_in_chunks_looks_ahead_to_the_end_of_its_chunk(encoding, layers):
    """Chunks of 3 frames, of which each sees all of its own and of the 2 before: as in one pass with that mask."""
    chunk, left, here, x = 3, 2, torch.arange(15), torch.randn(2, 15, 16)
    for parameter in encoding.parameters():
        torch.nn.init.normal_(parameter)
    stack = [Attention(16, 2, encoding, causal=True) for _ in range(layers)]
    behind = here[:, None] // chunk - here // chunk
    visible, want = Mask(here, allowed=(behind >= 0) & (behind <= left), causal=False), x
    for layer in stack:
        want = layer(want, here, visible)
    caches, got = [Cache() for _ in stack], []
    for new, frames in zip(here.split(chunk), x.split(chunk, dim=1), strict=True):
        for number, layer in enumerate(stack):
            keys = caches[number].append_positions(new)
            frames = layer(frames, new, Mask(new, keys, causal=False), caches[number])
            caches[number] = evict(caches[number], sinks=0, window=left * chunk)
        got.append(frames)
    assert_close(torch.cat(got, dim=1), want, atol=1e-6, rtol=0)


ROPES = {
    "plain": RoPE(8),
    "partial, interleaved": RoPE(8, rotary=4, layout="interleaved"),
    "yarn": RoPE(8, scaling=RULES["yarn"]),
}


@pytest.mark.parametrize("rope", ROPES.values(), ids=ROPES)
@pytest.mark.parametrize(
    "positions", [torch.arange(9), torch.arange(9) * 5.0 - 70, torch.arange(18).view(2, 9)]
)
def test_re_based_keys_are_those_that_turned_there(rope, positions):
    """R(new − old) R(old) k = R(new) k, the attention factor once; and attention sees offsets only."""
    cache, k = filled(True, rope)
    moved = rebase(cache, positions.double(), rope)
    assert_close(moved.keys, rope.rotate(k, k, positions.double(), positions.double())[1])
    assert torch.equal(moved.positions, positions) and moved.rotated
    shift, q = 1000, torch.randn(2, 2, 1, 8).double()
    there = rebase(cache, cache.positions + shift, rope).keys
    near, far = (rope.rotate_at(q, torch.tensor([p]).double()) for p in (12, 12 + shift))
    assert_close(far @ there.mT, near @ cache.keys.mT, atol=1e-4, rtol=0)  # by integers: angles are float32


def test_re_based_keys_that_have_not_turned_stay():
    cache, k = filled(turned=False)
    moved = rebase(cache, torch.arange(9), RoPE(8))
    assert moved.keys is k and moved.positions.tolist() == list(range(9)) and cache.positions[0] == 3
    turned = Cache(k, k, torch.arange(9), rotated=True)
    assert rebase(turned, torch.arange(9) + 5, ALiBi(2)).keys is k  # of an encoding that does not turn


def test_many_turns_are_lost_in_the_last_digits():
    """300 shifts by one and back to the start of the text; what bfloat16 would make of them is why it is refused."""
    rope, k = RoPE(64), torch.randn(1, 1, 50, 64)
    start = torch.arange(50) + 300
    cache = Cache(rope.rotate_at(k, start), k, start, rotated=True)
    half = cache.keys.bfloat16()
    for _ in range(300):
        cache = rebase(cache, cache.positions - 1, rope)
        half = rope.rotate_further(half, torch.full((50,), -1))
    want = rope.rotate_at(k, torch.arange(50))
    assert (cache.keys - want).norm() / want.norm() < 1e-5
    assert (half - want).norm() / want.norm() > 0.05


KINDS = pytest.mark.parametrize("kind", [{}, {"capacity": 3}, {"rotated": True, "capacity": 1}], ids=str)


@KINDS
@torch.no_grad()
def test_behind_an_eviction_a_draft_is_taken_back_and_nothing_before_it(kind):
    net, here = model(RoPE(8)), torch.arange(N)
    caches = net.new_caches(**kind)
    net(TOKENS[:, :4], here[:4], caches=caches)
    caches = [reorder(evict(cache, sinks=1, window=2), torch.tensor([0, 1])) for cache in caches]
    start = [cache.keys.clone() for cache in caches]
    net(TOKENS[:, 4:6], here[4:6], caches=caches)
    assert all(map(torch.equal, start, [crop(cache, 3).keys for cache in caches]))
    for cache in (*caches, crop(caches[0], 4)):
        with pytest.raises(ValueError, match="length must be at least 3, the tokens that an eviction left; got 2"):
            crop(cache, 2)


def test_an_eviction_of_nothing_leaves_all_to_be_cropped():
    keys = torch.randn(1, 2, 5, 8)
    whole = evict(Cache(keys, keys, torch.arange(5)), sinks=1, window=4)
    assert crop(whole, 2).positions.tolist() == [0, 1]


def test_a_line_of_positions_as_long_as_the_batch_is_not_taken_for_rows():
    x = torch.randn(2, 1, 2, 8)
    assert reorder(Cache(x, x, torch.tensor([3, 5])), torch.tensor([1, 0])).positions.tolist() == [3, 5]
    assert reorder(Cache(x, x, torch.tensor([[3, 5]])), torch.tensor([1, 0])).positions.tolist() == [[3, 5]]  # nor is one row
