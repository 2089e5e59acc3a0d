"""What a length asks of each family's tiny model: its cache as transformers keeps it, and settings that its code takes."""

import pytest
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.config import Refused, card, in_force, memory, plain, read, settings
from d2lpos.config.angles import turns
from d2lpos.config.tables import rows, table
from tests.parity import defaults, tiny
from tests.parity.families import fitted

READ = sorted(set(rows()) & set(CONFIG_MAPPING))
# Their models give no cache back, or ask for more than words.
ASIDE = {
    "clip_text_model", "granite4_vision_text", "idefics", "openai-gpt", "recurrent_gemma", "rwkv", "switch_transformers",
    "voxtral_realtime_text",
    "whisper", "xlstm",
}  # fmt: skip
CUT = {"doge", "moshi"}  # to a window that the reading passes over
UNKNOWN = {"minimax", "zaya"}  # what their recurrences keep


@pytest.mark.parametrize("family", READ)
def test_the_bytes_of_its_cache(family):
    config = fitted(family)
    reading = read(config)
    if family in ASIDE or not reading["causal"]:
        pytest.skip("it keeps no keys, or does not show them")
    if rows()[family]["cache"] == "unknown":
        with pytest.raises(Refused, match=f"memory of {family} is not known"):
            memory(reading, 4)
        return
    model = tiny.model(family, config).to(torch.bfloat16)
    for tokens in (4,) if family in CUT else (4, 12):  # fewer than the tiny models' windows, and more
        made = card(reading, config, tokens, program="transformers")
        if made["why_state"]:
            assert family in UNKNOWN
            made["cache"]["state"] = 0
        assert sum(made["cache"].values()) == size(model, tokens, reading["encoder"], bool(made["why_state"]))


def size(model, tokens, two_parts, keys_alone):
    """Bytes of a model's cache after a prompt."""
    words = {"input_ids": 4 + torch.arange(tokens)[None]}
    words |= {"decoder_input_ids": words["input_ids"]} if two_parts else {}
    with torch.no_grad():
        out = model(**words, use_cache=True)
    cache = out.cache_params if "cache_params" in out else out.past_key_values
    cache = getattr(cache, "self_attention_cache", cache)
    tensors = [getattr(layer, name, None) for layer in cache.layers for name in ("keys", "values", "indexer_keys")]
    states = [getattr(layer, name, None) for layer in cache.layers for name in ("conv_states", "recurrent_states")]
    tensors += [] if keys_alone else [x for each in states if each for x in each.values()]
    return sum(x.numel() * x.element_size() for x in tensors if isinstance(x, torch.Tensor))


@pytest.mark.parametrize("rule", table("settings")["rules"])
@pytest.mark.parametrize("family", READ)
def test_settings_stretch_what_turns_and_nothing_else(family, rule):
    config = fitted(family)
    before = read(config)
    try:
        line = settings(before, 2048, "transformers", 512, rule)["line"]
    except Refused:
        pytest.skip("it is refused")
    if "rope" not in line:
        pytest.skip("windows keep its angles")
    exec(line, {"config": config})  # noqa: S102
    again = CONFIG_MAPPING[family].from_dict(config.to_dict())
    after = read(again)
    apart = "" not in before["at"]["rules"]  # layers with a window have parameters of their own
    for old, new in zip(layers(before), layers(after), strict=True):
        assert {**old, "encoding": None, "indexer": None} == {**new, "encoding": None, "indexer": None}
        if not turns(old) or apart and old["window"]:
            assert old == new
            continue
        was, now = old["encoding"], new["encoding"]
        assert {**was, "rule": None, "base": None} == {**now, "rule": None, "base": None}
        assert now["base"] > was["base"] if rule == "ntk" else now["base"] == was["base"]
        assert in_force(now)[0] != plain(was)
        if old["indexer"]:
            assert {**now, "dim": None, "layout": None} == {**new["indexer"], "dim": None, "layout": None}
    rotary = defaults.rotary(family)
    if rotary is not None:
        theirs, first = rotary(again), next(layer for layer in layers(after) if turns(layer))
        name = f"{first['type']}_inv_freq" if apart else "inv_freq"
        assert getattr(theirs, name).tolist() == pytest.approx(in_force(first["encoding"])[0], rel=1e-4)


def layers(reading):
    return [reading["kinds"][kind] for kind in reading["layers"]]
