"""A step of training: the book's Transformer beside the same sizes from Hugging Face."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from d2lpos import Learned, RoPE, Transformer

from .measure import Contest


def contests(
    device: str, dim: int = 64, length: int = 64, size: int = 32, words: int = 82, layers: int = 4,
    heads: int = 4, dtype: torch.dtype = torch.float32,
) -> list[Contest]:
    tokens = torch.randint(words, (size, length), device=device)
    positions = torch.arange(length, device=device)
    shared = {"vocab_size": words, "use_cache": False, "bos_token_id": None, "eos_token_id": None}
    quiet = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}  # ours has no dropout either
    gpt2 = GPT2LMHeadModel(
        GPT2Config(n_positions=length, n_embd=dim, n_layer=layers, n_head=heads, **quiet, **shared)
    )
    llama = LlamaForCausalLM(LlamaConfig(
        hidden_size=dim,
        intermediate_size=8 * dim // 3,  # three matrices of this size weigh as much as two of 4 · dim
        num_hidden_layers=layers,
        num_attention_heads=heads,
        **shared,
    ))
    contenders = {
        "Hugging Face GPT-2": step(gpt2, lambda model: model(tokens).logits, tokens, device, dtype),
        "Hugging Face Llama": step(llama, lambda model: model(tokens).logits, tokens, device, dtype),
    }
    for name, encoding in {"Learned": Learned(length, dim), "RoPE": RoPE(dim // heads)}.items():
        model = Transformer(words, words, dim, heads, layers, encoding, causal=True)
        contenders[f"`Transformer` with `{name}`"] = step(
            model, lambda m: m(tokens, positions), tokens, device, dtype
        )
    title = f"A step of training; {layers} layers, {dim} features, {size} sequences of {length} tokens"
    return [Contest("training", title, contenders, bound=0.95)]


def step(
    model: nn.Module, logits: Callable[[nn.Module], Tensor], targets: Tensor, device: str, dtype: torch.dtype
) -> Callable[[], object]:
    """Forward, backward and AdamW, on the same tokens each time; under autocast where dtype is a half."""
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def once() -> None:
        with torch.autocast(device, dtype, enabled=dtype != torch.float32):
            loss = cross_entropy(logits(model).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return once
