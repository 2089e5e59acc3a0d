"""A program's line for edits. tables/programs.json says what each program takes, with its version and source."""

import json
from collections.abc import Mapping

from .edits import Edit, base_key, check_code, passed_over, refuse, sections, share_of, target
from .schema import Encoding, Reading
from .tables import entry, table
from .words import fill, number


def check_program(reading: Reading, program: str, need: str, why: str, rule: str) -> None:
    """Raise Refused where a program passes the rule over, or may show a layer with a window all of a text.

    need and why are what `needed` returns.
    """
    row, family, words = table("programs")[program], reading["family"], table("settings")
    if need == "length":
        if why in ("windows", "slopes") and "windows" in row and family not in row["windows"].split():
            refuse(reading, "no_windows", program=row["name"], what=words[why], family=family)
        return
    check_code(reading, rule)
    if family in passed_over(row, rule):
        refuse(reading, "no_code_in", program=row["name"], family=family, rule=words["rules"][rule])


def line(reading: Reading, changes: list[Edit], tokens: int, program: str) -> dict:
    """The program's line for edits of the file, and notes on what is uncommon in it.

    Programs replace RoPE's parameters as one, so these are written whole. Raises Refused where a program is not known to take
    a rule for one kind of layers alone.
    """
    row, depth, base = table("programs")[program], len(reading["at"]["file"]), base_key(reading)
    keys = {change["path"][-1]: change["value"] for change in changes if len(change["path"]) == depth + 1}
    if not any(len(change["path"]) > depth + 1 or change["path"][-1] == base for change in changes):
        return {"line": written(reading, row, tokens, keys), "notes": []}
    kind, encoding = target(reading, "linear", tokens)
    if kind and (row["form"] != "flags" or len(reading["at"]["rules"]) > 1):
        check_by_kind(reading, program)
    others = reading["at"]["rules"].keys() - {kind}
    values = {
        change["path"][-1]: change["value"]
        for change in changes
        if len(change["path"]) > depth + 1 and change["path"][-2] not in others
    }
    values = {"rope_type": "default", "rope_theta": encoding["base"]} | values
    values |= {"rope_theta": keys.pop(base)} if base in keys else {}
    rule = "ntk" if values["rope_type"] == "default" else values["rope_type"]
    betas = ramp(reading["family"], row, rule, encoding)
    theta = values.pop("rope_theta")
    values = values | sections(encoding) | {"rope_theta": theta} | betas
    values.pop("type", None)
    if row["form"] == "flags":
        text = flags(reading, row, tokens, rule, values)
    else:
        if row["form"] == "json":
            keys.pop("head_dim", None)
        text = written(reading, row, tokens, spelled(reading, row, values, kind, encoding) | keys)
    return {"line": text, "notes": notes_on(row, kind, betas)}


def written(reading: Reading, row: Mapping, tokens: int, keys: dict) -> str:
    """A line for keys of the text that have new values; flags have names of their own, but for the length."""
    if row["form"] == "flags":
        return flags(reading, row, tokens, None, {})
    if row["form"] == "attributes":
        place = ".".join(["config", *reading["at"]["code"]])
        return "\n".join(f"{place}.{key} = {literal(value, key, python=True)}" for key, value in keys.items())
    for key in reversed(reading["at"]["code"]):
        keys = {key: keys}
    return fill(row["line"], tokens=tokens, keys=literal(keys))


def check_by_kind(reading: Reading, program: str) -> None:
    row = table("programs")[program]
    families = row.get("by_kind", "")
    if families is not True and reading["family"] not in families.split():
        refuse(reading, "by_kind", program=row["name"], family=reading["family"])


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


def spelled(reading: Reading, row: Mapping, values: dict, kind: str, encoding: Encoding) -> dict[str, object]:
    """RoPE's parameters as a program spells them, those of other kinds of layers among them."""
    if row["form"] == "flags":
        return {}
    rules, keys = reading["at"]["rules"], reading["at"]["keys"]
    if row["base"] == "beside":
        if values["rope_type"] == "default":
            return {"rope_theta": values["rope_theta"]}
        return {row["rope"]: {key: value for key, value in values.items() if key != "rope_theta"}}
    share = share_of(reading, kind, encoding)
    usual = [rules.get(kind, {}), entry(reading["family"]).get("keys", {})]  # of the file and of the class
    values.pop("partial_rotary_factor", None)
    if {share, *(one.get("partial_rotary_factor") or 1 for one in usual)} != {
        1
    } or "partial_rotary_factor" in keys:
        values = values | {"partial_rotary_factor": share}
    values = values | further(rules.get(kind, {}), values)
    if not kind:
        return {row["rope"]: values}
    others = {
        name: {"rope_type": "default", "rope_theta": one["rope_theta"]} | further(one, {})
        for name, one in rules.items()
    }
    return {row["rope"]: others | {kind: values}}


def further(written: Mapping, values: Mapping) -> dict[str, object]:
    """What a file's parameters of RoPE say besides, which a program would lose."""
    apart = {"type", "rope_theta", *values}
    usual = ("partial_rotary_factor", 1)
    return {
        key: value
        for key, value in written.items()
        if key not in apart and value is not None and (key, value) != usual
    }


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
