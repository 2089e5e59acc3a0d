"""What a file may be read wrong by, each as a code of traps.json with its values."""

import math

from .keys import Keys
from .rope import kind_of
from .schema import Layer, Lengths, Trap


def traps_of(row: dict, keys: Keys, rules: list[dict], kinds: list[Layer], first: int, lengths: Lengths) -> list[Trap]:
    """rules are RoPE's parameters as the file says them, of all layers or of each type."""
    found: list[Trap] = []
    outer = {**keys.own, **keys.defaults}.get("original_max_position_embeddings")
    for rule in rules:
        found += traps_of_rule(row, rule, outer, lengths["allowed"])
    turns = [kind["encoding"] for kind in kinds if kind["encoding"] and "rotary" in kind["encoding"]]
    if len({turn["base"] for turn in turns}) > 1:
        found.append(trap("bases"))
    if any(turn["layout"] == "interleaved" for turn in turns):
        found.append(trap("neighbors"))
    if first:
        found.append(trap("first", first=first))
    if any((kind["encoding"] or {}).get("divided") for kind in kinds):
        found.append(trap("slopes"))
    return [one for number, one in enumerate(found) if one not in found[:number]]


def trap(code: str, **values: object) -> Trap:
    return {"code": code, "values": values}


def traps_of_rule(row: dict, rule: dict, outer: int | None, allowed: int | None) -> list[Trap]:
    kind, factor, original = kind_of(rule), rule.get("factor"), rule.get("original_max_position_embeddings")
    scales = kind in ("yarn", "llama3")
    found = []
    if scales and allowed and not original and not outer:
        found.append(trap("no_original", allowed=allowed))
    if scales and factor and original and allowed and not math.isclose(factor, allowed / original):
        found.append(trap("quotient", factor=factor, quotient=allowed / original))
    if kind == "longrope" and (switch := original or outer or allowed):
        found.append(trap("switch", at=switch))
    if kind in ("linear", "yarn", "llama3"):
        later = row["stretch_later"]
        found.append(trap("stretch_later", kind=kind) if later else trap("stretch_released"))
    if kind == "dynamic":
        found.append(trap("dynamic"))
    if rule.get("attn_factor") is not None:
        found.append(trap("attn_factor"))
    if rule.get("truncate") is False:
        found.append(trap("truncate"))
    return found
