"""What a length asks of a model: memory, new angles, traps, settings; each beside a number that is known."""

import json
import math
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from d2lpos.config import Refused, apply, asks, edits, fresh, memory, read, settings, traps, verdict
from d2lpos.config.__main__ import main
from d2lpos.config.tables import table
from d2lpos.config.traps import in_words
from d2lpos.config.verdict import in_words as answered

PROGRAMS, RULES = [program for program in table("programs") if program != "ollama"], table("settings")["rules"]

QWEN3 = {
    "model_type": "qwen3", "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "rope_theta": 1e6, "max_position_embeddings": 40_960,
}  # fmt: skip
GPT_OSS = {"model_type": "gpt_oss", "num_hidden_layers": 24}
GEMMA3 = {
    "model_type": "gemma3_text", "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16,
    "head_dim": 128, "hidden_size": 5376, "sliding_window": 1024, "rope_scaling": {"rope_type": "linear", "factor": 8.0},
}  # fmt: skip
DEEPSEEK = {"model_type": "deepseek_v3"}
GIB, MIB = 2**30, 2**20
# Bytes at 131,072 tokens in half precision: heads that keep keys × features × 2 × 2 bytes × layers × tokens.
MEMORY = {
    "qwen3": (QWEN3, {"full": 18 * GIB}),
    "gpt_oss": (GPT_OSS, {"full": 3 * GIB, "window": 3 * MIB}),
    "gemma3": (GEMMA3, {"full": 10 * GIB, "window": 416 * MIB}),
    "latent vectors": (DEEPSEEK, {"full": 61 * (512 + 64) * 2 * 131_072}),
    "one head for all": ({"model_type": "falcon"}, {"full": 32 * 64 * 2 * 2 * 131_072}),
    "a head each": ({"model_type": "gpt2"}, {"full": 12 * 768 * 2 * 2 * 131_072}),
    "chunks": (
        {"model_type": "llama4_text"},
        {"full": 3 * 4 * GIB // 4 * 2, "chunk": 36 * 8192 * 8 * 128 * 2 * 2},
    ),
    "a recurrence": ({"model_type": "mamba"}, {}),
}


@pytest.mark.parametrize(("config", "expected"), MEMORY.values(), ids=MEMORY)
def test_memory_of_keys_and_values(config, expected):
    assert memory(read(config), 131_072) == expected
    assert memory(read(config), 131_072, number=1) == {kind: number // 2 for kind, number in expected.items()}


@pytest.mark.parametrize(
    ("trained", "tokens"), [(4096, 4096), (4096, 4097), (4096, 32_768), (32_768, 131_072)]
)
def test_new_angles_are_those_past_what_a_pair_has_seen(trained, tokens):
    (layer,) = read(QWEN3)["kinds"]
    waves = [2 * math.pi * 1e6 ** (2 * i / 128) for i in range(64)]
    assert fresh(layer, trained, tokens) == [wave > trained and tokens > trained for wave in waves]


LLAMA_31 = {
    "model_type": "llama", "rope_theta": 5e5, "max_position_embeddings": 131_072, "head_dim": 128,
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                     "original_max_position_embeddings": 8192},
}  # fmt: skip


def test_a_length_trained_under_the_stretch_is_measured_with_it():
    assert "    25 of 64 pairs meet new angles" in asks(read(LLAMA_31), 1 << 20, trained=131_072)
    assert "    none of 64 pairs meets a new angle" in asks(read(LLAMA_31), 65_536, trained=8192)


def test_an_angle_that_an_earlier_stage_showed_is_not_new():
    stretched = read({"model_type": "llama", "max_position_embeddings": 131_072, "head_dim": 128,
                      "rope_theta": 1e6, "rope_scaling": {"rope_type": "linear", "factor": 8.0}})  # fmt: skip
    # 8 × 32,768 positions of before the stretch have all angles that 262,144 tokens have with it.
    both = asks(stretched, 262_144, trained=[131_072, 32_768])
    assert "compared with 32,768 and 131,072 tokens, as you say" in both and "none of 64 pairs meets a new angle" in both
    assert "none of" in asks(stretched, 262_144, 32_768) and "none of" not in asks(stretched, 262_144, 131_072)
    assert "none of" not in asks(stretched, 262_145, trained=[32_768, 131_072])
    with pytest.raises(ValueError, match="trained must be positive; got 0"):
        asks(stretched, 9, trained=[32_768, 0])


def test_what_a_layer_keeps_is_not_always_heads_by_features():
    t5 = {"model_type": "t5", "d_model": 64, "num_heads": 4, "d_kv": 64, "num_layers": 1}
    assert memory(read(t5), 8, 4) == {"full": 16_384}
    blocks = [{"attention": {"n_heads_in_group": 8}}, {"attention": {"no_op": True}}]
    nas = {"model_type": "nemotron-nas", "hidden_size": 8192, "num_attention_heads": 64, "num_hidden_layers": 2}
    assert memory(read(nas | {"block_configs": blocks}), 1, 1) == {"full": 8 * 128 * 2}
    assert memory(read({"model_type": "deepseek_v32", "num_hidden_layers": 1}), 1, 1) == {"full": 576, "indexer": 128}
    assert memory(read({"model_type": "gemma3n_text"}), 8, 1) == {"window": 16 * 8 * 1024, "full": 4 * 8 * 1024}  # 15 of 35 read others
    assert memory(read({"model_type": "mimo_v2_flash", "num_hidden_layers": 1}), 1, 1) == {"full": 4 * (192 + 128)}
    assert asks(read({"model_type": "deepseek_v4"}), 9).count("is not known") == 1
    with pytest.raises(ValueError, match="memory of deepseek_v4 is not known"):
        memory(read({"model_type": "deepseek_v4"}), 8)


def line(config, *arguments, **named):
    return settings(read(config), *arguments, **named)["line"]


def test_a_line_for_transformers_4_says_how_pairs_are_dealt_where_its_file_does_not():
    qwen = {"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text", "rope_theta": 5e6}}
    changed = line(qwen, 1_048_576, "transformers4", rule="ntk")
    assert "rope_scaling = {'rope_type': 'default', 'mrope_section': [24, 20, 20], 'mrope_interleaved': True}" in changed
    assert "rope_scaling" not in line({"model_type": "qwen3", "rope_theta": 1e6}, 1_048_576, "transformers4", rule="ntk")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_yarn_that_reaches_beyond_what_its_file_allows_needs_the_length_alone(program):
    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
    config = {"model_type": "qwen2", "max_position_embeddings": 32_768, "rope_scaling": yarn}
    made = settings(read(config), 131_072, program)
    assert made["edits"] == [{"path": ["max_position_embeddings"], "value": 131_072}] and "131072" in made["line"]
    assert "yarn" not in made["line"] and "Nothing to set" in line(apply(config, made["edits"]), 131_072, program)
    with pytest.raises(ValueError, match="stretches to 131,072 tokens, but its file allows 32,768; no second stretch"):
        settings(read(config), 131_073, program)
    with pytest.raises(ValueError, match="has code without YaRN"):
        settings(read(config | {"model_type": "mixtral" if program == "sglang" else "phimoe"}), 131_072, program)


@pytest.mark.parametrize("family", ["gemma", "gemma2", "mixtral", "olmo", "persimmon", "phi", "stablelm", "starcoder2"])
def test_sglang_takes_a_base_where_its_code_passes_rules_over(family):
    config = {"model_type": family}
    for rule in (None, "yarn", "linear", "llama3"):
        with pytest.raises(ValueError, match=f"^{family} has code without .* in SGLang 0.5.23, so a setting would do nothing or fail$"):
            line(config, 1_048_576, "sglang", 2048, rule)
    assert '"rope_type": "default"' in line(config, 1_048_576, "sglang", 2048, "ntk")
    assert '"rope_type": "yarn"' in line(config, 1_048_576, "vllm", 2048, "yarn")


def test_what_stands_beside_the_parameters_is_edited_there_too():
    config = {"model_type": "smollm3", "partial_rotary_factor": 0.5, "max_position_embeddings": 32_768}
    changes = edits(read(config), 131_072, trained=32_768)  # its class turns whole heads where no rule scales
    shares = [change["path"] for change in changes if change["path"][-1] == "partial_rotary_factor"]
    assert shares == [["rope_scaling", "partial_rotary_factor"], ["partial_rotary_factor"]]
    (encoding,) = {json.dumps(kind["encoding"]) for kind in read(apply(config, changes))["kinds"] if kind["encoding"]}
    assert json.loads(encoding)["rotary"] == 128 and json.loads(encoding)["rule"]["factor"] == 4


def test_no_model_is_stretched_a_million_times():
    for rule in RULES:
        with pytest.raises(Refused, match=r"^factor must be at most 1,000,000, as no model is larger; got 2000000$"):
            edits(read(QWEN3), 2_000_000, rule, trained=1)


def sources_in(config):
    return " ".join(sentence for sentence, _ in map(in_words, traps(read(config))))


YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}
TRAPS = {
    "No original length is given, so its code uses 40,960": QWEN3 | {"rope_scaling": {"type": "yarn", "factor": 4.0}},
    "The factor is 4, but the quotient of its lengths is 1.25.": QWEN3
    | {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}},
    "The model was released with this stretch": GEMMA3,
    "and their makers advise one only for long texts. yarn changes short texts, too": QWEN3 | {"rope_scaling": YARN},
    "Its divisors switch past 4,096 tokens": {
        "model_type": "phi3",
        "original_max_position_embeddings": 4096,
        "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48},
    },
    "The base depends on the length": QWEN3 | {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
    "The ends of YaRN's ramp are not rounded": GPT_OSS,
    "attn_factor is ignored by transformers and vLLM": QWEN3 | {"rope_scaling": YARN | {"attn_factor": 0.8782}},
    "It has two bases": GEMMA3,
    "Pairs are neighbors": DEEPSEEK,
    "Its first token is at row 2": {"model_type": "roberta", "pad_token_id": 1},
    "Its slopes are divided": {"model_type": "falcon", "alibi": True},
}


@pytest.mark.parametrize("sentence", TRAPS)
def test_a_trap(sentence):
    assert sentence in sources_in(TRAPS[sentence]) and sentence not in sources_in(QWEN3)


def test_nobody_is_said_to_have_released_a_stretch_that_a_user_may_have_added():
    added = LLAMA_31 | {"rope_scaling": {"type": "linear", "factor": 4.0}}
    assert "No model of this family is known here that was released with linear" in sources_in(added)
    assert "keep it" not in sources_in(added)
    distilled = read(QWEN3 | {"rope_scaling": YARN | {"attn_factor": 0.8782}, "max_position_embeddings": 131_072})  # by DeepSeek
    said = answered(verdict(distilled, 100_000))
    assert "Qwen's own files have no stretch" in said and "Its makers release it without" not in said


def test_sections_are_in_the_book():
    root = Path(__file__).parents[2]
    for place in table("words")["sections"].values():
        page, heading = place.split(": ", 1)
        [file] = [*root.glob(f"chapters/**/{page}.ipynb"), *root.glob(f"book/{page}.md")]
        assert re.search(
            rf'^\s*"?## {re.escape(heading)}(<a id=.+></a>)?(\\n)?"?,?$', file.read_text("utf-8"), re.MULTILINE
        ), place


def test_a_factor_may_be_broken_and_is_rounded_up():
    """vLLM and SGLang keep a row for each token within the original length times the factor."""
    assert "--rope-scale 1.5259 " in line(QWEN3, 50_000, "llama.cpp", trained=32_768)
    assert round(41_000 / 32_768, 4) * 32_768 < 41_000  # to the nearest is too few
    for tokens in range(40_961, 41_100):
        override = shlex.split(line(QWEN3, tokens, "vllm", trained=32_768))[-1]
        assert tokens <= json.loads(override)["rope_parameters"]["factor"] * 32_768 < tokens + 4


def test_within_its_own_length_nothing_is_set_unless_a_rule_is_named():
    remark = "# Nothing to set: 40,960 is within what its file allows, but the texts in training had at most 32,768."
    for program in PROGRAMS:
        assert line(QWEN3, 40_960, program, trained=32_768) == remark
        assert "yarn" in line(QWEN3, 40_961, program, trained=32_768)
        assert "1.25" in line(QWEN3, 40_960, program, trained=32_768, rule="yarn")
        assert line(QWEN3, 32_768, program, trained=32_768, rule="yarn").startswith("# Nothing to set")
    longer = QWEN3 | {"max_position_embeddings": 2048}  # a file that allows less than the training had
    assert line(longer, 4096, "transformers", trained=8192) == "config.max_position_embeddings = 4096"


NTK = {"rope_type": "default", "rope_theta": float(f"{1e6 * 4 ** (128 / 126):.7g}")}
LINEAR, LLAMA3 = {"rope_type": "linear", "factor": 4.0}, YARN | {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
UNCAPPED = " --override-kv ARCH.context_length=int:{}  # ARCH is the file's general.architecture, as qwen3"
LINES = {"yarn": YARN, "linear": LINEAR, "ntk": NTK, "llama3": LLAMA3}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_written_as_each_program_reads_it(rule):
    def lines(program):
        return line(QWEN3, 131_072, program, 32_768, rule)

    whole, most = {"rope_theta": 1e6} | LINES[rule], "max_position_embeddings"
    new, old = SimpleNamespace(), SimpleNamespace()
    exec(lines("transformers"), {"config": new})  # noqa: S102
    exec(lines("transformers4"), {"config": old})  # noqa: S102
    assert vars(new) == {"rope_parameters": whole, most: 131_072}
    assert vars(old) == ({"rope_theta": NTK["rope_theta"]} if rule == "ntk" else {"rope_scaling": LINES[rule]}) | {most: 131_072}
    for program, name in (("vllm", "rope_parameters"), ("sglang", "rope_scaling")):
        assert json.loads(shlex.split(lines(program))[-1]) == {name: whole, most: 131_072}
    if rule == "llama3":
        with pytest.raises(ValueError, match="^llama.cpp has no flag for Llama 3's rule"):
            lines("llama.cpp")
        return
    flags = {"yarn": "--rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768", "linear": "--rope-scaling linear --rope-scale 4"}
    capped = "" if rule == "yarn" else UNCAPPED.format(131_072)
    assert lines("llama.cpp") == f"llama-server -m MODEL.gguf -c 131072 {flags.get(rule, '--rope-freq-base 4088994')}{capped}"
    assert "--override-kv" not in line(QWEN3, 40_960, "llama.cpp", 32_768, rule)  # which the file allows


def test_rules_without_settings_say_why():
    for rule, word in (("dynamic", "its base grows with the text"), ("longrope", "a search")):
        with pytest.raises(ValueError, match=word):
            line(QWEN3, 131_072, "vllm", 32_768, rule)
    with pytest.raises(ValueError, match="^rule must be one of yarn, linear, ntk, llama3, dynamic, longrope; got 'spiral'$"):
        line(QWEN3, 131_072, "vllm", 32_768, "spiral")
    with pytest.raises(ValueError, match="^llama rotates only one pair, whose frequency is 1 with any base$"):
        line({"model_type": "llama", "head_dim": 2}, 8192, "vllm", 2048, "ntk")
    with pytest.raises(ValueError, match="^bailing_hybrid keeps its base in two places, and a setting changes only one of them$"):
        line({"model_type": "bailing_hybrid"}, 1_000_000, "vllm", 4096, "ntk")


LONGER = {
    "transformers": "config.{key} = 65536",
    "transformers4": "config.{key} = 65536",
    "vllm": "vllm serve MODEL --max-model-len 65536 --hf-overrides '{{\"{key}\": 65536}}'",
    "sglang": "python -m sglang.launch_server --model-path MODEL --context-length 65536 "
    "--json-model-override-args '{{\"{key}\": 65536}}'",
    "llama.cpp": "llama-server -m MODEL.gguf -c 65536" + UNCAPPED.format(65_536),
}


@pytest.mark.parametrize("program", LONGER)
def test_with_windows_alone_and_with_alibi_only_the_length_grows(program):
    windowed = {"model_type": "cohere2", "max_position_embeddings": 16_384}
    assert line(windowed, 65_536, program) == LONGER[program].format(key="max_position_embeddings")
    if program in ("transformers", "transformers4", "llama.cpp"):
        assert line({"model_type": "mpt"}, 65_536, program) == LONGER[program].format(key="max_seq_len")
    within = "# Nothing to set: 2,048 is within what its class takes."
    assert line({"model_type": "mpt"}, 2048, program) == within


@pytest.mark.parametrize(("program", "family", "message"), [
    ("llama.cpp", "mistral", "llama.cpp 0.5 is not known to support the windows of mistral, so no settings are known"),
    ("sglang", "starcoder2", "SGLang 0.5.23 is not known to support the windows of starcoder2, so no settings are known"),
    ("vllm", "mpt", "vLLM 0.33 is not known to support the slopes of mpt, so no settings are known"),
])
def test_a_program_without_these_windows_or_slopes_gets_no_settings(program, family, message):
    config = {"model_type": family} | ({} if family == "mpt" else {"sliding_window": 4096, "max_position_embeddings": 16_384})
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        line(config, 65_536, program)
    config["max_seq_len" if family == "mpt" else "max_position_embeddings"] = 1024  # of the file; the training had more
    assert "1536" in line(config, 1536, program, trained=2048)


REFUSED = {
    "internlm2 has code of its own, for which no settings are known": {"model_type": "internlm2", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2},
    "gpt2 has a table of 1,024 rows, and later tokens have no row": {"model_type": "gpt2"},
    "bloom rotates nothing, so there is nothing to stretch": {"model_type": "bloom"},
    "gpt_oss is already stretched to 131,072 tokens; no second stretch is known for it": GPT_OSS,
    "qwen3 has a rule that stretches to 131,072 tokens, but its file allows 40,960; no second stretch is known for it": (
        QWEN3 | {"rope_scaling": YARN}
    ),
    "phi3 has code without YaRN, so a setting would do nothing or fail": {"model_type": "phi3"},
    "gptj has code without YaRN, so a setting would do nothing or fail": {"model_type": "gptj"},
    "gemma4_text rotates in two ways, and one rule does not fit both": {"model_type": "gemma4_text"},
    "vLLM 0.33 is not known to take a rule for only one kind of layers of mimo_v2_flash": {"model_type": "mimo_v2_flash"},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_stretched_so_is_refused(sentence):
    with pytest.raises(Refused) as error:
        line(REFUSED[sentence], 1_000_000, "vllm")
    assert str(error.value) == sentence
    with pytest.raises(ValueError, match=r"^program must be one of transformers, .*; got 'llama'$"):
        line(QWEN3, 131_072, "llama")


def test_a_modelfile_has_a_length_and_no_stretch():
    assert line(QWEN3, 32_768, "ollama").startswith("PARAMETER num_ctx 32768")
    for rule in (None, *RULES):
        with pytest.raises(Refused, match=r"^Ollama.* has no flag for"):
            line(QWEN3, 131_072, "ollama", rule=rule)
    with pytest.raises(Refused, match="cuts num_ctx at the length that the file allows") as error:
        line({"model_type": "cohere2", "max_position_embeddings": 16_384}, 65_536, "ollama")
    assert error.value.fields["cap"] == 16_384


def test_keys_for_mlx_are_for_models_whose_code_reads_them():
    keys, _ = line(QWEN3, 131_072, "mlx", trained=32_768).split("  # ")
    assert json.loads(keys) == {"rope_scaling": YARN, "max_position_embeddings": 131_072}
    with pytest.raises(Refused, match="^mixtral has code without YaRN in mlx-lm 0.32"):
        line({"model_type": "mixtral", "max_position_embeddings": 32_768}, 131_072, "mlx")


def test_the_command_tells_what_a_length_asks(tmp_path, capsys):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(QWEN3), "utf-8")
    asked = ["read", str(file), "--length", "131072", "--trained", "32768", "--settings", "vllm"]
    assert main(asked) is None
    out = capsys.readouterr().out
    assert asks(read(QWEN3), 131_072, 32_768) in out and line(QWEN3, 131_072, "vllm", 32_768) in out
    assert "  compared with 32,768 tokens, as you say:\n    24 of 64 pairs meet new angles\n" in out
    assert "  keys and values of full layers: 18.0 GiB\n" in out
    assert (
        main(["read", str(file), "--settings", "vllm"])
        == "--settings must have --length, the tokens of the text"
    )
    assert main([*asked, "--rule", "linear"]) is None
    out = capsys.readouterr().out
    assert line(QWEN3, 131_072, "vllm", 32_768, "linear") in out
    assert "\nlook out: The stretch is always on, so linear changes short texts, too. (04b-stretching: " in out
    assert main([*asked[:2], "--length", "9", "--settings", "vllm"]) is None and "look out" not in capsys.readouterr().out
    assert main(["read", str(file), "--settings", "llama.cpp", "--length", "131072", "--rule", "llama3"]) == (
        "llama.cpp has no flag for Llama 3's rule, because it takes the rule from the model's file; "
        "without settings it reads texts of at most 40,960 tokens: llama-server -m MODEL.gguf -c 40960"
    )
    assert main(["read", str(file), "--rule", "ntk"]) == "--rule must have --settings, the program that it is for"
    assert main(["read", str(file), "--length", "0"]) == 'a text has at least 1 token; got "0"'


def test_the_command_counts_what_texts_cost(tmp_path, capsys):
    file, index = tmp_path / "config.json", tmp_path / "model.safetensors.index.json"
    file.write_text(json.dumps(QWEN3), "utf-8")
    index.write_text(json.dumps({"metadata": {"total_size": 16 * GIB}}), "utf-8")
    asked = ["read", str(file), "--requests", "2", "--card", "24", "--share", "1", "--weights"]
    assert main([*asked, str(index)]) is None
    lines = capsys.readouterr().out
    assert "  weights: 16.0 GiB, as you say" in lines and "  2 × 29,120 tokens fit into 24 GiB" in lines
    assert main([*asked, "80GB"]) == 'weights must be a number of GiB from 0.001 to 1,000,000, without a unit; got "80GB"'
    assert main([*asked, str(file)]) == f"{file} has no weights, and is no index of weights with metadata.total_size"
