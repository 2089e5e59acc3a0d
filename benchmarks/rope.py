"""Rotation of queries: ours in both layouts beside Hugging Face, rotary-embedding-torch and x-transformers."""

import shutil
from collections.abc import Callable

import torch
from torch import Tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.rotary.rope import rotate, rotate_fast

from .measure import Contest, forward_and_backward, peers

RotaryEmbedding = peers("rotary_embedding_torch", "RotaryEmbedding")
apply_x_transformers = peers("x_transformers.x_transformers", "apply_rotary_pos_emb")
fused = peers("liger_kernel.transformers.rope", "liger_rotary_pos_emb")
SHAPE = (4, 16, 2048, 64)  # batch, head, sequence, feature


def contests(
    device: str, shape: tuple[int, ...] = SHAPE, dtype: torch.dtype = torch.float32
) -> list[Contest]:
    q = torch.randn(shape, device=device, dtype=dtype)
    turns = turn_functions(shape, device)
    return [
        Contest(
            "rope-forward", f"RoPE, forward; q is {shape}", {n: bind(f, q) for n, f in turns.items()}, q.clone,
            bound=0.95,
        ),
        Contest(
            "rope-backward", f"RoPE, forward and backward; q is {shape}",
            {name: forward_and_backward(function, q) for name, function in turns.items()},
            lambda: (q.clone(), q.clone()), bound=0.95,
        ),
    ]


def bind(function: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], Tensor]:
    return lambda: function(x)


def turn_functions(shape: tuple[int, ...], device: str) -> dict[str, Callable[[Tensor], Tensor]]:
    """Each takes q and returns it turned; tables are made beforehand where the library does so."""
    length, dim = shape[-2:]
    positions = torch.arange(length, device=device)
    turn = angles(positions, frequencies(dim)).float()  # as the others have their tables
    both_halves = torch.cat([turn, turn], dim=-1)[None]
    cos, sin = both_halves.cos(), both_halves.sin()
    by_pair = turn.repeat_interleave(2, dim=-1)[None]
    compiled = torch.compile(rotate)
    functions = {
        "Hugging Face, half": lambda q: apply_rotary_pos_emb(q, q[:, :0], cos, sin)[0],
        **others(dim, device, by_pair),
        "torchtune's formula, interleaved": lambda q: torchtune(q, turn.cos(), turn.sin()),
        "`rotate`, half": lambda q: rotate(q, turn, "half"),
        "`rotate`, interleaved": lambda q: rotate(q, turn, "interleaved"),
        "`rotate_fast`, half": lambda q: rotate_fast(q, turn, "half"),
        "`rotate_fast`, interleaved": lambda q: rotate_fast(q, turn, "interleaved"),
    }
    if device == "cuda" or shutil.which("g++"):
        functions["Hugging Face, half, compiled"] = torch.compile(functions["Hugging Face, half"])
        functions["`rotate`, half, compiled"] = lambda q: compiled(q, turn, "half")
        functions["`rotate`, interleaved, compiled"] = lambda q: compiled(q, turn, "interleaved")
    if fused and device == "cuda":  # it turns in place
        functions["Liger's kernel, half"] = lambda q: fused(q.clone(), q[:, :1].clone(), cos, sin)[0]
    return functions


def others(dim: int, device: str, by_pair: Tensor) -> dict[str, Callable[[Tensor], Tensor]]:
    """Of the libraries that are here."""
    functions = {}
    if RotaryEmbedding:
        rotary = RotaryEmbedding(dim).to(device)
        functions["rotary-embedding-torch, interleaved"] = rotary.rotate_queries_or_keys
    if apply_x_transformers:
        functions["x-transformers, interleaved"] = lambda q: apply_x_transformers(q, by_pair)
    return functions


def torchtune(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """What torchtune computes, without its cache: pairs apart, both products, and stacked again."""
    pairs = x.float().reshape(*x.shape[:-1], -1, 2)
    even, odd = pairs[..., 0], pairs[..., 1]
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2).type_as(x)
