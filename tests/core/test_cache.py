"""Decoding with a cache gives what one pass over the whole text gives."""

from functools import partial

import pytest
import torch
from torch.testing import assert_close

from d2lpos import RoPE, Transformer
from d2lpos.attention import segment_mask
from d2lpos.cache import Cache
from d2lpos.placing import from_padding
from d2lpos.scaling import dynamic_ntk, linear, llama3, ntk, yarn

N = 7
TOKENS = torch.tensor([[1, 5, 2, 0, 3, 6, 4], [0, 0, 6, 1, 2, 5, 5]])
RULES = {
    "linear": partial(linear, factor=4),
    "ntk": partial(ntk, factor=4),
    "dynamic ntk": partial(dynamic_ntk, factor=4, length=4, current=N),
    "yarn": partial(yarn, factor=4, length=4, beta_fast=0.6, beta_slow=0.01),
    "llama3": partial(llama3, factor=4, length=4, low=0.01, high=0.6),
}
CHUNKS = pytest.mark.parametrize("chunks", [[1] * N, [N], [3, 1, 2, 1], [1, 6]], ids=str)


def model(encoding, layers=2):
    return Transformer(7, 3, dim=16, heads=2, layers=layers, encoding=encoding, causal=True).double()


def decode(net, positions, chunks, mask=None, before=lambda end: None):
    """The outputs of all tokens, chunk by chunk; before(end) is called ahead of each chunk."""
    caches, outputs, start = net.new_caches(), [], 0
    for chunk in chunks:
        end = start + chunk
        before(end)
        seen = None if mask is None else mask[..., start:end, :end]
        outputs.append(net(TOKENS[:, start:end], positions[..., start:end], seen, caches))
        start = end
    return torch.cat(outputs, dim=1)


@CHUNKS
def test_decoding_equals_the_full_pass(encoding, place, chunks):
    net = model(encoding)
    for positions in place(range(N)), place([[0, 1, 2, 3, 4, 5, 6], [0, 1, 3, 4, 6, 8, 11]]):
        assert_close(decode(net, positions, chunks), net(TOKENS, positions))


def test_positions_may_be_counted_up_in_place(encoding, place):
    net, here = model(encoding), place([0])
    caches, outputs = net.new_caches(), []
    for t in range(N):
        outputs.append(net(TOKENS[:, t : t + 1], here, caches=caches))
        here += 1
    assert_close(torch.cat(outputs, dim=1), net(TOKENS, place(range(N))))


@CHUNKS
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_decoding_equals_the_full_pass_under_every_scaling_rule(rule, chunks):
    net, positions = model(RoPE(8, scaling=rule)), torch.arange(N).double()
    full = net(TOKENS, positions)
    assert_close(decode(net, positions, chunks), full)
    net.encoding.scaling = RoPE(8).scaling
    assert (net(TOKENS, positions) - full).abs().max() > 1e-4


def test_decoding_with_left_padding(encoding, place):
    net = model(encoding)
    tokens = torch.tensor([[False, False, True, True, True, True, True], [True] * N])
    positions, mask = place(from_padding(tokens)), segment_mask(tokens, tokens)
    assert_close(decode(net, positions, [4, 1, 1, 1], mask), net(TOKENS, positions, mask))


def test_dynamic_ntk_that_follows_the_length_depends_on_history():
    """Its first answers come before the length is known; fixed from the start, they would be others."""
    net, positions = model(RoPE(8)), torch.arange(N).double()

    def follow(end):
        net.encoding.scaling = partial(RULES["dynamic ntk"], current=end)

    by_token = decode(net, positions, [1] * N, before=follow)
    by_chunk = decode(net, positions, [4, 3], before=follow)
    full = decode(net, positions, [N], before=follow)
    assert (by_token - full)[:, 4:6].abs().amax(dim=(0, 2)).min() > 1e-4
    assert (by_token - by_chunk)[:, -1].abs().max() > 1e-5


def test_unturned_keys_follow_a_change_of_frequencies():
    """One layer's last answer is that of the full pass, even where the rule changed on the way."""
    net, positions = model(RoPE(8), layers=1), torch.arange(N).double()

    def follow(end):
        net.encoding.scaling = partial(RULES["dynamic ntk"], current=end)

    by_token = decode(net, positions, [1] * N, before=follow)
    assert_close(by_token[:, -1], net(TOKENS, positions)[:, -1])


def test_a_cache_stays_as_it_is_where_new_tokens_join():
    cache, x = Cache(*torch.zeros(2, 1, 2, 3, 8), torch.arange(3)), torch.ones(1, 2, 1, 8)
    keys, values, positions = joined = cache.joined(x, 2 * x, torch.tensor([7]))
    assert isinstance(joined, tuple)
    assert keys.sum() == 16 and values.sum() == 32 and positions.tolist() == [0, 1, 2, 7]
    assert not cache.keys.any() and not cache.values.any() and cache.positions.tolist() == [0, 1, 2]
