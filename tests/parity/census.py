"""What every family of language models in transformers does with positions: python -m tests.parity.census

Writes book/models/models.csv, which the page "What models use", the essay and chapter 8 read. A family is a folder of
the library with a class that writes one token after another and neither one that fills in gaps nor one that
translates. A folder of a class that writes beside pictures counts, too, where the layers of its text are its own. What it does is `encoding_of` of its configuration class, as the library sets it up, and its year that of
the copyright line. What that cannot say is named here or in book/models/by-hand.yml, with a reason.
"""

import csv
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import transformers
import yaml
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from d2lpos import ALiBi, Learned, T5Bias
from d2lpos.config import outer
from d2lpos.config.keys import Keys
from d2lpos.config.layers import with_kinds
from d2lpos.config.tables import by_name as by_part
from d2lpos.config.tables import complete, read_by_some, rows
from d2lpos.config.turning import read_rope
from d2lpos.offset.deberta import DeBERTa
from d2lpos.pretrained import Layer, Reading, encoding_of
from d2lpos.pretrained.build import of_part
from d2lpos.pretrained.census import COLUMNS
from d2lpos.rotary.normed import Normed
from tests.parity.releases import TOKENS, of_families, releases
from tests.parity.rows import by_name

CODE = Path(transformers.__file__).parent / "models"
FOLDER = Path(__file__).parents[2] / "book" / "models"
YEAR = r"Copyright (?:\(c\) )?(\d{4})"
NAMED = {
    "kosmos2": "kosmos-2", "kosmos2_5": "kosmos-2.5", "openai": "openai-gpt", "qwen2_5_omni": "qwen2_5_omni_thinker",
    "qwen3_omni_moe": "qwen3_omni_moe_thinker",
}  # configurations that have another name than their folder
# What a configuration class must be told before it says anything; by-hand.yml says so in the row.
REQUIRED = {
    "bamba": {"attn_layer_indices": [0]},
    "cohere_compass": {"rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0}},
    "glm4_moe": {"head_dim": 128},
    "glm4v": {"partial_rotary_factor": 0.5},
    "glm4v_moe": {"head_dim": 128},
    "qwen3_omni_moe": {"head_dim": 128},
}
deepseek = rows()["deepseek_v3"]
# How the queries and keys turn of families that `encoding_of` refuses for something else, or does not know.
LIKE = by_name(
    {
        "dots3_note": deepseek,
        "hy_v4": {**deepseek, "layout": "half", "sinks": "full_attention sliding_attention"},
        "qwen4_exp hrm_text emu3": complete({}),
        "cohere2_moe": rows()["cohere2"],
        "glm5_next": {**rows()["kimi_linear"], "types": None},
        "hunyuan_vl unlimited_ocr": complete({}),
        "mistral_large4": deepseek,
    }
)


@cache
def every() -> list[str]:
    """The folders of all families."""

    def families(mapping: dict) -> set[str]:
        classes = {
            name for names in mapping.values() for name in ([names] if isinstance(names, str) else names)
        }
        return {
            path.parent.name
            for path in CODE.glob("*/modeling_*.py")
            if path.stem == f"modeling_{path.parent.name}"
            and classes & set(re.findall(r"^class (\w+)\(", path.read_text("utf-8"), re.MULTILINE))
        }

    writes = families(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    writes |= set(filter(None, map(beside_pictures, modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)))
    writes -= families(modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES)
    return sorted(writes - families(modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES))


def beside_pictures(name: str) -> str | None:
    """The folder of a model of pictures and text that writes with layers of its own; None for others."""
    try:
        whole = CONFIG_MAPPING[name]()
    except ValueError:  # it must be told which models it is made of
        return None
    text = whole.get_text_config(decoder=True)
    folders = {type(config).__module__.split(".")[-2] for config in (whole, text)}
    return folders.pop() if len(folders) == 1 and not text.is_encoder_decoder else None


def year(family: str) -> int | None:
    """The first year of the code's copyright line or, where it has none, of the configuration's."""
    for kind in ("modeling", "configuration"):
        path = CODE / family / f"{kind}_{family}.py"
        if path.exists() and (line := re.search(YEAR, path.read_text("utf-8")[:3000], re.IGNORECASE)):
            return int(line[1])
    return None


def configuration(family: str) -> object:
    """The configuration of the family's text, as the library sets it up."""
    names = NAMED.get(family, family), family.replace("_", "-"), f"{family}_text"
    return CONFIG_MAPPING[next(name for name in names if name in CONFIG_MAPPING)]().get_text_config(decoder=True)


def release(family: str) -> dict | None:
    """The released model that stands for a family; None where none is known."""
    return of_families().get(configuration(family).to_dict()["model_type"])


def read(family: str, released: dict | None = None) -> tuple[Reading | None, str | None]:
    """The reading of a release or of the class's default; and why `encoding_of` refuses it, None where it does not."""
    values = released["config"] if released else configuration(family).to_dict() | REQUIRED.get(family, {})
    try:
        return bare(encoding_of(values, tokens=TOKENS)), None
    except ValueError:
        why = by_part("refused").get(values["model_type"], "")
        return (turning(family, LIKE[family], plain(values)) if family in LIKE else None), why


def turning(family: str, row: dict, values: dict) -> Reading:
    """How queries and keys turn by a row, whatever the family's other keys are."""
    keys = Keys(family, {"reads": " ".join(read_by_some())}, outer.plain(values), {})
    return Reading(family, **of_part(with_kinds(read_rope(row, keys)), None))


def bare(reading: Reading) -> Reading:
    """The turn alone, where a norm comes behind it; and what attends to a picture alone, left out."""
    layers = [
        replace(layer, encoding=layer.encoding.rope) if isinstance(layer.encoding, Normed) else layer
        for layer in reading.layers
    ]
    layers = [Layer(attends=False) if layer.crosses else layer for layer in layers]
    return replace(reading, layers=layers)


def plain(values: dict) -> dict:
    """A configuration with the types of layers that `Turning` knows, and one kind of head."""
    types = list(values.get("layer_types") or [])
    renamed = {"indexed_attention": "full_attention", "reference_sliding_attention": "sliding_attention"}
    rope = values.get("rope_parameters") or {}
    return values | {
        "layer_types": [renamed.get(kind, kind) for kind in types] or None,
        "rope_parameters": {renamed.get(key, key): value for key, value in rope.items()},
        "per_layer_config": None,
    }


LAYOUTS = {"half": "halves", "interleaved": "neighbors"}  # what the book calls the layouts
# What reaches attention, by the word of the column `encoding`.
KINDS = {
    "RoPE": "turn",
    "RoPE in some layers": "some",
    "none": "none",
    "ALiBi": "bias",
    "buckets": "bias",
    "Transformer-XL": "bias",
    "bias from the text": "bias",
    "learned table": "table",
    "sinusoids": "sinusoids",
}


# Encodings by class; all others turn.
OTHERS = {ALiBi: "ALiBi", DeBERTa: "vectors of the offset", T5Bias: "buckets"}

# One column each


def encoding(reading: Reading) -> str:
    attending = [layer for layer in reading.layers if layer.attends]
    open_ = [layer.encoding for layer in attending if layer.encoding]
    if reading.input:
        return "learned table" if isinstance(reading.input, Learned) else "sinusoids"
    if not attending:
        return "recurrence"
    if not open_:
        return "none"
    if kind := OTHERS.get(type(open_[0])):
        return kind
    return "RoPE" if len(open_) == len(attending) else "RoPE in some layers"


def by_sight(layers: Iterable[Layer], value: Callable[[Layer], str]) -> str:
    """What layers have in common, or what those have that see a window alone, and what the others."""
    layers = list(layers)
    alone = [bool(layer.window or layer.chunk) and layer.compressed is None for layer in layers]
    near = list(dict.fromkeys(value(layer) for layer, is_near in zip(layers, alone, strict=True) if is_near))
    far = list(dict.fromkeys(value(layer) for layer, is_near in zip(layers, alone, strict=True) if not is_near))
    if len(near) == len(far) == 1 and near != far:
        if any(layer.compressed for layer in layers):
            beside = "with compressed keys"
            return f"{near[0]} in windows alone, {far[0]} {beside}" if near[0] else f"{far[0]}, only {beside}"
        return f"{near[0]} in windows, {far[0]} elsewhere" if near[0] else f"{far[0]}, not in windows"
    return ", ".join(filter(None, dict.fromkeys([*near, *far])))


def share(layer: Layer) -> str:
    rope = layer.encoding
    turning = 2 * int((rope.scaled()[0] != 0).sum())
    pairs = f" (i with i + {rope.rotary // 2}, exponents over {rope.rotary})"
    across = pairs if rope.layout == "half" and turning < rope.rotary else ""
    return f"{turning} of {layer.features[1] if layer.features else rope.dim}{across}"


def rule(layer: Layer) -> str:
    scaling = layer.encoding.scaling
    function = getattr(scaling, "func", scaling)
    names = {
        "unscaled": "",
        "yarn": "YaRN",
        "llama3": "Llama 3",
        "proportional": "",  # which the features that turn tell
        "turned": "turns backward",
        "longrope": "LongRoPE",
    }
    name = names.get(function.__name__, function.__name__.replace("_", " "))
    factor = getattr(scaling, "keywords", {}).get("factor", 1)
    plain = name == "YaRN" and layer.encoding.scaled()[1] == layer.scale == 1
    return f"{name} by {factor:g}{' without its factor' * plain}" if factor != 1 else name


def temperature(layer: Layer) -> str:
    kind, keywords = layer.temperature.func.__name__, layer.temperature.keywords
    if kind == "steps":
        p = "(p + 1)" if keywords.get("counted") else "p"
        return f"1 + {keywords['scale']:g} ln(1 + ⌊{p}/{keywords['length']:g}⌋)"
    return f"(1 + (p + 1)/{keywords['length']:g})^{keywords['exponent']:g}"


def window(reading: Reading) -> str:
    """How far layers see that do not see all, and how many these are."""
    attending = [layer for layer in reading.layers if layer.attends]
    near = [layer for layer in attending if layer.window or layer.chunk]
    if not near:
        return ""
    sides = 1 if reading.causal else 2
    [size] = {f"chunks of {layer.chunk}" if layer.chunk else str(sides * (layer.window - 1) + 1) for layer in near}
    return size if len(near) == len(attending) else f"{size} in {len(near)} of {len(attending)}"


def columns(reading: Reading) -> dict[str, str]:
    """What a reading says in the columns."""
    attending = [layer for layer in reading.layers if layer.attends]
    turning = [layer for layer in attending if hasattr(layer.encoding, "scaled")]
    warm = [layer for layer in attending if layer.temperature]
    still = sum(layer.encoding is None for layer in attending)
    index = "an index with positions of its own chooses the keys"
    return {
        "encoding": encoding(reading),
        "base": by_sight(turning, lambda layer: f"{layer.encoding.base:.0f}"),
        "turns": by_sight(turning, share),
        "layout": by_sight(turning, lambda layer: LAYOUTS[layer.encoding.layout]),
        "scaling": by_sight(turning, rule),
        "window": window(reading),
        "without": f"{still} of {len(attending)}" if turning and still else "",
        "attend": "" if len(attending) == len(reading.layers) else f"{len(attending)} of {len(reading.layers)}",
        "temperature": by_sight(warm, temperature),
        "sinks": "yes" if any(layer.sinks for layer in attending) else "",
        "besides": index if any(layer.indexer for layer in attending) else "",
    }


FOLDED = ("encoding", "base", "turns", "scaling", "window", "without", "attend", "temperature")


def row(family: str, hand: dict) -> dict[str, str]:
    """What the file says of a family: of a release, where one is known, and where its class has another default."""
    released = release(family)
    reading, refused = read(family, released)
    moved = hand["years"].get(family)
    cells = dict.fromkeys(COLUMNS, "") | {"family": family, "year": str(moved or year(family))}
    cells["year by hand"] = "yes" if moved else ""
    cells |= columns(reading) if reading else {}
    if refused is not None:
        cells |= {"besides": refused} | hand["refused"].get(family, {})
    elif family in hand["refused"]:
        print(f"{family} is read now: drop it from by-hand.yml")
    cells |= hand["besides"].get(family, {})
    cells["kind by default"] = cells["kind"] = KINDS[cells["encoding"]]
    if released:
        cells |= hiding_windows(cells, released["config"])
        default = None if family in REQUIRED else read(family)[0]
        other = columns(default) | hand["besides"].get(family, {}) if default else {}
        cells["kind by default"] = KINDS.get(other["encoding"], "") if other else cells["kind"]
        differs = [f"{key} {other[key] or 'none'}" for key in FOLDED if key in other and other[key] != cells[key]]
        cells |= {"release": released["name"], "source": released["source"], "default": "; ".join(differs)}
    return {column: str(value) for column, value in cells.items()}


def hiding_windows(cells: dict[str, str], config: dict) -> dict[str, str]:
    """The cell of the window, empty where it is as long as the longest text, of which it hides nothing."""
    longest, size = config.get("max_position_embeddings"), cells["window"]
    return {"window": "" if longest and size.isdecimal() and int(size) >= longest else size}


def rows() -> list[dict[str, str]]:
    """The rows of the file, by year and name."""
    hand = yaml.safe_load((FOLDER / "by-hand.yml").read_text("utf-8"))
    aside = {family for kind in hand["aside"].values() for family in kind}
    filled = [row(family, hand) for family in every() if family not in aside]
    return sorted(filled, key=lambda row_: (row_["year"], row_["family"]))


def released() -> list[dict[str, str]]:
    """A row for each released model: its positions in a few words, who tells its user to stretch it, and its trained lengths."""
    table = []
    for one in releases():
        cells = columns(bare(encoding_of(one["config"], tokens=TOKENS)))
        cells |= hiding_windows(cells, one["config"])
        words = [
            cells["encoding"],
            cells["base"] and f"base {cells['base']}",
            cells["turns"] and f"turns {cells['turns']}",
            cells["scaling"],
            cells["window"] and f"window {cells['window']}",
            cells["without"] and f"without {cells['without']}",
            cells["attend"] and f"{cells['attend']} layers attend",
            cells["sinks"] and "learned sinks",
            one.get("remembered") and f"from memory: {', '.join(one['remembered'])}",
        ]
        stages = " → ".join(f"{length:,}" for length in one.get("trained", ()))
        by_user = one.get("stretch", {}).get("source", "")
        sizes = {"position": "; ".join(filter(None, words)), "by user": by_user, "trained": stages, "report": one.get("report", "")}
        table.append({key: str(one[key]) for key in ("name", "year", "family", "source")} | sizes)
    return sorted(table, key=lambda line: (-int(line["year"]), line["name"].lower()))


def write(path: Path, names: Iterable[str], table: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        written = csv.DictWriter(lines, names, lineterminator="\n")
        written.writeheader()
        written.writerows(table)


def main() -> None:
    write(FOLDER / "models.csv", COLUMNS, rows())
    table = released()
    write(FOLDER / "releases.csv", table[0], table)


if __name__ == "__main__":
    main()
