"""The checks of chapter 7: their references against coins, and right answers."""

import math

import numpy as np
import pytest
import torch

from d2lpos.check import dropout as check
from d2lpos.input.sinusoids import sinusoidal
from d2lpos.transformer.dropout import combine, drop
from tests.check.right import accepted


@pytest.mark.parametrize("entire", [False, True])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_reader(entire, rate):
    u = torch.tensor([1.5, -0.5, 1.0, 0.25, 0.75])
    mean, sd = check.reader.reference(u, rate, entire)
    products = drop(u.expand(40_000, 1, 5), rate, entire)[:, 0] @ u
    assert abs(products.mean() - mean) < 5 * sd / 200
    assert abs(products.std() - sd) < 0.04 * sd


@pytest.mark.parametrize("placement", ["token", "position", "independent"])
@pytest.mark.parametrize("rate", [0.1, 0.4])
def test_equal_noise(placement, rate):
    token, position = torch.tensor([2.0, 0.0]), torch.tensor([0.0, 1.0])  # orthogonal, energies 4 and 1
    other = check.equal_noise.reference(rate, 4.0, 1.0, placement)

    def noise(placement, rate):
        noisy = combine(token.expand(200_000, 1, 2), position.expand(1, 2), placement, rate)
        return (noisy - token - position).square().sum(dim=-1).mean().item()

    assert noise(placement, other) == pytest.approx(noise("sum", rate), rel=0.05)


def test_ratios():
    ratios = []
    for d in 8, 64, 512:
        mean, sd = check.reader.reference(sinusoidal(torch.tensor(300), d), 0.1, False)
        ratios.append(mean / sd)
    assert check.reader.answers[0](ratios)
    assert check.reader.answers[0].right == tuple(round(ratio, 1) for ratio in ratios)


def test_rates():
    parts = [(rate, part) for rate in (0.1, 0.5) for part in ("token", "position")]
    rates = [check.equal_noise.reference(rate, 512, 256, part) for rate, part in parts]
    assert check.equal_noise.answers[0].right == tuple(round(rate, 3) for rate in rates)


def by_product(tokens, special_tokens_mask, attention_mask, mask_token):
    return torch.logical_or(special_tokens_mask * attention_mask == 1, tokens.eq(mask_token))


def by_choice(x, coins, rate, protected, training):
    if not training:
        return x.clone()
    dropped = torch.where(coins < rate, torch.zeros_like(x), x / (1 - rate))
    return torch.where(protected[:, :, None], x, dropped)


def by_index(x, coins, rate, protected, training):
    y = x.clone()
    if training:
        y[~protected] = (x * (coins >= rate) / (1 - rate))[~protected]
    return y


def by_noise(forward, x):
    """Three draws, wide enough that no function stays in its deaf range."""
    draws = torch.stack([forward(1000 * torch.randn_like(x)) for _ in range(3)])
    return (draws == draws[0]).all(dim=0).all(dim=-1)


def token_by_token(forward, x):
    erased = torch.ones(x.shape[:-1], dtype=torch.bool)
    for at in np.ndindex(*x.shape[:-1]):
        for step in (-300.0, 7.0, 300.0):
            other = x.clone()
            other[at] += step * torch.arange(1, x.shape[-1] + 1)
            erased[at] &= torch.equal(forward(other)[at], forward(x)[at])
    return erased


def by_numbers(u, rate, entire):
    nu, squares = rate / (1 - rate), [value**2 for value in u.tolist()]
    variance = nu * (sum(squares) ** 2 if entire else sum(value**2 for value in squares))
    return [sum(squares), variance**0.5]


def by_tensors(u, rate, entire):
    q = u.double() ** 2
    return torch.stack([q.sum(), (q.sum() if entire else q.norm()) * math.sqrt(rate / (1 - rate))])


def by_numpy(rate, token, position, placement):
    return np.float32(by_survival(rate, token, position, placement))


def by_survival(rate, token, position, placement):
    part = {"token": token, "position": position, "independent": token + position}[placement]
    return torch.tensor(1 - 1 / (1 + (1 / (1 - rate) - 1) * (token + position) / part))


test_accepted = accepted({
    check.special: [by_product],
    check.protected_dropout: [by_choice, by_index],
    check.erased: [by_noise, token_by_token],
    check.reader: [by_numbers, by_tensors],
    check.equal_noise: [by_survival, by_numpy],
})
