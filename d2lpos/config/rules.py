"""Rules that stretch frequencies, as data: the numbers of each, checked, with what its class takes for the others."""

import math

from .keys import Keys
from .rope import ALWAYS, Parameters, kind_of
from .schema import Rule
from .tables import Refused, table

LARGEST_FLOAT = 3.4028234663852886e38  # of float32


def mscale(factor: float, weight: float = 1.0) -> float:
    """0.1 · weight · ln(factor) + 1: what YaRN multiplies queries and keys by; weight is DeepSeek's mscale."""
    return 0.1 * weight * math.log(factor) + 1


def rule_of(parameters: Parameters, keys: Keys, extra: str) -> tuple[Rule | None, float]:
    """The rule of RoPE's parameters, None where nothing is stretched, and what scores are multiplied by besides.

    extra are keys of the parameters that the family reads or that do not speak of position.
    """
    kind = kind_of(parameters)
    check_keys(kind, parameters, keys, extra)
    lengths = [one.get("original_max_position_embeddings") for one in (parameters, keys)]
    if all(lengths) and lengths[0] != lengths[1] and kind not in ("default", "dynamic"):
        raise Refused(
            "one_number_of_two", key="original_max_position_embeddings", got=lengths[0], beside=lengths[1]
        )
    if kind == "default":
        return None, 1.0
    length = lengths[1] or lengths[0] or keys.get("max_position_embeddings")
    factor = factor_of(kind, parameters, keys, any(lengths), length)
    if kind == "dynamic" and parameters.get("alpha"):  # of Hunyuan, whose base grows by it once for all
        return {"kind": "ntk", "factor": check_factor(parameters["alpha"])}, 1.0
    if kind == "proportional":
        return {
            "kind": kind,
            "share": parameters["partial_rotary_factor"],
            "factor": check_factor(factor),
        }, 1.0
    if kind == "linear":
        return {"kind": kind, "factor": check_factor(factor)}, 1.0
    null = parameters.get("original_max_position_embeddings", length) is None and not lengths[1]
    if not length or null and kind != "dynamic":
        raise Refused("needs", kind=kind, key="original_max_position_embeddings")
    if kind == "dynamic":
        longest = keys.first("max_position_embeddings")
        return {"kind": "dynamic_ntk", "factor": check_factor(factor), "length": longest}, 1.0
    return {"llama3": llama3, "longrope": longrope, "yarn": yarn}[kind](parameters, factor, length)


def check_keys(kind: str, parameters: Parameters, keys: Keys, extra: str) -> None:
    rules = table("families")["rules"]
    if kind not in rules:
        raise Refused("rope_type", names=list(rules), got=kind)
    known = {*ALWAYS, *rules[kind].split(), *extra.split()}
    strange = [key for key in sorted(parameters) if key not in known and parameters[key] is not None]
    if strange:
        spellings = table("families")["spellings"]
        place = next((name for name in spellings if keys.own.get(name)), spellings[0])
        values = {f"{place}.{key}": parameters[key] for key in strange}
        raise Refused("strange_keys_of_rule", kind=kind, keys=values, names=list(values))
    share = parameters["partial_rotary_factor"]
    if not is_number(share) or not 0 <= share <= 1:
        raise Refused("share", key="partial_rotary_factor", got=share)
    if keys.about.get("whole") and kind not in ("default", "proportional") and share != 1:
        raise Refused("whole_head", kind=kind, got=share)


def factor_of(kind: str, parameters: Parameters, keys: Keys, original: bool, length: int | None) -> object:
    """The factor, or the quotient of two lengths: LongRoPE's where it is missing or null, YaRN's where it is null."""
    factor = parameters.get("factor", 1 if kind == "proportional" else None)
    if factor is not None:
        return factor
    longest = keys.get("max_position_embeddings")
    may = kind == "longrope" or kind == "yarn" and "factor" in parameters and original
    if not may or not length or not longest:
        raise Refused("needs_factor", kind=kind)
    return longest / length


def llama3(parameters: Parameters, factor: object, length: int) -> tuple[Rule, float]:
    low, high = (need(parameters, "llama3", f"{end}_freq_factor") for end in ("low", "high"))
    check_band("low_freq_factor", low, "high_freq_factor", high)
    return {"kind": "llama3", "factor": check_factor(factor), "length": length, "low": low, "high": high}, 1.0


def longrope(parameters: Parameters, factor: object, length: int) -> tuple[Rule, float]:
    """LongRoPE; Phi-3.5-MoE has two numbers in place of the factor of attention, one for each list."""
    rule: Rule = {"kind": "longrope"}
    for name in ("short", "long"):
        rule[name] = need(parameters, "longrope", f"{name}_factor")
    rule |= {"length": length, "factor": check_factor(max(factor, 1))}
    rule["attention_factor"] = check_scale("attention_factor", parameters.get("attention_factor"))
    scales = [f"{name}_mscale" for name in ("short", "long")]
    if any(name in parameters for name in scales):
        rule["attention_factors"] = [check_scale(key, need(parameters, "longrope", key)) for key in scales]
    elif rule["attention_factor"] is None and length == 1 and rule["factor"] > 1:
        raise Refused("original_of_one")
    return rule, 1.0


def yarn(parameters: Parameters, factor: object, length: int) -> tuple[Rule, float]:
    """YaRN; DeepSeek's two weights make the factor of attention, and what all scores are multiplied by."""
    check_factor(factor)
    attention = check_scale("attention_factor", parameters.get("attention_factor"))
    each, whole = (check_number(key, parameters.get(key)) for key in ("mscale", "mscale_all_dim"))
    if attention is None and each and whole:
        attention = check_scale("mscale", mscale(factor, each) / mscale(factor, whole))
    fast, slow = parameters.get("beta_fast") or 32, parameters.get("beta_slow") or 1
    check_band("beta_slow", slow, "beta_fast", fast)
    truncate = parameters.get("truncate", True)
    if not isinstance(truncate, bool | None):
        raise Refused("flag", key="truncate", got=truncate)
    rule: Rule = {
        "kind": "yarn",
        "factor": factor,
        "length": length,
        "beta_fast": fast,
        "beta_slow": slow,
        "truncate": bool(truncate),
        "attention_factor": attention,
    }
    return rule, mscale(factor, whole) ** 2 if whole else 1.0


def need(parameters: Parameters, kind: str, key: str) -> object:
    if parameters.get(key) is None:
        raise Refused("needs", kind=kind, key=key)
    return parameters[key]


def check_number(key: str, value: object) -> object:
    """The value, a number that float32 holds, or None."""
    if value is not None and not (is_number(value) and abs(value) <= LARGEST_FLOAT):
        raise Refused("number", key=key, got=value)
    return value


def check_scale(key: str, value: object) -> object:
    """The value, a number above 0, or None."""
    if check_number(key, value) is not None and value <= 0:
        raise Refused("positive", key=key, got=value)
    return value


def check_factor(factor: object) -> object:
    if not is_number(factor) or not 1 <= factor < math.inf:
        raise Refused("factor", got=factor)
    if factor > (limit := table("settings")["largest_factor"]):
        raise Refused("too_large", key="factor", limit=limit, got=factor)
    return factor


def check_band(slow: str, low: object, fast: str, high: object) -> None:
    if not (is_number(low) and is_number(high) and 0 < low <= high <= LARGEST_FLOAT):
        raise Refused("band", slow=slow, fast=fast, got=low, beside=high)


def is_number(value: object) -> bool:
    return type(value) in (int, float)
