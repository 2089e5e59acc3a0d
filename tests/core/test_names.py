"""A name means one release, or is asked about."""

import json

import pytest

from d2lpos.config import read, settings
from d2lpos.config.__main__ import main
from d2lpos.config.names import identity, look_up, names, releases
from tests.core.test_hub_names import MEANT

# What people type, and the release that it means.
READ_AS = {
    "qwen3:8b": "Qwen3 8B",
    "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M": "Qwen3 8B",
    "Qwen3-8B-UD-Q4_K_XL.gguf": "Qwen3 8B",
    "Qwen3-32B-FP8-Static-PerTensor": "Qwen3 32B",
    "nvidia/Llama-3.1-8B-Instruct-NVFP4": "Llama 3.1 8B",
    "meta-llama/Llama-2-7b-chat-hf": "Llama 2 7B",
    "gemma-3-27b-pt": "Gemma 3 27B",
    "gemma3:27b-it-qat": "Gemma 3 27B",
    "gemma3:1b": "Gemma 3 1B",
    "mlx-community/gpt-oss-20b-MXFP4-Q8": "gpt-oss 20B",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-FP8": "Nemotron 3 Nano 30B-A3B",
    "mistralai/Mistral-7B-Instruct-v0.3": "Mistral 7B 0.3",
    "gpt2": "GPT-2",
    "bert-base-uncased": "BERT base",
}
# Names of no release here, and one of the nearest.
ASKED = {
    "minimax m2": "MiniMax-M2.5",
    "qwen3": "Qwen3 8B",
    "gpt-oss": "gpt-oss 20B",
    "bert": "BERT base",
    "t5": "T5 base",
    "deepseek-ai": "DeepSeek-R1",
    "gemma 31b": "Gemma 3 1B",
    "Qwen3-8B-Base": "Qwen3 8B",
    "Qwen3-4B-Instruct-2507": "Qwen3 8B",
    "Llama-4-Maverick-17B-128E": "Llama 4 Maverick",
    "Mixtral-8x7B-Instruct-v0.1": "Mixtral 8x7B",
    "internlm2-7b-chat": "InternLM2 7B",
    "gpt2-medium": "GPT-2",
    "lama 3.1 8b": "Llama 3.1 8B",
}


@pytest.mark.parametrize(("name", "meant"), (READ_AS | MEANT).items())
def test_a_name_means_a_release(name, meant):
    release, near = look_up(name)
    assert release and release["name"] == meant and near == []


@pytest.mark.parametrize("name", ASKED)
def test_what_is_no_name_of_a_release_is_asked_about(name):
    release, near = look_up(name)
    assert release is None and ASKED[name] in [one["name"] for one in near]


@pytest.mark.parametrize("name", ["", "...", "nobody-7b", "東京", "./gpt2", "/models/gpt2", "models/gpt2/config.json"])
def test_what_is_like_no_name_has_no_nearest(name):
    assert look_up(name) == (None, [])


def test_every_release_has_names_of_its_own():
    called = [name for one in releases() for name in set(names(one["source"], one["name"]))]
    assert len(called) == len(set(called))
    for one in releases():
        for name in (one["name"], one["source"], identity(one), identity(one).lower()):
            assert look_up(name) == (one, [])


def test_the_command_reads_a_release_by_name_with_the_lengths_of_its_makers(capsys):
    assert main(["read", "unsloth/Qwen3-8B-GGUF", "--length", "131072", "--settings", "vllm"]) is None
    out, release = capsys.readouterr().out, look_up("Qwen3 8B")[0]
    begun = "131,072 tokens? Not as released, but with YaRN × 4: its makers tested × 4 (131,072). Short texts may get worse."
    assert out.startswith(f"Qwen3 8B, read from the book's list: {release['source']}\n{begun}\nQwen3 8B turns ")
    assert "  compared with 32,768 tokens, as its makers say:\n" in out
    line = settings(read(release["config"]), 131_072, "vllm", 32_768)["line"]
    assert line.replace("MODEL", "unsloth/Qwen3-8B-GGUF") in out and '"factor": 4.0' in line
    assert f"\nas its makers say: {release['stretch']['source']}\n" in out
    assert main(["read", "Qwen3 8B", "--length", "131072", "--trained", "40960", "--settings", "vllm"]) is None
    assert '"factor": 3.2' in capsys.readouterr().out
    assert main(["read", "Qwen3-VL-8B-Instruct", "--length", "1000000", "--settings", "vllm"]) is None
    begun = "vllm serve Qwen/Qwen3-VL-8B-Instruct --max-model-len 1000000 --hf-overrides '{\"text_config\": {\"rope_parameters\": "
    assert begun in capsys.readouterr().out


def test_json_of_a_release_is_json_alone(capsys):
    assert main(["read", "gpt2", "--json"]) is None
    printed = capsys.readouterr()
    assert json.loads(printed.out)["family"] == "gpt2" and printed.err.startswith("GPT-2, read from the book's list: https://")


def test_the_command_names_the_nearest_and_a_file_comes_before_a_name(tmp_path, monkeypatch, capsys):
    error = "DeepSeek-V3: no such file, and no release is known as \"DeepSeek-V3\"; nearest: DeepSeek-V3.2. "
    error += "If it is none of these, take the config.json of the model itself"
    assert main(["read", "DeepSeek-V3"]) == error
    assert main(["read", "nobody.json"]) .startswith('nobody.json: no such file, and no release is known as "nobody.json"; take ')
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").write_text('{"model_type": "mpt"}', "utf-8")
    assert main(["read", "gpt2"]) is None and "mpt: " in capsys.readouterr().out
