"""What turns queries and keys in one layer, as data."""

import math

from .keys import Keys, check_size
from .rope import Parameters, kind_of, of_file
from .rules import LARGEST_FLOAT, check_number, is_number, rule_of
from .schema import Encoding
from .tables import Refused

# The encoding, what scores are multiplied by besides, and the features that it gets.
Turn = tuple[Encoding | None, float, list[int] | None]
NOTHING: Turn = (None, 1.0, None)


def turn_of(row: dict, keys: Keys, parameters: Parameters, number: int, kind: str) -> Turn:
    """What layer `number`, of this type, does by these parameters; an encoding of None where no feature turns."""
    bases, stretched = keys.get("layer_rope_theta"), keys.get("rope_scaling_layers")
    if bases is not None:
        if len(bases) <= number:
            raise Refused("layer_bases", got=len(bases))
        if not bases[number]:
            return NOTHING
        parameters = parameters | {"rope_theta": bases[number]}
    if stretched is not None and number not in stretched:
        parameters = {key: parameters[key] for key in ("rope_theta", "partial_rotary_factor")}
    if row["sections"] and not parameters.get("mrope_section"):
        parameters = parameters | {"mrope_section": row["sections"]}
    if row["rope_is_last"]:
        parameters = parameters | {"partial_rotary_factor": 1}
    extra = f"{row['extra']} mrope_section" if row["mrope_layout"] else row["extra"]
    rule, scale = rule_of(parameters, keys, extra)
    if row["rope_is_last"]:
        layout = "half" if keys.get("rope_interleave") is False else row["layout"]
        start, dim = keys.first("qk_nope_head_dim"), keys.first("qk_rope_head_dim")
        return rope(parameters, dim, layout, rule, row["negate"]), scale, [start, start + dim]
    dim = dim_of(row, keys, number, kind)
    parameters = parameters | share_of(keys, dim)
    encoding = rope(
        parameters, dim, layout_of(row, keys), rule, row["negate"], keys.about.get("whole", False)
    )
    if encoding and row["mrope_layout"] and parameters.get("mrope_section"):
        deal = deal_of(row["mrope_layout"], parameters["mrope_section"], encoding["rotary"] // 2)
        encoding |= {"kind": "MRoPE", "axes": 1 + max(deal), "deal": deal}
    if encoding and row["norm_after"]:
        encoding["norm"] = check_number(row["norm_after"], keys.first(row["norm_after"], default=1e-5))
    return encoding, 1.0, None


def layout_of(row: dict, keys: Keys) -> str:
    layout = row["layout"]
    if isinstance(layout, str):
        return layout
    return layout["true" if keys.get(layout["key"], True) else "false"]


def dim_of(row: dict, keys: Keys, number: int, kind: str) -> int:
    """The features of a head in this layer."""
    dim = keys.first(*row["dim"], default=0) or row["wide"] * keys.divided(row["hidden"], row["heads"])
    by_layer = {}
    for key, one in (keys.get("per_layer_config") or {}).items():
        if not isinstance(one, dict) or not key.strip().isdecimal():
            raise Refused("dictionaries", key="per_layer_config", name=key, got=one)
        by_layer[int(key)] = one  # "05", too
    if row["full_dim"] and "per_layer_config" not in keys.own and kind == "full_attention":
        dim = keys.first(row["full_dim"]["key"], default=row["full_dim"]["default"])
    return check_size("head_dim", by_layer.get(number, {}).get("head_dim", dim))


def share_of(keys: Keys, dim: int) -> Parameters:
    """The share that `rotary_dim` means; nothing where no key says it."""
    rotary = keys.get("rotary_dim")
    if rotary is None:
        return {}
    share = keys.own.get("partial_rotary_factor", of_file(keys).get("partial_rotary_factor"))
    if share is not None and int(dim * share) != rotary:
        raise Refused(
            "agree_on",
            one="rotary_dim",
            other="partial_rotary_factor",
            features=dim,
            got=rotary,
            beside=share,
        )
    return {"partial_rotary_factor": rotary / dim}


def rope(
    parameters: Parameters, dim: int, layout: str, rule: dict | None, negate: bool, whole: bool = False
) -> Encoding | None:
    """The turn in heads of `dim` features. whole: the family's code turns whole heads where no rule scales."""
    kind = kind_of(parameters)
    share = 1 if whole and kind == "default" else parameters["partial_rotary_factor"]
    rotary = dim if kind == "proportional" else int(dim * share)
    if not rotary:
        return None
    if type(rotary) is not int or rotary % 2 or rotary > dim:
        raise Refused("even", dim=dim, got=share)
    base = parameters["rope_theta"]
    if base is None:
        raise Refused("no_base")
    if isinstance(base, list | dict):
        raise Refused("one_number", key="rope_theta", got=base)
    if not is_number(base) or not 1 < base <= LARGEST_FLOAT:
        raise Refused("base", got=base)
    check_pairs(rule, rotary // 2, base)
    return {
        "kind": "RoPE",
        "dim": dim,
        "rotary": rotary,
        "base": float(base),
        "layout": layout,
        "axes": 1,
        "rule": rule,
        "backward": negate,
        "norm": None,
    }


def check_pairs(rule: dict | None, pairs: int, base: float) -> None:
    """Raises Refused where a rule does not fit the number of pairs."""
    if rule is None:
        return
    if rule["kind"] in ("yarn", "dynamic_ntk", "ntk") and pairs < 2:
        raise Refused("one_pair", kind=rule["kind"].removesuffix("_ntk"))
    if rule["kind"] == "yarn":
        first = pairs * math.log(rule["length"] / rule["beta_fast"] / (2 * math.pi)) / math.log(base)
        if first > 2 * pairs - 1:  # where programs make a ramp that falls
            raise Refused("ramp", beta=rule["beta_fast"], got=base)
    for key in ("short", "long") if rule["kind"] == "longrope" else ():
        numbers = rule[key]
        if len(numbers) != pairs or not all(is_number(one) and 0 < one < math.inf for one in numbers):
            raise Refused("divisors", key=f"{key}_factor", pairs=pairs, got=numbers)


def deal_of(layout: str, sizes: list[int], pairs: int) -> list[int]:
    """Which coordinate each pair turns by; sizes are how many pairs each coordinate gets."""
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 1 for size in sizes):
        raise Refused("sections", got=sizes)
    if layout == "rows and columns" and (len(sizes) != 3 or sizes[0] != sizes[1]):
        raise Refused("rows_and_columns", got=sizes)
    if sum(sizes) != pairs:
        raise Refused("section_pairs", pairs=pairs, got=sizes)
    if layout == "rows and columns":  # by turns, then time: sizes count the pairs of rows, columns and times
        return [1, 2] * sizes[0] + [0] * sizes[2]
    if layout == "blocks":
        return [axis for axis, size in enumerate(sizes) for _ in range(size)]
    deal, axes = [0] * pairs, len(sizes)
    for axis, size in enumerate(sizes[1:], 1):  # like cards; who has enough is passed over for 0
        if axis + axes * (size - 1) >= pairs:
            raise Refused("section_turns", got=sizes)
        deal[axis : axis + axes * size : axes] = [axis] * size
    return deal


def at_size(turn: Encoding, dim: int, layout: str = "half") -> Encoding:
    """The same turn in heads of another size."""
    if turn["rotary"] > dim:
        raise Refused("indexer_size", key="index_head_dim", rotary=turn["rotary"], got=dim)
    return {**turn, "kind": "RoPE", "dim": dim, "layout": layout}
