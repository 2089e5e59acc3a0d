"""What is measured on a GPU alone, beside what is measured everywhere: programs for a bias and for packed texts."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from d2lpos import ALiBi, Bias, T5Bias
from d2lpos.bias.alibi import slopes
from d2lpos.positions.position_ids import from_segments
from d2lpos.transformer import Mask, attend, causal_mask
from d2lpos.transformer.flex import attend_flex, block_mask, compiled
from d2lpos.transformer.programs import all_at_once

from . import attention, rope, training
from .attention import SIZES, hidden, layer
from .measure import Contest, forward_and_backward

LENGTHS = (2048, 8192, 32768)
STEPS = (1024, 8192, 32768)


def contests(device: str, smoke: bool = False) -> Iterator[Contest]:
    """One after the other, because each holds its tensors. smoke: of a few tokens."""
    half = SIZES[device].dtype
    lengths, steps = ((64,), (24,)) if smoke else (LENGTHS, STEPS)
    large = {"dim": 768, "length": 1024, "size": 8, "words": 32_000, "layers": 8, "heads": 12}
    yield from rope.contests(device, (2, 4, 32, 16) if smoke else (4, 16, 4096, 128), half)
    for length in steps:
        yield attention.step(device, length)
    yield from training.contests(device, dtype=half, **({} if smoke else large))
    for length in reversed(lengths):
        yield attention.order(device, length)
        yield packed(device, length, max(2, length // 1024))
        if length <= 8192:  # MPT holds several tensors of all pairs
            yield attention.line(device, length)
            yield biased(device, length, "ALiBi", lambda heads: ALiBi(heads, slopes=slopes(heads)))
            yield biased(device, length, "T5", lambda heads: T5Bias(heads, bidirectional=False))


def biased(device: str, length: int, name: str, make: Callable[[int], Bias]) -> Contest:
    """All pairs, in blocks, pair by pair, and cuDNN's program of all pairs; each makes its bias anew."""
    dim, heads, _, dtype = SIZES[device]
    here, encoding = torch.arange(length, device=device), make(heads).to(device)
    qkv = torch.randn(3, 1, heads, length, dim // heads, device=device, dtype=dtype)
    blocks = block_mask(here, here)

    def pairs(x: Tensor) -> Tensor:
        bias = encoding.score(x[0], x[1], here, here)
        bias = bias.masked_fill(~causal_mask(here, here), -torch.inf).to(dtype)
        return scaled_dot_product_attention(*x, bias if bias.dim() == 4 else bias[None])

    def cudnn(x: Tensor) -> Tensor:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return pairs(x)

    programs = {
        "PyTorch's program, a bias of all pairs": pairs,
        "`attend`": lambda x: attend(*x, here, here, encoding, Mask(here)),
        "`attend_flex`, compiled": lambda x: attend_flex(*x, here, here, encoding, blocks, compiled()),
        "cuDNN's program, a bias of all pairs": cudnn,
    }
    programs = {title: both_ways(call, qkv, encoding) for title, call in programs.items()}
    title = f"{length} tokens, {name} by each program, {attention.about(device, grouped=False)}"
    return Contest(f"programs-{name.lower()}-{length}", title, programs, memory=True, bound=0.95)


def both_ways(call: Callable[[Tensor], Tensor], qkv: Tensor, encoding: Bias) -> Callable[[], object]:
    """Forward and backward, to what the encoding learns too."""
    x, learned = qkv.detach().clone().requires_grad_(), list(encoding.parameters())
    upstream = torch.ones_like(qkv[0])
    return lambda: torch.autograd.grad(call(x), [x, *learned], upstream)


def packed(device: str, length: int, texts: int) -> Contest:
    """As `attention.packed`, beside PyTorch's program for packed texts."""
    contest = attention.packed(device, length, texts)
    if device == "cpu":
        return contest
    here = from_segments(torch.arange(length, device=device) // (length // texts))
    x, ours, lengths = hidden(device, length), layer(device), (length // texts,) * texts
    parts = (ours.heads, ours.kv_heads, ours.kv_heads)

    def varlen(x: Tensor) -> Tensor:
        q, k, v = ours.project(x).unflatten(-1, (sum(parts), -1)).transpose(-3, -2).split(parts, dim=-3)
        q, k = ours.encoding.rotate(q, k, here, here)
        return ours.out(all_at_once(q, k, v, lengths, True).transpose(0, 1).flatten(-2))[None]

    contest.contenders["PyTorch's varlen_attn"] = forward_and_backward(varlen, x)
    return contest
