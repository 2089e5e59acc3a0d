"""What somebody writes who has a model already: twenty lines with RoPE, ALiBi, FlexAttention and a model of transformers."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from d2lpos import ALiBi, RoPE


class Attention(nn.Module):
    """Causal attention as many write it, with a place for an encoding."""

    def __init__(self, encoding, dim=32, heads=4):
        super().__init__()
        self.heads, self.encoding, self.qkv = heads, encoding, nn.Linear(dim, 3 * dim)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).movedim(2, 0).transpose(2, 3)  # (3, batch, head, token, feature)
        here = torch.arange(x.shape[1], device=x.device)
        mask = (here <= here[:, None]).expand(x.shape[1], -1)
        if isinstance(self.encoding, RoPE):
            q, k = self.encoding(q, k, here)
        else:
            mask = self.encoding(q, k, here).masked_fill(~mask, -torch.inf)[None]
        return scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)


def by_hand(layer, x):
    """The same with nothing of the package: pairs turned one by one, slopes of the paper."""
    q, k, v = layer.qkv(x).unflatten(-1, (3, layer.heads, -1)).movedim(2, 0).transpose(2, 3)
    tokens, d = q.shape[-2:]
    scores = torch.zeros(len(x), layer.heads, tokens, tokens, dtype=x.dtype)
    for i in range(tokens):
        for j in range(i + 1):
            a, b = q[:, :, i].double(), k[:, :, j].double()
            if isinstance(layer.encoding, RoPE):
                turn = torch.polar(torch.ones(d // 2).double(), (j - i) * 10_000.0 ** -(torch.arange(0, d, 2).double() / d))
                a, b = (torch.complex(*y.chunk(2, dim=-1)) for y in (a, b))
                score = (a.conj() * b * turn).sum(-1).real / math.sqrt(d)
            else:
                slopes = 2.0 ** -(8 / layer.heads * torch.arange(1, layer.heads + 1))
                score = (a * b).sum(-1) / math.sqrt(d) - slopes * (i - j)
            scores[:, :, i, j] = score.to(x)
    hidden = torch.ones(tokens, tokens).triu(1).bool()
    return (scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("encoding", [RoPE(8), ALiBi(4)], ids=["rope", "alibi"])
def test_a_layer_of_ones_own(encoding):
    torch.manual_seed(0)
    layer, x = Attention(encoding), torch.randn(2, 7, 32)
    torch.testing.assert_close(layer(x), by_hand(layer, x))
    layer(x).square().sum().backward()
    assert layer.qkv.weight.grad.isfinite().all()
