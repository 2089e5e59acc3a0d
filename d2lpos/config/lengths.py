"""What lengths a file, a table and a rule allow, in tokens."""

from .keys import Keys
from .schema import Lengths
from .tables import table


def parameters_of_rules(every: dict) -> list[dict]:
    """RoPE's parameters as the file or the class says them, of all layers or of each type."""
    parameters = every.get("rope_scaling") or every.get("rope_parameters") or {}
    return (
        [one for one in (parameters, *parameters.values()) if isinstance(one, dict)]
        if isinstance(parameters, dict)
        else []
    )


def lengths_of(keys: Keys, part: dict, until: int | None, until_key: str | None) -> Lengths:
    every, names = {**keys.own, **keys.defaults}, table("families")["lengths"]
    key = next((name for name in names if every.get(name)), None)
    originals = [one.get("original_max_position_embeddings") for one in (*parameters_of_rules(every), every)]
    rows = part["input"] if part["input"] and part["input"]["kind"] == "Learned" else None
    return {
        "allowed": every[key] if key else None,
        "key": key or names[0],
        "by_class": not any(keys.own.get(name) for name in names),
        "original": next(filter(None, originals), None),
        "rows": rows["length"] - part["first"] if rows else None,
        "until": until,
        "until_key": until_key,
    }


def end_of(until: dict | None, keys: Keys) -> tuple[int | None, str | None]:
    """Beyond how many tokens a rule begins that no reading has, and the key that says it."""
    if until is None:
        return None, None
    length, begins = keys.first(until["key"]), [keys.get(flag) for flag in until["where"]]
    return (length, until["key"]) if any(begins) else (None, None)
