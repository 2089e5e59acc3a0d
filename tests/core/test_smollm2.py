"""SmolLM2 is transformers' Llama, and everything that concerns position is an argument."""

from functools import cache
from importlib import resources

import gguf
import pytest
import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from d2lpos import Encoding, RoPE
from d2lpos.pretrained import SmolLM2, find, load_smollm2, losses, smollm2, smollm2_tokenizer, stand_in
from d2lpos.transformer.masks import causal_mask
from d2lpos.transformer.temperature import steps
from tests.weights import need

SIZES = {"vocabulary": 60, "dim": 48, "layers": 3, "heads": 6, "kv_heads": 2, "inner": 64}


def loud(model: nn.Module) -> nn.Module:
    """Large weights, so that position decides the outcome."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval().requires_grad_(False)


@pytest.fixture
def model() -> SmolLM2:
    return loud(SmolLM2(**SIZES))


def text(length: int = 20) -> torch.Tensor:
    return torch.randint(SIZES["vocabulary"], (2, length))


def as_llama(model: SmolLM2) -> LlamaForCausalLM:
    first = model.blocks[0]
    config = LlamaConfig(
        vocab_size=SIZES["vocabulary"], hidden_size=SIZES["dim"], intermediate_size=SIZES["inner"],
        num_hidden_layers=SIZES["layers"], num_attention_heads=first.heads, num_key_value_heads=first.kv_heads,
        rope_theta=100_000.0, rms_norm_eps=1e-5, tie_word_embeddings=True,
    )  # fmt: skip
    llama = LlamaForCausalLM(config).double().eval()
    names = {
        "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
        "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj", "norm1": "input_layernorm",
        "norm2": "post_attention_layernorm",
    }  # fmt: skip
    state = {"model.embed_tokens.weight": model.tokens.weight, "model.norm.weight": model.norm.weight}
    for layer, block in enumerate(model.blocks):
        for ours, theirs in names.items():
            state[f"model.layers.{layer}.{theirs}.weight"] = getattr(block, ours).weight
    missing, unexpected = llama.load_state_dict(state, strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])
    return llama


@pytest.mark.parametrize("positions", [torch.arange(20), torch.arange(20) + 7], ids=["plain", "shifted"])
def test_logits_are_those_of_transformers(model, positions):
    tokens = text()
    with torch.no_grad():
        theirs = as_llama(model)(
            tokens, position_ids=positions[None], attention_mask=torch.ones_like(tokens)
        ).logits
    assert (model(tokens, positions) - theirs).abs().max() < 1e-5 < theirs.std()  # its angles are float32


def test_positions_decide_angles_and_not_the_mask(model):
    tokens, backward = text(), torch.arange(20).flip(0)
    changed = tokens.clone()
    changed[:, -1] = (tokens[:, -1] + 1) % SIZES["vocabulary"]
    same, other = (model(each, backward)[:, :-1] for each in (tokens, changed))
    assert torch.equal(same, other)
    assert not torch.allclose(same, model(tokens)[:, :-1])


def test_an_encoding_for_each_layer(model):
    tokens, own = text(), model.encoding
    assert torch.equal(model(tokens, encoding=[own] * 3), model(tokens))
    some = model(tokens, encoding=[own, None, own])
    assert not torch.allclose(some, model(tokens))
    assert torch.equal(some, model(tokens, encoding=[own, Encoding(), own]))
    assert torch.allclose(model(tokens, torch.zeros(20)), model(tokens, encoding=Encoding()))


def test_temperature_multiplies_queries(model):
    tokens, positions = text(), torch.arange(20)
    hot = model(tokens, temperature=lambda p: torch.full(p.shape, 2.0, dtype=torch.float64))
    for block in model.blocks:
        block.q.weight.mul_(2)
    assert torch.allclose(hot, model(tokens))
    assert not torch.allclose(model(tokens, temperature=lambda p: steps(p, 4)), model(tokens, positions))


@pytest.mark.parametrize(("last", "first"), [(40, 0), (40, 4), (1000, 2)])
def test_a_window_is_its_mask(model, monkeypatch, last, first):
    monkeypatch.setattr(smollm2, "BLOCK", 64)
    tokens, here = text(150), torch.arange(150)
    back = here[:, None] - here
    mask = causal_mask(here, here) & ((back < last) | (here < first))
    assert torch.allclose(model(tokens, window=(last, first)), model(tokens, mask=mask))


def test_losses_are_of_the_next_token(model, monkeypatch):
    monkeypatch.setattr(smollm2, "HEAD", 8)
    tokens = text()
    chances = model(tokens).log_softmax(dim=-1)[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0]
    assert torch.allclose(losses(model, tokens), -chances.float(), atol=1e-5)
    moved = torch.arange(20) * 3
    read = model.read(model.embed(tokens), moved)
    assert torch.equal(losses(model, tokens, positions=moved), losses(model, tokens, x=read))


@pytest.mark.parametrize(("how", "error"), [
    ({"encoding": [None, None]}, "encoding must have 3 members, one for each layer; got 2"),
    ({"positions": torch.arange(3)}, r"positions must have shape \(20,\) or \(2, 20\); got \(3,\)"),
    ({"window": (4, 0), "mask": torch.ones(20, 20, dtype=torch.bool)}, "window goes without mask; got both"),
    ({"window": (0, 4)}, "window must be positive; got 0"),
    ({"encoding": RoPE(16)}, "q must have 16 features a head, as RoPE has; got 8"),
])
def test_what_does_not_fit_is_named(model, how, error):
    with pytest.raises(ValueError, match=error):
        model(text(), **how)


def test_the_stand_in_is_always_the_same_and_leaves_chance_alone():
    before = torch.get_rng_state()
    one, other = (stand_in()(torch.tensor([list(b"abc")])) for _ in range(2))
    assert torch.equal(one, other) and torch.equal(torch.get_rng_state(), before)


# With its weights


@pytest.fixture(scope="module")
def trained() -> SmolLM2:
    need("smollm2")
    return load_smollm2()


@pytest.fixture(scope="module")
def tokens() -> torch.Tensor:
    need("smollm2")
    novel = resources.files("d2lpos.lab").joinpath("data", "persuasion.txt").read_text("utf-8")
    return torch.tensor([smollm2_tokenizer().encode(novel[:2000]).ids[:96]])


def test_trained_logits_are_those_of_transformers_from_the_same_file(trained, tokens, monkeypatch):
    """The largest difference was 9.5e-5 at 512 tokens, where the largest logit is 39."""
    for name, once in ("GGUFReader", smollm2.opened), ("get_tensor_name_map", cache(gguf.get_tensor_name_map)):
        monkeypatch.setattr(gguf, name, once)  # each takes seconds
    from transformers.initialization import no_init_weights
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    with torch.device("meta"):
        llama = LlamaForCausalLM(LlamaConfig(
            vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
            num_attention_heads=9, num_key_value_heads=3, rms_norm_eps=1e-5, tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
        ))  # fmt: skip
    read = load_gguf_checkpoint(str(find("smollm2")[0]), return_tensors=True, model_to_load=llama)
    assert read["config"]["rope_theta"] == trained.encoding.base
    with no_init_weights():
        theirs = LlamaForCausalLM(llama.config).eval()
    missing, unexpected = theirs.load_state_dict(read["tensors"], strict=False)
    assert (missing, unexpected) == (["lm_head.weight"], [])
    theirs.tie_weights()
    with torch.no_grad():
        assert (trained(tokens) - theirs(tokens).logits).abs().max() < 3e-4


def test_both_layouts_of_the_file_are_one_model(trained, tokens):
    neighbors = load_smollm2(layout="interleaved")
    assert not torch.equal(neighbors.blocks[0].q.weight, trained.blocks[0].q.weight)
    assert (neighbors(tokens) - trained(tokens)).abs().max() < 3e-4
    wrong = losses(neighbors, tokens, encoding=trained.encoding).mean()
    assert wrong > losses(trained, tokens).mean() + 1


def test_the_tokenizer_gives_a_text_back(tokens):
    tokenizer = smollm2_tokenizer()
    novel = resources.files("d2lpos.lab").joinpath("data", "persuasion.txt").read_text("utf-8")
    ids = tokenizer.encode(novel).ids
    assert tokenizer.decode(ids) == novel and len(ids) == 115_862
    assert [tokenizer.decode([one]) for one in tokenizer.encode("Sir 1760 €").ids] == [
        "Sir", " ", "1", "7", "6", "0", " €"
    ]  # fmt: skip
    assert tokenizer.encode("<|im_start|>").ids == [1]
