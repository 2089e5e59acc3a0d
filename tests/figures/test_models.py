"""`book/models.yml` against the code that it tells of: which families there are, their years, which turn."""

import re
from pathlib import Path

import pytest

from d2lpos.figures.essay import KINDS, models

transformers = pytest.importorskip("transformers")
ROOT = Path(transformers.__file__).parent / "models"
KNOWN = models()
YEARS = {
    family: (kind, year)
    for kind in (*KINDS, "recurrent", "borrowed", "others")
    for year, families in KNOWN[kind].items()
    for family in families
}
CODE = {
    path.parent.name: path.read_text("utf-8")
    for path in sorted(ROOT.glob("*/modeling_*.py"))
    if path.stem == f"modeling_{path.parent.name}"
}
YEAR = r"Copyright (?:\(c\) )?(\d{4})"
CALL = r"(?<!def )apply_(?:\w*_)?rotary\w*\("
LETTERS = {"sliding_attention": "t", "chunked_attention": "t", "full_attention": "N", "linear_attention": "-"}

if transformers.__version__ != KNOWN["version"]:
    pytest.skip(f"the families were read in version {KNOWN['version']}", allow_module_level=True)


def test_all_families_that_write_are_there():
    from transformers.models.auto import modeling_auto as auto

    def families(mapping: dict) -> set[str]:
        classes = {
            name for names in mapping.values() for name in ([names] if isinstance(names, str) else names)
        }
        return {
            family
            for family, code in CODE.items()
            if classes & set(re.findall(r"^class (\w+)\(", code, re.MULTILINE))
        }

    writes = families(auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    writes -= families(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES)
    assert set(YEARS) == writes - families(auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)


def test_years_are_those_of_the_files_or_named():
    for family, (_, year) in YEARS.items():
        configuration = ROOT / family / f"configuration_{family}.py"
        heads = [
            CODE[family][:3000],
            configuration.read_text("utf-8")[:3000] if configuration.exists() else "",
        ]
        told = [int(found[0]) for head in heads if (found := re.findall(YEAR, head, re.IGNORECASE))]
        line = (told or [2024])[0]  # olmoe says none
        assert KNOWN["filed"].get(family, year) == line, family
    assert all(YEARS[family][1] != line for family, line in KNOWN["filed"].items())


def test_families_that_turn_call_what_turns_and_others_do_not():
    for family, (kind, _) in YEARS.items():
        turns = re.search(CALL, re.sub(r"apply_rotary_pos_emb_vision", "", CODE[family]))
        if kind in ("turn", "some"):
            assert turns, family
        elif kind != "none":  # where the turn is an option
            assert not turns, family


def test_layers_are_those_of_the_defaults():
    for name, told in KNOWN["layers"].items():
        config = transformers.CONFIG_MAPPING[told["class"]]()
        if full := told.get("full_attn_layers"):
            rest = [layer for layer in range(1, config.num_hidden_layers + 1) if layer not in full]
            released = {"full_attn_layers": full, "kda_layers": rest}
            config = transformers.CONFIG_MAPPING[told["class"]](linear_attn_config=released)
        kinds = getattr(config, "layer_types", None)
        pattern = "".join(LETTERS[kind] for kind in kinds) if kinds else "T" * config.num_hidden_layers
        assert told["pattern"] == pattern, name
    assert transformers.CONFIG_MAPPING["cohere2"]().sliding_window == 4096
    assert transformers.CONFIG_MAPPING["llama4_text"]().attention_chunk_size == 8192
    assert transformers.CONFIG_MAPPING["beam"]().sliding_window == 512
