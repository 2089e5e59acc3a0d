"""What the references of chapter 8's checks rest on, and that right answers pass however they are written."""

from functools import partial

import numpy as np
import pytest
import torch
from pandas import DataFrame
from transformers import CONFIG_MAPPING

from d2lpos import RoPE, T5Bias, Transformer
from d2lpos.check import choosing as check
from d2lpos.lab import Run, frame, records
from d2lpos.lab.models import ENCODINGS
from d2lpos.lab.plot import named
from d2lpos.pretrained import encoding_of
from d2lpos.rotary import scaling
from tests.check.right import accepted

LLAMA = {
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}


def test_llama_3_1():
    """The first pairs that its rule changes, as ratios to the unscaled frequencies."""
    encoding = check.rope_from.reference(LLAMA, "full_attention")
    assert (encoding.dim, encoding.rotary, encoding.base, encoding.layout) == (128, 128, 500000.0, "half")
    old = 500000.0 ** (-torch.arange(64) / 64)
    new, factor = encoding.scaling(old)
    ratios = torch.tensor([1.0, 0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211, 0.125])
    torch.testing.assert_close((new / old)[28:36], ratios, rtol=0, atol=1e-5)
    assert factor == 1


@pytest.mark.parametrize("family", ["llama", "gemma3_text", "phi3", "glm4_moe", "olmo3"])
def test_it_reads_what_transformers_5_writes(family):
    config = CONFIG_MAPPING[family](hidden_size=64, num_attention_heads=4, head_dim=16).to_dict()
    assert "rope_theta" not in config
    for kind, layer in zip(
        config.get("layer_types") or ["full_attention"], encoding_of(config).layers, strict=False
    ):
        ours, x = check.rope_from.reference(config, kind), torch.randn(1, 1, 3, 16)
        places = torch.tensor([0, 1, 4000])
        torch.testing.assert_close(ours.rotate_at(x, places), layer.encoding.rotate_at(x, places))


def test_the_cache_is_as_large_as_a_cache():
    model = Transformer(8, 8, dim=16, heads=4, layers=3, causal=True)
    caches = model.new_caches()
    model(torch.zeros(1, 5, dtype=torch.long), torch.arange(5), caches=caches)
    size = sum(4 * tensor.numel() for cache in caches for tensor in (cache.keys, cache.values))
    assert check.memory.reference(3, 4, 4, 4, 5, 4)[0] == size


def test_the_bias_is_as_large_as_a_bias():
    q, here = torch.zeros(1, 4, 5, 8), torch.arange(5)
    bias = T5Bias(4).score(q, q, here, here)
    assert check.memory.reference(3, 4, 2, 8, 5, 4)[1] == bias.numel() * bias.element_size()


def test_llama():
    assert check.memory.answers[0].right == check.memory.reference(32, 32, 8, 128, 8192, 2)


def test_names():
    rows = frame(records("extrapolation"))
    rows = rows[(rows["split"] == "test") & (rows["reading"] == "as trained") & rows["causal"]]
    doors = {name: make(Run("language", name)).doors for name, make in ENCODINGS.items()}
    for length, name in zip((64, 512), check.choose.answers[0].right, strict=True):
        losses = named(rows[rows["length"] == length]).groupby("encoding")["loss_last"].apply(list).to_dict()
        assert check.choose.reference(losses, doors, {"embed", "rotate"}) == name


def rope_by_cases(config, kind):
    dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    match config:
        case {"rope_parameters": {"sliding_attention": _, "full_attention": _} as types}:
            parameters = types[kind]
        case {"rope_parameters": parameters}:
            pass
        case {"rope_scaling": dict(asked)}:
            parameters = {**asked, "rope_theta": config["rope_theta"]}
        case _:
            parameters = {"rope_theta": config["rope_theta"]}
    match parameters:
        case {"rope_type": "linear", "factor": factor}:
            rule = partial(scaling.linear, factor=factor)
        case {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": length}:
            rule = partial(scaling.yarn, factor=factor, length=length)
        case {"rope_type": "llama3", **rest}:
            band = (
                rest["original_max_position_embeddings"], rest["low_freq_factor"], rest["high_freq_factor"],
            )

            def rule(frequencies):
                return scaling.llama3(frequencies, rest["factor"], *band)

        case _:
            rule = scaling.unscaled
    beside = 1.0 if "rope_parameters" in config else config.get("partial_rotary_factor", 1.0)
    part = parameters.get("partial_rotary_factor", beside)
    return RoPE(dim, base=parameters["rope_theta"], rotary=round(part * dim), scaling=rule)


def choose_by_sorting(losses, doors, allowed):
    table = DataFrame(losses).mean().sort_values()
    return next(name for name in table.index if not set(doors[name]) - allowed)


def memory_in_floats(layers, heads, kv_heads, features, tokens, size):
    return [2.0 * layers * kv_heads * features * tokens * size, 1.0 * heads * tokens * tokens * size]


def compare_with_tensors(validation, test, t):
    arm = validation.double().mean(1)[1:].argmin() + 1
    gap = (test[arm] - test[:1][0]).double()
    half = t * gap.var(correction=1).sqrt() / torch.tensor(gap.numel()).sqrt()
    return arm, gap.mean() - half, gap.mean() + half


def compare_as_a_list(validation, test, t):
    arm, low, high = compare_with_tensors(validation, test, t)
    return [arm.item(), low.item(), high.item()]


def choose_by_numpy(losses, doors, allowed):
    names = np.array([name for name in losses if allowed.issuperset(doors[name])])
    return names[np.argmin([np.mean(losses[name]) for name in names])]


def memory_in_an_array(layers, heads, kv_heads, features, tokens, size):
    keys = layers * np.int64(kv_heads) * features * tokens * size
    return np.array([2 * keys, heads * tokens**2 * size])


test_accepted = accepted({
    check.rope_from: [rope_by_cases],
    check.choose: [choose_by_sorting, choose_by_numpy],
    check.memory: [memory_in_floats, memory_in_an_array],
    check.compare: [compare_with_tensors, compare_as_a_list],
})
