"""A configuration read aloud: what `print` shows, the command, and sentences for what is no configuration."""

import json

import pytest

from d2lpos.config import lines, memory, parse, read, sentence, settings
from d2lpos.config.__main__ import main
from d2lpos.pretrained import encoding_of

SIZES = {"hidden_size": 64, "num_attention_heads": 4}
LLAMA = {"model_type": "llama", "num_hidden_layers": 2, **SIZES}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
GEMMA = {
    "model_type": "gemma3_text",
    "num_hidden_layers": 7,
    "head_dim": 16,
    "sliding_window": 1024,
    "layer_types": [*["sliding_attention"] * 5, "full_attention", "sliding_attention"],
    **SIZES,
}
WORDS = {
    """llama: 2 layers, a token sees none after it
  input: nothing is added
  layers 0–1: RoPE, base 500,000, 16 of 16 features turn, in halves, yarn(factor=8, length=4096, \
beta_fast=32, beta_slow=1, truncate=true, attention_factor=null)""": LLAMA | {"rope_theta": 5e5, "rope_scaling": YARN},
    """gemma3_text: 7 layers, a token sees none after it
  input: nothing is added
  layers 0–4, 6: RoPE, base 10,000, 16 of 16 features turn, in halves; a window of 1,024 tokens
  layer 5: RoPE, base 1,000,000, 16 of 16 features turn, in halves
  by default: rope_theta = {"full_attention": 1000000, "sliding_attention": 10000}""": GEMMA,
}


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.partition(":")[0])
def test_a_reading_in_words(words):
    assert str(encoding_of(WORDS[words])) == words


def test_a_model_of_two_parts_tells_both():
    sizes = {"d_model": 64, "d_kv": 16, "num_heads": 4, "num_layers": 1, "relative_attention_num_buckets": 32}
    text = str(encoding_of({"model_type": "t5", "relative_attention_max_distance": 128, **sizes}))
    assert "T5Bias(heads=4, bidirectional=false)" in text and "\nand its encoder, t5: 1 layer, a token sees those" in text


def test_keys_to_pass_over_are_named_all_at_once_and_kept():
    strange = LLAMA | {"wobble": 3, "zeta": "x"}
    with pytest.raises(ValueError, match=r'not understood: wobble = 3, zeta = "x"\. .* ignore=\["wobble", "zeta"\]'):
        encoding_of(strange)
    reading = encoding_of(strange, ignore=("wobble", "zeta", "not there"))
    assert reading.ignored == ("wobble", "zeta") and str(reading).endswith("\n  ignored, as you asked: wobble, zeta")
    with pytest.raises(TypeError, match=r"ignore must be names of keys, such as \('wobble',\); got 'wobble'"):
        encoding_of(strange, ignore="wobble")
    with pytest.raises(ValueError, match=r'wobble = \[0, 1, .{72}…, zeta = "x"\. Any key'):
        encoding_of(strange | {"wobble": list(range(99))})


def test_keys_within_the_parameters_of_rope_are_passed_over_by_place():
    kinds = {"full_attention": {"eta": 1}, "sliding_attention": {"rope_type": "default", "rope_theta": 100.0, "eta": 2}}
    for rope in ({"rope_scaling": YARN | {"eta": 2}}, {"rope_parameters": YARN | {"rope_theta": 1e4, "eta": 2}}):
        name = f"{next(iter(rope))}.eta"
        with pytest.raises(ValueError, match=rf'{name} = 2\. .* ignore=\["{name}"\]'):
            encoding_of(LLAMA | rope)
        reading = encoding_of(LLAMA | rope, ignore=(name, "rope_scaling.theta", "eta"))
        assert reading.ignored == (name,) and reading.encodings[0].scaling.keywords["factor"] == 8.0
        with pytest.raises(ValueError, match="not understood"):
            encoding_of(LLAMA | rope, ignore=("eta",))
    both = encoding_of(GEMMA | {"rope_parameters": kinds}, ignore=("rope_parameters.eta",))
    assert both.ignored == ("rope_parameters.eta",) and both.encodings[0].base == 100.0
    inner = {"model_type": "gemma3", "text_config": GEMMA | {"rope_parameters": kinds}}
    assert memory(read(inner, ("rope_parameters.eta",)), 9)


def test_a_text_that_stands_elsewhere_is_read_there():
    text = LLAMA | {"rope_theta": 300.0, "num_key_value_heads": 4}
    twice = {"thinker_config": {"model_type": "qwen2_5_omni_thinker", "text_config": {"num_hidden_layers": 3}}}
    for place in ("llm_config", "llm_cfg", "language_config", "decoder_config"):
        held = {"model_type": "unheard-of", place: text, "vision_config": {"model_type": "unheard-of"}}
        assert str(encoding_of(held)) == str(encoding_of(text))
        with pytest.raises(ValueError, match=f"unheard-of has its text in {place}, for which no settings are known"):
            settings(read(held), 4096, "vllm")
    assert len(encoding_of({"model_type": "qwen2_5_omni", **twice}).layers) == 3
    for wrong in ({"model_type": "unheard-of", "llm_config": {"model_type": ["llama"]}}, {"model_type": "none", "llm_config": 1}):
        with pytest.raises(ValueError, match="is not known"):
            encoding_of(wrong)
    with pytest.raises(ValueError, match="the class of vibevoice ignores keys of a text in other places"):
        encoding_of({"model_type": "vibevoice", "decoder_config": text})


def test_keys_of_windows_say_nothing_where_windows_are_off_and_no_code_reads_them():
    idle = {"max_window_layers": 1, "sliding_window": 4}
    assert str(encoding_of(LLAMA | idle | {"use_sliding_window": False})) == str(encoding_of(LLAMA))
    with pytest.raises(ValueError, match=r"max_window_layers = 1, sliding_window = 4\."):
        encoding_of(LLAMA | idle)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), "utf-8")
    return path


def test_the_command_prints_words_or_json(file, capsys):
    reading = read(LLAMA)
    assert main(["read", str(file)]) is None
    assert capsys.readouterr().out == f"{sentence(reading)}\n{lines(reading)}\n"
    assert main(["read", str(file), "--json"]) is None
    assert json.loads(capsys.readouterr().out) == reading


def test_json_stands_alone_on_standard_output(file, capsys):
    assert main(["read", str(file), "--json", "--length", "8192", "--settings", "vllm"]) is None
    printed = capsys.readouterr()
    assert json.loads(printed.out) == read(LLAMA) and printed.err.startswith("settings for vLLM")


def test_the_command_needs_a_file_and_lengths_that_there_are(file):
    assert main(["read", str(file), "--trained", "0"]) == "--trained must be at least 1; got 0"
    assert main(["read", str(file), "--length", "0"]) == 'a text has at least 1 token; got "0"'
    assert main(["read", " "]) == "FILE must be a path, - or the name of a release; got ' '"


def test_the_command_takes_a_length_and_keys_to_pass_over(file, capsys):
    scaled = {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}, "max_position_embeddings": 64, "wobble": 1}
    file.write_text(json.dumps(LLAMA | scaled), "utf-8")
    assert "wobble = 1" in main(["read", str(file)])
    assert main(["read", str(file), "--length", "100", "--ignore", "wobble"]) is None
    assert "dynamic_ntk(factor=2, length=64, current=100)" in capsys.readouterr().out
    with pytest.raises(ValueError, match="tokens must say how long the text is"):
        encoding_of(LLAMA | scaled, ignore=("wobble",))


@pytest.mark.parametrize(("text", "sentence"), [
    ("{", "x must be JSON, but is not: Expecting property name"),
    ("[1]", "x must be a config.json, which is an object of keys; it is a list"),
    ('{"a": 1}', "x must have model_type, which says whose code reads it; it has none"),
    ('{"peft_type": "LORA"}', "x must be the config.json of a model; it is an adapter's configuration: read the config"),
    ('{"tokenizer_class": "T"}', "x must be the config.json of a model; it is a tokenizer's configuration"),
    ('{"model": {}, "added_tokens": []}', "x must be the config.json of a model; it is a tokenizer"),
    (f'"{"x" * (8 << 20)}"', "x must be a config.json of at most 8 MB; it has 8.0 MB"),
    ('{"n_kv_heads": 8, "dim": 64}', "x must be the config.json of a model; it is a params.json of Meta or Mistral"),
    ("GGUF", "x must be a config.json; it is a GGUF file of weights"),
    ("[" * 100_000 + "]" * 100_000, "x must not nest its lists and objects so deeply"),
])
def test_what_is_no_configuration_gets_a_sentence(text, sentence):
    with pytest.raises(ValueError) as error:
        parse(text, "x")
    assert str(error.value).startswith(sentence)


def test_a_file_of_other_bytes_is_read_or_gets_a_sentence(tmp_path, capsys):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), "utf-16")
    assert main(["read", str(path)]) is None
    note, rest = capsys.readouterr().out.split("\n", 1)
    assert "UTF-16" in note and rest.startswith(sentence(read(LLAMA)))
    for data, note in {b"GGUF\x03\xff": "header does not end", b"\xff\x00\x80": "its bytes are not UTF-8"}.items():
        path.write_bytes(data)
        assert note in main(["read", str(path)])


def test_a_file_that_is_not_there_gets_a_sentence(tmp_path):
    assert main(["read", str(tmp_path / "none.json")]) == f"{tmp_path / 'none.json'}: No such file or directory"


SENTENCES = {
    "Qwen3 8B turns queries and keys by their position in all 36 layers (RoPE), and sees the whole text in each; it was trained on "
    "texts of 32,768 tokens, and its file allows 40,960 tokens.": (
        {"model_type": "qwen3", "num_hidden_layers": 36, "max_position_embeddings": 40_960},
        32_768,
        "Qwen3 8B",
    ),
    "The model (gemma3_text) turns queries and keys by their position in all 7 layers (RoPE), and sees a window of 1,024 tokens in "
    "6 layers and the whole text in 1 layer; it was trained on texts of 131,072 tokens, as many as its class takes.": (
        GEMMA, 131_072, None,
    ),
    "The model (smollm3) turns queries and keys by their position in 3 of its 4 layers (RoPE), and sees the whole text in all 4 "
    "layers; 1 layer has no positions; its file stretches 1,024 tokens to 4,096.": (
        {"model_type": "smollm3", "num_hidden_layers": 4, "max_position_embeddings": 4096, **SIZES}
        | {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 1024}},
        None,
        None,
    ),
    "BERT adds a learned row for each position to its input, and sees the whole text in both layers; its table ends after 512 "
    "tokens.": ({"model_type": "bert", "num_hidden_layers": 2}, None, "BERT"),
    "T5, in its decoder, adds a learned number for each range of distances to the scores in its one layer (T5's buckets), and "
    "sees the whole text in each; its encoder does the same.": ({"model_type": "t5", "num_layers": 1}, None, "T5"),
    "The model (dinov3_vit) turns queries and keys by their row and column in all 12 layers (RoPE), and sees the whole picture "
    "in each.": ({"model_type": "dinov3_vit"}, None, None),
}


@pytest.mark.parametrize("words", SENTENCES)
def test_a_sentence(words):
    config, trained, name = SENTENCES[words]
    assert sentence(read(config), trained, name) == words


def test_the_sentence_and_the_lines_say_the_same_of_a_text_that_a_window_does_not_hold():
    reading = read({"model_type": "phi3", "max_position_embeddings": 4096, "sliding_window": 8192})
    assert "sees the whole text in each" in sentence(reading) and "window" not in lines(reading)
    for tokens, extent in {8192: "the whole text", 8193: "a window of 8,192 tokens"}.items():
        assert f"sees {extent} in each" in sentence(reading, tokens=tokens)
        assert ("a window of 8,192 tokens" in lines(reading, tokens)) == ("window" in extent) == ("window" in memory(reading, tokens))


def test_a_sentence_needs_a_length_that_there_is():
    with pytest.raises(ValueError, match="trained must be positive; got 0"):
        sentence(read(LLAMA), 0)
    with pytest.raises(TypeError, match=r"trained must be an integer; got 2\.5"):
        sentence(read(LLAMA), 2.5)
    with pytest.raises(ValueError, match="tokens must be positive; got 0"):
        sentence(read(LLAMA), tokens=0)
