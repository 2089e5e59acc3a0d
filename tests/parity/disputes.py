"""Where a library is wrong, or means something else. The truth is derived in float64 NumPy, without d2lpos."""

import numpy as np
import torch
from rotary_embedding_torch import RotaryEmbedding
from torch import Tensor, nn
from transformers import FalconConfig, LlamaConfig
from transformers.models.bloom.modeling_bloom import build_alibi_tensor as bloom_bias
from transformers.models.falcon.modeling_falcon import FalconAttention
from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon_bias
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding

from d2lpos import ALiBi, RoPE
from d2lpos.input.sinusoids import frequencies, sinusoidal
from d2lpos.rotary.scaling import dynamic_ntk
from d2lpos.transformer.attention import attention_weights, causal_mask
from tests.parity.comparison import disputes
from tests.parity.rotary import xpos

table = disputes("disputes")
DIM, HEADS, LENGTH = 64, 8, 4096


def turned(x: Tensor) -> Tensor:
    """Features 2i and 2i + 1 of x as a complex number, times e^(ipω)."""
    pairs = x.double().numpy().view(np.complex128)
    turns = np.outer(np.arange(LENGTH), 10_000.0 ** -(np.arange(0, DIM, 2) / DIM))
    return torch.from_numpy((pairs * np.exp(1j * turns)).view(np.float64))


def turn(x: Tensor) -> Tensor:
    positions = torch.arange(LENGTH)
    return RoPE(DIM, layout="interleaved").rotate(x, x, positions, positions)[0]


def alibi(length: int) -> Tensor:
    """−slope · distance for 8 heads, whose slopes are 1/2, 1/4, … 1/256; (head, query, key)."""
    steps = np.arange(length)
    return torch.from_numpy(-(0.5 ** np.arange(1, 9))[:, None, None] * abs(steps[:, None] - steps))


@table.row(
    "RoPE, bfloat16 query, 4096 positions",
    "rotary-embedding-torch",
    "RotaryEmbedding",
    1e-1,
    "Ours: theirs counts positions in the dtype of the query, and bfloat16 skips integers from 257 on.",
)
def rotary_embedding_torch():
    q = torch.randn(1, 2, LENGTH, DIM, dtype=torch.bfloat16)
    return turn(q), RotaryEmbedding(DIM).rotate_queries_or_keys(q), turned(q)


@table.row(
    "RoPE, float32 query after a bfloat16 one",
    "rotary-embedding-torch",
    "RotaryEmbedding",
    1e-2,
    "Ours: theirs keeps the angles of the first call for all later ones.",
)
def rotary_embedding_torch_cache():
    q, embedding = torch.randn(1, 2, LENGTH, DIM), RotaryEmbedding(DIM)
    embedding.rotate_queries_or_keys(q.bfloat16())
    return turn(q), embedding.rotate_queries_or_keys(q), turned(q)


@table.row(
    "xPos scores of the last of 1024 tokens, decoded with a cache",
    "rotary-embedding-torch",
    "RotaryEmbedding, use_xpos",
    1e-3,
    "Ours: theirs counts the exponents of the keys from the middle of the text, that of the query from its "
    "beginning, so each pair's share of the score is too small, the more so the longer the text.",
)
def xpos_decodes():
    (q, k), positions = torch.randn(2, 1024, DIM), torch.arange(1024)
    embedding = RotaryEmbedding(DIM, use_xpos=True)
    their_q, their_k = embedding.rotate_queries_with_cached_keys(q[None, None, -1:], k[None, None])
    at_query, at_key = (x.double().numpy().view(np.complex128) for x in (q[-1:], k))
    steps = 1023 - np.arange(1024)
    left = (np.arange(0, DIM, 2) / DIM + 0.4) / 1.4
    turns = np.exp(1j * np.outer(steps, 10_000.0 ** -(np.arange(0, DIM, 2) / DIM)))
    truth = torch.from_numpy((at_query * at_key.conj() * turns * left ** (steps[:, None] / 512)).real.sum(-1))
    ours = xpos()(q[-1:], positions[-1:], 1) @ xpos()(k, positions, -1).T
    return ours[0] / 8, (their_q @ their_k.mT)[0, 0, 0] / 8, truth / 8


@table.row(
    "Dynamic NTK, frequencies for 4096 tokens after a text of 8192",
    "transformers",
    "Llama",
    1e-6,
    "Ours: theirs keeps the frequencies of the longest text so far, so the answer depends on what was read before.",
)
def dynamic_ntk_remembers():
    rope = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 2.0}
    sizes = {"hidden_size": DIM, "num_attention_heads": 1, "max_position_embeddings": 2048}
    theirs = LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters=rope))
    for length in 8192, 4096:
        theirs(torch.zeros(1), torch.arange(length)[None])
    base = 10_000 * (2 * 4096 / 2048 - 1) ** (DIM / (DIM - 2))
    truth = torch.from_numpy(base ** -(np.arange(0, DIM, 2) / DIM))
    ours, _ = dynamic_ntk(frequencies(DIM), factor=2, length=2048, current=4096)
    return ours / truth, theirs.inv_freq / truth, torch.ones_like(truth)


def rows(bias: Tensor) -> Tensor:
    """A bias for each key as one for each query and key, from the query's own: what softmax can see."""
    bias = bias.double().expand(HEADS, bias.shape[-1], bias.shape[-1])
    return (bias - bias.diagonal(dim1=-2, dim2=-1)[..., None]).tril()


@table.row(
    "ALiBi bias, 512 positions, float32",
    "transformers",
    "Falcon",
    1e-6,
    "Ours: theirs multiplies in bfloat16, whatever the dtype of the model, and position 257 becomes 256.",
)
def falcon_rounds():
    theirs = falcon_bias(torch.ones(1, 512, dtype=torch.long), HEADS, torch.float32)
    positions, q = torch.arange(512), torch.zeros(1, HEADS, 512, 4)
    return ALiBi(HEADS).score(q, q, positions, positions).tril(), rows(theirs), alibi(512).tril()


@table.row(
    "ALiBi bias of the 8 nearest keys, 1024 positions, bfloat16",
    "transformers",
    "BLOOM",
    1e-2,
    "Ours: theirs is slope times the key's position, which is large for late keys and rounded; "
    "ours is slope times the distance, which is small for near keys.",
)
def bloom_rounds():
    length = 1024
    near = torch.ones(length, length, dtype=torch.bool).tril().triu(-8)
    theirs = rows(bloom_bias(torch.ones(1, length, dtype=torch.long), HEADS, torch.bfloat16))
    positions, q = torch.arange(length), torch.zeros(1, HEADS, length, 4)
    ours = ALiBi(HEADS).score(q, q, positions, positions).bfloat16()
    return ours[:, near], theirs[:, near], alibi(length)[:, near]


@table.row(
    "Attention weights with ALiBi",
    "transformers",
    "Falcon",
    1e-5,
    "Ours is the paper's: the bias is added to the scaled scores. Theirs divides it by √d too. To run "
    "a checkpoint that was trained in this way, divide the slopes by √d.",
)
def falcon_scales():
    length, dim = 32, 16
    sizes = {"hidden_size": HEADS * dim, "num_attention_heads": HEADS}
    config = FalconConfig(**sizes, alibi=True, multi_query=False, attn_implementation="eager")
    layer, x = FalconAttention(config, layer_idx=0).eval(), torch.randn(1, length, HEADS * dim)
    nn.init.normal_(layer.query_key_value.weight, std=0.1)
    positions = torch.arange(length)
    mask = causal_mask(positions, positions)
    hidden = torch.zeros(length, length).masked_fill(~mask, -torch.inf)
    theirs = layer(x, falcon_bias(torch.ones(1, length, dtype=torch.long), HEADS, x.dtype), hidden)[1]
    q, k, _ = (part.transpose(1, 2) for part in layer._split_heads(layer.query_key_value(x)))
    products = q.double().numpy() @ k.double().numpy().swapaxes(-1, -2)
    weights = np.exp(products / np.sqrt(q.shape[-1]) + alibi(len(positions)).numpy()) * np.tri(len(positions))
    truth = torch.from_numpy(weights / weights.sum(-1, keepdims=True))
    return attention_weights(q, k, positions, positions, ALiBi(HEADS), mask), theirs, truth


@table.row(
    "Sinusoidal table, 24 features, 512 positions",
    "transformers",
    "M2M-100",
    1e-4,
    "Both: ours is the formula of the paper, with exponent 2i/d; theirs that of tensor2tensor, i/(d/2 − 1).",
)
def m2m_100():
    theirs = M2M100SinusoidalPositionalEmbedding.get_embedding(512, 24)
    turns = np.outer(np.arange(512), 10_000.0 ** -(np.arange(0, 24, 2) / 24))
    truth = torch.from_numpy(np.concatenate([np.sin(turns), np.cos(turns)], -1))
    return sinusoidal(torch.arange(512), 24, layout="concatenated"), theirs, truth
