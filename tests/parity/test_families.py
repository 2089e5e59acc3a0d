"""A handful of families; `.ci/run` writes the table of all of them anew, which must not differ."""

import csv
import sys

import pytest
import torch
from transformers import LlamaConfig

from d2lpos import RoPE
from d2lpos.config import read
from d2lpos.config.tables import by_name, rows
from d2lpos.pretrained import encoding_of
from d2lpos.pretrained.build import build
from tests.parity import families, tiny
from tests.parity.families import EVERY, FILE, compare

HANDFUL = [
    "llama", "gemma3_text", "deepseek_v3", "gpt_oss", "beam", "gptj", "recurrent_gemma", "roberta",
    "whisper", "t5", "bloom", "mpnet", "deberta-v2", "qwen3_vl_text", "hunyuan_v1_dense", "beit",
    "dinov3_vit", "sam_vision_model", "maskformer-swin", "swinv2", "hubert", "wav2vec2-conformer",
]  # fmt: skip


@pytest.mark.parametrize("family", HANDFUL)
def test_family(family):
    assert compare(family) == []


ROPE = {"rope_theta": 100.0, "factor": 4.0, "original_max_position_embeddings": 32}
SCALED = {
    "linear": {"rope_type": "linear", "rope_theta": 100.0, "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 4.0},
    "yarn": {"rope_type": "yarn", **ROPE},
    "yarn of gpt-oss": {"rope_type": "yarn", **ROPE, "truncate": False, "beta_fast": 8.0},
    "yarn with a factor": {"rope_type": "yarn", **ROPE, "attention_factor": 1.5},
    "llama3": {"rope_type": "llama3", **ROPE, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
    "llama3 without a ramp": {"rope_type": "llama3", **ROPE, "low_freq_factor": 1.0, "high_freq_factor": 1.0},
    "proportional": {"rope_type": "proportional", "rope_theta": 100.0, "partial_rotary_factor": 0.5},
}


@pytest.mark.parametrize("rope", SCALED.values(), ids=SCALED)
def test_scaled(rope):
    if rope["rope_type"] == "dynamic":  # theirs depends on the texts before, so positions stay below 512
        dynamic = encoding_of(LlamaConfig(rope_parameters=rope), tokens=512).encodings[0]
        assert dynamic.scaling.keywords["current"] == 512
    assert compare("llama", rope_parameters=dict(rope)) == []


@pytest.mark.parametrize(("length", "listed"), [(512, "short"), (8, "long")])
def test_longrope(length, listed):
    """All positions of a text take one list, and transformers chooses it by the last: so ours is told how many."""
    lists = {"short_factor": [1.0] * 7 + [1.5], "long_factor": [1.0] * 4 + [8.0] * 4}
    rope = {"rope_type": "longrope", **ROPE, "original_max_position_embeddings": length}
    places = {name: places for name, places in families.PLACES.items() if name == "as they are"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(families, "PLACES", places)
        assert compare("llama", rope_parameters=rope | lists) == []
    rule = encoding_of(LlamaConfig(**SMALL, rope_parameters=rope | lists), tokens=12).encodings[0].scaling
    divided = rule(torch.ones(8))[0]
    assert torch.equal(divided, 1 / torch.tensor(lists[f"{listed}_factor"]))


PATCHES = {
    "high": {"image_size": [48, 32]},
    "wide": {"image_size": [32, 48]},
    "filled up": {"window_size": 3},
    "filled up in both": {"window_size": 3, "image_size": [52, 44]},
    "as large as the last stage": {"window_size": 7, "image_size": 56},
}


@pytest.mark.parametrize("sizes", PATCHES.values(), ids=PATCHES)
@pytest.mark.parametrize("family", ["swinv2", "maskformer-swin"])
def test_windows_of_other_pictures(family, sizes):
    assert compare(family, **sizes) == []


@pytest.mark.parametrize("family", ["swinv2", "maskformer-swin"])
def test_a_stage_smaller_than_its_window(family):
    """One window shrinks, the other reaches beyond the cells."""
    stages = {"depths": [1, 2, 2], "num_heads": [1, 2, 4]}
    trained = {"pretrained_window_sizes": [0, 0, 4]} if family == "swinv2" else {}
    assert compare(family, **stages, **trained) == []


def test_a_table_beside_windows():
    assert compare("swin", use_absolute_embeddings=True) == []


TABLE, WINDOW = {"use_absolute_embeddings": True}, {"window_size": 5}


@pytest.mark.parametrize(("family", "keys", "message"), [
    *((family, TABLE, f"use_absolute_embeddings of {family} must be false") for family in ("donut-swin", "maskformer-swin", "swin2sr", "swinv2")),
    *((family, WINDOW, "window_size must be at most 4, the shorter side of a stage") for family in ("donut-swin", "swin")),
])
def test_a_row_too_many_and_a_window_larger_than_a_stage_are_refused_where_the_code_fails(family, keys, message):
    config = families.fitted(family, **keys)
    side, made = config.image_size, tiny.model(family, config)
    made.config._attn_implementation = "eager"
    with pytest.raises(RuntimeError, match="must match the size of tensor"):
        made(pixel_values=torch.zeros(1, 3, side, side))
    with pytest.raises(ValueError, match=message):
        encoding_of(config)


SMALL = {"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}


@pytest.mark.parametrize(
    "rope",
    [{"mscale": 0.7, "mscale_all_dim": 0.7}, {"mscale": 1.0, "mscale_all_dim": 0.5}],
    ids=["as released", "two weights"],
)
def test_all_scores_of_deepseek_grow(rope):
    assert compare("deepseek_v3", rope_parameters={"rope_type": "yarn", **ROPE, **rope}) == []


def test_llama_4_counts_tokens_and_not_positions():
    assert compare("llama4_text") == [] and compare("llama4_text", attn_temperature_tuning=False) == []


def test_gemma_without_a_causal_mask_sees_half_its_window_on_each_side():
    assert compare("gemma3_text", use_bidirectional_attention=True, sliding_window=4) == []
    config = tiny.configuration("gemma3_text", use_bidirectional_attention=True, sliding_window=512)
    assert encoding_of(config).layers[0].window == 257


def test_the_bias_of_falcon_is_divided_with_its_products():
    assert compare("falcon", alibi=True) == []
    config = families.fitted("falcon", alibi=True)
    assert encoding_of(config).encodings[0].slopes[0] == 0.25 / 4  # of 4 heads, by √16 features


def test_the_eager_code_of_falcon_adds_its_bias_twice():
    config = families.fitted("falcon", alibi=True)
    made, bias = tiny.model("falcon", config), encoding_of(config).encodings[0]
    made.config._attn_implementation = "eager"
    words, here = torch.full((1, 12), 4), torch.arange(12)
    with torch.no_grad():
        theirs = made(words, attention_mask=torch.ones_like(words), output_attentions=True).attentions[0][0]
    q, ahead = torch.zeros(1, 4, 12, 2), torch.ones(12, 12, dtype=torch.bool).triu(1)
    weights = [(n * bias.score(q, q, here, here)).masked_fill(ahead, -torch.inf).softmax(-1) for n in (1, 2)]
    assert not families.same(weights[0], theirs) and families.same(weights[1], theirs)


@pytest.mark.parametrize(("family", "layout"), [("axk2", "half"), ("deepseek_v32", "half"), ("glm_moe_dsa", "interleaved")])
def test_an_indexer_turns_in_a_layout_of_its_own(family, layout, monkeypatch):
    """Their function that turns, where it gets the indexer's queries and keys, whose heads come after the tokens."""
    config = tiny.configuration(family, index_head_dim=16, index_topk=4)
    reading, made = encoding_of(config), tiny.model(family, config)
    module = sys.modules[type(made).__module__]
    queries = []

    def listening(original):
        def turned(q, k, cos, sin, *rest, **more):
            out = original(q, k, cos, sin, *rest, **more)
            if more.get("unsqueeze_dim") == 2:
                queries.append((q.transpose(1, 2), out[0].transpose(1, 2)))
            return out

        return turned

    for name in {"apply_rotary_pos_emb", "apply_rotary_pos_emb_interleave"}.intersection(vars(module)):
        monkeypatch.setattr(module, name, listening(getattr(module, name)))
    positions = families.PLACES["stretched"]
    tiny.calls(made, positions)
    assert len(queries) == len(reading.layers) == 8
    for (q, theirs), layer in zip(queries, reading.layers, strict=True):
        whole = torch.nn.functional.pad(q, (0, 16 - q.shape[-1]))
        mine = layer.indexer.rotate_at(whole, positions)[..., : q.shape[-1]]
        theirs = (
            families.convert(theirs, "interleaved") if layout == "interleaved" else theirs
        )  # sorted in halves
        assert layer.indexer.layout == layout and layer.keys == 4 and families.same(mine, theirs)


def test_an_indexer_of_blocks_turns_as_its_layer_does_and_chooses_no_more_than_it_says(monkeypatch):
    sparse = {
        "use_sparse_attention": True, "sparse_index_dim": 32, "sparse_block_size": 3, "sparse_topk_blocks": 2,
        "sparse_num_index_heads": 1, "sparse_init_block": 0, "sparse_local_block": 1, "sparse_attention_freq": [0, 1] * 4,
    }  # fmt: skip
    rope = {"rope_type": "default", "rope_theta": 300.0, "partial_rotary_factor": 0.5}
    file = {"model_type": "minimax_m3_vl_text", "rope_parameters": rope, "sparse_attention_config": sparse}
    config = tiny.configuration("minimax_m3_vl_text", **file)
    reading, made, queries = encoding_of(tiny.data(config)), tiny.model("minimax_m3_vl_text", config), []
    assert str(reading) == str(encoding_of(tiny.data(tiny.configuration("minimax_m3_vl_text")) | file | {"layer_types": None}))
    module = sys.modules[type(made).__module__]

    def turned(q, k, *rest, original=module.apply_rotary_pos_emb):
        out = original(q, k, *rest)
        queries.extend([(q, out[0])] * (q.shape[1] == 1))  # of the indexer, which has one head
        return out

    monkeypatch.setattr(module, "apply_rotary_pos_emb", turned)
    positions, chosen = families.PLACES["as they are"], []
    for block in made.modules():
        if type(block).__name__.endswith("Indexer"):
            block.register_forward_hook(lambda module, args, blocks: chosen.append(blocks.shape[-1] * module.block_size))
    tiny.calls(made, positions)
    assert chosen == [6] * 4 and [layer.keys for layer in reading.layers] == [None, 6] * 4
    for (q, theirs), layer in zip(queries, reading.layers[1::2], strict=True):
        assert families.same(layer.indexer.rotate_at(q, positions), theirs)


def test_esm_turns_where_its_configuration_says_so():
    """Its own model hands attention what has turned, scaled before: so turns are those of a length."""
    reading = encoding_of(tiny.configuration("esm", position_embedding_type="rotary"))
    assert reading.input is None and all(type(r) is RoPE and r.base == 1e4 for r in reading.encodings)


def test_mpt_differs_where_its_configuration_names_other_octaves():
    assert compare("mpt") == []
    assert compare("mpt", attn_config={"alibi_bias_max": 4}) == ["slopes"]


def every(**fields):
    """Each layer with these fields; a dictionary's are changes of what stands there."""

    def edit(reading):
        for kind in reading["kinds"]:
            kind |= {name: {**kind[name], **one} if isinstance(one, dict) and kind[name] else one for name, one in fields.items()}

    return edit


def whole(**fields):
    return lambda reading: reading.update(fields)


def tables_for_networks(reading):
    for kind in reading["kinds"]:
        kind["encoding"] = {name: kind["encoding"][name] for name in ("heads", "height", "width")} | {"kind": "Swin"}


WRONG = {
    "layout": ("llama", every(encoding={"layout": "interleaved"}), "scores"),
    "no window": ("gemma2", every(window=None), "mask"),
    "no sinks": ("gpt_oss", every(sinks=False), "sinks"),
    "a temperature of positions": ("llama4_text", every(counts=False), "scores"),
    "another deal": ("qwen3_vl_text", every(encoding={"deal": [0, 0, 0, 0, 1, 1, 2, 2]}), "scores"),
    "buckets of one side beside the table": ("mpnet", every(encoding={"bidirectional": False}), "bias"),
    "no table": ("vit", whole(input=None), "a table"),
    "cells for coordinates": ("dinov3_vit", whole(places={"before": 5, "at": 0, "unit": "cells"}), "scores"),
    "one window for all": ("sam_vision_model", every(tile=None, encoding={"height": 4, "width": 4}), "windows"),
    "cells that are not merged": ("swin", every(merged=1), "cells of layer 2"),
    "products for cosines": ("swinv2", every(cosine=False), "weights"),
    "a table for a network": ("swinv2", tables_for_networks, "parameters"),
    "no tables of steps": ("beit", every(encoding=None), "8 tables"),
}


@pytest.mark.parametrize(("family", "edit", "word"), WRONG.values(), ids=WRONG)
def test_a_wrong_reading_is_found(family, edit, word, monkeypatch):
    def wrong(config, tokens=None):
        reading = read(config)
        edit(reading)
        return build(reading, tokens)

    monkeypatch.setattr(families, "encoding_of", wrong)
    assert any(one.startswith(word) for one in compare(family))


def test_the_book_shows_every_family_once():
    with FILE.open(encoding="utf-8", newline="") as lines:
        _, *written = csv.reader(lines)
    words = {name: word for _, word, _, names in written for name in names.split(", ")}
    assert sorted(name for *_, names in written for name in names.split(", ")) == EVERY
    assert all(str(len(names.split(", "))) == number for *_, number, names in written)
    assert {*HANDFUL} <= {name for name, word in words.items() if word == "agrees"} <= {*rows()}
    refused = by_name("refused")
    assert {*refused} - {*words} == {"deepseek_vl_v2", "phi3small", "yuan"}  # with code of their own
    assert all(words[name] == f"refused: {refused[name]}" for name in words.keys() & refused)
    assert not [name for name, word in words.items() if word.startswith("differs")]
