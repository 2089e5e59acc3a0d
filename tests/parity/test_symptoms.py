"""What the page of symptoms says of transformers: shapes, packed texts, caches that are cut, errors past a table."""

import pytest
import torch
import transformers
from torch import Tensor, nn

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
    **{key: {"max_position_embeddings": 514} for key in ("Roberta", "XLMRoberta", "Camembert", "MPNet")},
}
WORDS = torch.arange(5, 17).reshape(2, 6)


def tiny(kind: str) -> nn.Module:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES | KINDS.get(kind, {}))
    return getattr(transformers, f"{kind}Model")(config).eval().requires_grad_(False)


def apart(a: Tensor, b: Tensor) -> float:
    return (a - b).abs().max().item()


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
