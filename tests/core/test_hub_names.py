"""Names as public lists of models have them: each means its own release, or is asked about."""

import pytest

from d2lpos.config.names import identity, loaded, look_up, releases, sized
from d2lpos.config.tables import table

# Written down before the rule was: from Hugging Face's, Ollama's and repackagers' lists.
MEANT = {
    "Qwen/Qwen3-8B-AWQ": "Qwen3 8B",
    "Qwen/Qwen3-30B-A3B-GPTQ-Int4": "Qwen3 30B-A3B",
    "unsloth/Qwen3-8B-unsloth-bnb-4bit": "Qwen3 8B",
    "bartowski/Qwen_Qwen3-32B-GGUF": "Qwen3 32B",
    "mlx-community/Qwen3-30B-A3B-4bit-DWQ": "Qwen3 30B-A3B",
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8": "Qwen3-Coder 480B-A35B",
    "Qwen/Qwen2.5-VL-7B-Instruct-AWQ": "Qwen2.5-VL 7B",
    "meta-llama/Meta-Llama-3.1-8B-Instruct": "Llama 3.1 8B",
    "hugging-quants/Meta-Llama-3.1-405B-Instruct-AWQ-INT4": "Llama 3.1 405B",
    "RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8": "Llama 3.1 8B",
    "amd/Llama-3.1-8B-Instruct-FP8-KV": "Llama 3.1 8B",
    "mlc-ai/Llama-3.1-8B-Instruct-q4f16_1-MLC": "Llama 3.1 8B",
    "turboderp/Llama-3.1-8B-Instruct-exl3-4.0bpw": "Llama 3.1 8B",
    "meta-llama/Meta-Llama-3-70B-Instruct": "Llama 3 70B",
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8": "Llama 4 Maverick",
    "TheBloke/Llama-2-7B-Chat-GGUF": "Llama 2 7B",
    "google/gemma-3-27b-it-qat-q4_0-gguf": "Gemma 3 27B",
    "bartowski/google_gemma-3-27b-it-GGUF": "Gemma 3 27B",
    "unsloth/gpt-oss-20b-GGUF": "gpt-oss 20B",
    "DeepSeek-R1-UD-IQ1_S-00001-of-00003.gguf": "DeepSeek-R1",
    "unsloth/DeepSeek-R1-GGUF:UD-TQ1_0": "DeepSeek-R1",
    "microsoft/Phi-3-mini-128k-instruct-onnx": "Phi-3 mini 128k",
    "TheBloke/Mixtral-8x7B-v0.1-GPTQ": "Mixtral 8x7B",
    "mradermacher/Olmo-3.1-32B-Instruct-i1-GGUF": "OLMo 3.1 32B",
    "Qwen 3 8B": "Qwen3 8B",
    "LLAMA 3.1 8b instruct": "Llama 3.1 8B",
    "llama3.1:8b-instruct-q4_K_M": "Llama 3.1 8B",
    "`Qwen/Qwen3-8B`": "Qwen3 8B",
    "models--Qwen--Qwen3-8B": "Qwen3 8B",
    "https://huggingface.co/gpt2": "GPT-2",
    "HTTPS://HuggingFace.co/Qwen/Qwen3-8B?library=transformers": "Qwen3 8B",
    "https://huggingface.co/unsloth/Qwen3-8B-GGUF/blob/main/Qwen3-8B-Q4_K_M.gguf": "Qwen3 8B",
}
# Other sizes, other trainings and other lengths, whose file nobody here has read; and one that must be among the nearest.
ASKED = {
    "unsloth/Qwen3-8B-128K-GGUF": "Qwen3 8B",
    "Qwen/Qwen3-30B-A3B-Instruct-2507": "Qwen3 30B-A3B",
    "Qwen/Qwen3-4B": "Qwen3 8B",
    "Qwen/Qwen2.5-7B-Instruct": "Qwen2.5 72B",
    "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4": "Qwen2.5 72B",
    "meta-llama/Llama-3.3-70B-Instruct": "Llama 3 70B",
    "gradientai/Llama-3-8B-Instruct-Gradient-1048k": "Llama 3.1 8B",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": "Llama 4 Maverick",
    "togethercomputer/LLaMA-2-7B-32K": "Llama 2 7B",
    "NousResearch/Yarn-Llama-2-7b-128k": "Llama 2 7B",
    "openai/gpt-oss-safeguard-20b": "gpt-oss 20B",
    "deepseek-ai/DeepSeek-R1-0528": "DeepSeek-R1",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B": "DeepSeek-R1",
    "deepseek-ai/DeepSeek-V3": "DeepSeek-V3.2",
    "deepseek-ai/DeepSeek-V3.2-Exp": "DeepSeek-V3.2",
    "microsoft/Phi-3-mini-4k-instruct": "Phi-3 mini 128k",
    "microsoft/phi-4": "Phi-1",
    "mistralai/Mistral-7B-Instruct-v0.2": "Mistral 7B 0.3",
    "zai-org/GLM-4.5-Air": "GLM-4.5",
    "granite 4": "Granite 4.0-H 350M",
    "google-bert/bert-large-uncased": "BERT base",
    "openai-community/gpt2-xl": "GPT-2",
    "Qwen/QwQ-32B": "Qwen3 32B",
    "EleutherAI/pythia-1b": "",
    "NousResearch/Hermes-3-Llama-3.1-8B": "Llama 3.1 8B",
}


@pytest.mark.parametrize("name", ASKED)
def test_a_sibling_is_asked_about_and_never_answered_for(name):
    release, near = look_up(name)
    assert release is None and len(near) <= table("names")["nearest"] == 3
    assert not ASKED[name] or ASKED[name] in [one["name"] for one in near]


def test_a_line_loads_what_was_asked_for_and_the_bits_of_a_copy_are_not_those_of_its_release():
    release, _ = look_up("meta-llama/Llama-3.1-8B-Instruct")
    names = {"Llama 3.1 8B": identity(release), "meta-llama/Llama-3.1-8B-Instruct": "meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct": None}
    assert {name: loaded(release, name) for name in names} == names
    for name, dtype in (("Llama-3.1-8B", "bfloat16"), ("Llama-3.1-8B-Instruct", "bfloat16"), ("unsloth/Llama-3.1-8B-AWQ", None)):
        assert sized(release["config"], release, name).get("torch_dtype") == dtype


def test_copies_of_every_release_mean_it():
    for one in releases():
        owner, name = identity(one).split("/")
        copies = (f"unsloth/{name}-GGUF", f"bartowski/{owner}_{name}-GGUF", f"mlx-community/{name}-4bit", f"RedHatAI/{name}-FP8-dynamic")
        for copy in (*copies, f"{name}-Q4_K_M.gguf", f"models--{owner}--{name}", f"https://huggingface.co/{owner}/{name}-AWQ/tree/main"):
            assert look_up(copy) == (one, []), copy


@pytest.mark.parametrize("ending", ["1M", "128K", "2507", "Thinking", "Distill-Qwen-7B"])
def test_no_release_answers_for_another_training_of_it(ending):
    for one in releases():
        assert look_up(f"{identity(one)}-{ending}")[0] is None
        assert look_up(f"{identity(one)}-{ending}-Instruct-GGUF")[0] is None
