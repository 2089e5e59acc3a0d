"""Whisper and RXNMapper's ALBERT beside transformers' forward pass, with their weights."""

import pytest
import torch
from transformers import AlbertConfig, AlbertForMaskedLM, WhisperConfig, WhisperForConditionalGeneration

from d2lpos.input import sinusoidal
from d2lpos.pretrained import albert_tokens, find, load_albert, load_whisper, whisper_tokenizer
from d2lpos.pretrained.whisper import BEGIN, LAYERS, SILENCE, Whisper
from tests.weights import need

REACTION = "CC(C)S.CN(C)C=O.Fc1cccnc1F.O=C([O-])[O-].[K+].[K+]>>CC(C)Sc1ncccc1F"


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    need("whisper")
    return load_whisper()


def transformers_whisper(ours: Whisper) -> WhisperForConditionalGeneration:
    """transformers' model with the weights of ours, by its own names."""
    sizes = {"vocab_size": 51864, "d_model": 384, "max_target_positions": 448, "max_source_positions": 1500}
    sides = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in (
        ("layers", LAYERS), ("attention_heads", 6), ("ffn_dim", 1536),
    )}  # fmt: skip
    state, mine = {}, ours.state_dict()
    places = {"encoder.conv1": "conv1", "encoder.conv2": "conv2", "encoder.layer_norm": "norm1", "decoder.layer_norm": "norm2"}
    parts = {"self_attn_layer_norm": "norm1", "self_attn.out_proj": "out", "final_layer_norm": "norm2", "fc1": "up", "fc2": "down"}
    hears = {"encoder_attn_layer_norm": "norm3", "encoder_attn.q_proj": "ask", "encoder_attn.out_proj": "answer"}
    for side, blocks, some in ("encoder", "ears", parts), ("decoder", "blocks", parts | hears):
        for layer in range(LAYERS):
            places |= {f"{side}.layers.{layer}.{a}": f"{blocks}.{layer}.{b}" for a, b in some.items()}
            fused = [("project", "self_attn", "qkv"), *([("heard", "encoder_attn", "kv")] if some != parts else [])]
            for kind in ("weight", "bias"):
                for name, theirs, letters in fused:
                    pieces = mine[f"{blocks}.{layer}.{name}.{kind}"].split(384)
                    for letter, piece in zip(letters, pieces, strict=True):
                        if (letter, kind) == ("k", "bias"):  # which transformers leaves out
                            assert not piece.any()
                        else:
                            state[f"model.{side}.layers.{layer}.{theirs}.{letter}_proj.{kind}"] = piece
    state |= {f"model.{a}.{kind}": mine[f"{b}.{kind}"] for a, b in places.items() for kind in ("weight", "bias")}
    state["model.encoder.embed_positions.weight"] = mine["frames.table"]
    state["model.decoder.embed_positions.weight"] = mine["positions.table"]
    state["model.decoder.embed_tokens.weight"] = state["proj_out.weight"] = mine["tokens.weight"]
    theirs = WhisperForConditionalGeneration(WhisperConfig(**sizes, **sides, pad_token_id=50256)).eval()
    theirs.load_state_dict(state)
    return theirs


@torch.no_grad()
def test_whisper_hears_and_writes_as_transformers_does(whisper):
    theirs = transformers_whisper(whisper)
    tokens = torch.tensor([[*BEGIN, *whisper_tokenizer().encode(" The cat sat on the mat.", add_special_tokens=False).ids]])
    generator = torch.Generator().manual_seed(0)
    noise = SILENCE + torch.rand(1, 80, 3000, generator=generator)
    for spectrogram, ours in (
        (noise, whisper(tokens, sound=whisper.hear(noise))), (torch.full((1, 80, 3000), SILENCE), whisper(tokens)),
    ):  # fmt: skip
        logits = theirs(input_features=spectrogram, decoder_input_ids=tokens).logits
        assert torch.allclose(ours, logits, atol=1e-4), (ours - logits).abs().max()


def test_whispers_ears_have_sinusoids_in_halves_with_an_endpoint(whisper):
    table = sinusoidal(torch.arange(1500), 384, layout="concatenated", endpoint=True)
    assert torch.allclose(whisper.frames.table, table, atol=3e-4)


def test_a_token_past_whispers_last_row_is_an_error(whisper):
    with pytest.raises(ValueError, match="positions must lie in 0 … 447, the rows of the table; got 448"):
        whisper(torch.zeros(1, 449, dtype=torch.long))


@torch.no_grad()
def test_albert_fills_in_as_transformers_does():
    need("albert")
    ours = load_albert()
    sizes = {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 8, "vocab_size": 591, "embedding_size": 128}
    theirs = AlbertForMaskedLM(AlbertConfig(**sizes, num_hidden_layers=12, hidden_act="gelu")).eval()
    weights = torch.load(find("albert")[0], map_location="cpu", weights_only=True)
    missing = theirs.load_state_dict(weights, strict=False).missing_keys
    assert not missing
    tokens = torch.tensor([albert_tokens(REACTION)])
    assert len(tokens[0]) == 56
    for positions in torch.arange(len(tokens[0])), torch.arange(len(tokens[0])) + 400:
        logits = theirs(tokens, position_ids=positions[None]).logits
        assert torch.allclose(ours(tokens, positions), logits, atol=1e-4), (ours(tokens, positions) - logits).abs().max()


def test_what_is_no_token_of_a_reaction_is_refused():
    need("albert")
    with pytest.raises(ValueError, match="reaction must be SMILES"):
        albert_tokens("CC O>>CCO")
