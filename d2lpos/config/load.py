"""A file as people have it, its first bytes given: a config.json, Meta's or Mistral's params.json, or the header of a GGUF file.

`book/your-model/files.js` is the page's; tables/params.json has the sources of what a key of params.json means.
"""

import codecs
import struct
from collections import Counter
from collections.abc import Callable, Mapping

from .files import checked, text_of_bytes, values_of
from .gguf import MAGIC, config_of, header_of
from .outer import plain
from .read import read
from .tables import Refused, entry, table
from .words import fill


def load(
    data: bytes, name: str = "the file", more: Callable[[int, int], bytes] | None = None
) -> tuple[dict, list[str]]:
    """The configuration in a file, and sentences on what kind of file it is and what it leaves out.

    data is the whole file. For a GGUF file its first bytes are enough, at most `prefix` of tables/gguf.json, and
    more(start, size) returns other bytes of it. Raises Refused if there is no configuration.

    >>> file = b'{"dim": 4096, "n_layers": 32, "n_heads": 32}'
    >>> config, notes = load(file)
    >>> config["num_hidden_layers"]
    32
    """
    words = table("words")["files"]
    if data.startswith(MAGIC):
        return of_gguf(data, name, more or (lambda start, size: data[start : start + size]))
    text, notes = text_of_bytes(data, name), []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        notes = [fill(words["utf16"], name=name)]
    values = plain(values_of(text, name))
    if is_params(values):
        config, about = of_params(values, name)
        return config, [*notes, *about]
    if "speculators_model_type" in values:
        values = {"model_type": values["speculators_model_type"], **values}
    return checked(values, name), notes + notes_on_draft(values)


def of_gguf(data: bytes, name: str, more: Callable[[int, int], bytes]) -> tuple[dict, list[str]]:
    """The configuration of a GGUF file, and what it leaves out. Raises Refused as `header_of` and `config_of` do."""
    keys, tensors, order = header_of(data, name)

    def tensor(key: str) -> list[float] | None:
        if key not in tensors:
            return None
        start, size = tensors[key]
        part = more(start, 4 * size)
        if len(part) < 4 * size:
            raise Refused("gguf_cut", name=name, size=start + len(part))
        return [float(f"{one:.7g}") for one in struct.unpack(f"{order}{size}f", part)]

    try:
        config = config_of(keys, tensor, name)
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise Refused("odd", why=f"{type(error).__name__}, {error}") from error
    words, arch = table("words")["files"], keys["general.architecture"]
    notes, left = [fill(words["gguf"], name=name, arch=arch)], left_out(config)
    notes += [fill(words["left"], family=config["model_type"], left=left)] if left else []
    stated = config.get("rope_theta")
    for key in entry(config["model_type"]).get("thetas", {}).values() if stated else ():
        notes += [fill(words["one_base"], stated=stated, other=left[key])] if key in left else []
    return config, notes + [words["sorted"]] * (arch in table("gguf")["sorted"].split())


def left_out(config: dict) -> dict:
    """What a family takes for keys that a header leaves out; of types of layers how many there are of each."""
    reading, about = read(config), entry(config["model_type"])
    bases = {
        key: about["keys"]["rope_theta"][kind]
        for kind, key in about.get("thetas", {}).items()
        if key not in config
    }
    kinds = Counter(reading["kinds"][kind]["type"] for kind in reading["layers"])
    types = {"layer_types": dict(kinds)} if len(kinds) > 1 and "layer_types" not in config else {}
    return plain({**reading["defaults"], **bases, **types})


def is_params(values: Mapping) -> bool:
    """Whether these are keys of a params.json of Meta or Mistral; some say that their model_type is "transformer"."""
    return all(key in values for key in table("params")["marks"]) and values.get("model_type") in (
        None,
        "transformer",
    )


def of_params(values: Mapping, name: str) -> tuple[dict, list[str]]:
    """The config.json that stands for a params.json, and what this leaves out.

    Raises Refused for windows of several sizes, and numbers of a stretch that are not known.
    """
    about, words = table("params"), table("words")["files"]
    for key in ("moe", "yarn", "llama_4_scaling"):
        if not isinstance(values.get(key), dict | None):
            raise Refused("dictionary", key=key, got=values[key])
    experts, yarn, temperature = (values.get(key) or {} for key in ("moe", "yarn", "llama_4_scaling"))
    config = {
        about["keys"].get(key, key): value
        for key, value in values.items()
        if key not in about["silent"].split()
    }
    config |= {key: experts[name] for name, key in about["moe"].items() if name in experts}
    config |= windows_of(values, config)
    strange = sorted({*yarn} - {*about["yarn"], "apply_scale"})
    if strange:
        raise Refused("strange_keys_within", key="yarn", names=strange)
    both = {**values, **config}
    family = next((family for key, family in about["families"].items() if both.get(key)), about["family"])
    rule = {"rope_type": "yarn"} if yarn else {}
    rule |= {about["yarn"][key]: value for key, value in yarn.items() if key != "apply_scale"}
    if yarn and "qk_rope_head_dim" in values:
        rule |= about["latent"]
    elif yarn.get("apply_scale") is False:
        rule["attention_factor"] = 1
    if values.get("use_scaled_rope"):
        keys = about["llama3_keys"]
        rule = about["llama3"] | {keys[key]: values[key] for key in keys if values.get(key) is not None}
    if temperature:
        rule |= {"llama_4_scaling_beta": temperature.get("beta")}
        rule.setdefault(
            "original_max_position_embeddings", temperature.get("original_max_position_embeddings")
        )
    length = config.setdefault("max_position_embeddings", None)
    spelling = "rope_parameters" if temperature else "rope_scaling"
    if temperature and "rope_theta" in config:
        rule["rope_theta"] = config.pop("rope_theta")
    notes = [fill(words["params"], name=name, family=family)]
    notes += [words["no_length"]] * (length is None) + [words["scaled"]] * bool(values.get("use_scaled_rope"))
    # A length that the file leaves out is unknown, and null says so where the file is no config.json.
    return {"model_type": family, "_from": "params.json", **config, **({spelling: rule} if rule else {})}, notes


def windows_of(values: Mapping, config: Mapping) -> dict:
    """Windows, which a params.json names by a number, or by a list that its layers repeat."""
    windows, depth = values.get("sliding_window"), config["num_hidden_layers"]
    if not isinstance(windows, list):
        return {} if windows is None else {"sliding_window": windows}
    sizes = {one for one in windows if one is not None}
    if len(sizes) > 1 or not windows or not isinstance(depth, int) or depth % len(windows) or depth > 10_000:
        raise Refused("params_windows", got=windows)
    types = ["full_attention" if one is None else "sliding_attention" for one in windows]
    return {"layer_types": types * (depth // len(windows)), "sliding_window": next(iter(sizes), None)}


def notes_on_draft(config: Mapping) -> list[str]:
    """What a draft borrows from its target, where the keys of a file say that it is one."""
    words = table("words")["files"]
    marks = [key for key in words["draft_marks"].split() if config.get(key) is not None]
    return [fill(words["draft"], keys=marks)] if marks else []
