"""Configurations of released models, as their files have them, and those that must be refused."""

import math

import pytest
import torch

from d2lpos import ALiBi, RoPE
from d2lpos.config.tables import Refused, read_by_some, words
from d2lpos.input.sinusoids import frequencies
from d2lpos.pretrained import encoding_of
from d2lpos.rotary.scaling import unscaled, yarn

SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4}
LLAMA = {"model_type": "llama", **SIZES}
M3 = {"model_type": "minimax_m3_vl_text", "num_hidden_layers": 4}
SWIN = {  # besides sizes; "path_norm" is in the released files
    "model_type": "swin",
    "depths": [2, 2, 6, 2],
    "drop_path_rate": 0.1,
    "encoder_stride": 32,
    "hidden_act": "gelu",
    "hidden_size": 768,
    "image_size": 224,
    "mlp_ratio": 4.0,
    "num_channels": 3,
    "num_layers": 4,
    "patch_size": 4,
    "path_norm": True,
    "qkv_bias": True,
    "use_absolute_embeddings": False,
    "window_size": 7,
}


def rope(config, tokens=None, layer=0):
    return encoding_of(config, tokens).encodings[layer]


# As published.


def test_qwen_2_5_with_windows_that_are_off():
    config = LLAMA | {
        "model_type": "qwen2",
        "rope_theta": 1e6,
        "sliding_window": 131_072,
        "use_sliding_window": False,
        "max_window_layers": 28,
        "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768},
    }
    reading = encoding_of(config)
    omega = frequencies(128, 1e6)
    assert [layer.window for layer in reading.layers] == [None] * 4
    assert torch.equal(reading.encodings[0].scaling(omega)[0], yarn(omega, 4, 32_768)[0])
    config |= {"use_sliding_window": True, "max_window_layers": 3}
    assert [layer.window for layer in encoding_of(config).layers] == [None] * 3 + [131_072]


def test_deepseek_v3():
    config = LLAMA | {
        "model_type": "deepseek_v3",
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "rope_theta": 10_000,
        "rope_scaling": {
            "type": "yarn",
            "factor": 40,
            "original_max_position_embeddings": 4096,
            "beta_fast": 32,
            "beta_slow": 1,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
        },
    }
    layer = encoding_of(config).layers[0]
    assert (layer.features, layer.encoding.dim, layer.encoding.layout) == ((128, 192), 64, "interleaved")
    assert layer.encoding.scaling(frequencies(64))[1] == 1.0
    assert layer.scale == pytest.approx((0.1 * math.log(40) + 1) ** 2)


# Refused.

MPT = {"model_type": "mpt"}
REFUSED = [  # a code, and the key that it names, if any
    ("unknown_family", {"model_type": "nobody"}),
    ("refused_family", LLAMA | {"model_type": "yuan"}),
    ("no_text", {"model_type": "llava"}),
    ("strange_keys", LLAMA | {"alibi": True}),
    ("strange_keys", LLAMA | {"sliding_window": 4096}),
    ("rope_type", LLAMA | {"rope_scaling": {"rope_type": "soup", "factor": 2.0}}),
    ("strange_keys_of_rule", LLAMA | {"rope_scaling": {"type": "linear", "factor": 2.0, "zeta": 3, "eta": 2}}),
    ("needs_factor", LLAMA | {"rope_scaling": {"type": "linear"}}),
    ("needs original_max_position_embeddings",
     LLAMA | {"model_type": "internlm2", "rope_scaling": {"type": "yarn", "factor": 2.0}}),
    ("tokens", LLAMA | {"max_position_embeddings": 64, "rope_scaling": {"type": "dynamic", "factor": 2.0}}),
    ("missing num_hidden_layers", {"model_type": "internlm2"}),
    ("layer_type", LLAMA | {"model_type": "gemma2", "layer_types": ["wavy_attention"] * 4}),
    ("layers layer_types", LLAMA | {"model_type": "gemma2", "layer_types": ["full_attention"]}),
    ("no_parameters_for",
     LLAMA | {"model_type": "gemma3_text", "layer_types": ["full_attention"] * 4, "rope_parameters": {"sliding_attention":
     {"rope_type": "default", "rope_theta": 1e4}}}),
    ("by_type", LLAMA | {"model_type": "gemma4_text", "rope_scaling": {"type": "linear", "factor": 2.0}}),
    ("whole num_hidden_layers", LLAMA | {"num_hidden_layers": "4"}),
    ("whole_without_types sliding_window_pattern", LLAMA | {"model_type": "exaone4", "sliding_window_pattern": "LLLG"}),
    ("positive rope_theta", LLAMA | {"rope_theta": "1e4"}),
    ("one_number rope_theta", LLAMA | {"rope_theta": [1e4]}),
    ("list layer_types", LLAMA | {"model_type": "gemma2", "layer_types": "full_attention"}),
    ("list short_factor", LLAMA | {"rope_scaling": {"type": "su", "short_factor": "x", "long_factor": [1.0] * 8}}),
    ("dictionary linear_attn_config", LLAMA | {"model_type": "kimi_linear", "linear_attn_config": "x"}),
    ("share partial_rotary_factor", LLAMA | {"model_type": "stablelm", "partial_rotary_factor": 2.0}),
    ("padding", LLAMA | {"model_type": "roberta", "pad_token_id": -1}),
    ("both_whole", LLAMA | {"num_attention_heads": [4, 4]}),
    ("whole max_window_layers", LLAMA | {"model_type": "qwen2", "max_window_layers": "3"}),
    ("flags_in_list no_rope_layers", LLAMA | {"model_type": "smollm3", "no_rope_layers": list("abcd")}),
    ("agree_on", LLAMA | {"model_type": "minimax_m2", "head_dim": 16, "rotary_dim": 8, "partial_rotary_factor": 1.0}),
    ("positive local_rope_theta", LLAMA | {"model_type": "modernbert", "local_rope_theta": None}),
    ("layer_bases", LLAMA | {"model_type": "granite_swa", "layer_rope_theta": [1e4]}),
    ("no_layer block_types", LLAMA | {"model_type": "recurrent_gemma", "block_types": []}),
    ("block", LLAMA | {"model_type": "nemotron-nas", "block_configs": [{}] * 4}),
    ("layers indexer_types", LLAMA | {"model_type": "glm_moe_dsa", "indexer_types": ["full"]}),
    ("whole patch_size", {"model_type": "vit", "patch_size": 0}),
    ("whole_numbers compress_rates", {"model_type": "deepseek_v4", "compress_rates": {"heavily_compressed_attention": "a"}}),
    ("positive factor", LLAMA | {"rope_scaling": {"type": "linear", "factor": float("inf")}}),
    ("agree_in", LLAMA | {"rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 2.0}}),
    ("agree",
     LLAMA | {"rope_scaling": {"type": "linear", "factor": 2.0}, "rope_parameters": {"rope_type": "linear", "factor": 4.0}}),
    ("dictionary rope_scaling", LLAMA | {"rope_scaling": "linear"}),
    ("one_number_of_two rope_theta", LLAMA | {"rope_theta": 1e4, "rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}),
    ("multiple hidden_size", LLAMA | {"num_attention_heads": 5}),
    ("needs low_freq_factor", LLAMA | {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}),
    ("needs short_factor", LLAMA | {"rope_scaling": {"type": "su", "factor": 8.0, "long_factor": [1.0] * 8}}),
    ("missing qk_nope_head_dim", LLAMA | {"model_type": "kimi_k2"}),
    ("whole_head", LLAMA | {"partial_rotary_factor": 0.5, "rope_scaling": {"type": "linear", "factor": 2.0}}),
    ("layers attention_types", {"model_type": "gpt_neo", "num_layers": 4} | {"attention_types": [[["global", "local"], 1]]}),
    ("tokens_past", LLAMA | {"model_type": "qwen", "kv_channels": 16, "seq_length": 32, "use_dynamic_ntk": True}),
    ("must_be_false position_encoding_2d", {"model_type": "chatglm", "position_encoding_2d": True}),
    ("strange_keys_within block_configs",
     LLAMA | {"model_type": "nemotron-nas", "block_configs": [{"attention": {"window_length": 64}}] * 4}),
    ("numbers_of compress_ratios", {"model_type": "deepseek_v4", "compress_ratios": [0, 5]}),
    ("layers layer_types", {"model_type": "deepseek_v4", "num_hidden_layers": 5, "compress_ratios": [0]}),
    ("sparse", M3 | {"sparse_attention_config": {"sparse_init_block": 1}}),
    ("strange_keys_within sparse_attention_config", M3 | {"sparse_attention_config": {"sparse_rope": 1}}),
    ("list sparse_attention_freq", M3 | {"sparse_attention_config": {"sparse_attention_freq": 1}}),
    ("whole sparse_topk_blocks", M3 | {"sparse_attention_config": {"sparse_topk_blocks": 0}}),
    ("letters hybrid_override_pattern", {"model_type": "nemotron_h"} | {"hybrid_override_pattern": "M*X"}),
    ("layer_numbers no_rope_layers", LLAMA | {"model_type": "smollm3", "no_rope_layers": [1]}),
    ("no_base", LLAMA | {"rope_parameters": {"rope_type": "default", "rope_theta": None}}),
    ("even", LLAMA | {"model_type": "stablelm", "partial_rotary_factor": 0.2}),
    ("absolute", LLAMA | {"model_type": "bert", "max_position_embeddings": 512, "position_embedding_type": "relative_key"}),
    ("strange_key_of prefix_lm", MPT | {"attn_config": {"prefix_lm": True}}),
    ("strange_keys", LLAMA | {"wobble": False}),
    ("slopes attn_config", MPT | {"attn_config": {"alibi": False}}),
    ("stages num_heads", SWIN | {"num_heads": [3]}),
    ("stages pretrained_window_sizes", SWIN | {"model_type": "swinv2", "num_heads": [3] * 4, "pretrained_window_sizes": [8, 8]}),
    ("window_of_stage", SWIN | {"num_heads": [3] * 4, "window_size": 12}),
    ("row_too_many", SWIN | {"model_type": "swinv2", "use_absolute_embeddings": True}),
    ("trained_window", SWIN | {"model_type": "swinv2", "num_heads": [3] * 4, "pretrained_window_sizes": [1] * 4}),
    ("factor", LLAMA | {"rope_scaling": {"type": "linear", "factor": 0.5}}),
]  # fmt: skip


@pytest.mark.parametrize(("why", "config"), REFUSED)
def test_refused(why, config):
    with pytest.raises(Refused) as caught:
        encoding_of(config)
    assert [caught.value.code, *filter(None, [caught.value.fields.get("key")])] == why.split()


def test_what_is_no_configuration():
    message = "^config must be a dictionary or a configuration of transformers; got str$"
    with pytest.raises(TypeError, match=message):
        encoding_of("config.json")


def test_keys_that_say_no_are_no_matter():
    plain = LLAMA | {"sliding_window": None, "alibi": False, "layer_types": None, "rope_scaling": None}
    assert encoding_of(plain).encodings[0].base == 10_000


def test_what_transformers_4_wrote_of_other_things_is_no_matter():
    training = {"moe_layer_freq": 1, "torch_dtype": "bfloat16", "temperature": 0.6}
    assert encoding_of(LLAMA | training | {"auto_map": {"AutoModel": "x"}}).encodings[0].base == 10_000


def test_a_key_has_one_place():
    """Either it says nothing of positions, or its no is understood, or a family reads it."""
    silent = words("keys", "silent")
    assert not silent & words("keys", "says_no") and not silent & read_by_some()


def test_a_decoder_is_causal():
    roformer = LLAMA | {"model_type": "roformer"}
    assert [encoding_of(roformer | {"is_decoder": it}).causal for it in (False, True)] == [False, True]
    xlm = {"model_type": "xlm", "emb_dim": 64, "n_layers": 2, "max_position_embeddings": 512}
    assert [encoding_of(xlm | {"causal": it}).causal for it in (False, True)] == [False, True]


def test_a_whole_number_may_be_written_as_a_float():
    assert encoding_of(LLAMA | {"hidden_size": 64.0, "num_hidden_layers": 4.0}).encodings[0].dim == 16


QWEN = {"hidden_size": 512, "num_attention_heads": 4, "num_hidden_layers": 2, "use_sliding_window": False}
HELD = {
    "flat": {"model_type": "qwen2_5_vl", **QWEN},
    "nested": {"model_type": "qwen2_5_vl", "hidden_size": 1, "text_config": QWEN},
    "of a type that the class knows by default": {"model_type": "llava", "text_config": {"num_hidden_layers": 2}},
    "by a name that only its class knows": {
        "model_type": "exaone4_5",
        "text_config": {"model_type": "exaone4_5_text", "num_hidden_layers": 2},
    },
    "by another name than its class takes": {
        "model_type": "step3p7",
        "text_config": {"model_type": "step3p7_text", "num_hidden_layers": 2},
    },
}


@pytest.mark.parametrize("config", HELD.values(), ids=HELD)
def test_a_model_of_a_text_within_another(config):
    reading = encoding_of(config)
    families = {"qwen2_5_vl": "qwen2_5_vl_text", "llava": "llama", "exaone4_5": "exaone4", "step3p7": "step3p5"}
    assert reading.family == families[config["model_type"]] and len(reading.layers) == 2


LISTS = {"short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
PHIMOE = {"model_type": "phimoe", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 1} | {
    "rope_scaling": {"type": "longrope", "original_max_position_embeddings": 64, "long_mscale": 3.0, "short_mscale": 2.0}
    | LISTS
}


@pytest.mark.parametrize(("tokens", "sharper", "divided"), [(64, 2.0, 1.0), (65, 3.0, 2.0)])
def test_phi_moe_has_a_factor_for_short_texts_and_one_for_long(tokens, sharper, divided):
    omega, factor = encoding_of(PHIMOE, tokens).encodings[0].scaled()
    assert factor == sharper and omega[0] == 1 / divided


def test_a_rule_called_yarn_with_two_lists_is_longrope():
    rule = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    phi = LLAMA | {"model_type": "phi3", "original_max_position_embeddings": 64, "rope_scaling": rule | LISTS}
    assert encoding_of(phi, 100).encodings[0].scaling.func.__name__ == "longrope"


def test_llama_3_s_ramp_ends_where_the_file_says():
    parameters = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 64}
    parameters |= {"low_freq_factor": 2.0, "high_freq_factor": 3.0}
    assert encoding_of(LLAMA | {"rope_scaling": parameters}).encodings[0].scaling.keywords["low"] == 2.0
    assert encoding_of(LLAMA | {"rope_scaling": parameters}).encodings[0].scaling.keywords["high"] == 3.0


def test_whole_heads_turn_whatever_a_share_says_where_the_code_does_not_read_it():
    assert encoding_of(LLAMA | {"partial_rotary_factor": 0.5}).encodings[0].rotary == 16
    assert encoding_of(LLAMA | {"model_type": "stablelm", "partial_rotary_factor": 0.5}).encodings[0].rotary == 8


def layers(config):
    """A letter a layer: F sees all, s has a window, c chunks, and - no attention."""
    word = lambda layer: "-" if not layer.attends else "s" if layer.window else "c" if layer.chunk else "F"
    return "".join(map(word, encoding_of(config).layers))


SEVEN = {"num_hidden_layers": 7}
BY_DEPTH = {
    "sFsFsFs": {"model_type": "gemma2"},
    "sssssFF": {"model_type": "gemma4_text"},
    "FFsssFF": {"model_type": "flint"},
    "FssssFs": {"model_type": "mimo_v2_flash"},
    "FsssFss": {"model_type": "cwm"},
    "---F---": {"model_type": "qwen3_next"},
    "----F--": {"model_type": "kimi_linear"},
    "-F-F---": {"model_type": "kimi_k3", "text_config": {
        "model_type": "kimi_linear", "num_hidden_layers": 7, "mla_use_nope": True, "attn_res_block_size": 12,
        "linear_attn_config": {"full_attn_layers": [2, 4], "kda_layers": [1, 3, 5, 6, 7]}}},
    "--F--F-": {"model_type": "kimi_linear", "linear_attn_config": {"full_attn_layers": [3, 6], "kda_layers": [1, 2, 4, 5, 7]}},
    "cccFccc": {"model_type": "llama4_text"},
    "sFsFFFF": {"model_type": "qwen2_moe", "use_sliding_window": True, "max_window_layers": 4},
    "FFFFsss": {"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 4},
    "--F-s-F": {"model_type": "lfm3"},
    "-F--F": {"model_type": "nemotron_h", "hybrid_override_pattern": "M*E-*"},
}


@pytest.mark.parametrize("pattern", BY_DEPTH)
def test_kinds_of_layers_follow_their_class_s_rule(pattern):
    assert layers(SEVEN | BY_DEPTH[pattern]) == pattern


def test_a_layer_of_smollm_3_in_four_does_not_turn():
    turns = [layer.encoding is not None for layer in encoding_of(SEVEN | {"model_type": "smollm3"}).layers]
    assert turns == [True, True, True, False, True, True, True]


V4 = {"model_type": "deepseek_v4", "num_hidden_layers": 5}
YARN_16 = {"type": "yarn", "factor": 16, "original_max_position_embeddings": 65_536}


@pytest.mark.parametrize(("keys", "tokens"), [
    ({}, [128, 128, 128, 4, 128]),
    ({"compress_ratios": [0, 0, 4, 128, 4, 128]}, [None, None, 4, 128, 4]),
    ({"layer_types": ["sliding_attention"] * 5}, [None] * 5),
    ({"compress_rates": {"heavily_compressed_attention": 64, "compressed_sparse_attention": 8}}, [64, 64, 64, 8, 64]),
])
def test_deepseek_v4_sees_a_window_and_keys_that_stand_for_many_tokens(keys, tokens):
    layers = encoding_of(V4 | keys | {"rope_scaling": YARN_16}).layers
    assert [layer.compressed for layer in layers] == tokens
    for layer in layers:
        rope, sparse = layer.encoding, layer.compressed in (4, 8)
        assert (rope.dim, layer.features, layer.window, layer.sinks) == (64, (448, 512), 128, True)
        assert rope.doors == ("rotate", "value") and rope.layout == "interleaved"
        assert rope.base == (160_000 if layer.compressed else 10_000)
        assert (rope.scaling is unscaled) == (layer.compressed is None)
        assert (layer.keys, layer.indexer is not None) == ((512, True) if sparse else (None, False))


INDEXED = {"model_type": "glm_moe_dsa", "num_hidden_layers": 7}


@pytest.mark.parametrize(("keys", "own"), [
    ({}, "1111111"),
    ({"index_topk_freq": 2}, "1101010"),
    ({"index_topk_freq": 3, "index_skip_topk_offset": 1}, "1001001"),
    ({"index_topk_pattern": "FSSFSSF"}, "1001001"),
    ({"indexer_types": ["full", "shared"] * 3 + ["full"]}, "1010101"),
])
def test_an_indexer_serves_layers_behind_its_own(keys, own):
    layers = encoding_of(INDEXED | keys).layers
    assert "".join(str(int(layer.indexer is not None)) for layer in layers) == own
    assert {layer.keys for layer in layers} == {2048} and layers[0].indexer.rotary == 64


def test_gemma_4_has_wider_heads_where_layers_see_all():
    window, *_, full = encoding_of({"model_type": "gemma4_text", "num_hidden_layers": 7}).layers
    assert (window.encoding.dim, full.encoding.dim) == (256, 512)
    *_, full = encoding_of({"model_type": "gemma4_text", "num_hidden_layers": 7, "global_head_dim": 128}).layers
    assert full.encoding.dim == 128


def test_families_with_code_of_their_own():
    sizes = {"num_attention_heads": 32, "num_hidden_layers": 2}
    small, large = (encoding_of({"model_type": "baichuan", "hidden_size": n, **sizes}) for n in (4096, 5120))
    assert type(small.encodings[0]) is RoPE and type(large.encodings[0]) is ALiBi
    glm = {"model_type": "chatglm", "kv_channels": 128, "num_attention_heads": 32, "num_layers": 2}
    rope = encoding_of(glm | {"rope_ratio": 50}).encodings[0]
    assert (rope.rotary, rope.dim, rope.base, rope.layout) == (64, 128, 5e5, "interleaved")
    assert encoding_of(glm | {"original_rope": False}).encodings[0].layout == "half"
    blocks = [{"attention": block} for block in ({}, {"no_op": True}, {"replace_with_linear": True})]
    nas = {"model_type": "nemotron-nas", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 3}
    assert layers(nas | {"block_configs": blocks}) == "F--"
    qwen = {"model_type": "qwen", "kv_channels": 16, "seq_length": 32, "use_dynamic_ntk": True, "rotary_emb_base": 1e5}
    assert encoding_of(qwen | {"num_hidden_layers": 1}, 32).encodings[0].base == 1e5


# What MiniMax-Text-01's file says of its layers; its makers' page: every eighth has softmax, half of a head turns, base 10⁷.
MINIMAX = {"model_type": "minimax_text_01", "num_hidden_layers": 80, "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 10} | {
    "hidden_size": 6144, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "rotary_dim": 64, "rope_theta": 10_000_000,
    "postnorm": True, "layernorm_full_attention_alpha": 3.5565588200778455, "layernorm_linear_attention_beta": 1.0,
    "shared_intermediate_size": [0], "shared_moe_mode": "sigmoid",
}  # fmt: skip


def test_minimax_text_01_turns_half_of_a_head_where_its_list_says_softmax():
    assert layers(MINIMAX) == "-------F" * 10
    rope = encoding_of(MINIMAX).layers[7].encoding
    assert (rope.rotary, rope.dim, rope.base, rope.layout) == (64, 128, 1e7, "half")
    assert layers(MINIMAX | {"attn_type_list": None, "num_hidden_layers": 3}) == "FFF"
    for wrong, why in (([0, 2] * 40, "attn_type_list"), ([0, 1], "layer_types must name 80 layers; got 2")):
        with pytest.raises(ValueError, match=why):
            encoding_of(MINIMAX | {"attn_type_list": wrong})


DBRX = {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32_768} | {
    "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": "", "rope_theta": 500_000}
}


@pytest.mark.parametrize("outside", [{}, {"rope_theta": 5e5}, {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}])
def test_dbrx_has_its_base_inside_and_one_outside_must_agree(outside):
    [one] = {(layer.encoding.base, layer.encoding.rotary, layer.encoding.layout) for layer in encoding_of(DBRX | outside).layers}
    assert one == (5e5, 128, "half")
    inside = DBRX["attn_config"]
    assert encoding_of(DBRX | {"attn_config": {"kv_n_heads": 8}} | outside).encodings[0].base == (5e5 if outside else 1e4)
    if outside:
        with pytest.raises(ValueError, match="rope_theta must be one number; got 10000 and 500000"):
            encoding_of(DBRX | {"attn_config": inside | {"rope_theta": 10_000}} | outside)
    with pytest.raises(ValueError, match='key "rope_share" in attn_config of dbrx is not understood'):
        encoding_of(DBRX | {"attn_config": inside | {"rope_share": 0.5}})


@pytest.mark.parametrize("keys", [{}, {"use_dynamic_ntk": False}, {"use_logn_attn": False}])
def test_qwen_1_changes_past_its_length_unless_the_file_says_no_twice(keys):
    file = {"model_type": "qwen", "seq_length": 32, "num_hidden_layers": 1}
    with pytest.raises(ValueError, match="tokens must be at most seq_length = 32 for qwen; got 33"):
        encoding_of(file | keys, 33)
    no = {"use_dynamic_ntk": False, "use_logn_attn": False}
    assert [str(one) for one in encoding_of(file | no, 33).layers] == [str(one) for one in encoding_of(file, 32).layers]


# Keys of released files that the code of their families passes over.
PASSED_OVER = [
    {"model_type": "apertus", "post_norm": False, "qk_norm": True},
    {"model_type": "exaone_moe", "is_moe_layer": [False, True]},
    {"model_type": "longcat_flash", "attention_method": "MLA", "mla_scale_q_lora": True, "mla_scale_kv_lora": True}
    | {"zero_expert_type": "identity"},
    {"model_type": "phi3", "full_attn_mod": 1, "interpolate_factor": 1},
    {"model_type": "qwen", "seq_length": 2048, "pos_emb": "rotary", "padded_vocab_size": 64, "params_dtype": "torch.bfloat16"}
    | {"tokenizer_type": "QWenTokenizer"},
    {"model_type": "starcoder2", "mlp_type": "default"},
]  # fmt: skip


@pytest.mark.parametrize("file", PASSED_OVER, ids=lambda file: file["model_type"])
def test_a_released_file_is_read_with_all_its_keys(file):
    plain = {key: file[key] for key in ("model_type", "seq_length") if key in file}
    assert [str(one) for one in encoding_of(file, 16).layers] == [str(one) for one in encoding_of(plain, 16).layers]


OWN_FILES = [
    {"model_type": "baichuan", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 1},
    {"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40, "num_hidden_layers": 1},
    {"model_type": "chatglm", "kv_channels": 128, "num_attention_heads": 32, "num_layers": 1},
    {"model_type": "exaone", "hidden_size": 64, "num_attention_heads": 4, "num_layers": 1},
    {"model_type": "qwen", "seq_length": 32, "num_hidden_layers": 1, "use_dynamic_ntk": False, "use_logn_attn": False},
    {"model_type": "nemotron-nas", "num_hidden_layers": 1, "block_configs": [{"attention": {"no_op": True}}]},
    {"model_type": "deepseek_v4", "num_hidden_layers": 1},
    *({"model_type": family, "rope_theta": 1e4, **SEVEN, "hidden_size": 64, "num_attention_heads": 4}
      for family in ("bailing_moe", "deepseek", "internlm2", "mimo", "minicpm", "minimax_m1", "minimax_text_01", "orion", "step3_text", "xverse")),
]  # fmt: skip


@pytest.mark.parametrize("config", OWN_FILES, ids=lambda config: config["model_type"])
def test_code_of_its_own_is_no_reason_to_pass_over_a_key(config):
    assert encoding_of(config).layers
    with pytest.raises(ValueError, match=r"has keys that are not understood: wobble = 3\."):
        encoding_of(config | {"wobble": 3})


def test_llama_3_2_sees_a_picture_in_every_fifth_layer():
    layers = encoding_of({"model_type": "mllama_text_model", "num_hidden_layers": 9}).layers
    assert [i for i, layer in enumerate(layers) if layer.crosses] == [3, 8]


def test_the_window_of_modernbert_s_decoder_is_half_of_what_the_file_calls_local():
    decoder = {"model_type": "modernbert-decoder", "num_hidden_layers": 2}
    windows = [encoding_of(decoder | keys).layers[1].window for keys in ({}, {"local_attention": 8}, {"sliding_window": 9})]
    assert windows == [64, 4, 9]
