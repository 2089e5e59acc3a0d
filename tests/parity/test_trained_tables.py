"""Whisper and RXNMapper's ALBERT beside transformers' forward pass, with weights that are read from their files once more."""

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from torch.nn.functional import cross_entropy
from transformers import AlbertConfig, AlbertForMaskedLM, WhisperConfig, WhisperForConditionalGeneration

from d2lpos.input import sinusoidal
from d2lpos.lab import records
from d2lpos.lab.passages import passage
from d2lpos.pretrained import Albert, Whisper, find, load_albert, load_whisper
from tests.weights import need

BEGIN = [50257, 50362]
SILENT = torch.full((1, 80, 3000), -1.5)
ALBERT = {"hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 8, "vocab_size": 591, "embedding_size": 128}
NAMES = {  # CTranslate2's, transformers'
    "self_attention/layer_norm": "self_attn_layer_norm", "self_attention/linear_0": "self_attn.qkv",
    "self_attention/linear_1": "self_attn.out_proj", "attention/layer_norm": "encoder_attn_layer_norm",
    "attention/linear_0": "encoder_attn.q", "attention/linear_1": "encoder_attn.kv", "ffn/layer_norm": "final_layer_norm",
    "attention/linear_2": "encoder_attn.out_proj", "ffn/linear_0": "fc1", "ffn/linear_1": "fc2", "embeddings": "embed_tokens",
    "position_encodings": "embed_positions",
}  # fmt: skip


def halves(data: bytes, name: str, *shape: int) -> torch.Tensor:
    """A float16 variable of a file of CTranslate2: it stands behind its name, its shape, a 4 and its size in bytes."""
    there = np.array([*shape], "<u4").tobytes()
    what = name.encode() + b"\0" + bytes([len(shape)]) + there + b"\4"
    assert data.count(what) == 1
    at = data.index(what) + len(what) + 4
    return torch.tensor(np.frombuffer(data, "<f2", int(np.prod(shape)), at).astype("f4").reshape(shape))


@pytest.fixture(scope="module")
def their_whisper() -> WhisperForConditionalGeneration:
    need("whisper")
    data = find("whisper")[0].read_bytes()
    sizes = {"vocab_size": 51864, "d_model": 384, "max_target_positions": 448, "max_source_positions": 1500}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": 4, f"{side}_attention_heads": 6, f"{side}_ffn_dim": 1536}
    model = WhisperForConditionalGeneration(WhisperConfig(**sizes, pad_token_id=50256)).eval()
    back = {name: theirs for theirs, name in NAMES.items()}
    for name, weight in model.model.named_parameters():
        side, *parts, kind = name.split(".")
        block = f"layer_{parts[1]}/" if parts[0] == "layers" else ""
        inner = parts[2:] if block else parts
        part = ".".join(inner)
        if part.endswith(("q_proj", "k_proj", "v_proj")):
            letter, attention = part[-6], inner[0]
            letters = "qkv" if attention == "self_attn" else "q" if letter == "q" else "kv"
            shape = (384 * len(letters), *weight.shape[1:])
            whole = halves(data, f"{side}/{block}{back[f'{attention}.{letters}']}/{kind}", *shape)
            weight.data = whole.split(384)[letters.index(letter)]
            continue
        kind = {"weight": "gamma", "bias": "beta"}[kind] if part.endswith("layer_norm") else kind
        kind = "encodings" if part == "embed_positions" else kind
        weight.data = halves(data, f"{side}/{block}{back.get(part, part)}/{kind}", *weight.shape)
    model.proj_out.weight = model.model.decoder.embed_tokens.weight
    return model


@pytest.fixture(scope="module")
def their_albert() -> AlbertForMaskedLM:
    need("albert")
    model = AlbertForMaskedLM(AlbertConfig(**ALBERT, num_hidden_layers=12, hidden_act="gelu")).eval()
    weights = torch.load(find("albert")[0], map_location="cpu", weights_only=True)
    assert not model.load_state_dict(weights, strict=False).missing_keys
    return model


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    need("whisper")
    return load_whisper()


@torch.no_grad()
def test_whisper_hears_and_writes_as_transformers_does(whisper, their_whisper):
    tokens = torch.tensor([[*BEGIN, 383, 3797, 3332, 319, 262, 2603, 13]])
    for spectrogram in SILENT, SILENT + torch.rand(SILENT.shape):
        ours = whisper(tokens, whisper.hear(spectrogram))
        theirs = their_whisper(input_features=spectrogram, decoder_input_ids=tokens).logits
        assert torch.allclose(ours, theirs, atol=1e-4)


def test_frames_stand_at_sinusoids_in_halves_with_an_endpoint(whisper):
    table = sinusoidal(torch.arange(1500), 384, layout="concatenated", endpoint=True)
    assert torch.allclose(whisper.frames.table, table, atol=3e-4)


@torch.no_grad()
def test_published_losses_of_whisper_come_out_of_transformers(their_whisper):
    record = next(r for r in records("real-tables") if (r["run"]["text"], r["run"]["seed"], r["run"]["part"]) == ("code", 3, ""))
    published = {row["case"]: row["loss"] for row in record["rows"]}
    text = Tokenizer.from_file(str(find("whisper")[1])).encode(passage("code", 3, 1600), add_special_tokens=False).ids[:200]
    ids, rows = torch.tensor([[*BEGIN, *text]]), their_whisper.model.decoder.embed_positions.weight
    table, mean = rows.clone(), rows.mean(dim=0)
    ways = {f"shifted by {n}": table[n : 202 + n] for n in (1, 100)}
    ways |= {f"shifted by {n}, in place": torch.cat([table[:2], table[2 + n : 202 + n]]) for n in (1, 50, 100, 240)}
    ways |= {"as trained": table[:202], "no table": 0 * table[:202], "the mean row for all": mean.expand(202, -1)}
    ways["row 0 is the mean row"] = torch.cat([mean[None], table[1:202]])
    middles = torch.stack([table[1:102], (table[1:102] + table[2:103]) / 2], dim=1).flatten(0, 1)
    ways["stretched to 895 rows, in place"] = torch.cat([table[:2], middles[1:201]])
    sound = their_whisper.model.encoder(SILENT)
    for case, own in ways.items():
        rows[:202] = own
        logits = their_whisper(encoder_outputs=sound, decoder_input_ids=ids).logits
        rows[:] = table
        assert cross_entropy(logits[0, 1:-1], ids[0, 2:]).item() == pytest.approx(published[case], abs=2e-4), case


@torch.no_grad()
def test_albert_fills_in_and_published_losses_come_out_of_transformers(their_albert):
    ours: Albert = load_albert()
    record = next(r for r in records("real-reactions") if r["run"]["seed"] == 4)
    known = find("albert")[1].read_text("utf-8").splitlines()
    ids = [known.index(token) for token in ["[CLS]", *passage("reactions", 4, 999).split(), "[SEP]"]]
    for row in record["rows"]:
        by = int(row["case"].removeprefix("shifted by ").split(",")[0]) if row["case"].startswith("shifted") else 0
        at = torch.arange(len(ids)) + by
        at[0] = 0 if row["case"].endswith("in place") else at[0]
        at = {"all at 100": torch.full_like(at, 100), "reversed": at.flip(0)}.get(row["case"], at)
        lost = []
        for masked in range(1, len(ids) - 1):
            hidden = torch.tensor([[*ids[:masked], 14, *ids[masked + 1 :]]])
            logits = their_albert(hidden, position_ids=at[None]).logits
            lost.append(-logits[0, masked].log_softmax(-1)[ids[masked]])
        assert torch.allclose(ours(hidden, at), logits, atol=1e-4)
        assert torch.stack(lost).mean().item() == pytest.approx(row["loss"], abs=2e-4), row["case"]
