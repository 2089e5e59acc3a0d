"""The edits of a rule that stretches RoPE, and where in a file they stand."""

from collections.abc import Mapping
from typing import TypedDict

from .angles import reach, rule_kind, stretched, turns, within_window
from .rules import check_factor
from .schema import Encoding, Reading
from .tables import Refused, entry, table


class Edit(TypedDict):
    """A key of the outer file by its path, and its new value."""

    path: list[str]
    value: object


def rule_edits(reading: Reading, tokens: int, rule: str, trained: int | None) -> list[Edit]:
    """The edits of a rule from the trained length to tokens. Raises Refused where one rule cannot stretch what turns.

    The factor is rounded up: vLLM keeps a row of its table for each token within the original length times the factor.
    """
    lengths, at = reading["lengths"], reading["at"]
    length = trained or lengths["original"] or lengths["allowed"]
    check_code(reading, rule)
    kind, encoding = target(reading, length)
    factor = check_factor(-(-10_000 * tokens // length) / 10_000)
    if rule == "ntk":
        check_base(reading, encoding)
        exponent = encoding["rotary"] / (encoding["rotary"] - 2)
        base = float(f"{encoding['base'] * (tokens / length) ** exponent:.7g}")
        changes = [{"path": [*at["file"], *path], "value": base} for path in base_paths(reading, kind)]
        return [*apart(reading, kind), *changes]
    own = parameters_of(reading, kind) if at["rope"] else {}  # of the file
    values: dict[str, object] = {"type": rule} if "type" in own else {}
    values |= {"rope_type": rule, "factor": factor}
    values |= table("settings")["begins"] if rule == "llama3" else {}
    values |= {"original_max_position_embeddings": length} if rule != "linear" else {}
    values |= {} if "mrope_section" in own else sections(encoding)
    if (share := share_of(reading, kind, encoding)) != parameters_of(reading, kind)["partial_rotary_factor"]:
        values["partial_rotary_factor"] = share  # the class passes over another one where no rule scales
    if (
        at["inside"] and "rope_theta" in at["keys"]
    ):  # which a class may pass over until parameters lack theirs
        values["rope_theta"] = encoding["base"]
    place = parameters_path(reading, kind)
    beside = {key: value for key, value in values.items() if key in at["keys"]}  # which may not contradict
    changes: list[Edit] = [
        *({"path": [*at["file"], *place, key], "value": value} for key, value in values.items()),
        *({"path": [*at["file"], key], "value": value} for key, value in beside.items()),
    ]
    if needs_head_dim(reading):
        changes.append({"path": [*at["file"], "head_dim"], "value": encoding["dim"]})
    return [*apart(reading, kind), *changes]


def target(reading: Reading, length: int | None) -> tuple[str, Encoding]:
    """What a rule stretches: the type of layers in RoPE's parameters, "" for all, and what turns there.

    Where layers with windows have parameters of their own, only the others are stretched. Raises Refused where one rule cannot
    stretch what turns, or where the trained length is not known.
    """
    by_kind = "" not in reading["at"]["rules"]
    if length is None:
        refuse(reading, "untold")
    if stretched(reading):
        allowed, most = reading["lengths"]["allowed"], reach(reading)
        code = "unbounded" if not allowed else "beyond" if most > allowed else "stretched"
        refuse(reading, code, allowed=allowed, reach=most)
    layers = [layer for layer in reading["kinds"] if turns(layer) and not (by_kind and within_window(layer))]
    names = {layer["type"] if by_kind else "" for layer in layers}
    ways = {tuple(layer["encoding"][key] for key in ("base", "layout", "rotary")) for layer in layers}
    encoding = layers[0]["encoding"]
    if len(names) > 1 or len(ways) > 1 or rule_kind(encoding) is not None:
        refuse(reading, "two_ways")
    return names.pop(), encoding


def check_base(reading: Reading, encoding: Encoding) -> None:
    """Raise Refused where no new base stretches what turns."""
    family = reading["family"]
    if encoding["rotary"] == 2:
        refuse(reading, "one_pair")
    if family in table("settings")["two_bases"].split() or "layer_rope_theta" in reading["at"]["keys"]:
        refuse(reading, "two_bases")


def check_code(reading: Reading, rule: str) -> None:
    """Raise Refused where no program's code for the family takes the rule, or where nothing is known of it."""
    family, about = reading["family"], table("settings")
    if reading["source"]:
        refuse(reading, "own_code")
    if family in passed_over(about, rule):
        refuse(reading, "no_code", rule=about["rules"][rule])


def passed_over(row: Mapping, rule: str) -> list[str]:
    """Families whose code passes a rule over, by a row of the tables: of one program, or of all."""
    lists = row.get("passes_over", {})
    families = lists.get("rules and bases", "").split()
    return families if rule == "ntk" else [*families, *lists.get("rules", "").split()]


def refuse(reading: Reading, code: str, **fields: object) -> None:
    """Raise Refused; its field cap is the longest text that the file as it is allows, None where that is not known."""
    lengths = reading["lengths"]
    cap = lengths["rows"] or lengths["allowed"] or (None if stretched(reading) else lengths["original"])
    raise Refused(f"settings_{code}", family=reading["family"], cap=cap, **fields)


def parameters_of(reading: Reading, kind: str) -> dict:
    """The parameters of RoPE of a kind of layers."""
    return {"partial_rotary_factor": 1} | (reading["at"]["rules"].get(kind) or {})


def parameters_path(reading: Reading, kind: str) -> list[str]:
    """The path of the parameters of RoPE that a rule changes, among the keys of the text.

    A file that has none gets those of transformers 4, which all programs read, unless its class gives them to other kinds of
    layers, too.
    """
    rope = reading["at"]["rope"] or []
    if rope[1:]:
        return [rope[0], kind]
    if kind and entry(reading["family"]).get("scaled") != [kind]:
        return ["rope_parameters", kind]
    return rope or ["rope_scaling"]


def apart(reading: Reading, kind: str) -> list[Edit]:
    """The parameters of each kind of layers, where a rule is for one kind and the file does not have them so."""
    at, (spelling, *inner) = reading["at"], parameters_path(reading, kind)
    if not inner or (at["rope"] or [])[1:]:
        return []
    return [
        {"path": [*at["file"], spelling, name, key], "value": value}
        for name, parameters in at["rules"].items()
        for key, value in ({"rope_type": "default"} | (parameters or {})).items()
        if (key, value) != ("partial_rotary_factor", 1)
    ]


def base_paths(reading: Reading, kind: str) -> list[list[str]]:
    """The paths of the base among the keys of the text: in RoPE's parameters, beside them, or both where both have it."""
    at, place = reading["at"], parameters_path(reading, kind)
    beside = "rope_theta" in at["keys"] or not at["rope"]
    inside = at["inside"] or not beside or bool(place[1:])
    return [[*place, "rope_theta"]] * inside + [[base_key(reading)]] * (beside and not place[1:])


def base_key(reading: Reading) -> str:
    """The key of the base beside RoPE's parameters, of layers without a window where kinds of layers have one each."""
    about = entry(reading["family"])
    names = {name: key for key, name in about.get("aliases", {}).items()}
    return names.get("rope_theta") or about.get("thetas", {}).get("full_attention", "rope_theta")


def needs_head_dim(reading: Reading) -> bool:
    """Whether the class of the family fails where a rule scales and the file does not say how wide a head is."""
    families = table("programs")["transformers"]["needs_head_dim"].split()
    return reading["family"] in families and not reading["at"]["keys"].get("head_dim")


def share_of(reading: Reading, kind: str, encoding: Encoding) -> float:
    """The share of a head's features that turn, as the parameters of RoPE have it if that is the share in force."""
    share, dim, rotary = (
        parameters_of(reading, kind)["partial_rotary_factor"],
        encoding["dim"],
        encoding["rotary"],
    )
    return share if int(dim * share) == rotary else rotary / dim


def sections(encoding: Encoding) -> dict[str, object]:
    """How M-RoPE deals its pairs to coordinates: vLLM and SGLang ask RoPE's parameters for it, also where a class knows it."""
    if encoding["kind"] != "MRoPE":
        return {}
    deal = list(encoding["deal"])
    sizes = [deal.count(axis) for axis in range(encoding["axes"])]
    return {"mrope_section": sizes} | ({} if deal == sorted(deal) else {"mrope_interleaved": True})
