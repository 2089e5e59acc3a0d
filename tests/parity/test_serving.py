"""What a length asks of each family's tiny model: its cache as transformers keeps it, and settings that its code takes."""

import pytest
import torch
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos.pretrained import encoding_of
from d2lpos.pretrained.families import FAMILIES
from d2lpos.pretrained.serving import RULES, UNKNOWN, cache_bytes, rope_of, settings
from tests.parity import defaults, tiny
from tests.parity.families import fitted

READ = sorted(set(FAMILIES) & set(CONFIG_MAPPING))
# Their models give no cache back, or ask for more than words.
ASIDE = {
    "clip_text_model", "granite4_vision_text", "idefics", "openai-gpt", "recurrent_gemma", "switch_transformers", "voxtral_realtime_text",
    "whisper",
}  # fmt: skip
TOKENS = 4  # fewer than the tiny models' windows


@pytest.mark.parametrize("family", READ)
def test_memory_is_what_its_cache_keeps(family):
    config = fitted(family)
    reading = encoding_of(config, tokens=TOKENS)
    if family in ASIDE or not reading.causal or not any(layer.attends for layer in reading.layers):
        pytest.skip("it keeps no keys, or does not show them")
    if family in UNKNOWN:
        with pytest.raises(ValueError, match=f"memory of {family} is not known"):
            cache_bytes(config, TOKENS)
        return
    words = {"input_ids": 4 + torch.arange(TOKENS)[None]}
    words |= {"decoder_input_ids": words["input_ids"]} if reading.encoder else {}
    with torch.no_grad():
        kept = tiny.model(family, config)(**words, use_cache=True).past_key_values
    kept = getattr(kept, "self_attention_cache", kept)
    tensors = [getattr(layer, name, None) for layer in kept.layers for name in ("keys", "values")]
    numbers = sum(x.numel() for x in tensors if isinstance(x, torch.Tensor))
    ours = cache_bytes(config, TOKENS, number=1)
    assert sum(number for kind, number in ours.items() if kind != "indexer") == numbers


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", READ)
def test_settings_stretch_what_turns_and_nothing_else(family, rule):
    config = fitted(family)
    before = encoding_of(config, tokens=TOKENS)
    try:
        lines = settings(config, 2048, "transformers", 512, rule)
    except ValueError:
        pytest.skip("it is refused")
    if "rope" not in lines:
        pytest.skip("windows keep its angles")
    exec(lines, {"config": config})  # noqa: S102
    again = CONFIG_MAPPING[family].from_dict(config.to_dict())
    after = encoding_of(again, tokens=TOKENS)
    for old, new in zip(before.layers, after.layers, strict=True):
        was, now = rope_of(old), rope_of(new)
        assert (was is None) == (now is None)
        if now is not None:
            assert (now.rotary, now.layout) == (was.rotary, was.layout)
            assert now.base > was.base if rule == "ntk" else now.base == was.base
            assert not torch.equal(now.scaled()[0], was.scaled()[0])
    rotary = defaults.rotary(family)
    if rotary is not None and rope_of(after.layers[0]):
        theirs = rotary(again)
        assert torch.allclose(theirs.inv_freq, rope_of(after.layers[0]).scaled()[0].float().abs(), rtol=1e-4)
