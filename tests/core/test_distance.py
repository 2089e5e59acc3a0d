"""What is counted between a query and a key."""

import pytest
import torch
from torch.testing import assert_close

from d2lpos import Attention, Cache, Transformer
from d2lpos.content import CoPE, FoX, PaTH
from d2lpos.content.distance import between, gated_distance
from d2lpos.transformer.cache import crop, evict, rebase, reorder

PLACES = {
    "in order": [0, 1, 2, 3, 4, 5],
    "with gaps": [0, 1, 7, 8, 9, 40],
    "shuffled": [4, 0, 5, 2, 1, 3],
    "equal ones": [0, 1, 1, 1, 2, 2],
    "by sequence": [[3, 1, 0, 2, 5, 4], [0, 0, 1, 0, 1, 1]],
    "fractions": [0.5, -1.25, 0.25, 3, 0.5, 2],
}

MAKERS = {
    "fox": lambda: FoX(16, 2),
    "path": lambda: PaTH(16, 2),
    "cope": lambda: CoPE(8, 4),
}


def by_hand(gates, here, there, visible, own):
    """The sum as it is said: a loop over pairs, and the tokens between."""
    total = torch.zeros(2, 3, len(here[0]), len(there[0]), dtype=torch.float64)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, total.shape)).tolist():
        for t in range(len(there[0])):
            behind = there[b, t] > there[b, j] or own and there[b, t] == there[b, j]
            if behind and there[b, t] <= here[b, i] and visible[b, i, t]:
                total[b, h, i, j] += gates[b, h, i, t]
    return total


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("mask", ["all", "some"])
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_a_sum_over_the_tokens_between(places, mask, own):
    there = torch.tensor(places)
    here, lines = there[..., 2:], there.expand(2, -1)
    gates = torch.rand(2, 3, 4, 6, dtype=torch.float64)
    visible = torch.rand(2, 4, 6) > 0.4 if mask == "some" else torch.ones(2, 4, 6, dtype=torch.bool)
    want = by_hand(gates, lines[:, 2:], lines, visible, own)
    assert_close(gated_distance(gates, here, there, None if mask == "all" else visible, own), want)


def test_far_along_nothing_is_lost():
    """The sum begins at the query: a hundred thousand tokens before it do not round it away."""
    gates = torch.full((1, 1, 1, 100_000), 0.1)
    at = torch.arange(100_000)
    assert gated_distance(gates, at[-1:], at)[0, 0, 0, -2].item() == pytest.approx(0.1, rel=1e-6)


def test_what_counts_is_seen_and_not_ahead():
    here, mask = torch.tensor([1, 3]), torch.tensor([[True, False, True, True], [True, False, True, True]])
    want = torch.tensor([[True, False, False, False], [True, False, True, True]])
    assert torch.equal(between(here, torch.arange(4), mask), want)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_cache_that_evicts_forgets_what_it_read(make):
    """What follows sees what a mask over the tokens that have gone would show, at any positions in their order."""
    layer, cache, here = Attention(16, 2, make(), causal=True).double(), Cache(), torch.arange(9)
    x = torch.randn(1, 9, 16, dtype=torch.float64)
    layer(x[:, :8], here[:8], cache=cache)
    left = evict(cache, sinks=2, window=3)
    gone = (here >= 2) & (here < 5)
    want = layer(x[:, 8:], here[8:], ~gone[None], cache)
    assert_close(layer(x[:, 8:], here[8:], cache=evict(left, sinks=2, window=9)), want)
    moved = rebase(left, torch.arange(5), layer.encoding)
    assert_close(layer(x[:, 8:], torch.tensor([5]), cache=moved), want)


@pytest.mark.parametrize("make", [MAKERS["fox"], MAKERS["path"]], ids=["fox", "path"])
def test_compiled_it_is_the_same(make, graphs):
    net = Transformer(
        7, 3, dim=16, heads=2, encoding=[make(), None], window=[3, None], causal=True, sinks=True
    )
    tokens, here = torch.randint(7, (2, 9)), torch.arange(9)
    assert_close(torch.compile(net, backend=graphs.count, fullgraph=True)(tokens, here), net(tokens, here))
    assert len(graphs) == 1


@pytest.mark.parametrize("make", [lambda: FoX(16, 2), lambda: CoPE(8, 32), lambda: PaTH(16, 2)], ids=["fox", "cope", "path"])
@torch.no_grad()
def test_more_than_a_block_of_queries_in_order(make):
    """Where positions rise, what a bias needs is made block by block; these need all that lies between."""
    layer, here = Attention(16, 2, make(), causal=True).double(), torch.arange(1030)
    x = torch.randn(1, 1030, 16, dtype=torch.float64)
    assert_close(layer(x, here)[:, :40], layer(x[:, :40], here[:40]))
    assert_close(layer(x, here), layer(x, here, here <= here[:, None]))


@pytest.mark.parametrize("make", [MAKERS["fox"], MAKERS["path"]], ids=["fox", "path"])
@torch.no_grad()
def test_what_was_read_is_cropped_and_reordered_with_its_keys(make):
    layer, here, cache = Attention(16, 2, make(), causal=True).double(), torch.arange(7), Cache()
    x, rows = torch.randn(2, 7, 16, dtype=torch.float64), torch.tensor([1, 1, 0])
    layer(x[:, :3], here[:3], cache=cache)
    layer(x.flip(1)[:, :2], here[3:5], cache=cache)
    beams = x[rows]
    got = layer(beams[:, 3:], here[3:], cache=reorder(crop(cache, 3), rows))
    assert_close(got, layer(beams, here)[:, 3:])
