"""Our rotary encodings in the models of transformers: in the place of their own, they give the same logits."""

import copy
from functools import partial

import pytest
import torch
from torch import nn
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    DeepseekV3Config,
    DeepseekV3ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    GlmConfig,
    GlmForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
    Llama4ForCausalLM,
    Llama4TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    Olmo2Config,
    Olmo2ForCausalLM,
    Qwen2VLTextConfig,
)
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLTextModel

from d2lpos import RoPE
from d2lpos.rotary import MRoPE, Normed, RoPEValues, replace_rotary
from d2lpos.rotary.scaling import linear, yarn

WORDS = 50
SIZES = {
    "vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 512, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": None,
}
GROUPED = {"num_key_value_heads": 2, "head_dim": 16}
KINDS = ["sliding_attention", "full_attention"]


def rule(base=10_000.0, kind="default", **numbers):
    return {"rope_theta": base, "rope_type": kind} | numbers


def random_model(model_class, config_class, **settings):
    torch.manual_seed(0)
    model = model_class(config_class(**(SIZES | settings))).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.1)
    return model


def logits(model):
    with torch.no_grad():
        return model(torch.arange(24).reshape(2, 12)).logits


def apart(model, own):
    """How far logits are from the model's own, as a share of the largest of these."""
    return (logits(model) - own).abs().max() / own.abs().max()


def continued(model):
    return model.generate(torch.arange(24).reshape(2, 12), max_new_tokens=8, do_sample=False)


LLAMA = partial(random_model, LlamaForCausalLM, LlamaConfig, **GROUPED)
GEMMA = partial(
    random_model, Gemma3ForCausalLM, Gemma3TextConfig, **GROUPED, sliding_window=4, layer_types=KINDS,
    rope_parameters=dict(zip(KINDS, (rule(), rule(1e6, "linear", factor=8.0)), strict=True)),
)
FOR_GEMMA = dict(zip(KINDS, (RoPE(16), RoPE(16, 1e6, scaling=partial(linear, factor=8.0))), strict=True))
MODELS = {
    "Llama": (partial(LLAMA, rope_parameters=rule(5e5)), RoPE(16, 5e5)),
    "GPT-NeoX": (
        partial(random_model, GPTNeoXForCausalLM, GPTNeoXConfig, rope_parameters=rule(partial_rotary_factor=0.25)),
        RoPE(16, rotary=4),
    ),
    "Gemma 3": (GEMMA, FOR_GEMMA),
    "Cohere": (
        partial(random_model, CohereForCausalLM, CohereConfig, num_key_value_heads=2, rope_parameters=rule()),
        RoPE(16, layout="interleaved"),
    ),
    "GLM": (
        partial(random_model, GlmForCausalLM, GlmConfig, **GROUPED, rope_parameters=rule(partial_rotary_factor=0.5)),
        RoPE(16, layout="interleaved", rotary=8),
    ),
    "gpt-oss": (
        partial(random_model, GptOssForCausalLM, GptOssConfig, **GROUPED, num_local_experts=4, rope_parameters=rule()),
        RoPE(16),
    ),
    "OLMo 2": (
        partial(random_model, Olmo2ForCausalLM, Olmo2Config, num_key_value_heads=2, rope_parameters=rule()),
        RoPE(16),
    ),
    "Llama, YaRN": (
        partial(LLAMA, rope_parameters=rule(kind="yarn", factor=4.0, original_max_position_embeddings=128)),
        RoPE(16, scaling=partial(yarn, factor=4.0, length=128)),
    ),
}
each = pytest.mark.parametrize(("make", "encoding"), MODELS.values(), ids=MODELS)


@each
def test_logits_are_the_models_own(make, encoding):
    model = make()
    own, text = logits(model), continued(model)
    assert replace_rotary(model, encoding) is model
    assert apart(model, own) < 1e-6
    assert torch.equal(continued(model), text)


class Learning(RoPE):
    speed = 0.0

    def scaled(self):
        omega, factor = super().scaled()
        return omega * Learning.speed, factor


@pytest.mark.parametrize("name", ["Llama", "GPT-NeoX", "Cohere", "GLM", "gpt-oss", "Gemma 3"])
def test_an_encoding_that_turns_nothing_at_first_learns_in_the_models_own_layout(name, monkeypatch):
    def slow(rope):
        return Learning(rope.dim, rope.base, rope.layout, rope.rotary, rope.scaling)

    make, encoding = MODELS[name]
    model = make()
    own = logits(model)
    replace_rotary(model, {kind: slow(rope) for kind, rope in encoding.items()} if name == "Gemma 3" else slow(encoding))
    assert apart(model, own) > 1e-4
    monkeypatch.setattr(Learning, "speed", 1.0)
    assert apart(model, own) < 1e-6


@pytest.mark.parametrize(("name", "dtype"), [("Llama", torch.bfloat16), ("OLMo 2", torch.float32)])
def test_cosines_have_the_dtype_of_the_models_own(name, dtype):
    make, encoding = MODELS[name]
    x, places = torch.zeros(1, dtype=torch.bfloat16), torch.arange(300)[None]
    model = make()
    own = model.model.rotary_emb(x, places)
    new = replace_rotary(model, encoding).model.rotary_emb(x, places)
    assert {wave.dtype for wave in (*own, *new)} == {dtype}
    assert all((a - b).abs().max() < 2**-7 for a, b in zip(own, new, strict=True))


def test_padding_and_copies():
    model = LLAMA(rope_parameters=rule())
    tokens, mask = torch.arange(24).reshape(2, 12), torch.ones(2, 12, dtype=torch.int64)
    mask[0, :3] = 0
    own = model.generate(tokens, attention_mask=mask, max_new_tokens=4, do_sample=False)
    new = copy.deepcopy(replace_rotary(model, RoPE(16)))
    assert torch.equal(new.generate(tokens, attention_mask=mask, max_new_tokens=4, do_sample=False), own)
    assert new.state_dict().keys() == LLAMA(rope_parameters=rule()).state_dict().keys()


HALF = "encoding must turn the first 16 of 16 features of a head, in the layout 'half', as LlamaRotaryEmbedding does; got"
DEEPSEEK = {
    "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
    "n_routed_experts": 2, "num_experts_per_tok": 1, "n_group": 1, "topk_group": 1, "moe_intermediate_size": 8,
}
PICTURES = {"rope_theta": 1e4, "rope_type": "default", "mrope_section": [2, 3, 3]}
REFUSED = {
    "width": (LLAMA, RoPE(8), f"{HALF} RoPE(dim=8, rotary=8)"),
    "layout": (LLAMA, RoPE(16, layout="interleaved"), HALF),
    "norm": (LLAMA, Normed(RoPE(16)), HALF),
    "all, where a quarter turns": (
        MODELS["GPT-NeoX"][0], RoPE(16), "encoding must turn the first 4 of 16 features of a head",
    ),
    "coordinates": (LLAMA, MRoPE(16, [0, 1] * 4), "encoding must open the door rotate alone, and take positions of one axis"),
    "two doors": (LLAMA, RoPEValues(16), "encoding must open the door rotate alone"),
    "one for two kinds": (
        GEMMA, RoPE(16),
        "encoding must be a dictionary with full_attention, sliding_attention, as Gemma3RotaryEmbedding has",
    ),
    "two for one kind": (LLAMA, FOR_GEMMA, "encoding must be an Encoding, such as RoPE(64)"),
    "no encoding": (LLAMA, "rope", "encoding must be an Encoding, such as RoPE(64); got 'rope'"),
    "no module": (lambda: None, RoPE(16), "model must be a module; got NoneType"),
    "a table": (
        partial(random_model, GPT2LMHeadModel, GPT2Config, n_embd=64), RoPE(16),
        "model must have one class of rotary_emb; GPT2LMHeadModel has none",
    ),
    "M-RoPE": (
        lambda: Qwen2VLTextModel(Qwen2VLTextConfig(**SIZES, num_key_value_heads=2, rope_parameters=PICTURES)), RoPE(16),
        "model must have cosines and sines of one position for each token; Qwen2VLRotaryEmbedding gives those of several",
    ),
    "complex": (
        partial(random_model, Llama4ForCausalLM, Llama4TextConfig, **GROUPED, num_local_experts=2, rope_parameters=rule()),
        RoPE(16),
        "model must have cosines and sines of one position for each token; Llama4TextRotaryEmbedding gives something else",
    ),
    "two functions": (
        partial(random_model, DeepseekV3ForCausalLM, DeepseekV3Config, **DEEPSEEK, rope_parameters=rule()), RoPE(8),
        "model must turn by apply_rotary_pos_emb alone",
    ),
    "two classes": (
        lambda: nn.ModuleList([LLAMA(), MODELS["OLMo 2"][0]()]), RoPE(16),
        "model must have one class of rotary_emb; ModuleList has LlamaRotaryEmbedding and Olmo2RotaryEmbedding",
    ),
}


@pytest.mark.parametrize(("make", "encoding", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_by_name(quiet, make, encoding, message):
    model = make()
    before = dict(model.named_modules()) if isinstance(model, nn.Module) else {}
    with pytest.raises((TypeError, ValueError)) as caught:
        replace_rotary(model, encoding)
    assert str(caught.value).startswith(message)
    assert not before or dict(model.named_modules()) == before


def test_positions_of_several_coordinates_are_refused():
    model = replace_rotary(LLAMA(rope_parameters=rule()), RoPE(16))
    places = torch.arange(12).expand(3, 1, 12)
    with pytest.raises(ValueError, match=r"position_ids must be \(batch, sequence\); got \(3, 1, 12\)"):
        model.model.rotary_emb(torch.zeros(1), places)
