"""Gemma 3 is transformers' own, with its two bases, its windows and its norms, from either kind of file."""

from functools import partial

import gguf
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from d2lpos.lab.passages import passage
from d2lpos.pretrained import Gemma3, WeightsMissing, fetch, gemma3, gemma3_tokenizer, load_gemma3, losses
from tests.core.test_smollm2 import loud
from tests.weights import need

SMALL = {
    "vocabulary": 60,
    "dim": 48,
    "layers": 7,
    "heads": 4,
    "kv_heads": 1,
    "inner": 64,
    "head_dim": 16,
    "window": 8,
}


def theirs(model: Gemma3) -> Gemma3ForCausalLM:
    """transformers' model with the same weights."""
    block, layers = model.blocks[0], len(model.blocks)
    config = Gemma3TextConfig(
        vocab_size=model.tokens.num_embeddings, hidden_size=model.tokens.embedding_dim, num_hidden_layers=layers,
        intermediate_size=block.gate.out_features, num_attention_heads=block.heads, num_key_value_heads=block.kv_heads,
        head_dim=model.encoding.dim, query_pre_attn_scalar=model.encoding.dim, sliding_window=model.window,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
            "full_attention": {"rope_type": "default", "rope_theta": 1_000_000.0},
        },
        layer_types=["full_attention" if far else "sliding_attention" for far in model.sees_all()],
    )  # fmt: skip
    config._attn_implementation = "eager"
    other = Gemma3ForCausalLM(config).to(model.norm.weight.dtype).eval()
    missing, unexpected = other.load_state_dict(released(model), strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])
    return other


def released(model: Gemma3) -> dict[str, Tensor]:
    """The weights by the names of the release, where a norm multiplies by 1 + weight."""
    state = {"model.embed_tokens.weight": model.tokens.weight, "model.norm.weight": model.norm.weight - 1}
    for layer, block in enumerate(model.blocks):
        for ours, (_, name) in gemma3.PARTS.items():
            weight = getattr(block, ours).weight
            state[f"model.layers.{layer}.{name}.weight"] = weight - 1 if name.endswith("norm") else weight
    return state


@pytest.fixture
def model() -> Gemma3:
    return loud(Gemma3(**SMALL))


@torch.no_grad()
def test_logits_are_those_of_transformers(model):
    tokens = torch.randint(60, (2, 20))
    other = theirs(model)(tokens, attention_mask=torch.ones_like(tokens)).logits
    assert (model(tokens) - other).abs().max() < 1e-4 < other.std()
    one_base = model(tokens, encoding=model.far)
    assert (one_base - other).abs().max() > 1e-2


@pytest.fixture
def small(monkeypatch, model) -> Gemma3:
    monkeypatch.setattr(gemma3, "Gemma3", partial(Gemma3, **SMALL))
    return model.float()


def test_both_kinds_of_file_give_the_same_model(small, tmp_path):
    folder, file = tmp_path / "release", tmp_path / "model.gguf"
    folder.mkdir()
    save_file({name: one.contiguous() for name, one in released(small).items()}, folder / "model.safetensors")
    writer = gguf.GGUFWriter(file, "gemma3")
    names = {"token_embd": small.tokens, "output_norm": small.norm}
    for layer, block in enumerate(small.blocks):
        names |= {f"blk.{layer}.{name}": getattr(block, ours) for ours, (name, _) in gemma3.PARTS.items()}
    for name, part in names.items():
        writer.add_tensor(f"{name}.weight", part.weight.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tokens = torch.randint(60, (1, 20))
    for path in (folder, str(file)):
        assert torch.allclose(load_gemma3(path)(tokens), small(tokens), atol=1e-4)


def test_a_file_of_another_model_is_refused_by_the_tensor_that_differs(small, tmp_path):
    weights = released(small) | {"model.norm.weight": torch.zeros(3)}
    save_file({name: one.contiguous() for name, one in weights.items()}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"model.norm.weight of .* must be \(48,\), as in 270M; got \(3,\)"):
        load_gemma3(tmp_path)


def test_the_weights_of_the_records_are_never_downloaded(monkeypatch, tmp_path):
    monkeypatch.setenv("D2LPOS_WEIGHTS", str(tmp_path))
    with pytest.raises(ValueError, match="name must be one of smollm2, minilm, whisper, albert; got 'gemma3'"):
        fetch(["gemma3"])
    with pytest.raises(WeightsMissing, match="gemma-3-270m-q4_k_m.gguf, with which the records"):
        load_gemma3()


# With its weights


@pytest.fixture(scope="module")
def trained() -> Gemma3:
    need("gemma3")
    return load_gemma3()


@torch.no_grad()
def test_the_file_is_read_as_transformers_reads_it(trained):
    tokens = torch.tensor([gemma3_tokenizer().encode(passage("persuasion", 0, 4000)).ids[:600]])
    other = theirs(trained)(tokens).logits
    assert (trained(tokens) - other).abs().max() < 1e-4 * other.std()


def test_the_text_comes_back_from_its_tokens(trained):
    tokenizer, text = gemma3_tokenizer(), passage("code", 0, 2000) + "\n 48213 naïve — 🐈\t§"
    ids = tokenizer.encode(text).ids
    assert ids[0] == 2 and tokenizer.decode(ids, skip_special_tokens=True) == text


def test_one_base_for_all_layers_costs_a_nat_and_says_nothing(trained):
    tokens = torch.tensor([gemma3_tokenizer().encode(passage("pride", 1, 1500)).ids[:256]])
    usual, one_base = losses(trained, tokens).mean(), losses(trained, tokens, encoding=trained.far).mean()
    assert one_base - usual > 0.5
