"""Whether a model reads a text of a length: laws over families and releases, and what engineers ask."""

import json

import pytest

from d2lpos.config import Refused, apply, edits, read, settings, verdict, written
from d2lpos.config.__main__ import main
from d2lpos.config.names import look_up, releases
from d2lpos.config.tables import rows, table
from d2lpos.config.verdict import cap_lines, factor_and_reach, in_words, makers

BEYOND = (1, 512, 2049, 40_000, 131_072, 131_073, 200_000, 1_000_000, 50_000_000)
RANK = {"yes": 0, "setting": 1, "perhaps": 2, "unknown": 3, "no": 3}
LENGTHS = {
    "131072": 131_072,
    " 131,072 tokens": 131_072,
    "1 000 000": 1_000_000,
    "1e5": 100_000,
    "200k": 200_000,
    "200K": 204_800,
    "128 K": 131_072,
    "1M": 1_048_576,
    "1.5m": 1_500_000,
    "25.6k": 25_600,
}
NO_LENGTHS = {
    "abc": "length_none",
    "10^30": "length_none",
    "12k5": "length_none",
    "0": "length_small",
    "-5": "length_small",
    "\N{MINUS SIGN}5": "length_small",
    "0.5": "length_small",
    "1.5": "length_part",
    "1e30": "length_large",
    "1" + "0" * 30: "length_large",
    "3000M": "length_large",
}
# What an engineer asks: a model, a length and a program; then the kind of the answer, what it must say, and a part of the
# program's line, or the code of its refusal. Looked up by hand in the files and the pages that releases.yml names.
ASKED = [
    ("Qwen/Qwen3-8B", "100k", "vllm", "setting", "× 4 (131,072)", '"factor": 3.0518'),
    ("unsloth/Qwen3-8B-GGUF", "200k", "llama.cpp", "perhaps", "YaRN × 6.1 perhaps: its makers tested × 4 (131,072)", "--rope-scale 6.1036"),
    ("Qwen3-32B-FP8", "32768", "sglang", "yes", "32,768", "Nothing to set"),
    ("Llama-3.1-8B-Instruct", "128K", "llama.cpp", "yes", "131,072", "Nothing to set"),
    ("Llama-3.1-8B-Instruct", "200k", "vllm", "no", "stretches 8,192 tokens to 131,072 already", "settings_stretched"),
    ("Phi-3-mini-128k-instruct", "128K", "transformers", "yes", "its makers release it for texts of 131,072", "Nothing to set"),
    ("Phi-3-mini-128k-instruct", "200k", "sglang", "no", "Cap it at 131,072.", "settings_no_code"),
    ("openai/gpt-oss-20b", "131072", "vllm", "yes", "stretches 4,096 tokens to 131,072", "Nothing to set"),
    ("gpt-oss-120b", "200k", "llama.cpp", "no", "Cap it at 131,072.", "settings_stretched"),
    ("DeepSeek-R1", "150k", "vllm", "perhaps", "had at most 131,072", "Nothing to set"),
    ("DeepSeek-R1", "200k", "sglang", "no", "Cap it at 163,840.", "settings_stretched"),
    ("gpt2", "2048", "transformers", "no", "ends after 1,024", "settings_table"),
    ("bert-base-uncased", "512", "transformers", "yes", "512 rows", "settings_table"),
    ("Qwen3.5-397B-A17B", "1m", "vllm", "setting", "extensible to 1,010,000", '"factor": 3.8147'),
    ("Qwen3-VL-8B-Instruct", "1m", "vllm", "perhaps", "its makers tell × 3 for up to 1,000,000", '"factor": 3.8147'),
    ("moonshotai/Kimi-K2-Instruct", "128K", "vllm", "yes", "its makers release it for texts of 131,072", "Nothing to set"),
    ("Qwen3-Coder-480B-A35B-Instruct", "1M", "sglang", "setting", "1,048,576 (× 4)", '"factor": 4.0'),
    ("google/gemma-3-27b-it", "200k", "vllm", "no", "Cap it at 131,072.", "settings_stretched"),
    ("google/gemma-4-31B-it", "1m", "vllm", "perhaps", "no pair of features meets a new angle, but its file allows 262,144", "settings_two_ways"),
    ("mpt-7b", "4096", "llama.cpp", "perhaps", "slopes", "-c 4096"),
    ("mistralai/Mixtral-8x7B-v0.1", "64K", "sglang", "perhaps", "YaRN × 2", "settings_no_code_in"),
    ("Qwen/Qwen2.5-72B", "100k", "transformers", "setting", "had at most 32,768", "Nothing to set"),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "1m", "vllm", "setting", "its makers release it for 1,000,000", '"max_position_embeddings": 1000000'),
    ("meta-llama/Meta-Llama-3-70B-Instruct", "16K", "vllm", "perhaps", "YaRN × 2 perhaps", '"factor": 2.0'),
]


def every_reading():
    """Each family's smallest file, and each release with what its makers say."""
    for family in rows():
        sizes = {"hidden_size": 512, "num_hidden_layers": 2, "num_layers": 2, "num_attention_heads": 8, "seq_length": 2048, "pad_token_id": 1}
        for keys in ({}, sizes):
            try:
                yield family, read({"model_type": family, **keys}), {}
                break
            except Refused:
                continue
    for release in releases():
        yield release["name"], read(release["config"]), release


def test_a_longer_text_has_no_better_answer_and_words_begin_as_its_kind():
    begins = {"yes": ("Yes:",), "no": ("No:",), "setting": ("Not as ",), "perhaps": ("Perhaps: ", "Not as "), "unknown": ("Not known: ", "It reads a picture")}
    for name, reading, release in every_reading():
        length = makers(reading, release)["length"] or 1
        answers = [verdict(reading, tokens, release) for tokens in sorted({*BEYOND, length, length + 1})]
        ranks = [RANK[one["kind"]] for one in answers]
        assert ranks == sorted(ranks), name
        assert all(in_words(one).startswith(begins[one["kind"]]) and "{" not in in_words(one) for one in answers), name


def test_what_neither_file_nor_makers_say_is_never_a_plain_yes():
    for name, reading, release in every_reading():
        lengths, claim = reading["lengths"], makers(reading, release)
        most = max(filter(None, (lengths["rows"], lengths["allowed"], claim["length"], 1)))
        assert verdict(reading, most + 1, release)["kind"] != "yes", name
        if claim["length"] and not reading["pictures"]:
            assert (verdict(reading, claim["length"], release)["kind"] in ("yes", "setting")) == (not lengths["until"] or claim["length"] <= lengths["until"]), name
        if lengths["rows"] and not reading["pictures"]:
            assert verdict(reading, lengths["rows"] + 1, release)["code"] == "rows"


def test_a_no_has_a_line_that_caps_for_every_program_and_the_cap_is_no_no():
    for name, reading, release in every_reading():
        for tokens in BEYOND:
            made = verdict(reading, tokens, release)
            lines = cap_lines(made)
            assert (lines.keys() == table("programs").keys()) == (made["kind"] == "no" or "cap" in made), name
            assert all(str(made["cap"]) in line for line in lines.values())
            assert not lines or verdict(reading, made["cap"], release)["kind"] != "no" and made["cap"] < tokens


def test_whoever_goes_past_what_makers_say_is_told_so():
    for release in releases():
        stretch, reading = release.get("stretch"), read(release["config"])
        claim = makers(reading, release)
        assert claim["length"] is None or claim["source"].startswith("https://")
        if stretch:
            assert stretch.get("word", "told") in table("verdict")["makers"]
            reach = factor_and_reach(stretch)[1]  # short of what its makers tell where pictures take up few positions
            assert verdict(reading, reach, release)["kind"] == "setting"
            over = verdict(reading, reach + 1, release)
            assert over["kind"] == "perhaps" and f"{stretch['to']:,}" in in_words(over)
        elif claim["by"] in ("training", "context") and not reading["lengths"]["rows"]:
            assert verdict(reading, claim["length"] + 1, release)["kind"] in ("perhaps", "no")


def test_a_file_that_has_the_stretch_of_its_makers_is_answered_as_they_tell():
    for release in releases():
        stretch, config = release.get("stretch"), release["config"]
        if not stretch or "text_config" in config:
            continue
        edited = apply(config, edits(read(config), stretch["to"], "yarn", stretch["from"]))
        made = verdict(read(edited), stretch["to"], release)
        assert (made["kind"], made["code"]) == ("yes", "own_told") and f"{stretch['to']:,}" in in_words(made), release["name"]
        beyond = apply(config, edits(read(config), 2 * stretch["to"], "yarn", stretch["from"]))
        assert verdict(read(beyond), stretch["to"], release)["code"] != "own_told", release["name"]


@pytest.mark.parametrize("family, says", [("hubert", "its convolution sees"), ("wav2vec2", "its convolution sees"), ("wav2vec2-conformer", "each distance has sinusoids"), ("t5", "far distances share")])
def test_what_hears_is_told_of_its_own_positions(family, says):
    for trained, by in (({}, "is not known here"), ({"trained": [500]}, "had at most 500")):
        made = verdict(read({"model_type": family}), 1000, trained)
        assert made["kind"] == "perhaps" and says in in_words(made) and by in in_words(made)


@pytest.mark.parametrize("name, length, program, kind, says, line", ASKED)
def test_an_engineer_is_answered(name, length, program, kind, says, line):
    release, _ = look_up(name)
    reading, tokens = read(release["config"]), written(length)["tokens"]
    made = verdict(reading, tokens, release)
    assert made["kind"] == kind and says in in_words(made)
    try:
        answer = settings(reading, tokens, program, max(release.get("trained", ()), default=None))["line"]
    except Refused as why:
        answer = why.code
    assert line in answer


@pytest.mark.parametrize("text", LENGTHS)
def test_a_length_is_read_as_it_is_written(text):
    made = written(text)
    assert made["tokens"] == LENGTHS[text]
    assert ("told" in made) == (text.lower()[-1] in "km")


@pytest.mark.parametrize("text", NO_LENGTHS)
def test_what_is_no_length_is_refused_in_words(text):
    with pytest.raises(Refused) as refused:
        written(text)
    assert refused.value.code == NO_LENGTHS[text] and text in str(refused.value)


def test_the_command_knows_a_release_by_its_file(tmp_path, capsys):
    file = tmp_path / "config.json"
    for name in ("Qwen3 8B", "Qwen3.5 27B", "Qwen2.5 72B"):
        release = look_up(name)[0]
        file.write_text(json.dumps(release["config"] | {"vocab_size": 9}), "utf-8")
        assert main(["read", str(file), "--length", "1m"]) is None
        out = capsys.readouterr().out
        assert out.startswith(f"It has all keys of {name}, ") and in_words(verdict(read(release["config"]), 10**6, release)) in out
    file.write_text(json.dumps(look_up("Qwen3 8B")[0]["config"] | {"max_position_embeddings": 32_768}), "utf-8")
    assert main(["read", str(file), "--length", "200k"]) is None
    assert "It has all keys" not in (out := capsys.readouterr().out) and "no test of it by its makers is known" in out


def test_the_command_answers_first_and_caps_for_every_program(capsys):
    assert main(["read", "Phi-3-mini-128k-instruct", "--length", "200k"]) is None
    out = capsys.readouterr().out.splitlines()
    assert out[1] == "200k is read as 200,000 tokens, as vLLM reads it; 200K would be 204,800."
    assert out[2].startswith("200,000 tokens? No: its file stretches 4,096 tokens to 131,072 already")
    assert "  vLLM 0.33: vllm serve microsoft/Phi-3-mini-128k-instruct --max-model-len 131072" in out
    assert main(["read", "gpt2", "--length", "abc"]).startswith('"abc" is no number of tokens')
