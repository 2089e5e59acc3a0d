"""Places on a picture or a ring, and the encodings that read them: by what law, and where the law ends."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from d2lpos import RoPE, ShawKeys, Swin
from d2lpos.bias import BEiT, Decomposed
from d2lpos.input.sinusoids import frequencies
from d2lpos.positions.grid import cells, coordinates
from d2lpos.rotary.mixed import Mixed
from d2lpos.rotary.mrope import MRoPE, blocks
from d2lpos.rotary.scaling import interlaced, ntk, ring

PLACES = cells(3, 4)
Q, K = torch.randn(2, 2, 2, 12, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


# Places


def test_cells_go_line_by_line():
    assert cells(2, 2).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]] and len(cells(3, 5)) == 15


def test_coordinates_are_middles():
    """The mean is 0, and half a cell is left at each border, however many cells there are."""
    for height, width in (1, 1), (3, 4), (16, 7):
        places = coordinates(height, width)
        assert_close(places.mean(0), torch.zeros(2))
        assert_close(places.amax(0), 1 - 1 / torch.tensor([height, width]))
        assert_close(places[0], -places[-1])


# Turns


def test_mixed_frequencies_are_those_of_the_formula():
    """Equation 9 of the paper, as complex numbers."""
    mixed = Mixed(8, heads=2).double()
    omega = mixed.omega.detach().numpy()
    x, places = Q.numpy().copy().view(np.complex128), PLACES.numpy()
    turns = np.einsum("nc, chi -> hni", places, omega)
    truth = torch.from_numpy((x * np.exp(1j * turns)).view(np.float64))
    assert_close(mixed.rotate(Q, K, PLACES.double(), PLACES.double())[0], truth)


def test_mixed_frequencies_begin_as_axial_ones_that_are_turned():
    omega = Mixed(16, heads=3, base=10.0).omega.detach()
    assert_close(omega.norm(dim=0), (10.0 ** -(torch.arange(4) / 4)).repeat(2).expand(3, -1))
    assert_close((omega[..., :4] * omega[..., 4:]).sum(0), torch.zeros(3, 4), atol=1e-6, rtol=0)
    assert not torch.allclose(omega[:, 0], omega[:, 1])


def test_interlaced_frequencies_have_one_row_for_both_axes():
    omega = torch.tensor([8.0, 4, 2, 1])
    pixtral = MRoPE(8, blocks([2, 2]), scaling=lambda _: interlaced(omega))
    turned = pixtral.rotate_at(torch.ones(1, 1, 1, 8, dtype=torch.float64), torch.tensor([[1.0, 100.0]]).double())
    angle = torch.atan2(turned[..., 4:], turned[..., :4]) - torch.pi / 4
    assert_close(angle.flatten().cos(), torch.tensor([8.0, 2, 400, 100]).double().cos())


def test_uneven_axes_have_ladders_of_their_own():
    """The angles of FLUX's 16, 56 and 56 features, pair by pair; and of Cosmos, whose time has a larger base."""
    place = torch.tensor([[1, 63, 40]]).double()
    flux = RoPE(128, axes=[16, 56, 56], layout="interleaved")
    one = torch.ones(1, 1, 1, 128, dtype=torch.float64)
    turned = torch.view_as_complex(flux.rotate_at(one, place).unflatten(-1, (64, 2))).flatten() / (1 + 1j)
    ladders = zip((1, 63, 40), (16, 56, 56), strict=True)
    angle = torch.cat([x * 10_000.0 ** (-torch.arange(0, n, 2).double() / n) for x, n in ladders])
    assert_close(turned, torch.polar(torch.ones_like(angle), angle))
    bases = [10_000 * s ** (n / (n - 2)) for s, n in ((2, 44), (1, 42), (1, 42))]
    cosmos = RoPE(128, base=bases, axes=[44, 42, 42])
    omega, _ = cosmos.scaled()
    here = cosmos.turns(torch.tensor([[4 * 24 / 30, 3, 2]]).double(), omega)[0, 0, [0, 1, 22, 43]]
    assert_close(here.sin(), torch.tensor([-0.0583744, 0.8932684, 0.1411200, 0.9092974]).double(), atol=1e-6, rtol=0)


def test_a_rule_stretches_the_frequencies_of_each_axis_by_themselves():
    rope = RoPE(16, base=[10.0, 100.0], axes=[4, 12], scaling=partial(ntk, factor=4))
    parts = [ntk(frequencies(4, 10.0), 4)[0], ntk(frequencies(12, 100.0), 4)[0]]
    assert_close(rope.scaled()[0], torch.cat(parts))


# Rings


@pytest.mark.parametrize("period", [6, 7, 10, 24])
def test_scores_on_a_ring_stay_when_it_is_rolled(period):
    """A cyclic peptide: which residue is called the first makes no difference. On a line it does."""
    q, k = torch.randn(2, 1, 2, period, 16, dtype=torch.float64, generator=torch.Generator().manual_seed(period))
    first, later = torch.arange(period), (torch.arange(period) + 2) % period
    cyclic, line = RoPE(16, base=100, scaling=partial(ring, period=period)), RoPE(16, base=100)

    def scores(rope, here):
        turned_q, turned_k = rope.rotate(q, k, here, here)
        return turned_q @ turned_k.mT

    assert_close(scores(cyclic, first), scores(cyclic, later))
    assert (scores(line, first) - scores(line, later)).abs().max() > 0.1


def test_a_ring_has_whole_turns_each_its_own_and_a_long_one_is_a_line():
    omega = frequencies(16, 100.0)
    for period in (16, 17, 100):
        turns = ring(omega, period)[0] * period / (2 * torch.pi)
        assert_close(turns, turns.round())
        assert turns[-1].round() == 1 and (turns.diff() < -0.5).all() and turns[0] <= period / 2 + 1e-9
    near = torch.tensor([1.0, 0.08, 0.04])  # 15.9, 1.3 and 0.6 turns
    assert_close(ring(near, 100)[0] * 100 / (2 * torch.pi), torch.tensor([16.0, 2.0, 1.0]))
    near = torch.tensor([1.0, 0.18, 0.1])  # 15.9, 2.9 and 1.6
    assert_close(ring(near, 100)[0] * 100 / (2 * torch.pi), torch.tensor([16.0, 3.0, 2.0]))
    assert ring(torch.tensor([1.0]), 2)[0].item() == pytest.approx(torch.pi)
    assert_close(ring(frequencies(16), 6)[0] * 6 / (2 * torch.pi), torch.tensor([3, 3, 3, 3, 3, 3, 2, 1]).double())
    assert_close(ring(omega, 1e6)[0], omega, atol=1e-5, rtol=0)


# Terms of the scores


def random(encoding):
    for parameter in encoding.double().parameters():
        nn.init.normal_(parameter)
    return encoding


def test_decomposed_vectors_are_shaws_on_each_axis():
    encoding = random(Decomposed(8, height=3, width=4))
    down, right = ShawKeys(8, clip=2).double(), ShawKeys(8, clip=3).double()
    with torch.no_grad():  # Shaw's rows go by key minus query
        down.keys.copy_(encoding.rows.flip(0))
        right.keys.copy_(encoding.columns.flip(0))
    parts = [shaw.score(Q, K, PLACES[:, a], PLACES[:, a]) for a, shaw in enumerate((down, right))]
    assert_close(encoding.score(Q, K, PLACES, PLACES), 8**0.5 * (parts[0] + parts[1]))


def test_cls_has_rows_of_its_own_and_cells_have_swins():
    encoding, swin = random(BEiT(2, height=3, width=4)), Swin(2, height=3, width=4).double()
    with torch.no_grad():
        swin.table.copy_(encoding.table[:-3])
    places = torch.cat([torch.tensor([[-1, -1]]), PLACES])
    q = torch.zeros(1, 2, 13, 4)
    score = encoding.score(q, q, places, places)
    assert_close(score[:, 1:, 1:], swin.score(Q, K, PLACES, PLACES))
    asks, asked, itself = encoding.table[-3:]
    assert_close(score[:, 0, 1:], asks[:, None].expand(2, 12))
    assert_close(score[:, 1:, 0], asked[:, None].expand(2, 12))
    assert_close(score[:, 0, 0], itself)
    assert_close(encoding.score(q[:, :, :2], q, places[:2], places), score[:, :2])
