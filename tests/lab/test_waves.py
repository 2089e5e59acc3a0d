"""Events at uneven times: what they hold, what is asked, and that positions by time reach the model."""

import pytest
import torch

from d2lpos.lab.waves import BINS, GAPS, timed, waves


def rows(length=32, size=512):
    return waves(size, length, torch.Generator().manual_seed(0))


@pytest.mark.parametrize("length", [2, 5, 8, 32])
def test_the_last_quarter_is_hidden_and_asked_for(length):
    tokens, targets = rows(length)
    asked = torch.arange(length) >= length - max(1, length // 4)
    assert torch.equal(targets >= 0, asked.expand_as(targets))
    assert torch.equal(tokens % (BINS + 1) == BINS, asked.expand_as(targets))


def test_times_rise_by_the_gaps():
    tokens, _ = rows()
    gaps = timed(tokens).diff(dim=1) * GAPS.double().mean()
    assert gaps.round().unique().tolist() == GAPS.tolist() and (gaps - gaps.round()).abs().max() < 1e-3
    assert timed(tokens).shape == (512, 32) and timed(tokens).dtype == torch.float32
    assert abs(gaps.mean() - GAPS.double().mean()) < 0.1
    assert timed(torch.tensor([[17 * 4 + 3, 17 + 9]]))[0].tolist() == pytest.approx([16 / 6.2, 18 / 6.2])


def test_values_are_two_sinusoids_of_the_time():
    """Least squares on the four waves of a row finds its values, to the width of a bin; other periods do not. Phases are any."""
    tokens, targets = rows(64)
    value = ((torch.where(targets >= 0, targets, tokens % (BINS + 1)) + 0.5) / BINS * 2 - 1).double()
    left = {}
    for name, periods in {"right": [6, 17], "other": [6, 15]}.items():
        angle = 2 * torch.pi * timed(tokens).double()[..., None] / torch.tensor(periods)
        waves = torch.cat([angle.sin(), angle.cos()], dim=-1)
        solution = torch.linalg.lstsq(waves, value[..., None]).solution
        left[name] = (waves @ solution - value[..., None]).abs().mean()
        if name == "right":  # heights from ½ to 1, of a row's own, whose sum is scaled to 1
            heights = solution[:, :2, 0].hypot(solution[:, 2:, 0])
            assert (heights.sum(dim=1) - 1).abs().max() < 0.1
            assert 0.3 < heights.min() < 0.4 and 0.6 < heights.max() < 0.7
    assert left["right"] < 1 / BINS < 2 / BINS < left["other"]
    assert value.max() == -value.min() == 1 - 1 / BINS and value.std(dim=1).min() > 0.2 and abs(value[:, 0].mean()) < 0.1
