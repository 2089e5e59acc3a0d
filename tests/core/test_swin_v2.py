import math
from itertools import product

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from d2lpos.bias.swin import relative_position_index
from d2lpos.bias.swin_v2 import SwinV2, log_spaced
from d2lpos.positions.grid import cells


def filled(encoding, dtype=torch.float64):
    for parameter in encoding.to(dtype).parameters():
        nn.init.normal_(parameter)
    nn.init.normal_(encoding.second.weight, std=0.1)  # or all biases are near 0 or 16
    return encoding


def steps_of(height, width):
    return torch.cartesian_prod(torch.arange(1 - height, height), torch.arange(1 - width, width))


def scored(encoding):
    places = cells(encoding.height, encoding.width)
    q = torch.zeros(1, encoding.second.out_features, len(places), 4, dtype=torch.float64)
    return encoding.score(q, q, places, places)


# Coordinates


def test_the_longest_step_does_not_end_at_1():
    """The released code divides by log₂ 8, though its longest step is 8 and gives log₂ 9."""
    for side in 2, 7, 24:
        longest = torch.tensor([[side - 1, 1 - side]])
        assert_close(log_spaced(longest, side, side), torch.tensor([[1.0566, -1.0566]]), atol=1e-4, rtol=0)


# The bias


def test_score_is_the_network_of_the_step():
    """Query minus key, pair by pair, from numbers and no tensors of steps."""
    encoding = filled(SwinV2(3, 2, 3, trained=4, hidden=5))
    first, bias, second = (p.detach().numpy() for p in encoding.parameters())
    score, places = scored(encoding), cells(2, 3).tolist()
    for (i, (y, x)), (j, (v, u)) in product(enumerate(places), repeat=2):
        spaced = [math.copysign(math.log(1 + 8 * abs(s) / 3) / math.log(8), s) for s in (y - v, x - u)]
        hidden = [max(0.0, w @ spaced + b) for w, b in zip(first, bias, strict=True)]
        for head in range(3):
            assert score[head, i, j].item() == pytest.approx(16 / (1 + math.exp(-(second[head] @ hidden))))


def test_cells_of_a_batch_and_few_of_a_window():
    encoding = filled(SwinV2(3, 2, 3))
    here, there = cells(2, 3)[torch.tensor([[5, 0], [3, 3]])], cells(2, 3)[[0, 4, 2]]
    q, k = torch.zeros(2, 3, 2, 4).double(), torch.zeros(2, 3, 3, 4).double()
    score, table = encoding.score(q, k, here, there), encoding.bias(steps_of(2, 3).double())
    assert score.shape == (2, 3, 2, 3)
    assert_close(score, table[relative_position_index(here, there, 2, 3)].movedim(-1, 1))


# Other windows


def test_weights_fit_another_window_and_mean_the_same_steps():
    small, large = filled(SwinV2(2, 4, 4)), SwinV2(2, 7, 9, trained=4).double()
    large.load_state_dict(small.state_dict())
    shared = ((cells(7, 9) < 4).all(-1)).nonzero()[:, 0]
    assert_close(scored(large)[:, shared[:, None], shared], scored(small))


def test_without_the_trained_side_a_step_is_a_share_of_the_window():
    """Twice as many cells to a side, less the first: every other cell is where a cell was."""
    coarse, fine = filled(SwinV2(2, 4, 5)), SwinV2(2, 7, 9).double()
    fine.load_state_dict(coarse.state_dict())
    shared = ((cells(7, 9) % 2 == 0).all(-1)).nonzero()[:, 0]
    assert_close(scored(fine)[:, shared[:, None], shared], scored(coarse))
    tight = SwinV2(2, 7, 9, trained=4).double()
    tight.load_state_dict(coarse.state_dict())
    assert (scored(tight) - scored(fine)).abs().max() > 0.1


def test_a_window_of_one_cell():
    assert SwinV2(2, 1, 1).measure == (1, 1)
    one, row = scored(filled(SwinV2(2, 1, 1))), scored(filled(SwinV2(2, 1, 3)))
    assert one.shape == (2, 1, 1) and one.isfinite().all() and row.isfinite().all()
