"""A convolution as position: what it sees, and what padding does."""

import torch
from torch.nn.functional import gelu
from torch.testing import assert_close

from d2lpos.input import Convolutional


def random(kernel=8, groups=4):
    torch.manual_seed(0)
    return Convolutional(16, kernel, groups).double(), torch.randn(2, 20, 16, dtype=torch.float64)


def test_it_is_the_sum_over_the_neighbors():
    """By hand, at one place: tap t meets token i + t − kernel/2, group by group, with weights of the learned length."""
    encoding, x = random()
    g, v = (encoding.convolution.parametrizations.weight.get_parameter(f"original{i}") for i in (0, 1))
    weight = g * v / v.pow(2).sum(dim=(0, 1), keepdim=True).sqrt()  # (16, 4, 8)
    around = torch.stack([x[0, 6:14, 4 * group : 4 * group + 4] for group in range(4)])  # (4, 8, 4)
    sums = torch.einsum("gtc, gdct -> gd", around, weight.view(4, 4, 4, 8)).flatten() + encoding.convolution.bias
    assert_close(encoding(x)[0, 10], x[0, 10] + gelu(sums))


def test_a_token_sees_half_the_kernel_before_it_and_one_fewer_behind():
    for kernel, before, behind in ((8, 4, 3), (7, 3, 3)):
        encoding, x = random(kernel)
        x.requires_grad_()
        encoding(x)[0, 10].sum().backward()
        seen = x.grad[0].abs().sum(-1).nonzero().flatten()
        assert seen.tolist() == list(range(10 - before, 10 + behind + 1)) and not x.grad[1].any()


def test_padding_that_is_masked_changes_nothing():
    encoding, x = random()
    padded = torch.cat([torch.full((2, 3, 16), 0.3).double(), x, torch.full((2, 9, 16), 0.3).double()], dim=1)
    mask = torch.arange(32).sub(3).expand(2, 32)
    mask = (mask >= 0) & (mask < 20)
    assert_close(encoding(padded, mask)[:, 3:23], encoding(x))
    assert (encoding(padded)[:, 3:23] - encoding(x)).abs().max() > 0.01
