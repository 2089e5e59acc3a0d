"""The layers that the essay draws, against the configurations of the library."""

import pytest
import yaml

from book.essay import BOOK

transformers = pytest.importorskip("transformers")
KNOWN = yaml.safe_load((BOOK / "models" / "by-hand.yml").read_text("utf-8"))
LETTERS = {"sliding_attention": "t", "chunked_attention": "t", "full_attention": "N", "linear_attention": "-"}

pytestmark = pytest.mark.skipif(
    transformers.__version__ != KNOWN["version"], reason=f"the families were read in version {KNOWN['version']}"
)


def test_layers_are_those_of_the_defaults():
    for name, model in KNOWN["layers"].items():
        config = transformers.CONFIG_MAPPING[model["class"]]()
        if full := model.get("full_attn_layers"):
            rest = [layer for layer in range(1, config.num_hidden_layers + 1) if layer not in full]
            released = {"full_attn_layers": full, "kda_layers": rest}
            config = transformers.CONFIG_MAPPING[model["class"]](linear_attn_config=released)
        kinds = getattr(config, "layer_types", None)
        pattern = "".join(LETTERS[kind] for kind in kinds) if kinds else "T" * config.num_hidden_layers
        assert model["pattern"] == pattern, name
    assert transformers.CONFIG_MAPPING["cohere2"]().sliding_window == 4096
    assert transformers.CONFIG_MAPPING["llama4_text"]().attention_chunk_size == 8192
    assert transformers.CONFIG_MAPPING["beam"]().sliding_window == 512
