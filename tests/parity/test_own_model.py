"""What somebody writes who has a model already: twenty lines with RoPE, ALiBi, FlexAttention and a model of transformers."""

import math

import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention
from transformers import LlamaConfig, LlamaForCausalLM

from d2lpos import ALiBi, RoPE
from d2lpos.rotary import replace_rotary


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


def test_flex_attention():
    torch.manual_seed(0)
    (q, k, v), here, bias = torch.randn(3, 1, 4, 128, 16), torch.arange(128), ALiBi(4)
    y = flex_attention(q, k, v, score_mod=bias.score_mod(q, k, here, here))
    torch.testing.assert_close(y, scaled_dot_product_attention(q, k, v, attn_mask=bias(q, k, here)[None]))


def test_a_model_of_transformers():
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    model, tokens = LlamaForCausalLM(LlamaConfig(**sizes)).eval(), torch.randint(50, (1, 12))
    with torch.no_grad():
        own = model(tokens).logits
        written = model.generate(tokens, max_new_tokens=5, do_sample=False, pad_token_id=0)
        replace_rotary(model, RoPE(8))
        torch.testing.assert_close(model(tokens).logits, own, atol=1e-6, rtol=0)
        assert torch.equal(model.generate(tokens, max_new_tokens=5, do_sample=False, pad_token_id=0), written)
