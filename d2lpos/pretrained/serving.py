"""What a text of N tokens asks of a model: new angles, where tables end, memory for keys and values, and settings.

Pure functions of a configuration and its reading. Lengths are in tokens, memory in bytes.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping

from torch import Tensor

from ..input.learned import Learned
from ..positions.arguments import check_count, check_name
from .layer import Layer
from .reading import completed, encoding_of, of_its_text

__all__ = [
    "PROGRAMS",
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
    "vllm": "vLLM from 0.11.1 on, https://docs.vllm.ai/en/latest/examples/offline_inference/context_extension",
    "sglang": "SGLang 0.5, https://huggingface.co/Qwen/Qwen3-8B#processing-long-texts",
    "llama.cpp": "llama.cpp, https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
}
"""The programs that `settings` knows, with the version and the source of their names.

>>> list(PROGRAMS)
['transformers', 'transformers4', 'vllm', 'sglang', 'llama.cpp']
"""


def keys_of(config: object) -> tuple[str, dict]:
    """The family of a configuration, and its keys with what its class takes for those that are missing."""
    family, values, _ = of_its_text(config)
    own, taken = completed(family, values)
    return family, {**own, **taken}


def original_length(config: object) -> int | None:
    """The length before the model's stretch, where its configuration says one.

    >>> original_length({"model_type": "gpt_oss"})
    4096
    """
    _, keys = keys_of(config)
    rules = [*rules_of(keys), keys]
    return next((length for rule in rules if (length := rule.get("original_max_position_embeddings"))), None)


def longest(config: object) -> int | None:
    """The length that a configuration allows; a model may have been trained on shorter texts.

    >>> longest({"model_type": "gpt2"})
    1024
    """
    _, keys = keys_of(config)
    names = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")
    return next((length for length in map(keys.get, names) if length), None)


def rules_of(keys: Mapping) -> list[Mapping]:
    """RoPE's parameters, of all layers or of each kind."""
    rope = keys.get("rope_scaling") or keys.get("rope_parameters") or {}
    return [one for one in (rope, *rope.values()) if isinstance(one, Mapping)]


def new_angles(layer: Layer, trained: int, tokens: int, before: bool = False) -> tuple[int, int]:
    """How many pairs of a layer that turns meet angles that a text of the trained length has not, and of how many.

    A pair that has come around within the trained length meets none; a window keeps all pairs in what it sees. before
    says that the trained length is that before a stretch, when frequencies were plain.

    >>> from d2lpos.pretrained import encoding_of
    >>> llama = encoding_of({"model_type": "llama", "head_dim": 128})
    >>> new_angles(llama.layers[0], 4096, 8192)
    (18, 64)
    """
    check_count(trained=trained, tokens=tokens)
    omega, plain = frequencies(layer)
    sees = [size for size in (layer.window, layer.chunk) if size]
    reach, seen = min([tokens, *sees]), min([trained, *sees]) * (plain if before else omega)
    fresh = (seen < 2 * math.pi) & (reach * omega > seen * (1 + 1e-9)) & (omega > 0)
    return int(fresh.sum()), len(omega)


def frequencies(layer: Layer) -> tuple[Tensor, Tensor]:
    """The frequencies of a layer's pairs in force, and before any stretch."""
    rope = getattr(layer.encoding, "rope", layer.encoding)
    omega = rope.scaled()[0].abs()
    exponent = -2 * rope.scaled()[0].new_tensor(range(len(omega))) / (2 * len(omega))
    return omega, rope.base**exponent


def cache_bytes(config: object, tokens: int, number: int = 2) -> dict[str, int]:
    """Bytes of keys and values for one text, by kind of layer: `full`, `window` and `chunk`; those without any left out.

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
    for layer in reading.layers:
        if not layer.attends or layer.crosses:
            continue
        kind = "window" if layer.window else "chunk" if layer.chunk else "full"
        kept = min(tokens, layer.window or layer.chunk or tokens)
        found[kind] += kept * number * width(family, keys, layer)
    return dict(found)


def width(family: str, keys: Mapping, layer: Layer) -> int:
    """Numbers that a layer keeps for a token."""
    if layer.features and keys.get("kv_lora_rank"):
        return keys["kv_lora_rank"] + keys["qk_rope_head_dim"]
    full = not (layer.window or layer.chunk)
    several = [name for name in ("num_attention_heads", "n_head", "n_heads", "num_heads") if keys.get(name)]
    heads = keys.get("num_key_value_heads") or keys.get("num_kv_heads") or keys.get("multi_query_group_num")
    if family == "falcon" and not keys.get("new_decoder_architecture"):
        heads = 1 if keys.get("multi_query", True) else None
    if family == "gpt_bigcode" and keys.get("multi_query", True):
        heads = 1
    if family.startswith("gemma4") and full:
        heads = keys.get("num_global_key_value_heads") or heads
    if family == "mimo_v2_flash" and not full:
        heads = keys.get("swa_num_key_value_heads") or heads
    heads = heads or (several and keys[several[0]])
    hidden = next((keys[name] for name in ("hidden_size", "n_embd", "d_model") if keys.get(name)), None)
    dim = getattr(layer.encoding, "dim", None) or keys.get("head_dim")
    dim = dim or (hidden and several and hidden // keys[several[0]])
    if not heads or not dim:
        raise ValueError(f"config of {family} must say how many heads keep keys, and how wide they are")
    return heads * (dim + (keys.get("v_head_dim") or dim))


def traps(config: object) -> list[tuple[str, str]]:
    """What this very configuration may be read wrong by: a sentence, and the section of the book that explains it.

    >>> traps({"model_type": "mpt"})
    []
    """
    _, keys = keys_of(config)
    reading = encoding_of(config, 1)
    rules = [rule for rule in rules_of(keys) if "factor" in rule or "rope_type" in rule or "type" in rule]
    found = []
    for rule in rules:
        kind, factor = rule.get("rope_type") or rule.get("type"), rule.get("factor")
        original, allowed = rule.get("original_max_position_embeddings"), longest(config)
        if kind in ("yarn", "llama3") and not original and not keys.get("original_max_position_embeddings"):
            found.append(
                (
                    f"No original length: its code takes {allowed:,} for the length before the stretch.",
                    "parity",
                )
            )
        if (
            factor
            and original
            and allowed
            and kind in ("yarn", "llama3")
            and not math.isclose(factor, allowed / original)
        ):
            found.append(
                (f"The factor is {factor:g}, the quotient of its lengths {allowed / original:g}.", "stretch")
            )
        if kind in ("linear", "yarn", "llama3", "longrope"):
            found.append((f"The stretch is always on: {kind} reads short texts through it, too.", "stretch"))
        if kind == "dynamic":
            found.append(
                (
                    "The base hangs on the length of the text: keys of a cache keep the base that they had.",
                    "stretch",
                )
            )
        if rule.get("truncate") is False:
            found.append(("The ends of YaRN's ramp are not rounded; older code rounds them.", "layouts"))
    if len({one.encoding.base for one in reading.layers if hasattr(one.encoding, "base")}) > 1:
        found.append(("It has two bases: a new one belongs to one kind of layer.", "layouts"))
    if any(getattr(layer.encoding, "layout", "") == "interleaved" for layer in reading.layers):
        found.append(("Pairs are neighbors: code that turns halves needs its weights sorted.", "layouts"))
    if reading.first:
        found.append(
            (f"Its first token stands at row {reading.first} of the table, and not at row 0.", "table")
        )
    if any(getattr(layer.encoding, "slopes", None) is not None for layer in reading.layers):
        found.append(("Its slopes are divided by the square root of a head's features.", "slopes"))
    return [(sentence, SECTIONS[section]) for sentence, section in dict.fromkeys(found)]


# Where the book explains a trap: notebook and heading.
SECTIONS = {
    "layouts": "04a-in-other-code: Two layouts, and the bug between them",
    "parity": "parity: Where they differ",
    "slopes": "06a-forms-and-relatives: Slopes for any number of heads",
    "stretch": "04b-stretching: Five ways to stretch",
    "table": "03-learned: Past the last row",
}


def settings(config: object, tokens: int, program: str, trained: int | None = None) -> str:
    """Settings that let a program read texts of that length: YaRN, as the makers of Qwen and others advise it.

    trained is the length of the training, by default what the configuration calls original, or else allows. Nothing is needed within it, and within a stretch
    that the model has. Raises ValueError for a program that PROGRAMS does not name, and where these positions cannot be
    stretched so: a table, a bias, two kinds of turns, a stretch that would come on top of another.

    >>> qwen3 = {"model_type": "qwen3"}
    >>> settings(qwen3, 65_536, "llama.cpp", trained=32_768)[:45]
    'llama-server -m MODEL.gguf -c 65536 --rope-sc'
    """
    check_count(tokens=tokens, **({} if trained is None else {"trained": trained}))
    check_name("program", program, tuple(PROGRAMS))
    family, keys = keys_of(config)
    reading = encoding_of(config, tokens)
    trained = trained or original_length(config) or longest(config)
    turning = [layer.encoding for layer in reading.layers if hasattr(layer.encoding, "base")]
    if isinstance(reading.input, Learned):
        rows = len(reading.input.table) - reading.first
        raise ValueError(f"{family} has a table of {rows:,} rows, and none past them")  # noqa: TRY004
    if not turning:
        raise ValueError(f"{family} turns nothing, so there is nothing to stretch")
    if trained is None:
        raise ValueError(
            "trained must say the length of the training, because the configuration does not; got None"
        )
    allowed = longest(config) or trained
    stretched = any(
        getattr(getattr(one.scaling, "func", None), "__name__", "") in STRETCHES for one in turning
    )
    if tokens <= (allowed if stretched else trained):
        return f"# Nothing to set: {tokens:,} is within {'its stretch' if stretched else 'the length of its training'}."
    if stretched:
        raise ValueError(
            f"{family} is stretched to {allowed:,} tokens as it is; no second stretch is known for it"
        )
    if len({(one.base, one.layout) for one in turning}) > 1 or len(rules_of(keys)) > 1:
        raise ValueError(f"{family} turns in two ways, and one rule is not for both")
    rule = {
        "rope_type": "yarn",
        "factor": round(tokens / trained, 4),
        "original_max_position_embeddings": trained,
    }
    return written(program, rule, turning[0].base, tokens)


STRETCHES = ("dynamic_ntk", "linear", "llama3", "longrope", "yarn")


def written(program: str, rule: dict, base: float, tokens: int) -> str:
    """The settings in the words of a program."""
    whole = {**rule, "rope_theta": base}
    if program == "transformers":
        return f"config.rope_parameters = {whole}\nconfig.max_position_embeddings = {tokens}"
    if program == "transformers4":
        return f"config.rope_scaling = {rule}\nconfig.max_position_embeddings = {tokens}"
    if program == "vllm":
        return f"vllm serve MODEL --max-model-len {tokens} --hf-overrides '{json.dumps({'rope_parameters': whole})}'"
    if program == "sglang":
        told = json.dumps({"rope_scaling": rule})
        return f"python -m sglang.launch_server --model-path MODEL --context-length {tokens} --json-model-override-args '{told}'"
    return (
        f"llama-server -m MODEL.gguf -c {tokens} --rope-scaling yarn --rope-scale {rule['factor']:g} "
        f"--yarn-orig-ctx {rule['original_max_position_embeddings']}"
    )


def in_words(config: object, tokens: int, trained: int | None = None) -> str:
    """What a text of that length asks, in lines: new angles, ends of tables, memory, what to look out for.

    trained is the length of the training, by default what the configuration calls original, or else allows.

    >>> print(in_words({"model_type": "gpt2"}, 2048))
    at 2,048 tokens:
      beside 1,024 tokens, as its file allows:
      the table ends after 1,024 tokens and fails
      keys and values of full layers: 72.0 MiB
    """
    check_count(tokens=tokens, **({} if trained is None else {"trained": trained}))
    reading, original = encoding_of(config, tokens), original_length(config)
    length = trained or original or longest(config)
    lines = [f"at {tokens:,} tokens:"]
    if length:
        said = "as you say" if trained else "before its stretch" if original else "as its file allows"
        lines.append(f"  beside {length:,} tokens, {said}:")
        turning = [layer for layer in reading.layers if hasattr(layer.encoding, "base")]
        met = {str(layer): new_angles(layer, length, tokens, before=bool(original)) for layer in turning}
        for what, (fresh, pairs) in met.items():
            told = (
                f"{fresh} of {pairs} pairs meet new angles"
                if fresh
                else f"none of {pairs} pairs meets a new angle"
            )
            lines.append(f"    {told}{seen(what)}")
    if isinstance(reading.input, Learned):
        rows = len(reading.input.table) - reading.first
        lines.append(f"  the table ends after {rows:,} tokens" + " and fails" * (tokens > rows))
    try:
        lines += [
            f"  keys and values of {kind} layers: {size(number)}"
            for kind, number in cache_bytes(config, tokens).items()
        ]
    except ValueError as error:
        lines.append(f"  memory is not known: {error}")
    return "\n".join(lines + [f"  look out: {sentence} ({section})" for sentence, section in traps(config)])


def seen(what: str) -> str:
    return next((f" in {part}" for part in what.split("; ") if part.startswith(("a window", "chunks"))), "")


def size(number: int) -> str:
    """Bytes in the unit that fits, two halves of a number to a GiB and more."""
    unit, name = next(
        (u, n) for u, n in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes")) if number >= u
    )
    return f"{number / unit:,.1f} {name}"
