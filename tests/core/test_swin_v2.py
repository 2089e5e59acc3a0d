import math
from itertools import product

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from d2lpos.bias.swin import Swin, relative_position_index
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


def test_coordinates_by_hand():
    """In a window of 5 × 9, steps down are stretched twofold and steps to the right not at all."""
    got = log_spaced(torch.tensor([[0, 7], [4, 0], [1, -1]]), 5, 9)
    log = [math.log(number) / math.log(8) for number in (8, 9, 3, 2)]
    assert_close(got, torch.tensor([[0, log[0]], [log[1], 0], [log[2], -log[3]]]))


def test_the_longest_step_does_not_end_at_1():
    """The released code divides by log₂ 8, though its longest step is 8 and gives log₂ 9."""
    for side in 2, 7, 24:
        longest = torch.tensor([[side - 1, 1 - side]])
        assert_close(log_spaced(longest, side, side), torch.tensor([[1.0566, -1.0566]]), atol=1e-4, rtol=0)


def test_the_papers_coordinates_are_others():
    """Section 3.3 goes from 2.079 for a window of 8 to 2.773 for one of 16; the code goes from 1.057 to 1.394."""
    ends = torch.tensor([[7, 7], [15, 15]])
    assert [round(number, 3) for number in ends[:, 0].log1p().tolist()] == [2.079, 2.773]
    assert [round(number, 3) for number in log_spaced(ends, 8, 8)[:, 0].tolist()] == [1.057, 1.394]


@pytest.mark.parametrize("side", [8, 9, 12])
def test_only_in_a_window_of_9_are_they_equation_4s_times_a_number(side):
    steps = torch.arange(1, side).double()[:, None].expand(-1, 2)
    ratio = (log_spaced(steps, side, side) / steps.log1p()).flatten()
    assert torch.allclose(ratio, ratio[0]) == (side == 9)
    if side == 9:
        assert_close(ratio, torch.full_like(ratio, 1 / math.log(8)))


def test_coordinates_are_odd_and_rise_on_each_axis_alone():
    steps = torch.randn(40, 2).double().mul(30)
    got = log_spaced(steps, 6, 11)
    assert_close(log_spaced(-steps, 6, 11), -got)
    for axis in 0, 1:
        order = steps[:, axis].argsort()
        assert (got[order, axis].diff() > 0).all()
        alone = steps.clone()
        alone[:, 1 - axis] = 0
        assert_close(log_spaced(alone, 6, 11)[:, axis], got[:, axis])


def test_coordinates_keep_float64_and_take_any_shape():
    assert log_spaced(torch.zeros(3, 4, 2).double(), 3, 3).dtype == torch.float64
    assert log_spaced(torch.zeros(3, 4, 2).int(), 3, 3).dtype == torch.float32
    assert log_spaced(torch.ones(2), 3, 5).shape == (2,)


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


def test_score_is_swins_with_the_network_for_a_table():
    encoding, swin = filled(SwinV2(2, 3, 4, hidden=7)), Swin(2, 3, 4).double()
    with torch.no_grad():
        swin.table.copy_(encoding.bias(steps_of(3, 4).double()))
    q = torch.zeros(1, 2, 12, 4)
    assert_close(scored(encoding), swin.score(q, q, cells(3, 4), cells(3, 4)))


def test_cells_of_a_batch_and_few_of_a_window():
    encoding = filled(SwinV2(3, 2, 3))
    here, there = cells(2, 3)[torch.tensor([[5, 0], [3, 3]])], cells(2, 3)[[0, 4, 2]]
    q, k = torch.zeros(2, 3, 2, 4).double(), torch.zeros(2, 3, 3, 4).double()
    score, table = encoding.score(q, k, here, there), encoding.bias(steps_of(2, 3).double())
    assert score.shape == (2, 3, 2, 3)
    assert_close(score, table[relative_position_index(here, there, 2, 3)].movedim(-1, 1))


def test_the_bias_lies_between_0_and_16():
    encoding = filled(SwinV2(4, 5, 5))
    nn.init.normal_(encoding.second.weight, std=3)
    bias = encoding.bias(100 * torch.randn(200, 2).double())
    assert bias.min() >= 0 and bias.max() <= 16 and bias.max() - bias.min() > 15.9


def test_no_symmetry_comes_by_itself():
    score = scored(filled(SwinV2(2, 4, 4)))
    assert (score - score.mT).abs().max() > 0.1  # keys for queries
    across = cells(4, 4).flip(-1) @ torch.tensor([4, 1])  # rows for columns
    assert (score - score[:, across][..., across]).abs().max() > 0.1


def test_weights_of_rows_for_those_of_columns_exchange_the_axes():
    encoding = filled(SwinV2(2, 4, 4, hidden=6))
    before = scored(encoding)
    across = cells(4, 4).flip(-1) @ torch.tensor([4, 1])
    encoding.first.weight.data = encoding.first.weight.data.flip(-1)
    assert_close(scored(encoding), before[:, across][..., across])


def test_without_biases_opposite_steps_differ_by_a_linear_map():
    """relu(a) − relu(−a) = a: what the network says of a step less what it says of the opposite is linear."""
    encoding, steps = filled(SwinV2(3, 5, 5)), torch.randn(30, 2).double()
    nn.init.zeros_(encoding.first.bias)
    there, back = ((encoding.bias(sign * steps) / 16).logit() for sign in (1, -1))
    linear = log_spaced(steps, 5, 5) @ encoding.first.weight.T @ encoding.second.weight.T
    assert_close(there - back, linear)


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


def test_between_two_cells_the_bias_lies_close_to_both():
    encoding = filled(SwinV2(3, 6, 6))
    line = torch.stack([torch.linspace(-8, 8, 8001).double(), torch.full((8001,), 1.5).double()], dim=-1)
    assert encoding.bias(line).diff(dim=0).abs().max() < 0.1


def test_the_smallest_window_of_a_training():
    assert_close(
        log_spaced(torch.tensor([[1, -1]]), *SwinV2(2, 5, 5, trained=2).measure),
        log_spaced(torch.tensor([[8, -8]]), 9, 9),
    )


def test_a_window_of_one_cell():
    assert SwinV2(2, 1, 1).measure == (1, 1)
    one, row = scored(filled(SwinV2(2, 1, 1))), scored(filled(SwinV2(2, 1, 3)))
    assert one.shape == (2, 1, 1) and one.isfinite().all() and row.isfinite().all()


# The module


def test_parameters_are_those_of_the_released_network():
    sizes = {name: tuple(p.shape) for name, p in SwinV2(6, 8, 8).named_parameters()}
    assert sizes == {"first.weight": (512, 2), "first.bias": (512,), "second.weight": (6, 512)}


def test_half_precision_layers_see_steps_in_full():
    encoding = SwinV2(2, 24, 24).to(torch.bfloat16)
    steps = steps_of(24, 24).float()
    wide = SwinV2(2, 24, 24)
    wide.load_state_dict({name: p.float() for name, p in encoding.state_dict().items()})
    assert torch.equal(encoding.bias(steps), wide.bias(steps))
    q, places = torch.zeros(1, 2, 576, 4, dtype=torch.bfloat16), cells(24, 24)
    assert encoding.score(q, q, places, places).dtype == torch.float32


def test_every_weight_learns():
    encoding = filled(SwinV2(2, 3, 3, hidden=8))
    scored(encoding).square().sum().backward()
    assert (
        encoding.first.weight.grad.any()
        and encoding.first.bias.grad.any()
        and encoding.second.weight.grad.any()
    )
