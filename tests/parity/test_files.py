"""Files as people have them: GGUF's header, params.json and drafts, in Python and on the page."""

import base64
import json
import random
import struct

import pytest

from d2lpos.config import Refused, load, read, settings, verdict
from d2lpos.config.angles import in_force
from d2lpos.config.names import alike
from d2lpos.config.tables import rows, table
from tests.parity.headers import of_config, written
from tests.parity.releases import releases
from tests.parity.test_reader import attempt, difference, page, processor

ARCHITECTURES = table("gguf")["architectures"]
FAMILIES = {family: arch for arch, family in ARCHITECTURES.items()} | {"qwen2_vl_text": "qwen2vl", "deepseek_v3": "deepseek2"}
LLAMA = {"block_count": 2, "embedding_length": 64, "attention.head_count": 4, "context_length": 256, "rope.freq_base": 5e5}
PARTS = ("kinds", "layers", "causal", "input", "first")

pytestmark = pytest.mark.usefixtures("quiet")


def both(*files):
    """What Python makes of files, after a look that the page makes the same, by its own parser and from a File alike."""
    ours = [attempt(lambda file=file: load(file)) for file in files]
    for one, (other, opened) in zip(ours, page(*(base64.b64encode(file).decode() for file in files)), strict=True):
        assert not difference(one, other)
        assert opened == other
    return ours


def of_release(release):
    reading, text = read(release["config"]), release["config"]
    for place in reading["at"]["file"]:
        text = text[place]
    arch = FAMILIES[reading["family"]]
    return reading, written(arch, *of_config(arch, text, reading))


WRITTEN = [one for one in releases() if read(one["config"])["family"] in FAMILIES and not one["config"].get("alibi")]


def test_architectures_are_those_of_llama_cpp_and_families_are_read():
    from gguf.constants import MODEL_ARCH_NAMES

    assert {*ARCHITECTURES} <= {*MODEL_ARCH_NAMES.values()} and {*ARCHITECTURES.values()} <= {*rows()}


def test_headers_are_read_as_the_files_that_they_were_made_from():
    made, unlike = [of_release(release) for release in WRITTEN], []
    for release, (reading, _), loaded in zip(WRITTEN, made, both(*(file for _, file in made)), strict=True):
        if "refused" in loaded:
            unlike.append(f"{release['name']}: {loaded['sentence']}")
            continue
        again, [kind, *_] = read(loaded[0]), loaded[1]
        ours, theirs = ([plainly(one[part]) for part in PARTS] for one in (reading, again))
        unlike += [f"{release['name']}: {place}" for place in [difference(ours, theirs)] if place]
        assert again["lengths"]["allowed"] == reading["lengths"]["allowed"] and "GGUF" in kind
    assert unlike == [] and len(made) > 30


def plainly(part):
    """A part of a reading with its numbers as 32 bits hold them, and LongRoPE's factor as a number, which a file may leave out."""
    if isinstance(part, dict):
        longrope = (part.get("rule") or {}).get("kind") == "longrope"
        part = part | {"multiplier": in_force(part, 10**5)[1], "rule": part["rule"] | {"attention_factor": None}} if longrope else part
        return {key: plainly(value) for key, value in part.items()}
    if isinstance(part, list):
        return [plainly(one) for one in part]
    return float(f"{part:.5g}") if isinstance(part, float) else part


def test_what_a_header_leaves_out_is_the_familys_and_is_told():
    sizes = {"block_count": 12, "embedding_length": 1152, "attention.head_count": 4, "attention.key_length": 256}
    [(config, notes)] = both(written("gemma3", sizes | {"attention.sliding_window": 512, "rope.freq_base": 1e6}))
    note = "rope_local_base_freq = 10000, layer_types = {\"sliding_attention\": 10, \"full_attention\": 2}"
    assert note in notes[1] and [one["encoding"]["base"] for one in read(config)["kinds"]] == [1e4, 1e6]


def test_a_header_that_names_one_base_of_two_says_what_that_costs_its_readers():
    sizes = {"block_count": 12, "embedding_length": 1152, "attention.head_count": 4, "attention.key_length": 256}
    one, two, none = both(
        written("gemma3", sizes | {"rope.freq_base": 1e6}),
        written("gemma3", sizes | {"rope.freq_base": 1e6, "rope.freq_base_swa": 1e4}),
        written("llama", LLAMA),
    )
    trap = "It names one base, 1,000,000, and leaves out the 10,000 of its windows. A program that uses 1,000,000 in all layers"
    assert any(note.startswith(trap) for note in one[1])
    assert not any("one base" in note for note in (*two[1], *none[1]))


def test_versions_and_orders_of_bytes():
    little, big = (written("llama", LLAMA, order=order) for order in ("little", "big"))
    second = little[:4] + struct.pack("<I", 2) + little[8:]
    first = little[:4] + struct.pack("<I", 1) + little[8:]
    one, other, older, oldest = both(little, big, second, first)
    assert one == other == older and oldest["refused"] == "gguf_version"


def header(count, *values, tensors=0):
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, count) + b"".join(values)


def key(name, kind, value):
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


WHOLE = written("llama", LLAMA)
LIES = {
    "keys": header(1 << 60),
    "tensors": header(0, tensors=1 << 60),
    "more keys than there are": header(60_000),
    "a long name": header(1, struct.pack("<Q", 1 << 60)),
    "a long text": header(1, key(b"a", 8, struct.pack("<Q", 1 << 62))),
    "a long list": header(1, key(b"a", 9, struct.pack("<IQ", 4, 1 << 60))),
    "lists in lists": header(1, key(b"a", 9, struct.pack("<IQIQ", 9, 1, 9, 1))),
    "an unknown type": header(1, key(b"a", 77, b"")),
    "nothing": b"GGUF",
    "no architecture": header(0),
    "another architecture": written("clip", {"block_count": 2}),
    "no depth": written("llama", {"context_length": 5}),
    "a text for a depth": written("llama", LLAMA | {"block_count": "2"}),
    "no heads": written("llama", LLAMA | {"attention.head_count": 0}),
    "too deep": written("llama", LLAMA | {"block_count": 1 << 31}),
    "strange": written("llama", LLAMA | {"rope.wobble": 3}),
    "another direction": written("bloom", LLAMA | {"attention.causal": False}),
    "a strange rule": written("llama", LLAMA | {"rope.scaling.type": "wobble"}),
    "a strange factor": written("llama", LLAMA | {"rope.scaling.attn_factor": 1.5}),
    "uneven heads": written("llama", LLAMA | {"attention.head_count_kv": [2, 4]}),
    "strange divisors": written("llama", LLAMA, {"rope_freqs.weight": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0]}),
}


@pytest.mark.parametrize("case", LIES)
def test_a_header_that_lies_is_refused_at_once(case):
    begun = processor()
    [refusal] = both(LIES[case])
    assert "refused" in refusal and processor() - begun < 3


def test_bytes_at_random_are_read_alike():
    dice, files = random.Random(0), []
    latent = {"rope.dimension_count": 16, "attention.kv_lora_rank": 8, "attention.key_length": 32, "rope.scaling.type": "yarn"}
    latent |= {"rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 64, "rope.scaling.yarn_log_multiplier": 0.07}
    whole = [WHOLE, written("deepseek2", LLAMA | latent), written("qwen2vl", LLAMA | {"rope.dimension_sections": [2, 3, 3, 0]})]
    for file in whole * 40:
        data = bytearray(file)
        for _ in range(2):
            data[dice.randrange(4, file.index(b"token_embd"))] = dice.choice([0, 1, 255, dice.randrange(256)])
        files.append(bytes(data))
    assert sum("refused" not in one for one in both(*files)) > 20


def test_a_list_for_each_layer():
    lfm2 = LLAMA | {"block_count": 3, "attention.head_count_kv": [0, 2, 0]}
    windows = LLAMA | {"attention.sliding_window": 8, "attention.sliding_window_pattern": [True, False]}
    every = LLAMA | {"attention.sliding_window": 8, "attention.sliding_window_pattern": 2, "block_count": 4}
    made = both(written("lfm2", lfm2), written("gpt-oss", windows), written("exaone4", every))
    types = [config["layer_types"] for config, _ in made]
    assert types[0] == ["conv", "full_attention", "conv"] and types[1] == ["sliding_attention", "full_attention"]
    assert types[2] == types[1] * 2


META = {"dim": 4096, "n_layers": 32, "n_heads": 32, "n_kv_heads": 8, "multiple_of": 1024, "norm_eps": 1e-5, "rope_theta": 5e5}
MISTRAL = {"dim": 5120, "n_layers": 40, "n_heads": 32, "n_kv_heads": 8, "head_dim": 128, "hidden_dim": 14336, "rope_theta": 1e6}
YARN = {"original_max_position_embeddings": 8192, "factor": 16, "alpha": 1, "beta": 32, "apply_scale": False}


LATENT = MISTRAL | {
    "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "kv_lora_rank": 512, "q_lora_rank": 1536, "v_head_dim": 128, "yarn": YARN,
    "llama_4_scaling": {"original_max_position_embeddings": 8192, "beta": 0.1}, "moe": {"num_experts": 128, "route_every_n": 1},
}  # fmt: skip


def packed(*files):
    return [json.dumps(file).encode() for file in files]


def test_params_of_meta_and_mistral():
    scaled, stretched, windows, mixed, latent, unlike = (
        META | {"use_scaled_rope": True},
        MISTRAL | {"model_type": "transformer", "yarn": YARN, "llama_4_scaling": {"original_max_position_embeddings": 8192, "beta": 0.1}},
        MISTRAL | {"sliding_window": [None, 4096], "max_seq_len": 32768},
        MISTRAL | {"moe": {"num_experts": 8}},
        LATENT,
        META | {"use_scaled_rope": True, "dim": 2048},
    )
    made = both(*packed(scaled, stretched, windows, mixed, latent, unlike))
    readings = [read(config) for config, _ in made]
    assert [one["family"] for one in readings] == ["llama", "ministral3", "ministral", "mixtral", "mistral4", "llama"]
    assert readings[0]["kinds"][0]["encoding"]["rule"]["kind"] == "llama3" and readings[0]["lengths"]["allowed"] is None
    assert "does not say how long" in made[0][1][1] and "Llama 3.1 on, are released for 131,072" in made[0][1][2]
    known, unknown = alike(made[0][0]), alike(made[5][0])
    assert verdict(readings[0], 131_072, known)["code"] == "training" and verdict(readings[5], 131_072, unknown)["code"] == "unknown"
    assert verdict(readings[0], 131_073, known)["cap"] == 131_072
    with pytest.raises(Refused, match="does not say how far") as error:
        settings(readings[5], 131_072, "vllm")
    assert error.value.fields["cap"] is None  # and not the length from which it stretches
    rule, warm = readings[1]["kinds"][0]["encoding"]["rule"], readings[1]["kinds"][0]["temperature"]
    assert (rule["factor"], rule["attention_factor"], warm["scale"]) == (16, 1, 0.1)
    turn = readings[4]["kinds"][0]["encoding"]
    assert (turn["rotary"], turn["rule"]["attention_factor"], readings[4]["kinds"][0]["cache"]) == (64, 1, 512 + 64)
    assert [one["window"] for one in readings[2]["kinds"]] == [None, 4096] and readings[2]["lengths"]["allowed"] == 32768


def test_params_that_no_reading_vouches_for():
    wrong = [{"moe": 8}, {"yarn": 3}, {"yarn": YARN | {"gamma": 1}}, {"sliding_window": [1, 2]}, {"sliding_window": [None] * 3}]
    assert all("refused" in one for one in both(*packed(*(MISTRAL | one for one in wrong))))


def test_drafts_are_read_and_told_what_they_borrow():
    flat = {"model_type": "qwen3", "num_hidden_layers": 5, "dflash_config": {"target_layer_ids": [1, 9]}, "num_target_layers": 36, "block_size": 16}
    inner = {"model_type": "llama", "num_hidden_layers": 1, "rope_theta": 5e5}
    eagle = {"speculators_model_type": "eagle3", "draft_vocab_size": 32000, "norm_before_residual": True, "transformer_layer_config": inner}
    for config, [note] in both(*packed(flat, eagle)):
        assert read(config)["kinds"][0]["encoding"]["kind"] == "RoPE" and note.startswith("It is a draft")


def test_utf16_is_read_and_told_and_lists_of_quantization_do_not_matter():
    config = {"model_type": "llama", "quantization_config": {"ignore": [f"model.layers.{i}.self_attn" for i in range(180_000)]}}
    wide, (long, notes) = both(json.dumps({"model_type": "llama"}).encode("utf-16"), json.dumps(config).encode())
    assert "UTF-16" in wide[1][0] and notes == [] and read(long)["family"] == "llama"
