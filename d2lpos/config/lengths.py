"""What lengths a file, a table and a rule allow, in tokens."""

from .keys import Keys, check_size
from .schema import Lengths
from .tables import table


def lengths_of(keys: Keys, part: dict, until: int | None, until_key: str | None) -> Lengths:
    every = {**keys.own, **keys.defaults}
    key, allowed = longest(keys, every)
    rows = part["input"] if part["input"] and part["input"]["kind"] == "Learned" else None
    return {
        "allowed": allowed,
        "key": key,
        "by_class": longest(keys, keys.own)[1] is None,
        "original": original(every),
        "rows": rows["length"] - part["first"] if rows else None,
        "until": until,
        "until_key": until_key,
    }


def longest(keys: Keys, values: dict) -> tuple[str, int | None]:
    """The key that says what length is allowed, and the length; classes may hold it under another name."""
    names, aliases = table("families")["lengths"], keys.about["aliases"]
    for name, of_class in [*((name, name) for name in names), *((name, aliases.get(name)) for name in names)]:
        if values.get(of_class):
            return name, check_size(of_class, values[of_class])
    return names[0], None


def original(every: dict) -> int | None:
    """The length before the model's stretch, which RoPE's parameters say, of all layers or of a type, or a key beside them."""
    rope = every.get("rope_scaling") or every.get("rope_parameters") or {}
    inner = [rope, *rope.values()] if isinstance(rope, dict) else []
    places = [one for one in (*inner, every) if isinstance(one, dict)]
    return next(filter(None, (one.get("original_max_position_embeddings") for one in places)), None)
