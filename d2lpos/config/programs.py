"""A program's line for edits. tables/programs.json says what each program takes, with its version and source."""

import json
from collections.abc import Mapping

from .schema import Encoding, Reading
from .stretch import (
    Edit,
    base_key,
    check_code,
    parameters_of,
    passed_over,
    refuse,
    sections,
    share_of,
    target,
)
from .tables import entry, table
from .words import fill, number


def check_program(reading: Reading, program: str, need: str, why: str, rule: str) -> None:
    """Raise Refused where a program passes the rule over, or may show a layer with a window all of a text.

    need and why are what `needed` returns.
    """
    row, family, words = table("programs")[program], reading["family"], table("settings")
    if need == "length" and row.get("cuts"):
        refuse(reading, "cut", program=row["name"])
    if why == "stretch":
        rule = "yarn"
    elif need == "length":
        if why in ("windows", "slopes") and "windows" in row and family not in row["windows"].split():
            refuse(reading, "no_windows", program=row["name"], what=words[why])
        return
    check_code(reading, rule)
    if rule not in row.get("flags", rule):
        refuse(reading, "no_flag", program=row["name"], rule=words["rules"][rule])
    if family not in row.get("takes", family).split():
        refuse(reading, "no_code_in", program=row["name"], rule=words["rules"][rule])
    if family in passed_over(row, rule):
        refuse(reading, "no_code_in", program=row["name"], rule=words["rules"][rule])


def line(reading: Reading, changes: list[Edit], tokens: int, program: str) -> dict:
    """The program's line for edits of the file, and notes on what is uncommon in it.

    Programs replace RoPE's parameters as one, so these are written whole. Raises Refused where a program is not known to take
    a rule for one kind of layers alone.
    """
    row, at = table("programs")[program], reading["at"]
    keys, parameters = divided(reading, changes)
    if not parameters:
        return {"line": written(reading, row, tokens, keys), "notes": []}
    kind, encoding = target(reading, tokens)
    if kind and (row["form"] != "flags" or len(at["rules"]) > 1):
        families = row.get("by_kind", "")
        if families is not True and reading["family"] not in families.split():
            refuse(reading, "by_kind", program=row["name"])
    whole = completed(reading, parameters, kind, encoding)
    rule = "ntk" if whole["rope_type"] == "default" else whole["rope_type"]
    betas = ramp(reading["family"], row, rule, encoding)
    whole = in_order(whole | betas)
    if row["form"] == "flags":
        text = flags(reading, row, tokens, rule, whole)
    else:
        text = written(reading, row, tokens, spelled(reading, row, whole, kind) | keys)
    return {"line": text, "notes": notes_on(row, kind, betas)}


def divided(reading: Reading, changes: list[Edit]) -> tuple[dict, dict]:
    """The new values of keys of the text, and those of RoPE's parameters that a rule changes, the base among them."""
    at, base = reading["at"], base_key(reading)
    depth = len(at["file"]) + 1
    keys = {change["path"][-1]: change["value"] for change in changes if len(change["path"]) == depth}
    keys.pop("partial_rotary_factor", None)  # which a line has among the parameters
    inner = [change for change in changes if len(change["path"]) > depth]
    others = at["rules"].keys() - {target(reading, 1)[0]} if inner else ()
    parameters = {one["path"][-1]: one["value"] for one in inner if one["path"][-2] not in others}
    return keys, parameters | ({"rope_theta": keys.pop(base)} if base in keys else {})


def completed(reading: Reading, parameters: dict, kind: str, encoding: Encoding) -> dict[str, object]:
    """All parameters of RoPE of a kind of layers, with the new values and what the file says besides."""
    share = share_of(reading, kind, encoding)
    whole = (
        {"rope_type": "default", "rope_theta": encoding["base"]}
        | further(reading, kind)
        | parameters
        | sections(encoding)
    )
    whole.pop("type", None)
    usual = entry(reading["family"]).get("keys", {}).get("partial_rotary_factor") or 1  # of the class
    if {share, usual} != {1} or "partial_rotary_factor" in reading["at"]["keys"]:
        whole["partial_rotary_factor"] = share
    return whole


def further(reading: Reading, kind: str) -> dict[str, object]:
    """What a file's parameters of RoPE say besides, which a program would lose."""
    shares = ("partial_rotary_factor", 1)
    own = parameters_of(reading, kind).items()
    return {
        key: value for key, value in own if key != "type" and value is not None and (key, value) != shares
    }


def in_order(parameters: dict) -> dict:
    """RoPE's parameters as programs' documentation has them in turn."""
    order = table("settings")["order"].split()
    known = [key for key in order if key in parameters]
    return {key: parameters[key] for key in [*known, *(key for key in parameters if key not in order)]}


def spelled(reading: Reading, row: Mapping, whole: dict, kind: str) -> dict[str, object]:
    """RoPE's parameters as a program spells them, those of other kinds of layers among them."""
    if row["base"] == "beside":
        rope = {key: whole[key] for key in whole if key not in ("partial_rotary_factor", "rope_theta")}
        alone = (
            whole["rope_type"] == "default" and rope.keys() - {"rope_type"} <= further(reading, kind).keys()
        )
        base = {"rope_theta": whole["rope_theta"]} if whole["rope_type"] == "default" else {}
        return base | ({} if alone else {row["rope"]: rope})
    if not kind:
        return {row["rope"]: whole}
    others = {
        name: in_order({"rope_type": "default"} | further(reading, name)) for name in reading["at"]["rules"]
    }
    return {row["rope"]: others | {kind: whole}}


def written(reading: Reading, row: Mapping, tokens: int, keys: dict) -> str:
    """A line for keys of the text that have new values; flags have names of their own, but for the length."""
    if row["form"] == "flags":
        return flags(reading, row, tokens, None, {})
    if row["form"] == "attributes":
        place = ".".join(["config", *reading["at"]["code"]])
        return "\n".join(f"{place}.{key} = {literal(value, key, python=True)}" for key, value in keys.items())
    keys = {key: value for key, value in keys.items() if key != "head_dim"}  # which their code finds
    for key in reversed(reading["at"]["code"]):
        keys = {key: keys}
    return fill(row["line"], tokens=tokens, keys=literal(keys))


def ramp(family: str, row: Mapping, rule: str, encoding: Encoding) -> dict[str, float]:
    """The betas that undo where a program makes the ramp of YaRN for several times the original length.

    vLLM 0.33 does so for M-RoPE, in `get_rope`, by `mrope_positions_factor` = 4, and not where a model passes 1: that is in
    vllm/model_executor/models/qwen3_vl.py, and in qwen3_vl_moe.py and qwen3_5.py, unless tokens of a video are dropped.
    """
    about = row.get("ramp")
    if not about or rule != "yarn" or encoding["kind"] != "MRoPE" or family in about["once"].split():
        return {}
    return {name: beta * about["times"] for name, beta in table("settings")["betas"].items()}


def notes_on(row: Mapping, kind: str, betas: Mapping[str, float]) -> list[str]:
    """Why some layers alone are stretched, and why betas stand in a line that are not YaRN's."""
    about = table("settings")
    notes = [fill(about["notes"]["by_kind"], kind=kind)] if kind else []
    if betas:
        usual = {"fast": about["betas"]["beta_fast"], "slow": about["betas"]["beta_slow"]}
        ramps = {"program": row["name"], "times": row["ramp"]["times"]}
        notes.append(fill(about["notes"]["ramp"], **ramps, **usual, **betas))
    return notes


def flags(reading: Reading, row: Mapping, tokens: int, rule: str | None, values: Mapping) -> str:
    """A line of flags. llama.cpp's server cuts a text at the length that the file allows, which YaRN's flags alone raise."""
    text = fill(row["line"], tokens=tokens)
    allowed = reading["lengths"]["allowed"] or 0
    if rule:
        text += fill(row["flags"][rule], **values)
    return text if rule == "yarn" or rule and tokens <= allowed else text + fill(row["longer"], tokens=tokens)


def literal(value: object, key: str = "", python: bool = False) -> str:
    """A value as Python or JSON writes it; numbers that programs want as floats have a point."""
    if isinstance(value, dict):
        quote = "'" if python else '"'
        pairs = (f"{quote}{name}{quote}: {literal(one, name, python)}" for name, one in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(literal(one, key, python) for one in value)}]"
    if python and isinstance(value, bool | None):
        return str(value)
    if isinstance(value, bool | None):
        return json.dumps(value)
    if isinstance(value, str):
        return f"'{value}'" if python else json.dumps(value)
    text = number(value)
    whole = key in table("settings")["floats"].split() and text.lstrip("-").isdigit()
    return f"{text}.0" if whole else text
