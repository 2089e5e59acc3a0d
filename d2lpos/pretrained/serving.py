"""What a text of N tokens asks of a model: new angles, where tables end, memory for keys and values, and settings.

Pure functions of a configuration and its reading. Lengths are in tokens, memory in bytes.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Mapping

from torch import Tensor

from ..bias.alibi import ALiBi, slopes
from ..config import read
from ..config.outer import by_class_names, missing, plain, text_of, without_keys
from ..config.rope import kind_of
from ..config.tables import rows, table
from ..input.learned import Learned
from ..positions.arguments import check_count, check_name
from ..rotary.mrope import MRoPE, blocks
from .build import encoding_of
from .layer import Layer, Reading

__all__ = [
    "PROGRAMS",
    "RULES",
    "cache_bytes",
    "in_words",
    "longest",
    "new_angles",
    "original_length",
    "settings",
    "traps",
]

PROGRAMS = {
    "transformers": "transformers 5.23, https://huggingface.co/docs/transformers/main_classes/configuration",
    "transformers4": "transformers 4.57, https://huggingface.co/Qwen/Qwen3-8B#processing-long-texts",
    "vllm": "vLLM 0.33, https://github.com/vllm-project/vllm/blob/v0.33.0/vllm/config/model.py",
    "sglang": "SGLang 0.5.23, https://github.com/sgl-project/sglang/blob/v0.5.23/python/sglang/srt/utils/hf_transformers/config.py",
    "llama.cpp": "llama.cpp 0.5, https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
}
"""The programs that `settings` knows, with the version and the source of their names.

>>> list(PROGRAMS)
['transformers', 'transformers4', 'vllm', 'sglang', 'llama.cpp']
"""


def keys_of(config: object) -> tuple[str, dict]:
    """The family of a configuration, and its keys with what its class takes for those that are missing."""
    text = text_of(plain(config if isinstance(config, Mapping) else config.to_dict()), ())
    own = by_class_names(text.family, text.values)
    return text.family, {**own, **missing(text.family, own)}


def original_length(config: object) -> int | None:
    """The length before the model's stretch, where its configuration says one.

    >>> original_length({"model_type": "gpt_oss"})
    4096
    """
    _, keys = keys_of(config)
    return first(*(one.get("original_max_position_embeddings") for one in (*rules_of(keys), keys)))


def longest(config: object) -> int | None:
    """The length that a configuration allows; a model may have been trained on shorter texts.

    >>> longest({"model_type": "gpt2"})
    1024
    """
    _, keys = keys_of(config)
    return keys.get(longest_key(keys))


LENGTHS = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")


def longest_key(keys: Mapping) -> str | None:
    """The key that says what length is allowed."""
    return first(*(key for key in LENGTHS if keys.get(key)))


def file_allows(config: object) -> bool:
    """Whether the file says the length that it allows, and not its class.

    >>> file_allows({"model_type": "gpt2"})
    False
    """
    return not read(config)["lengths"]["by_class"]


def first(*values: object) -> object:
    """The first value that there is; None where there is none."""
    return next(filter(None, values), None)


def without(values: Mapping, keys: Collection[str]) -> dict:
    """A configuration without some keys, nor its text's."""
    kept, _ = without_keys(dict(values), keys)
    texts = {name: kept[name] for name in ("text_config", *table("families")["elsewhere"]) if isinstance(kept.get(name), Mapping)}
    return kept | {name: without(text, keys) for name, text in texts.items()}


def reads_pictures(family: str) -> bool:
    return rows()[family]["read"] in ("picture", "swin")


def check_lengths(tokens: int, trained: int | None) -> None:
    check_count(tokens=tokens, **({} if trained is None else {"trained": trained}))


def rules_of(keys: Mapping) -> list[Mapping]:
    """RoPE's parameters, of all layers or of each kind."""
    rope = keys.get("rope_scaling") or keys.get("rope_parameters") or {}
    return [one for one in (rope, *rope.values()) if isinstance(one, Mapping)]


def new_angles(layer: Layer, trained: int, tokens: int, before: bool = False) -> tuple[int, int]:
    """How many pairs of a layer that turns meet angles that a text of the trained length has not, and of how many.

    A pair that has come around within the trained length meets none; a window keeps all pairs in what it sees, unless keys
    beyond it are compressed. before says that the trained length is that before a stretch, when frequencies were plain.

    >>> from d2lpos.pretrained import encoding_of
    >>> llama = encoding_of({"model_type": "llama", "head_dim": 128})
    >>> new_angles(llama.layers[0], 4096, 8192)
    (18, 64)
    """
    fresh = fresh_pairs(layer, trained, tokens, before)
    return int(fresh.sum()), len(fresh)


def fresh_pairs(layer: Layer, trained: int, tokens: int, before: bool = False) -> Tensor:
    """Which pairs meet new angles; (pairs,), Boolean. Arguments are those of `new_angles`."""
    check_count(trained=trained, tokens=tokens)
    omega, plain = frequencies(layer)
    sees = [size for size in (layer.window, layer.chunk) if size and layer.compressed is None]
    if rule_name(rope_of(layer).scaling) == "dynamic_ntk":
        before = True  # it leaves short texts as they are
    reach, seen = min([tokens, *sees]), min([trained, *sees]) * (plain if before else omega)
    return (seen < 2 * math.pi) & (reach * omega > seen * (1 + 1e-9)) & (omega > 0)


def rope_of(layer: Layer) -> object | None:
    """What turns in a layer, without a norm behind it; None where nothing does."""
    encoding = getattr(layer.encoding, "rope", layer.encoding)
    return encoding if hasattr(encoding, "scaled") else None


def rows_of(reading: Reading) -> int | None:
    """How many tokens have a row of the table that is added to the input; None where there is no table."""
    return len(reading.input.table) - reading.first if isinstance(reading.input, Learned) else None


def rule_name(scaling: object) -> str:
    """The name of a scaling rule, also of one that turns backward."""
    rule = getattr(scaling, "rule", scaling)
    return getattr(rule, "func", rule).__name__


def slopes_of(alibi: ALiBi) -> Tensor:
    """The slopes of the heads, its own or by its rule."""
    return slopes(alibi.heads, alibi.rule, alibi.octaves) if alibi.slopes is None else alibi.slopes


def frequencies(layer: Layer) -> tuple[Tensor, Tensor]:
    """The frequencies of a layer's pairs in force, and before any stretch."""
    rope = rope_of(layer)
    omega = rope.scaled()[0].abs()
    exponent = -2 * omega.new_tensor(range(len(omega))) / (2 * len(omega))
    return omega, rope.base**exponent


def cache_bytes(config: object, tokens: int, number: int = 2) -> dict[str, int]:
    """Bytes of keys and values for one text, by kind of layer: `full`, `window` and `chunk`, and
    `indexer` for the keys that choose keys; those without any left out. An encoder keeps none.

    number is the size of a number, 2 for half precision. Layers with a window keep no more than it, those with chunks
    one chunk; what recurrences keep has one size whatever tokens is, and is not counted. Raises ValueError where the
    configuration does not say how many heads keep keys.

    >>> qwen3 = {"model_type": "qwen3", "num_hidden_layers": 36}
    >>> qwen3 |= {"num_key_value_heads": 8, "head_dim": 128}
    >>> cache_bytes(qwen3, 131_072)["full"] / 2**30
    18.0
    """
    check_count(tokens=tokens, number=number)
    (family, keys), reading = keys_of(config), encoding_of(config, tokens)
    found: Counter[str] = Counter()
    for place, layer in enumerate(reading.layers if reading.causal else ()):
        if not layer.attends or layer.crosses:
            continue
        kind = "window" if layer.window else "chunk" if layer.chunk else "full"
        kept = min(tokens, layer.window or layer.chunk or tokens)
        found[kind] += kept * number * width(family, keys, layer, place)
        if layer.indexer:
            found["indexer"] += kept * number * layer.indexer.dim
    return dict(found)


# Families whose caches hold something else besides: compressed keys, keys of several layers in one, a second attention.
UNKNOWN = frozenset({"deepseek_v4", "gemma3n_text"})
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads", "attention_heads")


def one_or_new(keys: Mapping, heads: int | None, full: bool, place: int) -> int | None:
    one = 1 if keys.get("multi_query", True) else None
    return heads if keys.get("new_decoder_architecture") else one


def one(keys: Mapping, heads: int | None, full: bool, place: int) -> int | None:
    return 1 if keys.get("multi_query", True) else heads


def fewer_where_full(keys: Mapping, heads: int | None, full: bool, place: int) -> int | None:
    return full and keys.get("num_global_key_value_heads") or heads


def more_in_windows(keys: Mapping, heads: int | None, full: bool, place: int) -> int | None:
    return heads if full else keys.get("swa_num_key_value_heads") or heads and 2 * heads


def by_block(keys: Mapping, heads: int | None, full: bool, place: int) -> int | None:
    several = first(*map(keys.get, HEADS))
    return several and several // keys["block_configs"][place]["attention"].get("n_heads_in_group", 1)


# Families whose heads with keys have a rule of their own, and those whose heads are twice as wide as hidden size by heads.
KEPT = {
    "falcon": one_or_new,
    "gemma4_text": fewer_where_full,
    "gemma4_unified_text": fewer_where_full,
    "gpt_bigcode": one,
    "mimo_v2_flash": more_in_windows,
    "nemotron-nas": by_block,
}
TWICE = frozenset({"zamba", "zamba2"})


def width(family: str, keys: Mapping, layer: Layer, place: int) -> int:
    """Numbers that a layer keeps for a token."""
    if family in UNKNOWN or keys.get("num_kv_shared_layers"):
        raise ValueError(
            f"memory of {family} is not known: its layers keep something else besides, or share what they keep"
        )
    if keys.get("kv_lora_rank") and keys.get("qk_rope_head_dim") and not layer.window:
        return keys["kv_lora_rank"] + keys["qk_rope_head_dim"]
    several = first(*map(keys.get, HEADS))
    heads = keys.get("num_key_value_heads") or keys.get("num_kv_heads")
    if keys.get("multi_query_attention"):
        heads = keys.get("multi_query_group_num")
    if family in KEPT:
        heads = KEPT[family](keys, heads, not (layer.window or layer.chunk), place)
    heads, hidden = heads or several, first(*map(keys.get, ("hidden_size", "n_embd", "d_model", "dim", "embed_dim")))
    own = first(*map(keys.get, ("attention_head_dim", "d_kv", "kv_channels", "head_dim")))
    dim = (None if layer.features else getattr(rope_of(layer), "dim", None)) or own
    if not dim and type(hidden) is int and type(several) is int:
        dim = hidden // several * (2 if family in TWICE else 1)
    if type(heads) is not int or type(dim) is not int or min(heads, dim) < 1:
        raise ValueError(
            f"config of {family} must say how many heads keep keys, and how wide they are; got {heads!r} and {dim!r}"
        )
    values = keys.get("v_head_dim") if type(keys.get("v_head_dim")) is int else None
    return heads * (dim + (values or dim))


def traps(config: object) -> list[tuple[str, str]]:
    """What this very configuration may be read wrong by: a sentence, and the section of the book that explains it.

    >>> traps({"model_type": "mpt"})
    []
    """
    family, keys = keys_of(config)
    reading, allowed = encoding_of(config, 1), longest(config)
    turning, found = list(filter(None, map(rope_of, reading.layers))), []
    for rule in rules_of(keys):
        kind, factor, original = kind_of(rule), rule.get("factor"), rule.get("original_max_position_embeddings")
        scales = kind in ("yarn", "llama3")
        if scales and not original and not keys.get("original_max_position_embeddings"):
            told = f"No original length: its code takes {allowed:,} for the length before the stretch."
            found.append((told, "parity"))
        if scales and factor and original and allowed and not math.isclose(factor, allowed / original):
            told = f"The factor is {factor:g}, the quotient of its lengths {allowed / original:g}."
            found.append((told, "stretch"))
        if kind == "longrope" and (switch := original or keys.get("original_max_position_embeddings") or allowed):
            told = f"Its divisors switch past {switch:,} tokens: keys of a cache keep those that they had."
            found.append((told, "stretch"))
        if kind in ("linear", "yarn", "llama3"):
            found.append((OPTIONAL.format(kind) if family in STRETCHED_LATER else RELEASED, "released"))
        if kind == "dynamic":
            told = "The base hangs on the length of the text: keys of a cache keep the base that they had."
            found.append((told, "stretch"))
        if rule.get("attn_factor") is not None:
            told = "attn_factor is passed over by transformers and vLLM, and multiplies"
            found.append((f"{told} in llama.cpp and SGLang.", "factors"))
        if rule.get("truncate") is False:
            found.append(("The ends of YaRN's ramp are not rounded; older code rounds them.", "layouts"))
    if len({rope.base for rope in turning}) > 1:
        found.append(("It has two bases: a new one belongs to one kind of layer.", "layouts"))
    if any(rope.layout == "interleaved" for rope in turning):
        found.append(("Pairs are neighbors: code that turns halves needs its weights sorted.", "layouts"))
    if reading.first:
        told = f"Its first token stands at row {reading.first} of the table, and not at row 0."
        found.append((told, "table"))
    if any(getattr(layer.encoding, "slopes", None) is not None for layer in reading.layers):
        found.append(("Its slopes are divided by the square root of a head's features.", "slopes"))
    return [(sentence, SECTIONS[section]) for sentence, section in dict.fromkeys(found)]


# Families whose makers release them without a stretch, and tell how to add one: `stretch` in book/models/releases.yml.
STRETCHED_LATER = frozenset({"qwen2", "qwen3", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe"})
ADDED = "The stretch is always on: {} reads short texts through it, too."
OPTIONAL = "The makers of Qwen release it without a stretch, and advise one for long texts alone: {} changes short texts, too."
RELEASED = "The stretch belongs to a model that was released with it: keep it for short texts, too."
# Where the book explains a trap: notebook and heading.
SECTIONS = {
    "factors": "04b-stretching: Who multiplies what",
    "layouts": "04a-in-other-code: Two layouts, and the bug between them",
    "parity": "parity: Where they differ",
    "released": "04b-stretching: Trained with a stretch, or without",
    "slopes": "06a-forms-and-relatives: Slopes for any number of heads",
    "stretch": "04b-stretching: Five ways to stretch",
    "table": "03-learned: Past the last row",
}


def settings(config: object, tokens: int, program: str, trained: int | None = None, rule: str | None = None) -> str:
    """Settings that let a program read texts of that length, by one of RULES.

    trained is the length of the training, by default what the configuration calls original, or else allows. Without a rule
    nothing is set within what the file allows, and YaRN beyond it, as the makers of Qwen and others advise it; a rule that
    is named begins from trained. Nothing is needed within that, and within a stretch that the model has; with windows alone
    or ALiBi only the allowed length grows. Raises ValueError for a program that PROGRAMS does not name, a rule that RULES
    does not, and where these positions cannot be stretched so: a table, buckets, two kinds of turns, a stretch that would
    come on top of another, code without YaRN, windows or slopes that the program is not known to have.

    >>> qwen3 = {"model_type": "qwen3"}
    >>> settings(qwen3, 65_536, "llama.cpp", trained=32_768)[:45]
    'llama-server -m MODEL.gguf -c 65536 --rope-sc'
    """
    check_lengths(tokens, trained)
    check_name("program", program, tuple(PROGRAMS))
    check_rule(rule, program)
    family, keys = keys_of(config)
    reading, told = encoding_of(config, tokens), trained or original_length(config)
    values = config if isinstance(config, Mapping) else config.to_dict()
    nested, key = values["model_type"] != family, longest_key(keys) or LENGTHS[0]
    if place := next((name for name in table("families")["elsewhere"] if nested and name in values and "text_config" not in values), None):
        raise ValueError(f"{values['model_type']} has its text in {place}, for which no settings are known")
    if rows := rows_of(reading):
        raise ValueError(f"{family} has a table of {rows:,} rows, and none past them")
    if not any(map(rope_of, reading.layers)) and not slopes_grow(reading, keys):
        raise ValueError(f"{family} turns nothing, so there is nothing to stretch")
    if said := needless(config, reading, tokens, told, rule):
        return said
    if only_longer(reading, tokens, told):
        if not told or tokens > told:
            check_kept(program, family, reading)
        return served(program, {key: tokens}, tokens, nested) + uncapped(program, tokens)
    trained = told or longest(config)
    check_code(family, program, rule or "yarn")
    rope = turned_alike(family, keys, reading, trained, longest(config) or trained, rule)
    scaled, base = ruled(rule or "yarn", rope, tokens, trained)
    scaled |= sections(rope)
    if program == "llama.cpp":
        fits = scaled["rope_type"] == "yarn" or tokens <= (longest(config) or trained)
        return served(program, {}, tokens, nested) + flags(scaled, base) + ("" if fits else uncapped(program, tokens))
    bare = family in HEADLESS and not read(config)["at"]["keys"].get("head_dim")
    head_dim = {"head_dim": rope.dim} if bare and program.startswith("transformers") and rule != "ntk" else {}
    if program == "transformers4":
        return served(program, older(scaled, base) | head_dim | {key: tokens}, tokens, nested)
    whole = {**scaled, "rope_theta": base}
    if program == "vllm" and scaled["rope_type"] == "yarn" and has_longer_table(family, rope):
        whole |= {"beta_fast": 128.0, "beta_slow": 4.0}
    if rope.rotary != rope.dim or keys.get("partial_rotary_factor") is not None:
        whole["partial_rotary_factor"] = rope.rotary / rope.dim
    name = "rope_scaling" if program == "sglang" else "rope_parameters"
    return served(program, {name: whole, **head_dim, key: tokens}, tokens, nested)


def slopes_grow(reading: Reading, keys: Mapping) -> bool:
    return bool(longest_key(keys)) and any(isinstance(layer.encoding, ALiBi) for layer in reading.layers)


def stretched(reading: Reading) -> bool:
    return any(rule_name(rope.scaling) in STRETCHES for rope in filter(None, map(rope_of, reading.layers)))


def only_longer(reading: Reading, tokens: int, told: int | None) -> bool:
    """Whether no angle of a text is new: without turns, in windows and chunks alone, and within the training."""
    turning = [layer for layer in reading.layers if rope_of(layer)]
    if stretched(reading):
        return False
    return bool(told and tokens <= told) or all((one.window or one.chunk) and one.compressed is None for one in turning)


def needless(config: object, reading: Reading, tokens: int, told: int | None, rule: str | None) -> str | None:
    """The line that nothing is to be set, and why; None where something is."""
    allowed = longest(config) or told
    if not allowed or tokens > allowed:
        return None
    begun = f"# Nothing to set: {tokens:,} is within"
    if stretched(reading):
        return f"{begun} its stretch."
    turns = any(map(rope_of, reading.layers))
    if turns and told and tokens <= told:
        return f"{begun} the length of its training."
    allows = "what its file allows" if file_allows(config) else "what its class takes"
    if not told or only_longer(reading, tokens, told):
        return f"{begun} {allows}."
    return None if rule else f"{begun} {allows}; the texts of its training had {told:,}."


def turned_alike(family: str, keys: Mapping, reading: Reading, trained: int | None, allowed: int, rule: str | None) -> object:
    """What turns in all layers that turn. Raises ValueError where a rule cannot stretch it."""
    if trained is None:
        raise ValueError(
            "trained must say the length of the training, because the configuration does not; got None"
        )
    if stretched(reading):
        raise ValueError(
            f"{family} is stretched to {allowed:,} tokens as it is; no second stretch is known for it"
        )
    turning = list(filter(None, map(rope_of, reading.layers)))
    if len({(one.base, one.layout, one.rotary) for one in turning}) > 1 or len(rules_of(keys)) > 1:
        raise ValueError(f"{family} turns in two ways, and one rule is not for both")
    if rule == "ntk" and turning[0].rotary == 2:
        raise ValueError(f"{family} turns one pair, whose pace no base changes")
    if rule == "ntk" and (family in TWO_BASES or "layer_rope_theta" in keys):
        raise ValueError(f"{family} keeps its base in two places, and a setting changes one of them")
    return turning[0]


def sections(rope: object) -> dict:
    """How M-RoPE deals its pairs to coordinates: vLLM and SGLang ask RoPE's parameters for it, also where a class knows it."""
    if not isinstance(rope, MRoPE):
        return {}
    sizes = [rope.deal.count(axis) for axis in range(rope.axes)]
    return {"mrope_section": sizes} | ({"mrope_interleaved": True} if rope.deal != blocks(sizes) else {})


def older(rule: dict, base: float) -> dict:
    """A rule as transformers 4 reads it."""
    return {"rope_theta": base} if rule["rope_type"] == "default" else {"rope_scaling": rule}


RULES = {"yarn": "YaRN", "linear": "interpolation", "ntk": "NTK", "llama3": "Llama 3's rule"}
"""The rules that `settings` knows, and their names.

>>> list(RULES)
['yarn', 'linear', 'ntk', 'llama3']
"""
# Rules without settings, and why.
UNSET = {
    "dynamic": "dynamic NTK has no settings: its base grows with the text while cached keys keep an older one, SGLang fixes "
    "one base as it starts, vLLM keeps the plain one, and llama.cpp has none; ntk sets one base for all texts",
    "longrope": "LongRoPE has no settings: a search with the model itself finds its divisors",
}


def check_rule(rule: str | None, program: str) -> None:
    if rule is None:
        return
    check_name("rule", rule, (*RULES, *UNSET))
    if rule in UNSET:
        raise ValueError(UNSET[rule])
    if (program, rule) == ("llama.cpp", "llama3"):
        raise ValueError("llama.cpp has no flag for Llama 3's rule: it reads its divisors from the model's file")


def ruled(rule: str, rope: object, tokens: int, trained: int) -> tuple[dict, float]:
    """A rule from the trained length to tokens as RoPE's parameters, and the base.

    The factor is rounded up: vLLM keeps a row of its table for each token within the original length times the factor.
    """
    factor = -(-10_000 * tokens // trained) / 10_000
    if rule == "ntk":
        base = rope.base * (tokens / trained) ** (rope.rotary / (rope.rotary - 2))
        return {"rope_type": "default"}, float(f"{base:.7g}")
    made = {"rope_type": rule, "factor": factor}
    if rule == "llama3":
        made |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    if rule != "linear":
        made["original_max_position_embeddings"] = trained
    return made, rope.base


def flags(rule: dict, base: float) -> str:
    """A rule in the words of llama.cpp."""
    kind = rule["rope_type"]
    if kind == "default":
        return f" --rope-freq-base {base:.15g}"
    original = f" --yarn-orig-ctx {rule['original_max_position_embeddings']}" if kind == "yarn" else ""
    return f" --rope-scaling {kind} --rope-scale {rule['factor']:g}{original}"


UNCAPPED = " --override-kv ARCH.context_length=int:{}  # ARCH is the file's general.architecture, as qwen3"


def uncapped(program: str, tokens: int) -> str:
    """llama.cpp's server cuts a text at the length that the file allows, which YaRN's flags alone raise."""
    return UNCAPPED.format(tokens) if program == "llama.cpp" else ""


def has_longer_table(family: str, rope: object) -> bool:
    """Whether vLLM 0.33 makes the ramp of YaRN for 4 times the original length; betas times 4 undo it.

    It does so for M-RoPE, and not where a model passes `mrope_positions_factor`: in vllm/model_executor/models/qwen3_vl.py,
    and in qwen3_vl_moe.py and qwen3_5.py, that is 1 unless tokens of a video are dropped.
    """
    return isinstance(rope, MRoPE) and family not in ONE_TABLE


ONE_TABLE = frozenset({"qwen3_5_moe_text", "qwen3_5_text", "qwen3_vl_moe_text", "qwen3_vl_text"})


def check_code(family: str, program: str, rule: str) -> None:
    """Raise ValueError where the code of a program passes over a rule, or where nothing is known of it."""
    if rows()[family]["source"]:
        raise ValueError(f"{family} has code of its own, for which no settings are known")
    if family in OTHERWISE or rule != "ntk" and family in PASSED_OVER.get(program, ()):
        whose = "code" if family in OTHERWISE else f"code in {PROGRAMS[program].partition(',')[0]}"
        raise ValueError(f"{family} has {whose} that knows no {RULES[rule]}, so a setting would do nothing or fail")


def check_kept(program: str, family: str, reading: Reading) -> None:
    """Raise ValueError where a program may show a layer with a window all of a text, or give it no slopes."""
    if program in KEEPS and family not in KEEPS[program]:
        name = PROGRAMS[program].partition(",")[0]
        what = "windows" if any(map(rope_of, reading.layers)) else "slopes"
        raise ValueError(f"{name} is not known to have the {what} of {family}, so no settings are known")


# Families whose windows, chunks or slopes a program's code has, where no layer needs a stretch.
IN_ALL = ("afmoe", "cohere2", "exaone4", "exaone_moe", "llama4_text", "muse_glimmer_text")
KEEPS = {
    "vllm": (*IN_ALL, "falcon", "mistral", "mixtral"),
    "sglang": IN_ALL,
    "llama.cpp": (*IN_ALL, "mpt"),
}
# Families whose code has no YaRN, or a rule of its own in its place.
OTHERWISE = frozenset(
    {
        "codegen", "cosmos3_edge_text", "dinov3_vit", "ernie4_5_vl_moe_text", "esm", "gptj", "phi3", "phi3_v",
        "phi4_multimodal", "phimoe", "pixtral", "recurrent_gemma", "roformer",
    }
)  # fmt: skip
# Families whose code in a program takes the base and no rule: its `get_rope` is called without `rope_scaling`.
PASSED_OVER = {
    "sglang": (
        "gemma", "gemma2", "granitemoe", "granitemoe_swa", "granitemoeshared", "mixtral", "olmo", "persimmon", "phi", "stablelm",
        "starcoder2", "zaya",
    ),
}  # fmt: skip
# Whose class keeps the base beside the parameters of RoPE, too.
TWO_BASES = frozenset({"bailing_hybrid"})
# Whose classes in transformers fail where a rule scales and no file says how wide a head is.
HEADLESS = frozenset({"hunyuan_v1_dense", "hunyuan_v1_moe", "minimax", "ministral", "mistral", "mixtral"})
STRETCHES = ("dynamic_ntk", "linear", "llama3", "longrope", "yarn")


def served(program: str, changed: dict, tokens: int, nested: bool) -> str:
    """A program's line for changed keys of a configuration; vLLM and SGLang refuse more tokens than these allow."""
    if program.startswith("transformers"):
        place = "config.text_config" if nested else "config"
        return "\n".join(f"{place}.{key} = {value}" for key, value in changed.items())
    said = json.dumps({"text_config": changed} if nested else changed)
    return {
        "vllm": f"vllm serve MODEL --max-model-len {tokens} --hf-overrides '{said}'",
        "sglang": f"python -m sglang.launch_server --model-path MODEL --context-length {tokens} --json-model-override-args '{said}'",
        "llama.cpp": f"llama-server -m MODEL.gguf -c {tokens}",
    }[program]


def in_words(config: object, tokens: int, trained: int | None = None, source: str = "as you say") -> str:
    """What a text of that length asks, in lines: new angles, ends of tables, memory, what to look out for.

    trained is the length of the training, by default what the configuration calls original, or else allows;
    source tells who says it.

    >>> print(in_words({"model_type": "gpt2"}, 2048))
    at 2,048 tokens:
      beside 1,024 tokens, as its class allows:
      the table ends after 1,024 tokens and fails
      keys and values of full layers: 72.0 MiB
    """
    check_lengths(tokens, trained)
    reading, original = encoding_of(config, tokens), original_length(config)
    if reads_pictures(reading.family):
        raise ValueError(f"{reading.family} reads pictures, whose tokens are counted by their size")
    length = trained or original or longest(config)
    lines = [f"at {tokens:,} tokens:"]
    if length:
        by = "file" if file_allows(config) else "class"
        said = source if trained else "before its stretch" if original else f"as its {by} allows"
        lines.append(f"  beside {length:,} tokens, {said}:")
        turning = [layer for layer in reading.layers if rope_of(layer)]
        before = bool(original) and length <= original
        met = {str(layer): new_angles(layer, length, tokens, before) for layer in turning}
        for what, (fresh, pairs) in met.items():
            told = f"{fresh} of {pairs} pairs meet new angles"
            told = told if fresh else f"none of {pairs} pairs meets a new angle"
            lines.append(f"    {told}{seen(what)}")
    if rows := rows_of(reading):
        lines.append(f"  the table ends after {rows:,} tokens" + " and fails" * (tokens > rows))
    try:
        lines += [
            f"  keys and values of {kind} layers: {size(number)}"
            for kind, number in cache_bytes(config, tokens).items()
        ]
    except ValueError as error:
        lines.append(f"  memory is not known: {error}")
    if not reading.causal:
        lines.append("  an encoder keeps no keys and values")
    if reading.encoder:
        lines.append("  keys of the encoder's text, which cross-attention reads, are left out")
    return "\n".join(lines + [f"  look out: {sentence} ({section})" for sentence, section in traps(config)])


def seen(what: str) -> str:
    return next((f" in {part}" for part in what.split("; ") if part.startswith(("a window", "chunks"))), "")


def size(number: int) -> str:
    """Bytes in the largest unit that fits."""
    units = {2**30: "GiB", 2**20: "MiB", 2**10: "KiB", 1: "bytes"}
    unit, name = next((unit, name) for unit, name in units.items() if number >= unit)
    return f"{number / unit:,.1f} {name}"
