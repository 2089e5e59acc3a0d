"""From an outer file to the keys of its text: which family reads it, and where its keys stand."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .keys import Keys
from .schema import Place
from .tables import Refused, by_name, entry, rows, table

DEEPEST = 100  # lists and dictionaries within each other
LARGEST_WHOLE, LARGEST_NUMBER = (1 << 53) - 1, 1 << 1023  # of a number of JavaScript


@dataclass
class Text:
    """The keys of a text: `file` is where they stand in the file, `code` where the outer class of transformers has them.

    defaults are what the outer class takes for keys of its text that are missing, whatever the text's own class takes.
    """

    family: str
    values: dict
    file: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    defaults: dict = field(default_factory=dict)


def check_depth(value: object, name: str, depth: int = 0) -> None:
    """Raises Refused where lists and dictionaries nest too deeply."""
    if depth > DEEPEST:
        raise Refused("deep", name=name)
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for one in inner:
        check_depth(one, name, depth + 1)


def plain(value: object) -> object:
    """Dictionaries and lists as JSON has them, and numbers as all languages have them: 128.0 as 128, and none beyond 2⁵³ whole."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if type(value) is int and abs(value) > LARGEST_WHOLE:
        return float(value) if abs(value) < LARGEST_NUMBER else math.inf if value > 0 else -math.inf
    return (
        int(value) if type(value) is float and value.is_integer() and abs(value) <= LARGEST_WHOLE else value
    )


def text_of(
    values: dict,
    ignore: Collection[str],
    file: tuple[str, ...] = (),
    code: tuple[str, ...] = (),
    defaults: Mapping | None = None,
) -> Text:
    """The text that a file is read for. Raises Refused for a family that is not read."""
    values, ignored = without_keys(values, ignore)
    family = values.get("model_type")
    if isinstance(family, str) and family in by_name("refused"):
        raise Refused("refused_family", got=family, why=by_name("refused")[family])
    if isinstance(family, str) and family in rows():
        return Text(family, values, list(file), list(code), ignored, dict(defaults or {}))
    if isinstance(family, str) and (inner := inner_text(family, values)):
        text, place, of_class = inner
        return text_of(text, ignore, file + place, code + of_class, entry(family).get("text_keys"))
    raise Refused("unknown_family", got=family)


def inner_text(family: str, values: dict) -> tuple[dict, tuple[str, ...], tuple[str, ...]] | None:
    """The text's values, where they stand in these and where in the class; None where a file holds no text."""
    known, text = entry(family), values.get("text_config")
    if isinstance(text, dict):
        name = {"model_type": known.get("text", f"{family}_text")}
        # By a name that only its own class knows.
        by_class = known.get("forced") or known.get("text") and not is_known(text.get("model_type"))
        return {**text, **name} if by_class else {**name, **text}, ("text_config",), ("text_config",)
    if known.get("text"):
        if not known.get("flat"):
            raise Refused("no_text", family=family)
        return {**values, "model_type": known["text"]}, (), ("text_config",)
    for place in table("families")["elsewhere"]:
        one = values.get(place)
        if isinstance(one, dict) and is_known(one.get("model_type")):
            return one, (place,), (place,)
    return None


def is_known(name: object) -> bool:
    return isinstance(name, str) and (
        name in rows() or name in by_name("refused") or name in table("defaults")
    )


def without_keys(values: dict, ignore: Collection[str]) -> tuple[dict, list[str]]:
    """The values without the keys that are named, and the names that were there; rope_scaling.key is within those."""
    rest, names = dict(values), []
    for name in ignore:
        place, _, key = name.partition(".")
        before = dict(rest)
        if name in rest:
            del rest[name]
        elif place in table("families")["spellings"] and isinstance(rest.get(place), dict):
            rest[place] = bare(rest[place], key)
        names += [name] * (rest != before)
    return rest, names


def bare(rope: dict, key: str) -> dict:
    """RoPE's parameters without a key, of all layers or of each kind."""
    return {
        name: bare(one, key) if isinstance(one, dict) else one for name, one in rope.items() if name != key
    }


def by_class_names(family: str, values: dict) -> dict:
    """The values by the names that the family's class has for them, without those that it does not read."""
    known = entry(family)
    aliases, unread = known["aliases"], known.get("unread", ())
    own = {key: value for key, value in values.items() if key not in unread and key not in aliases}
    return {aliases[key]: value for key, value in values.items() if key in aliases} | own


def missing(family: str, own: dict, outer: dict) -> dict:
    """What the class takes for keys that are not there, the outer one's before its own; of RoPE's parameters also for null."""
    spellings = table("families")["spellings"]
    there = {key for key, value in own.items() if value or key not in spellings}
    return {
        key: plain(value) if key in spellings else value
        for key, value in {**entry(family)["keys"], **outer}.items()
        if key not in there and not (key == "rope_parameters" and there.intersection(spellings))
    }


def check_finite(value: object, key: str = "rope_parameters") -> None:
    """Raises Refused for a number that JSON has not."""
    if isinstance(value, float) and not math.isfinite(value):
        raise Refused("number", key=key, got=value)
    pairs = value.items() if isinstance(value, dict) else ((key, one) for one in value) if isinstance(value, list) else ()
    for name, one in pairs:
        check_finite(one, name)


def place_of(text: Text, keys: Keys, rules: dict) -> Place:
    """Where a text's keys stand, and what they say of RoPE, by which settings are written."""
    spellings = table("families")["spellings"]
    whole = {**text.defaults, **keys.own}
    rope = next(([name] for name in spellings if isinstance(whole.get(name), dict)), None)
    if rope and isinstance(whole[rope[0]].get("full_attention"), dict):
        rope.append("full_attention")
    check_finite(rules)
    every = {**keys.own, **keys.defaults}
    beside = {key: keys.own.get(key) for key in ("rope_theta", "partial_rotary_factor", "head_dim")}
    beside |= {key: every.get(key) for key in ("layer_rope_theta", "original_max_position_embeddings")}
    return {
        "file": text.file,
        "code": text.code,
        "rope": rope,
        "inside": bool(rope) and whole[rope[0]].get("rope_theta") is not None,
        "rules": rules,
        "keys": {key: value for key, value in beside.items() if value is not None},
    }
