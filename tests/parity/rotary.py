from functools import cache
from types import SimpleNamespace

import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb
from transformers import (
    CohereConfig,
    DeepseekV3Config,
    LlamaConfig,
    PixtralVisionConfig,
)
from transformers.models.cohere import modeling_cohere
from transformers.models.deepseek_v3 import modeling_deepseek_v3
from transformers.models.deepseek_v4 import modeling_deepseek_v4
from transformers.models.llama import modeling_llama
from transformers.models.pixtral import modeling_pixtral
from transformers.models.qwen2_vl import modeling_qwen2_vl
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig, Qwen2VLVisionConfig
from transformers.models.qwen3_vl import modeling_qwen3_vl
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig
from x_transformers import x_transformers as xt

from d2lpos import RoPE
from d2lpos.input.sinusoids import angles, frequencies
from d2lpos.positions.grid import cells
from d2lpos.rotary.mrope import MRoPE, blocks
from d2lpos.rotary.pope import PoPE
from d2lpos.rotary.rope import rotate
from d2lpos.rotary.rope_values import RoPEValues
from d2lpos.rotary.scaling import interlaced
from d2lpos.transformer.attention import attend
from d2lpos.transformer.masks import Mask
from d2lpos.transformer.mla import scores
from tests.parity.chapter import define
from tests.parity.comparison import agreement

table = agreement("rotary")
DIM, LENGTH = 32, 64
SIZES = {"hidden_size": 2 * DIM, "num_attention_heads": 2, "rope_theta": 10_000.0}


def inputs():
    """Queries and keys of 2 sequences and 3 heads at random positions."""
    q, k = torch.randn(2, 2, 3, LENGTH, DIM)
    return q, k, torch.randint(512, (2, LENGTH))


def both(q, k):
    return torch.stack([q, k])


@table.row("Frequencies, relative to theirs", "transformers", "Llama, base 500 000", 1e-6)
def llama_frequencies():
    config = LlamaConfig(**SIZES | {"rope_theta": 500_000.0})
    theirs = modeling_llama.LlamaRotaryEmbedding(config).inv_freq
    return frequencies(DIM, 500_000.0) / theirs, torch.ones(DIM // 2)


@table.row("Rotation, half", "transformers", "Llama, base 500 000", 1e-3)
def llama():
    q, k, positions = inputs()
    embedding = modeling_llama.LlamaRotaryEmbedding(LlamaConfig(**SIZES | {"rope_theta": 500_000.0}))
    theirs = modeling_llama.apply_rotary_pos_emb(q, k, *embedding(q, positions))
    return both(*RoPE(DIM, 500_000.0).rotate(q, k, positions, positions)), both(*theirs)


@table.row("Rotation, interleaved", "transformers", "Cohere", 1e-3)
def cohere():
    q, k, positions = inputs()
    embedding = modeling_cohere.CohereRotaryEmbedding(CohereConfig(**SIZES))
    theirs = modeling_cohere.apply_rotary_pos_emb(q, k, *embedding(q, positions))
    return both(*RoPE(DIM, layout="interleaved").rotate(q, k, positions, positions)), both(*theirs)


@table.row("Rotation, interleaved, from position 100", "rotary-embedding-torch", "RotaryEmbedding", 1e-3)
def rotary_embedding_torch():
    q, _, _ = inputs()
    theirs = RotaryEmbedding(DIM).rotate_queries_or_keys(q, offset=100)
    return rotate(q, angles(torch.arange(100, 100 + LENGTH), frequencies(DIM)), "interleaved"), theirs


@table.row("Rotation, interleaved", "x-transformers", "RotaryEmbedding", 1e-3)
def x_transformers():
    q, _, positions = inputs()
    turns, _ = xt.RotaryEmbedding(DIM)(positions)
    theirs = xt.apply_rotary_pos_emb(q, turns)
    return rotate(q, angles(positions, frequencies(DIM))[:, None], "interleaved"), theirs


def image():
    """Queries and keys of the patches of an image of 5 × 7, and where these are; (patch, row and column)."""
    q, k = torch.randn(2, 1, 3, 35, DIM)
    return q, k, torch.cartesian_prod(torch.arange(5), torch.arange(7))


@cache
def xpos():
    """The chapter's function, for 64 features."""
    names = {"rotate": rotate, "angles": angles, "frequencies": frequencies}
    return define("04a-in-other-code", "xpos", names | {"zeta": (torch.arange(0, 64, 2) / 64 + 0.4) / 1.4})


@table.row("xPos scores, 1024 tokens", "rotary-embedding-torch", "RotaryEmbedding, use_xpos", 1e-3)
def rotary_embedding_torch_xpos():
    (q, k), positions = torch.randn(2, 1024, 64), torch.arange(1024)
    embedding = RotaryEmbedding(64, use_xpos=True)
    their_q, their_k = embedding.rotate_queries_and_keys(q[None, None], k[None, None])
    ours, theirs = xpos()(q, positions, 1) @ xpos()(k, positions, -1).T, (their_q @ their_k.mT)[0, 0]
    return ours.tril() / 8, theirs.tril() / 8


@table.row("Rotation of two axes, half", "transformers", "Qwen2-VL, vision", 1e-3)
def qwen2_vl():
    q, k, places = image()
    config = Qwen2VLVisionConfig(embed_dim=3 * DIM, num_heads=3)
    turns = modeling_qwen2_vl.Qwen2VLVisionRotaryEmbedding(config)(q, places)
    theirs = modeling_qwen2_vl.apply_rotary_pos_emb_vision(q[0].transpose(0, 1), k[0].transpose(0, 1), *turns)
    ours = both(*RoPE(DIM, axes=2).rotate(q, k, places, places))
    return ours[:, 0], both(*theirs).transpose(1, 2)


@table.row("Rotation of two axes, interleaved", "rotary-embedding-torch", "RotaryEmbedding, axial", 1e-3)
def rotary_embedding_torch_axes():
    q, k, places = image()
    turns = RotaryEmbedding(DIM // 2).get_axial_freqs(5, 7).flatten(0, 1)
    theirs = both(apply_rotary_emb(turns, q), apply_rotary_emb(turns, k))
    return both(*RoPE(DIM, layout="interleaved", axes=2).rotate(q, k, places, places)), theirs


def turns_of_qwen2_vl():
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]}
    config = Qwen2VLTextConfig(hidden_size=256, num_attention_heads=2, rope_parameters=rope)
    return modeling_qwen2_vl, modeling_qwen2_vl.Qwen2VLRotaryEmbedding(config)


def turns_of_qwen3_vl():
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [24, 20, 20]}
    config = Qwen3VLTextConfig(hidden_size=256, num_attention_heads=2, head_dim=128, rope_parameters=rope)
    return modeling_qwen3_vl, modeling_qwen3_vl.Qwen3VLTextRotaryEmbedding(config)


def dealt(module, embedding, ours):
    """Queries and keys of words and patches, turned by ours and by theirs."""
    q, k = torch.randn(2, 2, 3, LENGTH, 128)
    places = torch.randint(512, (2, LENGTH, 3))
    theirs = module.apply_rotary_pos_emb(q, k, *embedding(q, places.movedim(-1, 0)))
    return both(*ours(q, k, places, places)), both(*theirs)


@table.row("Rotation by time, row and column, in turn, half", "transformers", "Qwen3-VL, text", 1e-3)
def qwen3_vl_text():
    """By the function of the chapter, which is told the coordinate of each pair."""
    angles_of = define("04a-in-other-code", "m_rope", {"frequencies": frequencies})
    deal = torch.tensor([0, 1, 2] * 20 + [0] * 4)
    return dealt(*turns_of_qwen3_vl(), lambda q, k, places, _: rotate(both(q, k), angles_of(places, deal)[:, None]))


@table.row("`MRoPE`, a deal in blocks", "transformers", "Qwen2-VL, text", 1e-3)
def qwen2_vl_deal():
    return dealt(*turns_of_qwen2_vl(), MRoPE(128, blocks([16, 24, 24]), 1e6).rotate)


@table.row("Values that turn and turn back, output of attention", "transformers", "DeepSeek-V4", 1e-5)
def deepseek_v4():
    """One tensor is key and value, the last 16 features turn, and each head has a sink."""
    q, kv = torch.randn(2, 3, LENGTH, DIM), torch.randn(2, 1, LENGTH, DIM)
    positions = torch.stack([torch.arange(LENGTH), 7 + 3 * torch.arange(LENGTH)])
    layer = SimpleNamespace(sinks=torch.randn(3), num_key_value_groups=3, training=False)
    turns, turn = angles(positions, frequencies(16)), modeling_deepseek_v4.apply_rotary_pos_emb
    cos, sin = turns.cos(), turns.sin()
    ahead = torch.full((LENGTH, LENGTH), -torch.inf).triu(1)
    turned_q, turned_kv = turn(q, cos, sin), turn(kv, cos, sin)
    y, _ = modeling_deepseek_v4.eager_attention_forward(
        layer, turned_q, turned_kv, turned_kv, ahead, DIM**-0.5
    )
    theirs = turn(y.transpose(1, 2), cos, -sin)
    first = [x.roll(16, -1) for x in (q, kv, kv)]  # ours turns the first features
    rope = RoPEValues(DIM, layout="interleaved", rotary=16)
    return attend(*first, positions, positions, rope, Mask(positions), sinks=layer.sinks), theirs.roll(16, -1)


@table.row("Weights of latent attention, `scores`", "transformers", "DeepSeek-V3", 1e-4)
def latent():
    """Nothing of a head is built but its query; theirs builds keys."""
    sizes = {"kv_lora_rank": 12, "q_lora_rank": None}
    sizes |= {"qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16}
    config = DeepseekV3Config(hidden_size=DIM, num_attention_heads=3, num_key_value_heads=3, **sizes)
    config._attn_implementation = "eager"
    layer = modeling_deepseek_v3.DeepseekV3Attention(config, layer_idx=0).double()
    for weight in layer.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    x, positions = torch.randn(2, LENGTH, DIM).double(), torch.randint(512, (2, LENGTH))
    turns = modeling_deepseek_v3.DeepseekV3RotaryEmbedding(config).double()(x, positions)
    ahead = torch.full((LENGTH, LENGTH), -torch.inf).triu(1).double()
    theirs = layer(x, turns, ahead)[1]
    q, q_r = layer.q_proj(x).unflatten(-1, (3, -1)).transpose(1, 2).split([16, 8], dim=-1)
    c, k_r = layer.kv_a_proj_with_mqa(x)[:, None].split([12, 8], dim=-1)
    up = layer.kv_b_proj.weight.unflatten(0, (3, -1))[:, :16]
    turned = RoPE(8, layout="interleaved").rotate(q_r, k_r, positions, positions)
    return (scores(q, layer.kv_a_layernorm(c), up, *turned) + ahead).softmax(dim=-1), theirs


@table.row("Rotation by row and column, `interlaced`", "transformers", "Pixtral", 1e-4)
def pixtral():
    config = PixtralVisionConfig(hidden_size=128, num_attention_heads=2, image_size=320, patch_size=16)
    embedding, places = modeling_pixtral.PixtralVisionRotaryEmbedding(config), cells(20, 20)
    q, k = torch.randn(2, 1, 2, 20 * 20, 64)
    theirs = modeling_pixtral.apply_rotary_pos_emb(q, k, *embedding(q, places), unsqueeze_dim=0)
    return both(*MRoPE(64, blocks([16, 16]), scaling=interlaced).rotate(q, k, places, places)), both(*theirs)


@table.row("Scores of `PoPE`", "x-transformers", "PolarEmbedding", 1e-4)
def pope():
    (q, k), positions = torch.randn(2, 2, 3, LENGTH, DIM), torch.arange(LENGTH)
    theirs, ours = xt.PolarEmbedding(DIM, 3, bias_uniform_init=True), PoPE(DIM, 3)
    ours.delta.copy_(theirs.learned_bias[:, 0])
    omega, delta = theirs(positions)
    at_query, at_key = xt.apply_polar_pos_emb(q, omega), xt.apply_polar_pos_emb(k, omega + delta)
    turned_q, turned_k = ours.rotate(q, k, positions, positions)
    return turned_q @ turned_k.mT / (2 * DIM) ** 0.5, at_query @ at_key.mT / DIM**0.5
