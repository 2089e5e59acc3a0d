"""Nobody waits for the device: values are read before they get there, and a step of decoding follows from the cache.

On the meta device each read raises, once it is no longer treated as a device without values.
"""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import Tensor

from d2lpos import ALiBi, Attention, RoPE, Transformer
from d2lpos.bias.base import distance
from d2lpos.positions import checks, looks, next_positions
from d2lpos.positions.checks import own_copy
from d2lpos.positions.looks import extent, none_later, recall, remember
from d2lpos.transformer.cache import Cache, crop, evict

ALSO = ("rope, values", "cope", "fox", "path", "inkling")

TOKENS, HERE = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]), torch.arange(4)


@pytest.fixture
def readable(monkeypatch):
    """The meta device counts as one whose values can be read, so that a read raises."""
    hidden = torch.compiler.is_compiling
    for module in checks, looks:
        monkeypatch.setattr(module, "values", lambda x: None if hidden() else torch.func.debug_unwrap(x))


def on_meta(encoding, **settings):
    return Transformer(5, 2, 16, 2, 2, encoding.float(), causal=True, **settings).to("meta")


def train_and_decode(model, here, axes=1):
    """A training step, a prompt and three steps of one token."""
    model(TOKENS, here).sum().backward()
    caches = model.new_caches()
    with torch.no_grad():
        model(TOKENS, here, caches=caches)
        for _ in range(3):
            model(TOKENS[:, :1], next_positions(caches[0].positions, 1, axes), caches=caches)
    assert caches[-1].positions.shape[-1 if axes == 1 else -2] == 7


def test_the_meta_device_refuses_a_read(readable):
    with pytest.raises((RuntimeError, NotImplementedError)):
        extent(HERE.to("meta"))


def test_no_encoding_reads_what_is_on_the_device(readable, encoding):
    train_and_decode(on_meta(encoding), HERE)


def test_a_layer_by_itself_does_not(readable):
    layer = Attention(16, 2, RoPE(8), causal=True).to("meta")
    assert layer(torch.zeros(2, 4, 16, device="meta"), HERE).shape == (2, 4, 16)


def test_blocks_of_a_long_bias_do_not(readable):
    long = torch.arange(2100)
    on_meta(ALiBi(2))(torch.zeros(1, 2100, dtype=torch.int64), long).sum().backward()


@pytest.fixture
def reads(monkeypatch):
    """A list that grows with each value that is handed to Python."""
    grown = []
    for name in "tolist", "item", "__bool__", "__int__", "__float__":
        read = getattr(Tensor, name)
        monkeypatch.setattr(Tensor, name, lambda x, read=read: grown.append(x) or read(x))
    equal = torch.equal
    monkeypatch.setattr(torch, "equal", lambda a, b: grown.append(a) or equal(a, b))
    return grown


def test_one_look_at_tokens_and_one_at_positions_and_none_at_those_that_follow(reads, encoding):
    model = Transformer(5, 2, 16, 2, 3, encoding.float(), causal=True)
    caches = model.new_caches()
    reads.clear()
    with torch.no_grad():
        model(TOKENS, HERE, caches=caches)
        at_the_prompt = len(reads)
        for _ in range(2):
            reads.clear()
            model(TOKENS[:, :1], next_positions(caches[0].positions, 1), caches=caches)
            assert len(reads) == 1
    assert at_the_prompt == 2


@pytest.mark.parametrize("change", [
    lambda x: x.add_(2), lambda x: x.__setitem__(0, 2**25), lambda x: x[1:].mul_(0), lambda x: x.resize_(2),
])
def test_what_somebody_writes_into_is_looked_at_again(change):
    positions = own_copy("positions", HERE)
    assert recall(positions) is not None and extent(positions) == (0, 3)
    change(positions)
    assert recall(positions) is None
    assert extent(positions) == (positions.min().item(), positions.max().item())


def test_the_callers_own_positions_stay_theirs():
    model = Transformer(5, 2, 16, 2, 2, RoPE(8), causal=True)
    here, caches = torch.arange(4), model.new_caches()
    with torch.no_grad():
        model(TOKENS, here, caches=caches)
        here += 1
        after = next_positions(caches[0].positions, 1)
        model(TOKENS[:, :1], after, caches=caches)
        after += 1
        numbers = torch.from_numpy(counted := np.array([5]))
        model(TOKENS[:, :1], numbers, caches=caches)
        counted += 2**60
    assert caches[0].positions.tolist() == [0, 1, 2, 3, 4, 5]


def test_copies_and_files_of_a_cache_know_what_is_true_of_them(tmp_path):
    cache = Cache(*torch.zeros(2, 1, 2, 4, 8), HERE)
    torch.save(cache.positions, tmp_path / "positions")
    for positions in deepcopy(cache).positions, torch.load(tmp_path / "positions"):
        positions += 2**25
        assert extent(positions) == (2**25, 2**25 + 3)


def test_what_is_left_of_a_cache_is_looked_at():
    cache = Cache(*torch.zeros(2, 1, 2, 4, 8), torch.tensor([4, 1, 9, 3]))
    for left, (low, high) in (crop(cache, 2), (1, 4)), (evict(cache, 0, 1), (3, 3)), (evict(cache, 1, 1), (3, 4)):
        assert extent(left.positions) == (low, high)
        assert extent(after := next_positions(left.positions, 2)) == (after.min().item(), after.max().item())


def test_ragged_rows_are_told_apart():
    """A row whose new token stands before another row's keys sees all keys of its own."""
    positions = torch.tensor([[0, 1], [5, 6]])
    model = Transformer(5, 2, 16, 2, 2, ALiBi(2), causal=True)
    caches = model.new_caches()
    with torch.no_grad():
        model(TOKENS[:, :2], positions, caches=caches)
        after = next_positions(caches[0].positions, 1)
        assert after.tolist() == [[2], [7]] and extent(after)[0] <= 2
        assert none_later(caches[0].positions, after)
        step = model(TOKENS[:, 2:3], after, caches=caches)
        whole = model(TOKENS[:, :3], torch.cat([positions, after], dim=1))
    torch.testing.assert_close(step, whole[:, -1:])


@pytest.mark.parametrize(("here", "there"), [
    ([5], [3, 4, 9]), ([0, 7], [-3, 2]), ([[0, 1], [50, 51]], [[2, 3], [60, 61]]), ([0], [2**24]), ([2**24 - 1], [-1]),
    ([[0], [2**25]], [[1], [2**25 + 1]]),
])
def test_offsets_lie_where_their_positions_say_and_those_that_are_far_are_looked_at(here, there):
    here, there = torch.tensor(here), torch.tensor(there)
    offset = checks.offsets(own_copy("q_positions", here), own_copy("k_positions", there))
    look, known = recall(offset), checks.offsets(here, there)
    assert torch.equal(offset, known)
    assert look is None or look.low <= known.min() and known.max() <= look.high < 2**24
    if here.dim() == 1 and known.abs().max() < 2**24:
        assert look[:2] == (known.min(), known.max())
    assert distance(offset).dtype == distance(known).dtype


def test_what_follows_a_cache_of_later_positions_is_looked_at_with_them():
    cache, one = Cache(*torch.zeros(2, 1, 2, 2, 8), torch.tensor([70, 80])), torch.zeros(1, 2, 1, 8)
    *_, positions = cache.append(one, one, torch.tensor([3]))
    assert extent(positions) == (3, 80)


def test_a_part_may_index_a_table_that_the_whole_may_not():
    whole = own_copy("positions", torch.tensor([1, 2, 9]))
    part = remember(whole[:2], recall(whole))
    assert checks.as_index(part, length=3) is part
    with pytest.raises(ValueError, match="got 2"):
        checks.as_index(part, length=2)
