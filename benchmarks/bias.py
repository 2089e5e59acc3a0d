"""Making a bias: ours beside Hugging Face's T5 and BLOOM and x-transformers' ALiBi."""

import torch
from transformers import T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention
from x_transformers.x_transformers import AlibiPositionalBias

from d2lpos import ALiBi, T5Bias

from .measure import Contest


def contests(device: str, length: int = 2048, heads: int = 8) -> list[Contest]:
    positions = torch.arange(length, device=device)
    q = torch.zeros(1, heads, length, 1, device=device)
    theirs = T5Attention(T5Config(num_heads=heads, d_model=8 * heads), has_relative_attention_bias=True).to(
        device
    )
    ours, alibi = T5Bias(heads).to(device), ALiBi(heads)
    x_alibi = AlibiPositionalBias(heads, heads).to(device)
    tokens = torch.ones(1, length, device=device)

    def x_transformers() -> torch.Tensor:
        x_alibi.bias = None  # it keeps the last one
        return x_alibi(length, length)

    return [
        Contest("t5", f"T5 bias, {heads} heads, {length} tokens", {
            "Hugging Face T5": lambda: theirs.compute_bias(length, length),
            "`T5Bias`": lambda: ours.score(q, q, positions, positions),
        }),
        Contest("alibi", f"ALiBi, {heads} heads, {length} tokens", {
            "x-transformers": x_transformers,
            "Hugging Face BLOOM, one row for all queries": lambda: build_alibi_tensor(
                tokens, heads, torch.float32
            ),
            "`ALiBi`": lambda: alibi.score(q, q, positions, positions),
        }),
    ]
