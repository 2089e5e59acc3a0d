"""Places on a picture, and the encodings that read them: by what law, and where the law ends."""

import numpy as np
import torch
from torch import nn
from torch.testing import assert_close

from d2lpos import ShawKeys, Swin
from d2lpos.bias import BEiT, Decomposed
from d2lpos.positions.grid import cells, coordinates
from d2lpos.rotary.mixed import Mixed
from d2lpos.rotary.mrope import MRoPE, blocks
from d2lpos.rotary.scaling import interlaced

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
