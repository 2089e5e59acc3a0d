"""What the page of symptoms, and 3A and 6B, say of transformers: shapes, packed texts, caches, windows, sizes, errors."""

import math
from collections import defaultdict

import pytest
import torch
import transformers
from torch import Tensor, nn
from transformers import modeling_flash_attention_utils as flash
from transformers.models.layoutlmv2.modeling_layoutlmv2 import LayoutLMv2Embeddings
from transformers.models.t5.modeling_t5 import T5Attention

SIZES = {
    "vocab_size": 50,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "pad_token_id": 1,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "cls_token_id": 2,
    "sep_token_id": 3,
    "initializer_range": 0.3,
}
KINDS = {
    "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    "Llama": {"num_key_value_heads": 2},
    "Mistral": {"num_key_value_heads": 2, "sliding_window": 4},
    "Phi3": {"num_key_value_heads": 2, "sliding_window": 4},
    **{key: {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 4} for key in ("Qwen3", "Gemma3Text", "VaultGemma")},
    "GptOss": {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
    **{key: {"max_position_embeddings": 514} for key in ("Roberta", "XLMRoberta", "Camembert", "MPNet")},
}
WORDS = torch.arange(5, 17).reshape(2, 6)


def tiny(kind: str, **more: object) -> nn.Module:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES | KINDS.get(kind, {}) | more)
    return getattr(transformers, f"{kind}Model")(config).eval().requires_grad_(False)


def apart(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


@pytest.mark.parametrize("p", [10_000, 131_072, 1_000_000, 2**23])
def test_an_angle_is_off_by_up_to_a_step_of_float32_long_before_positions_run_out(p):
    rope = tiny("Llama", head_dim=64).rotary_emb
    cos, sin = (x[0, :, :32].double() for x in rope(torch.zeros(1), torch.tensor([[p, p + 1]])))
    turned = torch.atan2(sin[1] * cos[0] - cos[1] * sin[0], cos[0] * cos[1] + sin[0] * sin[1])
    step = torch.nextafter(torch.tensor(float(p)), torch.tensor(math.inf)).item() - p
    off = (turned - rope.inv_freq.double()).abs()
    assert off[0] < 1e-6 and step / 64 < off.max() <= step + 1e-6


def test_positions_of_a_new_token_need_a_second_axis():
    model, mask = tiny("Llama"), torch.tensor([[0, 0, 1, 1, 1, 1], [1] * 6])
    counted = (mask.cumsum(-1) - 1).clamp(min=0)
    whole = model(WORDS, attention_mask=mask, position_ids=counted).last_hidden_state[:, -1:]

    def step(position_ids: Tensor) -> Tensor:
        cache = transformers.DynamicCache(config=model.config)
        model(WORDS[:, :5], attention_mask=mask[:, :5], position_ids=counted[:, :5], past_key_values=cache)
        new = model(WORDS[:, 5:], attention_mask=mask, position_ids=position_ids, past_key_values=cache)
        return new.last_hidden_state

    assert apart(step(mask.sum(-1, keepdim=True) - 1), whole) < 1e-5
    assert apart(step(mask.sum(-1) - 1), whole) > 0.01, "and no error"


def test_a_chunk_counts_on_by_itself_or_with_a_row_of_positions():
    model = tiny("Llama")
    whole = model(WORDS).last_hidden_state[:, 3:]
    for position_ids in (None, torch.arange(3, 6)[None]):
        cache = transformers.DynamicCache(config=model.config)
        model(WORDS[:, :3], past_key_values=cache)
        new = model(WORDS[:, 3:], position_ids=position_ids, past_key_values=cache).last_hidden_state
        assert apart(new, whole) < 1e-5


@pytest.mark.parametrize(
    ("kind", "first", "hears"),
    [("Llama", 0, False), ("Bert", 0, True), ("ModernBert", 0, True), ("Roberta", 2, True), ("XLMRoberta", 2, True)],
)
def test_decoders_alone_find_borders_in_positions_under_sdpa(kind, first, hears):
    model, cached = tiny(kind), {"use_cache": False} if kind == "Llama" else {}
    packed = model(WORDS[:1, :5], position_ids=torch.tensor([[0, 1, 2, 0, 1]]) + first, **cached)
    alone = model(WORDS[:1, 3:5], position_ids=torch.tensor([[0, 1]]) + first, **cached)
    assert (apart(packed.last_hidden_state[:, 3:], alone.last_hidden_state) > 0.1) == hears


def test_a_cache_with_windows_is_cut_if_it_recorded_its_past():
    model = tiny("Mistral")

    def after(record: bool) -> Tensor:
        cache = transformers.DynamicCache(config=model.config)
        model(WORDS[:1], past_key_values=cache)
        if record:
            cache.activate_past_recording()
        model(WORDS[1:, :3], past_key_values=cache)  # a draft; all three are refused
        cache.crop(-3)
        return model(WORDS[1:, 5:], past_key_values=cache).last_hidden_state

    with pytest.raises(RuntimeError, match="Call `activate_past_recording` before `crop`"):
        after(record=False)
    whole = model(torch.cat([WORDS[:1], WORDS[1:, 5:]], dim=1)).last_hidden_state[:, -1:]
    assert apart(after(record=True), whole) < 1e-5


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("Bert", r"The expanded size of the tensor \(513\)"),
        ("Electra", r"The expanded size of the tensor \(513\)"),
        ("DistilBert", r"The size of tensor a \(513\)"),
        ("Roberta", "index 514 is out of bounds"),
        ("XLMRoberta", "index 514 is out of bounds"),
        ("Camembert", "index 514 is out of bounds"),
        ("MPNet", "index out of range in self"),
    ],
)
def test_each_model_has_its_own_words_for_a_text_too_long(kind, says):
    with pytest.raises((RuntimeError, IndexError), match=says):
        tiny(kind)(torch.full((1, 513), 7))


def test_bert_with_token_types_says_it_in_other_words():
    words = torch.full((1, 513), 7)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(513\)"):
        tiny("Bert")(words, token_type_ids=words * 0)


SLIDING, FULL = {"layer_types": ["sliding_attention"]}, {"layer_types": ["full_attention"]}


@pytest.mark.parametrize(
    ("kind", "more", "first", "last"),
    [
        ("Mistral", {}, 5, 8),
        ("Phi3", {}, 5, 8),
        ("Qwen3", SLIDING | {"use_sliding_window": True}, 5, 8),
        ("Qwen3", FULL | {"use_sliding_window": True}, 0, 8),
        ("Gemma3Text", SLIDING, 5, 8),
        ("GptOss", SLIDING, 5, 8),
        ("VaultGemma", FULL, 0, 8),
        ("ModernBert", SLIDING | {"local_attention": 4}, 6, 10),
        ("ModernBert", SLIDING | {"local_attention": 5}, 6, 10),
    ],
)
def test_the_keys_of_a_window_are_those_whose_words_token_8_notices(kind, more, first, last):
    model, words = tiny(kind, num_hidden_layers=1, attn_implementation="eager", **more), torch.arange(5, 19)[None]

    def read(changed: int | None = None) -> Tensor:
        return model(words if changed is None else words.index_fill(1, torch.tensor([changed]), 4)).last_hidden_state[0, 8]

    assert [key for key in range(14) if apart(read(key), read()) > 1e-6] == list(range(first, last + 1))


def test_flash_attention_is_handed_one_less():
    knows = defaultdict(bool, window_size=True)
    options = flash._process_flash_attention_kwargs(12, 12, True, sliding_window=4, supports_mapping=knows)
    assert options["causal"] and options["window_size"] == (3, 3)


def test_dynamic_ntk_remembers_the_longest_text_until_a_short_one_comes():
    rule = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10_000.0}
    model = tiny("Llama", max_position_embeddings=16, rope_parameters=rule)
    short, middle, long = (torch.arange(n)[None] % 50 for n in (10, 24, 60))
    fresh = model(middle).last_hidden_state
    model(long)
    assert apart(model(middle).last_hidden_state, fresh) > 0.1
    model(short)
    assert apart(model(middle).last_hidden_state, fresh) == 0


def test_siglip_2_reads_pictures_of_several_sizes_as_each_alone():
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.Siglip2VisionConfig(**sizes, patch_size=2, num_patches=16)
    model = transformers.Siglip2VisionModel(config).eval().requires_grad_(False)
    grids = torch.tensor([[3, 4], [2, 6], [2, 3]])
    pixels = torch.randn(3, 12, 12)
    there = (torch.arange(12) < grids.prod(-1)[:, None]).long()
    batch = model(pixels, pixel_attention_mask=there, spatial_shapes=grids).last_hidden_state
    one_grid = model(pixels, pixel_attention_mask=there, spatial_shapes=grids[:1].expand(3, 2)).last_hidden_state
    for i, n in enumerate(grids.prod(-1)):
        own = {"pixel_attention_mask": there[i : i + 1, :n], "spatial_shapes": grids[i : i + 1]}
        alone = model(pixels[i : i + 1, :n], **own).last_hidden_state[0]
        assert apart(batch[i, :n], alone) < 1e-5
        assert (apart(one_grid[i, :n], alone) > 0.01) == (i > 0)


def test_t5_makes_its_bias_for_the_place_of_the_query():
    torch.manual_seed(0)
    layer = T5Attention(transformers.T5Config(num_heads=2, is_decoder=True), has_relative_attention_bias=True)
    whole = layer.compute_bias(6, 6)
    assert torch.equal(layer.compute_bias(1, 6, past_seen_tokens=5), whole[:, :, 5:])
    first = layer.compute_bias(1, 6)
    assert torch.equal(first, first[..., :1].expand_as(first)), "query 0's row is one number, which softmax does not see"


def test_attn_factor_is_passed_over():
    yarn = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768}
    for key, factor in ("attn_factor", 1.139), ("attention_factor", 0.878):
        model = tiny("Llama", max_position_embeddings=131072, rope_parameters=yarn | {key: 0.8782488562869419})
        assert model.rotary_emb.attention_scaling == pytest.approx(factor, abs=5e-4)


def test_a_static_cache_has_no_crop():
    model = tiny("Llama")
    cache = transformers.StaticCache(config=model.config, max_cache_len=8)
    model(WORDS, past_key_values=cache)
    with pytest.raises(AttributeError, match="no attribute 'crop'"):
        cache.crop(-1)


@pytest.mark.parametrize(
    ("positions", "packed"),
    [
        ([[5, 6, 7, 8]], False),
        ([[0, 1, 2, 0, 1]], True),
        ([[0, 0, 0, 1, 2]], True),
        ([[[0, 1, 2]]] * 3, True),
    ],
)
def test_flash_attention_calls_packed_what_does_not_count_on_by_one(positions, packed):
    assert bool(flash._is_packed_sequence(torch.tensor(positions), 1)) == packed


@pytest.mark.parametrize("kind", ["SmolLM3", "Llama4Text"])
def test_no_rope_layers_says_1_where_a_layer_turns(kind):
    assert getattr(transformers, f"{kind}Config")(num_hidden_layers=8).no_rope_layers == [1, 1, 1, 0] * 2


def test_a_layer_without_rope_is_the_one_that_says_0():
    words, moved = WORDS[:1], torch.arange(6)[None] * 3
    for flag in (0, 1):
        model = tiny("SmolLM3", num_hidden_layers=1, num_key_value_heads=2, no_rope_layers=[flag])
        there = [model(words, position_ids=places).last_hidden_state for places in (None, moved)]
        assert (apart(*there) > 0.01) == bool(flag)


def test_no_rule_is_called_default():
    assert "default" not in transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS


def test_a_cache_whose_layers_have_windows_counts_on():
    model = tiny("Gemma3Text", layer_types=["sliding_attention", "full_attention"])
    cache = transformers.DynamicCache(config=model.config)
    model(WORDS, past_key_values=cache)
    assert cache.layers[0].keys.shape[-2] < 6 == cache.get_seq_length()


def test_a_layer_needs_the_angles_that_the_model_makes():
    model, x, here = tiny("Llama"), torch.randn(1, 4, 32), torch.arange(4)[None]
    with pytest.raises(TypeError, match="cannot unpack non-iterable NoneType object"):
        model.layers[0](x, position_ids=here)
    model.layers[0](x, position_embeddings=model.rotary_emb(x, position_ids=here))


def test_times_of_a_video_are_rounded_last():
    make = transformers.Qwen2_5_VLModel.get_vision_position_ids
    for seconds, times in (0.5, [3, 4, 5, 6]), (1.25, [3, 5, 8, 10]):
        places = make(None, 3, torch.tensor([4, 2, 2]), spatial_merge_size=2, time_interval=2 * seconds)
        assert places[0].tolist() == times


def test_boxes_of_layoutlm_are_rows_of_tables():
    kinds = {"coordinate_size": 6, "shape_size": 4, "max_2d_position_embeddings": 1024}
    torch.manual_seed(0)
    table = LayoutLMv2Embeddings(transformers.LayoutLMv2Config(**SIZES | kinds))
    table._calc_spatial_position_embeddings(torch.tensor([[[0, 0, 1000, 1000]]]))
    with pytest.raises(IndexError, match="within 0-1000 range"):
        table._calc_spatial_position_embeddings(torch.tensor([[[0, 0, 2000, 1000]]]))
    with pytest.raises(IndexError, match="index out of range in self"):
        table._calc_spatial_position_embeddings(torch.tensor([[[500, 0, 400, 1000]]]))
