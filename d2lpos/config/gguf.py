"""The header of a GGUF file, from the file's first bytes, and the config.json that stands for it.

tables/gguf.json has the format's source, which family of transformers an architecture of llama.cpp is, and what a key means.
`book/your-model/files.js` is the page's.
"""

import math
import struct
from collections.abc import Callable

from .angles import in_force
from .keys import check_size
from .tables import Refused, entry, table, words

MAGIC = b"GGUF"
FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST, FLOAT32 = 8, 9, 0
Tensor = Callable[[str], list[float] | None]


class Header:
    """A place in the first bytes of a file, in the order of bytes that its version is written in. Raises Refused past their end."""

    def __init__(self, data: bytes, name: str):
        self.data, self.name, self.place, self.order = data, name, 8, "<"
        if len(data) < 8:
            raise Refused("gguf_cut", name=name, size=len(data))
        versions = {order: struct.unpack_from(f"{order}I", data, 4)[0] for order in "<>"}
        self.order = min(versions, key=versions.get)
        if versions[self.order] not in (2, 3):
            raise Refused("gguf_version", name=name, got=versions[self.order])

    def skip(self, size: int) -> int:
        """The place before so many bytes, which are there."""
        start = self.place
        if size > len(self.data) - start:
            raise Refused("gguf_cut", name=self.name, size=len(self.data))
        self.place += size
        return start

    def number(self, form: str) -> float:
        start = self.skip(struct.calcsize(f"<{form}"))
        value = struct.unpack_from(self.order + form, self.data, start)[0]
        # Seven digits are what a number of 32 bits holds: 0.0707 is not 0.07069999724626541.
        return float(f"{value:.7g}") if form == "f" else value

    def count(self, what: str) -> int:
        """How many keys, tensors or elements follow. Raises Refused for more than any model has."""
        value, most = self.number("Q"), table("gguf")["most"][what]
        if value > most:
            raise Refused("gguf_count", name=self.name, what=what, most=most, got=value)
        return value

    def text(self) -> str:
        size = self.number("Q")
        start = self.skip(size)
        return self.data[start : start + size].decode("utf-8", "replace")

    def value(self, kind: int) -> object:
        """A value of that type; a list without a few thousand elements at most is passed over as None."""
        if kind == TEXT:
            return self.text()
        if kind != LIST:
            return self.number(self.form(kind))
        kind, count = self.number("I"), self.count("list")
        if kind == TEXT:
            for _ in range(count):
                self.skip(self.number("Q"))
            return None
        size = struct.calcsize(f"<{self.form(kind)}")
        if count > table("gguf")["most"]["kept"]:
            self.skip(size * count)
            return None
        return [self.number(self.form(kind)) for _ in range(count)]

    def form(self, kind: int) -> str:
        if kind not in FORMATS:
            raise Refused("gguf_type", name=self.name, got=kind)
        return FORMATS[kind]


def header_of(data: bytes, name: str) -> tuple[dict[str, object], dict[str, tuple[int, int]], str]:
    """The keys, the byte and the length of each list of numbers of 32 bits among the tensors, and the order of bytes.

    data are the first bytes of a file. Raises Refused where the header does not end within them, and for counts and types
    that no such file has.
    """
    head, tensors, lists = Header(data, name), {}, {}
    most, keys = head.count("tensors"), {}
    for _ in range(head.count("keys")):
        key = head.text()
        keys[key] = head.value(head.number("I"))
    for _ in range(most):
        key, axes = head.text(), head.number("I")
        if axes > 4:
            raise Refused("gguf_count", name=name, what="axes", most=4, got=axes)
        sizes = [head.number("Q") for _ in range(axes)]
        kind, start = head.number("I"), head.number("Q")
        if kind == FLOAT32 and len(sizes) == 1 and sizes[0] <= table("gguf")["most"]["kept"]:
            lists[key] = start, sizes[0]
    each = keys.get("general.alignment") or 32
    begin = -(-head.place // each) * each
    tensors = {key: (begin + start, size) for key, (start, size) in lists.items()}
    return keys, tensors, head.order


def config_of(keys: dict, tensor: Tensor, name: str) -> dict:
    """The config.json that stands for a header: what it leaves out is missing there, too, and is then the family's.

    tensor gives the numbers of a tensor by its name, None where the file has none of that name. Raises Refused for an
    architecture that is not known, and for keys and divisors that are not understood.
    """
    about, arch = table("gguf"), keys.get("general.architecture")
    if not isinstance(arch, str):
        raise Refused("gguf_no_key", name=name, key="general.architecture")
    if arch not in about["architectures"]:
        raise Refused("gguf_architecture", name=name, got=arch)
    own = {key.removeprefix(f"{arch}."): value for key, value in keys.items() if key.startswith(f"{arch}.")}
    check_strange(own, arch, name)
    config = {about["keys"][key]: value for key, value in own.items() if key in about["keys"]}
    config = {"model_type": about["architectures"][arch], **config}
    config |= {"is_causal": False} if own.get("attention.causal") is False else {}
    for key in ("block_count", "attention.head_count", "embedding_length"):
        if own.get(key) is None:
            raise Refused("gguf_no_key", name=name, key=f"{arch}.{key}")
    config["num_hidden_layers"] = check_size("block_count", own["block_count"]) - own.get(
        "nextn_predict_layers", 0
    )
    config |= kinds_of(arch, own, config, name)
    config |= sizes_of(arch, own, config, name)
    return config | rope_of(arch, own, config, tensor, name)


def check_strange(own: dict, arch: str, name: str) -> None:
    """Raise Refused for keys of RoPE and of attention that are not understood, which may speak of positions."""
    about = table("gguf")
    scaling = {f"rope.scaling.{key}" for key in about["scaling"]}
    understood = {*about["keys"], *scaling, *words("gguf", "understood")}
    strange = {
        key: value
        for key, value in own.items()
        if key not in understood and key.startswith(("rope.", "attention."))
    }
    if strange:
        raise Refused("gguf_strange", name=name, arch=arch, keys=strange)
    for key, value in own.items():
        numbers = value if isinstance(value, list) else [value]
        if key in understood - words("gguf", "no_numbers") and not all(
            type(one) in (int, float) for one in numbers
        ):
            raise Refused("number", key=f"{arch}.{key}", got=value)


def kinds_of(arch: str, own: dict, config: dict, name: str) -> dict:
    """Types of layers, where the header says them: a list of windows or their period, and layers without heads."""
    about, pattern, depth = (
        table("gguf"),
        own.get("attention.sliding_window_pattern"),
        config["num_hidden_layers"],
    )
    made = {}
    if type(pattern) is int and pattern > 0:
        pattern = [i % pattern < pattern - 1 for i in range(depth)]
    if isinstance(pattern, list) and arch in about["windows"].split():
        made["layer_types"] = ["sliding_attention" if one else "full_attention" for one in pattern[:depth]]
    for key in ("num_attention_heads", "num_key_value_heads", "sliding_window", "head_dim"):
        if not isinstance(config.get(key), list):
            continue
        numbers = set(config[key][:depth]) - {0}
        if len(numbers) != 1:
            raise Refused("gguf_uneven", name=name, key=key, got=sorted(numbers))
        if 0 in config[key] and arch in about["without_attention"]:
            other = about["without_attention"][arch]
            made["layer_types"] = ["full_attention" if one else other for one in config[key][:depth]]
        made[key] = numbers.pop()
    return made


def sizes_of(arch: str, own: dict, config: dict, name: str) -> dict:
    """How many features of a head turn: a share of them, or those of latent attention beside the others."""
    about, rotary = table("gguf"), own.get("rope.dimension_count")
    heads = check_size("attention.head_count", config["num_attention_heads"])
    dim = own.get("attention.key_length") or check_size("embedding_length", config["hidden_size"]) // heads
    if rotary is not None:
        check_size("rope.dimension_count", rotary)
    if arch == about["mla"]:
        if rotary is None:
            raise Refused("gguf_no_key", name=name, key=f"{arch}.rope.dimension_count")
        whole = own.get("attention.key_length_mla") or dim
        value = own.get("attention.value_length_mla") or own.get("attention.value_length") or whole - rotary
        sizes = {"qk_rope_head_dim": rotary, "qk_nope_head_dim": whole - rotary, "v_head_dim": value}
        return sizes | {"head_dim": None, "num_key_value_heads": heads}
    if rotary is None or rotary == dim:
        return {}
    return {"rotary_dim": rotary} if arch == about["rotary_dim"] else {"partial_rotary_factor": rotary / dim}


def rope_of(arch: str, own: dict, config: dict, tensor: Tensor, name: str) -> dict:
    """RoPE's rule: that of the keys, or the one whose divisors stand in tensors of the file."""
    about, kind = table("gguf"), own.get("rope.scaling.type") or "none"
    numbers = {
        key: own[f"rope.scaling.{gguf}"]
        for gguf, key in about["scaling"].items()
        if f"rope.scaling.{gguf}" in own
    }
    short, long = tensor("rope_factors_short.weight"), tensor("rope_factors_long.weight")
    if short and long:
        length = numbers.pop("original_max_position_embeddings", None)
        rule = {"rope_type": "longrope", "short_factor": short, "long_factor": long}
        rule["attention_factor"] = own.get("rope.scaling.attn_factor")
        return {"rope_scaling": rule, "original_max_position_embeddings": length}
    if own.get("rope.scaling.attn_factor", 1) != 1 or kind not in ("none", "linear", "yarn"):
        strange = {key: own[key] for key in ("rope.scaling.type", "rope.scaling.attn_factor") if key in own}
        raise Refused("gguf_strange", name=name, arch=arch, keys=strange)
    if divisors := tensor("rope_freqs.weight"):
        return {"rope_scaling": llama3_of(divisors, config, own, name)}
    rule = {} if kind == "none" else {"rope_type": kind, **numbers}
    if kind == "linear":
        rule.pop("original_max_position_embeddings", None)
    if kind == "yarn":
        usual = entry(config["model_type"]).get("keys", {}).get("rope_parameters", {})
        rule |= {key: usual[key] for key in ("truncate",) if key in usual}
        weight = own.get("rope.scaling.yarn_log_multiplier")
        rule |= {"mscale": weight * 10, "mscale_all_dim": weight * 10} if weight else {}
    if sections := own.get("rope.dimension_sections"):
        rule = {"rope_type": "default", **rule, "mrope_section": [one for one in sections if one]}
    return {"rope_scaling": rule} if rule else {}


def llama3_of(divisors: list[float], config: dict, own: dict, name: str) -> dict:
    """Llama 3's rule with the factor that makes these divisors. Raises Refused where none does."""
    rule, factor = table("gguf")["llama3"], max(divisors)
    numbers = {"factor": factor, "length": rule["original_max_position_embeddings"], "low": 1, "high": 4}
    base = config.get("rope_theta") or 10_000
    encoding = {"rotary": 2 * len(divisors), "axes": 1, "base": base, "rule": None}
    old, _ = in_force(encoding)
    new, _ = in_force(encoding | {"rule": {"kind": "llama3", **numbers}})
    if not all(
        math.isclose(one / other, divisor, rel_tol=1e-4)
        for one, other, divisor in zip(old, new, divisors, strict=True)
    ):
        raise Refused("gguf_divisors", name=name)
    return rule | {"factor": factor}
