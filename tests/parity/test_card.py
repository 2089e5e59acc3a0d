"""What a model costs on a card, beside the models of transformers, vLLM's own sums, and the page's twin."""

from copy import deepcopy

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM

from d2lpos.config import Refused, card, card_lines, memory, read
from d2lpos.config.names import sized
from d2lpos.config.sizes import Sizes, named
from d2lpos.config.tables import table
from tests.parity import tiny
from tests.parity.families import fitted
from tests.parity.releases import releases
from tests.parity.test_keys import READ
from tests.parity.test_reader import differences

pytestmark = pytest.mark.usefixtures("quiet")

COUNTED = sorted({*" ".join(table("card")["parameters"]).split()} & {*READ})
PROGRAMS = sorted(table("card")["programs"])
GPT_OSS = {"model_type": "gpt_oss", "num_hidden_layers": 36, "num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128}
GEMMA3 = {
    "model_type": "gemma3_text", "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
    "sliding_window": 1024, "max_position_embeddings": 131_072,
}  # fmt: skip


@pytest.mark.parametrize("family", COUNTED)
def test_parameters_are_those_of_its_model(family):
    row, whole = named("parameters", family), type(fitted(family)) in AutoModelForCausalLM._model_mapping
    only = row.get("only", {})
    flags = {key: not value for key, value in row["by_class"].items() if type(value) is bool and key not in only}
    flags |= {key: 24 for key, value in row["by_class"].items() if value is None}
    for more in ({}, *({key: value} for key, value in flags.items()), flags):
        config = fitted(family)
        for key, value in (only | more).items():
            setattr(config, key, value)
        with torch.device("meta"):
            theirs = (AutoModelForCausalLM if whole else AutoModel).from_config(config)
        head = 0 if whole or getattr(config, "tie_word_embeddings", False) else config.hidden_size * config.vocab_size
        assert Sizes(config, read(config)).parameters() == sum(x.numel() for x in theirs.parameters()) + head


@pytest.mark.parametrize("family", COUNTED)
def test_a_key_that_a_file_leaves_out_is_what_the_class_takes(family):
    theirs = type(fitted(family))().to_dict()
    own = named("parameters", family)["by_class"]
    assert {key: theirs.get(key, own[key]) for key in own} == own


def test_parameters_of_releases():
    llama = {
        "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "num_attention_heads": 32, "vocab_size": 128_256, "torch_dtype": "bfloat16", "architectures": ["LlamaForCausalLM"],
    }  # fmt: skip
    made = card(read(llama), llama, 131_072, gib=80)
    assert (made["parameters"], made["bits"], made["cache"]["full"]) == (8_030_261_248, 16, 16 << 30)
    for change, why in (
        ({"architectures": ["LlamaModel"]}, "its file has the architecture \"LlamaModel\""),
        ({"quantization_config": {"bits": 4}}, "its file is quantized"),
        ({"torch_dtype": None}, "its file names no dtype"),
        ({"vocab_size": None}, "its file must say vocab_size"),
        ({"model_type": "gptj"}, "the parameters of gptj are not counted"),
    ):
        file = llama | change
        made = card(read(file), file, gib=80)
        assert made["weights"] is None and made["longest"] is None and why in card_lines(made)
    assert card(read(llama), llama, bits=4)["weights"] == 8_030_261_248 / 2


def test_experts_and_indexers_are_counted_as_a_file_says():
    [m3] = [sized(one["config"], one, one["name"]) for one in releases() if one["name"] == "MiniMax-M3"]
    heads, short = deepcopy(m3), deepcopy(m3)
    heads["text_config"]["sparse_attention_config"]["sparse_num_index_heads"] = 5  # one more than its class has
    assert Sizes(heads, read(heads)).parameters() == Sizes(m3, read(m3)).parameters() + 57 * 6144 * 128
    short["text_config"]["moe_layer_freq"] = [1]
    unlike, _ = differences({"heads": heads, "short": short}, [["card", {}]])
    assert unlike == [] and "its file must say mlp_layer_types for each of the 60 layers" in card(read(short), short)["why"]


def test_gpt_oss_on_80_gib():
    """As a prototype told it, with 16 tokens less: vLLM holds one page more beside a window that begins within one."""
    made = card(read(GPT_OSS), GPT_OSS, 32_768, 8, 80, weights=60.8, program="vllm", share=0.9)
    assert (made["longest"], made["longest_full"]) == (40_640 - 16, 20_384)
    assert made["cache"] == {"window": 8 * 18 * 144 * 2048, "full": 8 * 18 * 32_768 * 2048, "state": 0}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("file", [GPT_OSS, GEMMA3], ids=["gpt_oss", "gemma3"])
def test_the_longest_text_fits_and_one_more_page_does_not(file, program):
    reading, page = read(file), table("card")["programs"][program]["page"]
    made = card(reading, file, None, 8, 40, weights=20, program=program)
    room = 40 * made["share"] - 20

    def total(tokens):
        return sum(card(reading, file, tokens, 8, program=program)["cache"].values()) / 2**30

    assert total(made["longest"]) <= room < total(made["longest"] + page)
    assert made["longest_full"] < made["longest"] or program == "sglang"
    bounded = card(read(file | {"max_position_embeddings": 4096}), file, None, 8, 40, weights=20, program=program)
    assert (bounded["longest"], bounded["limit"]) == (4096, 4096) and bounded["holds"] > 4096
    assert f"all that its file allows, fit into 40 GiB, whose memory would hold texts of {bounded['holds']:,}" in card_lines(bounded)
    assert card(reading, file, None, 1, 10, weights=11, program=program)["longest"] == 0


def test_who_keeps_windows():
    rows = {}
    llama4 = {"model_type": "llama4_text"}
    for file in (GPT_OSS, GEMMA3, llama4):
        for program in PROGRAMS:
            rows[file["model_type"], program] = card(read(file), file, 100_000, program=program)["rows"]
    full = {"vllm": 100_000, "sglang": 100_000, "llama.cpp": 100_096, "transformers": 100_000}
    assert [rows["gpt_oss", one] for one in PROGRAMS] == [768, 80_000, 127, 144]
    assert rows["gemma3_text", "sglang"] == full["sglang"] and rows["gemma3_text", "vllm"] == 1024 + 16
    assert rows["llama4_text", "vllm"] == full["vllm"] and rows["llama4_text", "transformers"] == 8191
    assert card(read(llama4), llama4, 100_000, program="llama.cpp")["rows"] == 8192 + 512


@pytest.mark.parametrize(("name", "size"), [("Qwen3 8B", 0.1373), ("Qwen3 32B", 0.2441), ("Llama 3 70B", 0.3052)])
def test_a_thousand_tokens_cost_what_lmcache_says(name, size):
    """The table of popular models in its docs/source/getting_started/faq.rst, since its pull request 1769; the last is Llama 3.1's."""
    [config] = [one["config"] for one in releases() if one["name"] == name]
    assert round(memory(read(config), 1000)["full"] / 2**30, 4) == size


BAD = [
    {"requests": 0}, {"requests": 1.5}, {"gib": -1}, {"gib": "80GB"}, {"bits": 3.5}, {"bits": 0}, {"bits": True}, {"weights": 0},
    {"cache_bits": 65}, {"share": 1.5}, {"gib": float("nan")}, {"requests": 10**9},
]  # fmt: skip


@pytest.mark.parametrize("asked", BAD, ids=str)
def test_amounts_that_cannot_be_get_a_sentence(asked):
    ((name, value),) = asked.items()
    with pytest.raises(Refused, match=f"^{'card' if name == 'gib' else name} must be a ") as error:
        card(read(GPT_OSS), GPT_OSS, **asked)
    assert error.value.fields["got"] is value


ASKED = [
    {"tokens": 9, "program": "transformers", "requests": 3, "card": 0.01, "bits": 5, "cache_bits": 8},
    {"tokens": 9, "program": "sglang", "card": 0.01, "bits": 4, "share": 0.5},
    {"program": "vllm", "card": 0.5, "weights": 0.001},
    {"tokens": 100_000, "program": "llama.cpp"},
]


@pytest.mark.parametrize("start", range(0, len(READ), 40))
def test_the_page_says_the_same_of_a_family(start):
    files = {family: tiny.data(fitted(family)) for family in READ[start : start + 40]}
    unlike, answered = differences(files, [["card", asked] for asked in ASKED])
    assert unlike == [] and answered > 40


def test_the_page_says_the_same_of_releases_and_of_amounts_that_cannot_be():
    files = {release["name"]: release["config"] for release in releases()}
    unlike, answered = differences(files, [["card", {"card": 80, "weights": 60.8, "program": "sglang"}]])
    bad = [{"card" if name == "gib" else name: value for name, value in one.items()} for one in BAD if "nan" not in str(one)]
    assert unlike + differences({"bad": GPT_OSS}, [["card", asked] for asked in bad])[0] == [] and answered > 70
