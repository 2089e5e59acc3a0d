"""What a command that starts a program does to a model, in Python and on the page."""

import json

import pytest

from d2lpos.config import apply, ran, read, settings
from d2lpos.config.__main__ import main
from tests.parity.releases import releases
from tests.parity.test_reader import attempt, difference, page

RELEASES = {one["name"]: one["config"] for one in releases()}
QWEN, VL, GEMMA, PHI = (RELEASES[name] for name in ("Qwen3 8B", "Qwen3-VL 8B", "Gemma 3 27B", "Phi-3 mini 128k"))
STRETCH = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
LONG = {"max_position_embeddings": 131072}

pytestmark = pytest.mark.usefixtures("quiet")


def both(*asked):
    """What Python makes of commands and configurations, after a look that the page makes the same."""
    ours = [attempt(lambda one=one: ran(*one)) for one in asked]
    for one, other in zip(ours, page(*asked), strict=True):
        assert not difference(one, other)
    return ours


def vllm(tokens, keys=None, before=""):
    line = f"{before}vllm serve MODEL --max-model-len {tokens}"
    return line if keys is None else f"{line} --hf-overrides '{json.dumps(keys)}'"


def sglang(tokens, keys):
    return f"python -m sglang.launch_server --model-path MODEL --context-length {tokens} --json-model-override-args '{json.dumps(keys)}'"


def test_an_image_of_docker_starts_its_program():
    run, model = "docker run --gpus all -p 8000:8000 --env VLLM_ALLOW_LONG_MAX_MODEL_LEN=1", "--model Qwen/Qwen3-8B --max-model-len 131072"
    image, module, cpp = both(
        (f"{run} vllm/vllm-openai:latest {model}", QWEN),
        (f"python3 -m vllm.entrypoints.openai.api_server {model} --disable-sliding-window", QWEN),
        ("docker run -v ~/m:/m ghcr.io/ggml-org/llama.cpp:server-cuda -m /m/Qwen3-8B.gguf -c 100", QWEN),
    )
    assert image["length"] == 131072 and "not stretched" in image["notes"][0]
    assert module["config"] is None and "--disable-sliding-window may change" in module["notes"][0]
    assert (cpp["program"], cpp["length"]) == ("llama.cpp", 100)


def rule(done):
    return [(one["encoding"] or {}).get("rule") for one in read(done["config"])["kinds"]]


def test_vllm_takes_no_more_than_the_file_allows_unless_a_variable_lets_it():
    plain, forced, known = both((vllm(131072), QWEN), (vllm("128K", before="VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 "), QWEN), (vllm("32k"), QWEN))
    assert plain["length"] is None and "more than the 40,960" in plain["notes"][0]
    assert forced["length"] == 131072 and rule(forced) == [None] and "not stretched" in forced["notes"][0]
    assert (known["length"], known["notes"]) == (32000, [])
    assert both(("vllm serve M", PHI))[0]["length"] == 4096  # LongRoPE's shorter length, without a flag


def test_vllm_replaces_the_parameters_of_a_flat_file_and_merges_those_of_an_inner_one():
    whole = {"rope_parameters": STRETCH | {"rope_theta": 1e6}} | LONG
    lines = [whole, {"rope_parameters": STRETCH, **LONG}, {"rope_scaling": STRETCH, **LONG}, {"rope_parameters": {"type": "yarn"}}, {"rope_theta": 5e6}]
    right, same_base, failed, untyped, idle = both(*((vllm(131072, keys), QWEN) for keys in lines[:4]), (vllm(100, lines[4]), QWEN))
    assert rule(right)[0]["factor"] == rule(same_base)[0]["factor"] == 4 and right["notes"] == same_base["notes"] == []
    assert failed["config"] is None and "the base is missing" in failed["notes"][0] and "without rope_type" in untyped["notes"][0]
    assert read(idle["config"])["kinds"][0]["encoding"]["base"] == 1e6 and "changes nothing" in idle["notes"][0]
    [lost] = both((vllm(100, {"rope_parameters": STRETCH}), RELEASES["Llama 3.1 8B"]))
    assert read(lost["config"])["kinds"][0]["encoding"]["base"] == 1e4 and "not 500,000 from the file" in lost["notes"][0]
    flat, inner = both((vllm(10**6, whole), VL), (vllm(10**6, {"text_config": {"rope_scaling": STRETCH, "max_position_embeddings": 10**6}}), VL))
    assert "beside text_config, where qwen3_vl has its text" in flat["notes"][0] and flat["config"] is None
    assert rule(inner)[0]["factor"] == 4 and read(inner["config"])["kinds"][0]["encoding"]["base"] == 5e6


def test_sglang_merges_and_passes_over():
    merged, short, idle = both(
        (sglang(131072, {"rope_scaling": STRETCH, **LONG}), QWEN),
        (sglang(131072, {"rope_scaling": STRETCH}), QWEN),
        (sglang(131072, {"rope_scaling": STRETCH, **LONG}), RELEASES["Mixtral 8x22B"]),
    )
    assert rule(merged)[0]["factor"] == 4 and merged["length"] == 131072 and short["config"] is None
    assert any("ignores the rule" in note for note in idle["notes"])


def test_the_server_of_llama_cpp_cuts_and_stretches():
    begin, yarn = "./llama-server -m MODEL.gguf -c 131072", " --rope-scaling yarn --rope-scale 4"
    lines = ["", f"{yarn} --yarn-orig-ctx 32768", f"{yarn} --override-kv qwen3.context_length=int:131072", " --rope-scaling yarn", " -np 4", " -np 4 -kvu"]
    cut, right, moved, idle, dealt, shared = both(*((begin + line, QWEN) for line in lines))
    assert cut["length"] == 40960 and "cuts each text" in cut["notes"][0]
    assert (right["length"], right["notes"], rule(right)[0]["length"]) == (131072, [], 32768)
    assert rule(moved)[0]["length"] == 131072 and "--yarn-orig-ctx 40960" in moved["notes"][0]
    assert rule(idle) == [None] and "the factor is 1" in idle["notes"][0]
    assert dealt["length"] == 32768 and shared["length"] == 40960
    scaled, based, unread, none = both(
        ("llama-server -c 100 --rope-freq-scale 0.25", QWEN),
        ("llama-server -c 100 --rope-freq-base 2e6", GEMMA),
        ("llama-server --yarn-ext-factor 0 --yarn-orig-ctx 100", QWEN),
        ("llama-server --rope-scaling none", RELEASES["gpt-oss 20B"]),
    )
    assert rule(scaled) == [{"kind": "linear", "factor": 4}] and "not followed" in unread["notes"][0]
    assert {one["encoding"]["base"] for one in read(based["config"])["kinds"]} == {1e4, 2e6}
    assert none["length"] == 131072 and "nothing comes of --yarn-orig-ctx" in unread["notes"][1]
    [ramp] = both(("llama-server --yarn-beta-fast 16 --yarn-orig-ctx 2048", RELEASES["gpt-oss 20B"]))
    assert [(one["beta_fast"], one["length"], one["factor"]) for one in rule(ramp)] == [(16, 2048, 32)] * 2 and not ramp["notes"]


@pytest.mark.parametrize("program", ["vllm", "sglang", "llama.cpp"])
def test_our_own_lines_do_what_their_edits_say(program):
    asked = []
    for name, config in RELEASES.items():
        reading = read(config)
        for chosen in ("yarn", "linear", "ntk"):
            made = attempt(lambda reading=reading, chosen=chosen: settings(reading, 4 * (reading["lengths"]["allowed"] or 4096), program, None, chosen))
            if "refused" not in made and not made["line"].startswith("#"):
                asked.append((name, chosen, made))
    done = both(*((made["line"].partition("  #")[0], RELEASES[name]) for name, _, made in asked))
    for (name, chosen, made), one in zip(asked, done, strict=True):
        assert one["config"] is not None, (name, chosen, one["notes"], made["line"])
        there = read(apply(RELEASES[name], made["edits"]))
        ours, theirs = ([plainly(kind["encoding"]) for kind in reading["kinds"]] for reading in (there, read(one["config"])))
        assert ours == theirs, (name, chosen, made["line"])
    assert len(asked) > 20


def plainly(encoding):
    rule = (encoding or {}).get("rule") or {}
    return encoding and [encoding.get("base"), encoding.get("rotary"), rule.get("kind"), rule.get("factor"), rule.get("length")]


def test_another_command_and_flags_without_their_value():
    wrong = ["python train.py", "", "vllm serve M --max-model-len", "vllm serve M --max-model-len --port 1", "vllm serve M --max-model-len many"]
    wrong += ["vllm serve M --hf-overrides '{'", "vllm serve M --hf-overrides '[]'"]
    assert all("refused" in one for one in both(*((line, QWEN) for line in wrong)))
    [gone] = both(("vllm serve M --rope-scaling '{}'", QWEN))
    assert gone["config"] is None and "no flag of vLLM" in gone["notes"][0]


def test_quotes_and_lines_of_a_shell():
    line = 'vllm serve "MODEL" \\\n  --max_model_len=100 \\\n  --hf-overrides "{\\"rope_theta\\": 5}"'
    [done] = both((line, QWEN))
    assert done["length"] == 100 and "changes nothing" in done["notes"][0]


def test_the_command_line_tells_what_a_command_does(capsys):
    assert main(["read", "Qwen3 8B", "--command", vllm(131072)]) is None
    assert "It stops as it starts" in capsys.readouterr().out
    assert main(["read", "Qwen3 8B", "--command", "llama-server -m x.gguf -c 1000"]) is None
    assert "a text may have 1,000 tokens" in capsys.readouterr().out
