"""The keys of a text while it is read, what values they can have, and those that nobody understands."""

import math
from collections.abc import Iterable

from .tables import Refused, entry, read_by_some, table, words

KINDS = {"list": list, "dictionary": dict, "integer": int, "flag": bool}  # by the refusal of any other kind


class Keys:
    """The keys of a text by its class's names; it remembers which were asked for, and shows none that its family refuses.

    own are those of the file, defaults what the class takes for the others, about what is known of the class besides.
    """

    def __init__(self, family: str, row: dict, own: dict, defaults: dict):
        hidden = read_by_some() - set(row["reads"].split())
        self.family, self.own, self.defaults, self.about = family, own, defaults, entry(family)
        self.every = {key: value for key, value in {**own, **defaults}.items() if key not in hidden}
        self.used: set[str] = set()

    def get(self, key: str, default: object = None) -> object:
        if key in self.every:
            self.used.add(key)
        return self.every.get(key, default)

    def __getitem__(self, key: str) -> object:
        if key not in self.every:
            raise Refused("missing", key=key)
        return self.get(key)

    def first(self, *keys: str, default: object = None) -> object:
        """The value of the first of the keys that is there and not null; else the default, or a refusal."""
        values = [value for key in keys if (value := self.get(key)) is not None]
        if values or default is not None:
            return values[0] if values else default
        if len(keys) > 1:
            raise Refused("missing_both", keys=" or ".join(keys))
        raise Refused("missing", key=keys[0])

    def pass_over(self, keys: Iterable[str]) -> None:
        """Keys of the file that something else makes idle are understood, too."""
        self.used.update(key for key in keys if key in self.own)

    def divided(self, hidden: list[str], heads: list[str]) -> int:
        """The features of a head: hidden size by heads."""
        whole, parts = self.first(*hidden), self.first(*heads)
        if type(whole) is not int or type(parts) is not int or parts < 1:
            raise Refused("both_whole", one=hidden[0], other=heads[0], got=whole, beside=parts)
        if whole % parts:
            raise Refused("multiple", key=hidden[0], other=heads[0], by=parts, got=whole)
        return whole // parts


def check_values(values: dict) -> None:
    """Raises Refused, which names a key that cannot have its value."""
    for key, value in values.items():
        if value is not None:
            check_value(key, value, values)
        if key in table("families")["spellings"] and isinstance(value, dict):
            for one in (value, *value.values()):
                if isinstance(one, dict):
                    check_values(one)


def check_nulls(family: str, own: dict) -> None:
    """Raises Refused, which names a key whose null its class does not take; `nulls` are those for which most classes do otherwise.

    A reading made from params.json has null for the length, which such a file leaves out.
    """
    if own.get("_from") == "params.json":
        return
    about = table("defaults").get(family, {})
    for key, usual in about.get("keys", {}).items():
        unlike = key in about.get("nulls", "").split()
        if own.get(key, 0) is None and unlike != (key in words("keys", "not_null")):
            raise Refused("null", key=key, family=family, usual=usual)


def check_value(key: str, value: object, beside: dict) -> None:
    if key in words("keys", "whole"):
        unused = key == "sliding_window" and value == 0 and beside.get("use_sliding_window") is False
        by_stage = key in words("keys", "by_stage") and isinstance(value, list)
        if not unused and not by_stage:
            check_size(key, value)
    number = type(value) in (int, float) and 0 < value < math.inf
    if key in words("keys", "positive") and not number and not isinstance(value, list | dict):
        raise Refused("positive", key=key, got=value)
    for code, kind in KINDS.items():
        if key in words("keys", code) and type(value) is not kind:
            raise Refused(code, key=key, got=value)
    if key in words("keys", "counts") and not (
        type(value) is int and 0 <= value <= table("keys")["largest_size"]
    ):
        raise Refused("whole", key=key, least=0, got=value)
    if key == "no_rope_layers" and value and not set(map(type, value)) <= {int, bool}:
        raise Refused("flags_in_list", key=key, got=value)
    if key == "partial_rotary_factor" and not (type(value) in (int, float) and 0 <= value <= 1):
        raise Refused("share", key=key, got=value)


def check_size(key: str, value: object) -> int:
    """The value, a whole number of at least 1 that a model may have."""
    if type(value) is not int or value < 1:
        raise Refused("whole", key=key, least=1, got=value)
    limits = table("keys")["limits"]
    limit = next((one["most"] for one in limits if key in one["keys"].split()), None)
    if limit is None:
        limit = table("keys")["largest_size"]
    if value > limit:
        raise Refused("too_large", key=key, limit=limit, got=value)
    return value


def check_understood(values: dict, keys: Keys, row: dict) -> None:
    """Raises Refused, which names all keys that are not understood, and not known to say nothing of positions."""
    silent, about = words("keys", "silent"), keys.about
    aliases = {name for name, key in about["aliases"].items() if key in keys.used or key in silent}
    understood = keys.used.union(row["ignored"].split(), about.get("unread", ()), aliases)
    strange = {}
    for key, value in values.items():
        if key in understood or key in silent or value is None or value in ([], {}):
            continue
        if key in words("keys", "says_no") and value is False:
            continue
        if key in words("keys", "idle") and values.get("use_sliding_window") is False:
            continue
        if key == "use_bidirectional_attention" and value == "vision":
            continue  # words see as ever
        strange[key] = value
    if strange:
        raise Refused("strange_keys", family=keys.family, keys=strange, names=list(strange))
