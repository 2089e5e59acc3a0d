"""Laws of reuse, over all kinds of layers: what is read again gives the whole reading if and only if the law says so."""

import pytest
import torch

from d2lpos.lab.hybrid import Hybrid
from d2lpos.transformer import resume_at

EXACT, APART = 1e-12, 1e-6
OLD = torch.randint(32, (28,), generator=torch.Generator().manual_seed(0))
KINDS = ["full", "latent", "indexer", "state", "window", "chunk", "convolution"]


def drawn(seed):
    """Layers, from 1 to 4, and a place, drawn by seed; every second draw has no state."""
    draw = torch.Generator().manual_seed(seed)

    def number(low, high):
        return int(torch.randint(low, high, (), generator=draw))

    kinds = [kind for kind in KINDS if seed % 2 or kind != "state"]
    names = [kinds[number(0, len(kinds))] for _ in range(number(1, 5))]
    return [name if name in KINDS[:4] else (name, number(1, 6)) for name in names], number(1, 20)


def errors(layers, place, checkpoints=(), erase=False, starts=None):
    """By start: how far the tokens behind `place` are from a whole reading when all from `start` on is read again."""
    hybrid = Hybrid(layers, erase)
    new = torch.cat([OLD[:place], OLD[:6].flip(0)])
    memory, whole = hybrid.read(OLD)[1], hybrid.read(new)[0][place:]
    apart = {}
    for start in range(place + 1) if starts is None else starts:
        checkpoint = hybrid.read(OLD[:start])[1] if start and start in checkpoints else None
        y, _ = hybrid.read(new[start:], start, hybrid.cut(memory, place, checkpoint))
        apart[start] = (y[place - start :] - whole).abs().max().item()
    return apart


@pytest.mark.parametrize("seed", range(8))
def test_reading_again_is_exact_from_where_the_law_says_and_from_nowhere_later(seed):
    layers, place = drawn(seed)
    checkpoints, first = [0, place // 2], resume_at(layers, place)
    assert resume_at(layers, place, checkpoints) == max(first, place // 2)
    for start, error in errors(layers, place, checkpoints, erase=seed > 3).items():
        exact = start <= first or start in checkpoints
        assert error < EXACT if exact else error > APART, (layers, place, start, first)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_by_itself(kind):
    layer = kind if kind in KINDS[:4] else (kind, 5)
    first = {"state": 0, "window": 9, "chunk": 10, "convolution": 9}.get(kind, 13)
    assert resume_at([layer], 13) == first
    apart = errors([layer], 13, starts=[first, min(first + 1, 13)])
    assert apart[first] < EXACT
    assert first == 13 or apart[first + 1] > APART


def test_windows_reach_back_to_the_first_token_and_no_further():
    """Five of them go back by 20 tokens, where there are 13; a chunk and a convolution behind them change nothing."""
    for more in ([], [("chunk", 5)], [("convolution", 5)]):
        assert resume_at([*more, *[("window", 5)] * 5], 13) == 0


def test_windows_add_up_and_rows_that_are_written_anew_spoil_the_text():
    for layers, first in ([("chunk", 4), ("window", 3)], 4), ([("window", 3), ("chunk", 4)], 6):  # the last one asks first
        apart = errors(layers, 9, starts=[first, first + 1])
        assert resume_at(layers, 9) == first and apart[first] < EXACT and apart[first + 1] > APART
    layers, place = [("window", 4), "full", ("window", 6)], 15
    assert place - resume_at(layers, place) == 3 + 5
    hybrid, new = Hybrid(layers), torch.cat([OLD[:15], OLD[:6]])
    memory, whole = hybrid.read(OLD)[1], hybrid.read(new)[0][place:]
    y, _ = hybrid.read(new[7:], 7, hybrid.cut(memory, 7))  # the full layer's rows 7 to 14 are made of inexact inputs
    assert (y[place - 7 :] - whole).abs().max() > APART


@pytest.mark.parametrize(("tokens", "every"), [(64, 1), (64, 4), (4096, 256)])
def test_memory_times_mean_is_a_law(tokens, every):
    places = torch.arange(tokens)
    again = [place - resume_at(["state"], place, [place // every * every]) for place in places.tolist()]
    assert again == (places % every).tolist()
    assert tokens / every * sum(again) / tokens == tokens / 2 * (1 - 1 / every)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((["window"], 3), ValueError, "layers without a size must be full, latent, indexer or state; got 'window'"),
        (([("full", 3)], 3), ValueError, "layers with a size must be window, chunk, convolution; got 'full'"),
        (([("window", 0)], 3), ValueError, "window must be positive; got 0"),
        (([3], 3), TypeError, "layers must be names, or pairs of a name and a size; got 3"),
        ((3, 3), TypeError, "layers must be a list; got 3"),
        ((["state"], 3, 2), TypeError, "checkpoints must be a list; got 2"),
        ((["full"], -1), ValueError, "place must not be negative; got -1"),
        ((["full"], 3.5), TypeError, "place"),
        ((["state"], 3, [-2]), ValueError, "checkpoints must not be negative; got -2"),
    ],
)
def test_bad_calls(arguments, error, words):
    with pytest.raises(error, match=words):
        resume_at(*arguments)
