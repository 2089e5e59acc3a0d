"""A layer of attention and a step of decoding: ours beside Hugging Face's, with the mask that each makes for itself."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from transformers import LlamaConfig, MptConfig, StaticCache
from transformers.cache_utils import DynamicCache
from transformers.masking_utils import create_causal_mask
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding
from transformers.models.mpt.modeling_mpt import MptAttention, build_mpt_alibi_tensor

from d2lpos import ALiBi, Attention, Cache, RoPE
from d2lpos.bias.alibi import slopes
from d2lpos.positions.position_ids import from_segments

from .measure import Contest, forward_and_backward


class Sizes(NamedTuple):
    """Of a layer; on a GPU it must be large, or the time to start each kernel is all that one sees."""

    dim: int = 256
    heads: int = 4
    kv_heads: int = 2
    dtype: torch.dtype = torch.float32


SIZES = {"cpu": Sizes(), "cuda": Sizes(1024, 16, 4, torch.bfloat16)}
DIM, HEADS, *_ = SIZES["cpu"]
LENGTHS = (2048, 8192, 32768)
STEPS = (1024, 8192)
SPARE = 512  # more steps than are measured


def contests(
    device: str, lengths: tuple[int, ...] | None = None, steps: tuple[int, ...] = STEPS
) -> list[Contest]:
    made = [
        contest(device, length)
        for length in lengths or LENGTHS
        for contest in (order, packed, line)
        if device == "cuda" or contest is order or length <= 8192  # all pairs would take a CPU minutes
    ]
    return [*made, *(step(device, length) for length in steps)]


def order(device: str, length: int) -> Contest:
    """Plain order: nobody needs a mask."""
    x, positions = hidden(device, length), torch.arange(length, device=device)
    ours = layer(device)
    programs = {"Hugging Face Llama, SDPA": forward_and_backward(llama(ours, positions, "sdpa"), x)}
    programs["`Attention` with `RoPE`"] = forward_and_backward(lambda x: ours(x, positions), x)
    if length <= 2048:
        pairs = torch.ones(length, length, dtype=torch.bool, device=device)
        programs["the same with a mask of all pairs"] = forward_and_backward(
            lambda x: ours(x, positions, pairs), x
        )
    return table(f"causal-{length}", f"{length} tokens, causal, {about(device)}", programs, 0.95)


def packed(device: str, length: int, texts: int = 8) -> Contest:
    """Texts in a row: Hugging Face finds them in position_ids, and masks all pairs."""
    segments = torch.arange(length, device=device) // (length // texts)
    x, positions = hidden(device, length), from_segments(segments)
    ours = layer(device)
    programs = {"Hugging Face Llama, SDPA": forward_and_backward(llama(ours, positions, "sdpa"), x)}
    if device == "cuda":  # on a CPU it has no gradient
        programs["Hugging Face Llama, FlexAttention"] = forward_and_backward(
            llama(ours, positions, "flex_attention"), x
        )
    programs["`Attention`, told the segments"] = forward_and_backward(
        lambda x: ours(x, positions, segments=segments), x
    )
    return table(f"packed-{length}", f"{length} tokens in {texts} texts, {about(device)}", programs, 2)


def line(device: str, length: int) -> Contest:
    """ALiBi: MPT adds it to all scores."""
    x, positions, sizes = hidden(device, length), torch.arange(length, device=device), SIZES[device]
    alibi = ALiBi(sizes.heads, slopes=slopes(sizes.heads))
    ours = Attention(sizes.dim, sizes.heads, alibi, causal=True).to(device, sizes.dtype)
    programs = {
        "Hugging Face MPT": forward_and_backward(mpt(ours, length), x),
        "`Attention` with `ALiBi`": forward_and_backward(lambda x: ours(x, positions), x),
    }
    return table(f"attention-alibi-{length}", f"{length} tokens, ALiBi, {about(device, grouped=False)}", programs, 2)


def table(name: str, title: str, programs: dict[str, Callable[[], object]], bound: float) -> Contest:
    return Contest(name, title, programs, memory=True, rounds=None if "2048" in name else 5, bound=bound)


def about(device: str, grouped: bool = True) -> str:
    dim, heads, kv_heads, dtype = SIZES[device]
    width = "" if dtype == torch.float32 else f", {str(dtype).removeprefix('torch.')}"
    kv_heads = kv_heads if grouped else heads
    return f"{heads} heads of {dim // heads} features, {kv_heads} of keys{width}; forward and backward"


def hidden(device: str, length: int) -> Tensor:
    return torch.randn(1, length, SIZES[device].dim, device=device, dtype=SIZES[device].dtype)


def layer(device: str) -> Attention:
    dim, heads, kv_heads, dtype = SIZES[device]
    return Attention(dim, heads, RoPE(dim // heads), causal=True, kv_heads=kv_heads).to(device, dtype)


def step(device: str, length: int) -> Contest:
    """One token behind `length` kept ones, again and again."""
    positions = torch.arange(length, device=device)
    x, new, ours = hidden(device, length), hidden(device, 1), layer(device)

    def steps(read: Callable[[Tensor, Tensor], Tensor]) -> Callable[[], Tensor]:
        """Each call reads one token more; the first reads the kept ones before it."""
        now = [0]

        @torch.no_grad()
        def once() -> Tensor:
            if not now[0]:
                read(x, positions)
                now[0] = length
            now[0] += 1
            return read(new, torch.tensor([now[0] - 1], device=device))

        return once

    def theirs(cache: StaticCache | DynamicCache) -> Callable[[], Tensor]:
        return steps(lambda tokens, here: llama(ours, here, "sdpa", cache)(tokens))

    def own(cache: Cache) -> Callable[[], Tensor]:
        return steps(lambda tokens, here: ours(tokens, here, cache=cache))

    config = settings("sdpa", device)
    static = StaticCache(config=config, max_cache_len=length + SPARE)
    contenders = {
        "Hugging Face Llama, StaticCache": theirs(static),
        "Hugging Face Llama, DynamicCache": theirs(DynamicCache(config=config)),
        "`Cache`, turned keys and room": own(Cache(rotated=True, capacity=length + SPARE)),
        "`Cache` as it is": own(Cache()),
    }
    return Contest(f"step-{length}", f"A step behind {length} kept tokens", contenders, bound=0.95)


def settings(program: str, device: str) -> LlamaConfig:
    dim, heads, kv_heads, _ = SIZES[device]
    config = LlamaConfig(
        hidden_size=dim, num_attention_heads=heads, num_key_value_heads=kv_heads, num_hidden_layers=1,
        attention_bias=True, max_position_embeddings=65_536,
    )
    config._attn_implementation = program
    return config


LAYERS: dict[tuple[int, str], tuple] = {}


def llama(
    ours: Attention, positions: Tensor, program: str, cache: object = None
) -> Callable[[Tensor], Tensor]:
    """Llama's layer with our weights, and what its model does once before the first layer: the mask, the angles."""
    device = positions.device
    config = settings(program, device.type)
    if (id(ours), program) not in LAYERS:
        layer = LlamaAttention(config, 0).to(ours.out.weight)
        dim, heads, kv_heads, _ = SIZES[device.type]
        sizes = (dim, kv_heads * dim // heads, kv_heads * dim // heads)
        parts = (layer.q_proj, layer.k_proj, layer.v_proj)
        weights, biases = (x.detach().split(sizes) for x in (ours.project.weight, ours.project.bias))
        for part, weight, bias in zip(parts, weights, biases, strict=True):
            part.weight, part.bias = nn.Parameter(weight.clone()), nn.Parameter(bias.clone())
        layer.o_proj.load_state_dict(ours.out.state_dict())
        LAYERS[id(ours), program] = ours, layer, LlamaRotaryEmbedding(config).to(device)
    _, layer, rotary = LAYERS[id(ours), program]
    ids = positions[None]

    def once(x: Tensor) -> Tensor:
        mask = create_causal_mask(config, x, None, cache, position_ids=ids)
        return layer(x, rotary(x, ids), mask, past_key_values=cache)[0]

    return once


def mpt(ours: Attention, length: int) -> Callable[[Tensor], Tensor]:
    """MPT's layer with our weights, and the bias and mask that its model makes once before the first layer."""
    weight, heads = ours.out.weight, ours.heads
    device = weight.device
    layer = MptAttention(MptConfig(d_model=len(weight), n_heads=heads, max_seq_len=length), 0).to(weight)
    layer.Wqkv.weight, layer.out_proj.weight = ours.project.weight, ours.out.weight
    ours.project.bias.data.zero_()
    ours.out.bias.data.zero_()

    def once(x: Tensor) -> Tensor:
        bias = build_mpt_alibi_tensor(heads, length, 8, device=device)
        past = torch.ones(length, length, dtype=torch.bool, device=device).triu(1)
        return layer(x, bias, attention_mask=past)[0]

    return once
