import math
from functools import partial

import torch
from rotary_embedding_torch import RotaryEmbedding
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from x_transformers import x_transformers as xt

from d2lpos.input.sinusoids import frequencies
from d2lpos.rotary.scaling import dynamic_ntk, linear, llama3, mscale, ntk, proportional, yarn
from tests.parity.chapter import define
from tests.parity.comparison import agreement

table = agreement("scaling")
DIM, BASE = 64, 10_000.0


def relative(ours, theirs):
    """Our frequencies and attention factor divided by theirs, and ones."""
    (omega, factor), (their_omega, their_factor) = ours, theirs
    quotients = torch.cat([omega / their_omega, torch.tensor([factor / their_factor])])
    return quotients, torch.ones_like(quotients)


def compare(rule, kind, dim=DIM, base=BASE, length=2048, current=None, **parameters):
    """Our rule beside that of transformers; current is the number of tokens now."""
    rope = {"rope_type": kind, "rope_theta": base, **parameters}
    config = LlamaConfig(hidden_size=dim, num_attention_heads=1, max_position_embeddings=length, rope_parameters=rope)
    return relative(rule(frequencies(dim, base)), ROPE_INIT_FUNCTIONS[kind](config, seq_len=current))


@table.row("`linear`, factor 8", "x-transformers", "RotaryEmbedding", 1e-6)
def xt_linear():
    turns, scale = xt.RotaryEmbedding(DIM, interpolation_factor=8.0)(torch.ones(1))
    return relative(linear(frequencies(DIM), 8), (turns[0, 0, ::2], scale))


@table.row("`ntk`, factor 8", "rotary-embedding-torch", "RotaryEmbedding", 1e-6)
def ret_ntk():
    return relative(ntk(frequencies(DIM), 8), (RotaryEmbedding(DIM, theta_rescale_factor=8.0).freqs, 1.0))


@table.row("`ntk`, factor 8", "x-transformers", "RotaryEmbedding", 1e-6)
def xt_ntk():
    return relative(ntk(frequencies(DIM), 8), (xt.RotaryEmbedding(DIM, base_rescale_factor=8.0).inv_freq, 1.0))


@table.row("`dynamic_ntk`, factor 2, trained on 2048 tokens, now 8192", "transformers", "dynamic", 1e-6)
def hf_dynamic_long():
    return compare(partial(dynamic_ntk, factor=2, length=2048, current=8192), "dynamic", current=8192, factor=2.0)


@table.row("`yarn`, factor 32, trained on 4096 tokens", "transformers", "yarn", 1e-6)
def hf_yarn():
    settings = {"factor": 32.0, "original_max_position_embeddings": 4096}
    return compare(partial(yarn, factor=32, length=4096), "yarn", **settings)


@table.row("`yarn`, factor 4, trained on 16384 tokens", "transformers", "yarn, no original length", 1e-6)
def hf_yarn_length_left_out():
    return compare(partial(yarn, factor=4, length=16384), "yarn", length=16384, factor=4.0)


@table.row("`yarn` without rounding, as in gpt-oss: base 150 000, factor 32", "transformers", "yarn, truncate false", 1e-6)
def hf_yarn_unrounded():
    settings = {"factor": 32.0, "original_max_position_embeddings": 4096, "truncate": False}
    return compare(partial(yarn, factor=32, length=4096, truncate=False), "yarn", base=150_000.0, **settings)


@table.row("`yarn` with two weights, `mscale` 1 and 0.707", "transformers", "yarn, mscale and mscale_all_dim", 1e-6)
def hf_yarn_weights():
    settings = {"factor": 40.0, "original_max_position_embeddings": 4096, "mscale": 1.0, "mscale_all_dim": 0.707}
    rule = partial(yarn, factor=40, length=4096, attention_factor=mscale(40) / mscale(40, 0.707))
    return compare(rule, "yarn", **settings)


@table.row("`proportional`, share ¼ of 512 features, base 1 000 000, as in Gemma 4", "transformers", "proportional", 1e-6)
def hf_proportional():
    config = LlamaConfig(
        hidden_size=512,
        num_attention_heads=1,
        rope_parameters={"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
    )
    theirs, factor = ROPE_INIT_FUNCTIONS["proportional"](config)
    ours, our_factor = proportional(frequencies(512, 1e6), share=0.25)
    assert torch.equal(theirs == 0, ours == 0)
    turning = theirs != 0
    return relative((ours[turning], our_factor), (theirs[turning], factor))


@table.row("`llama3`, 128 features, base 500 000, factor 8", "transformers", "llama3", 1e-5)
def hf_llama3():
    settings = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    rule = partial(llama3, factor=8, length=8192)
    return compare(rule, "llama3", 128, 500_000.0, length=131_072, factor=8.0, **settings)


@table.row("A list of divisors (LongRoPE), factor 32, trained on 4096 tokens", "transformers", "longrope", 1e-6)
def hf_longrope():
    divisors = torch.linspace(1, 32, DIM // 2)
    settings = {"factor": 32.0, "original_max_position_embeddings": 4096}
    lists = {"short_factor": [1.0] * (DIM // 2), "long_factor": divisors.tolist()}
    rule = partial(define("04b-stretching", "longrope", {"math": math}), divisors=divisors, factor=32, length=4096)
    return compare(rule, "longrope", current=4097, **settings, **lists)
