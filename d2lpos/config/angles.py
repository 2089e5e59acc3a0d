"""Frequencies of a layer of a reading, in radians a token, and which pairs meet angles that training has not shown them.

Pure functions, in float64; `d2lpos.rotary.scaling` has the same rules as modules of PyTorch use them, and their sources.
"""

import math

from .schema import Encoding, Layer, Reading, Rule

STRETCHES = ("dynamic_ntk", "linear", "llama3", "longrope", "ntk", "yarn")
"""The rules that let a model read longer texts. `proportional` lets pairs stand still and stretches nothing."""


def turns(layer: Layer) -> bool:
    """Whether queries and keys turn in this layer."""
    return bool(layer["encoding"]) and "rotary" in layer["encoding"]


def rule_kind(encoding: Encoding) -> str | None:
    """The name of the rule that scales frequencies; None where none does."""
    return encoding["rule"] and encoding["rule"]["kind"]


def stretched(reading: Reading) -> bool:
    """Whether a rule that stretches is in force in any layer."""
    return any(turns(layer) and rule_kind(layer["encoding"]) in STRETCHES for layer in reading["kinds"])


def within_window(layer: Layer) -> bool:
    """Whether all keys that a token sees are within its window or chunk, so that no angle grows with the text."""
    return bool(layer["window"] or layer["chunk"]) and layer["compressed"] is None


def reach(reading: Reading) -> int:
    """How many tokens YaRN stretches to, its factor times the length that it begins from; 0 where it is not in force."""
    rules = [one["encoding"]["rule"] for one in reading["kinds"] if turns(one) and not within_window(one)]
    return min((int(rule["factor"] * rule["length"]) if rule and rule["kind"] == "yarn" else 0 for rule in rules), default=0)


def plain(encoding: Encoding) -> list[float]:
    """The frequency of each pair before any rule: base^(−2i/rotary); of each axis, where these have pairs of their own.

    >>> plain({"kind": "RoPE", "rotary": 4, "axes": 1, "base": 10_000.0})
    [1.0, 0.01]
    """
    rotary = encoding["rotary"] if "deal" in encoding else encoding["rotary"] // encoding["axes"]
    return [encoding["base"] ** (-2 * i / rotary) for i in range(rotary // 2)]


def in_force(encoding: Encoding, tokens: int | None = None) -> tuple[list[float], float]:
    """The frequency of each pair under the scaling rule, and the factor by which rotated queries and keys are multiplied.

    tokens is the length of the text, on which dynamic NTK and LongRoPE depend. Without it, a short text is assumed.

    >>> llama = read({"model_type": "llama", "head_dim": 4})
    >>> in_force(llama["kinds"][0]["encoding"])
    ([1.0, 0.01], 1.0)
    """
    old, rule, tokens = plain(encoding), encoding["rule"], tokens or 1
    return (RULES[rule["kind"]](old, rule, tokens), attention_factor(rule, tokens)) if rule else (old, 1.0)


def attention_factor(rule: Rule, tokens: int) -> float:
    """What a rule multiplies turned queries and keys by; a file may name it, Phi-3.5-MoE's one for short and one for long texts."""
    own, factor = rule.get("attention_factor"), rule.get("factor", 1)
    if both := rule.get("attention_factors"):
        own = both[tokens > rule["length"]]
    if own is not None:
        return own
    if rule["kind"] == "longrope" and factor > 1:
        return math.sqrt(1 + math.log(factor) / math.log(rule["length"]))
    return 0.1 * math.log(factor) + 1 if rule["kind"] == "yarn" else 1.0


def proportional(old: list[float], rule: Rule, tokens: int) -> list[float]:
    moving = int(rule["share"] * len(old))
    return [one / rule["factor"] if i < moving else 0.0 for i, one in enumerate(old)]


def grown(old: list[float], growth: float) -> list[float]:
    """The frequencies of a base that has grown, the slowest divided by growth."""
    return [one * growth ** -(i / max(len(old) - 1, 1)) for i, one in enumerate(old)]


def dynamic_ntk(old: list[float], rule: Rule, tokens: int) -> list[float]:
    factor = rule["factor"]
    return grown(old, factor * max(tokens / rule["length"], 1) - (factor - 1))


def longrope(old: list[float], rule: Rule, tokens: int) -> list[float]:
    divisors = rule["long" if tokens > rule["length"] else "short"]
    return [one / by for one, by in zip(old, divisors, strict=True)]


def llama3(old: list[float], rule: Rule, tokens: int) -> list[float]:
    low, high, length, factor = rule["low"], rule["high"], rule["length"], rule["factor"]
    omega = []
    for one in old:
        rounds = length * one / (2 * math.pi)
        part = min(max((rounds - low) / (high - low), 0), 1) if low < high else float(rounds >= low)
        omega.append(one * (part + (1 - part) / factor))
    return omega


def yarn(old: list[float], rule: Rule, tokens: int) -> list[float]:
    """Between two pairs it goes over from frequencies as they were to frequencies divided by the factor."""
    step = math.log(old[0] / old[1]) if len(old) > 1 else 1.0
    rounds = rule["length"] * old[0] / (2 * math.pi)
    first, last = (math.log(rounds / rule[end]) / step for end in ("beta_fast", "beta_slow"))
    if rule["truncate"]:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, 2 * len(old) - 1)
    omega = []
    for i, one in enumerate(old):
        part = min(max((i - first) / max(last - first, 1e-3), 0), 1)
        omega.append(one * (1 - part + part / rule["factor"]))
    return omega


RULES = {
    "dynamic_ntk": dynamic_ntk,
    "interlaced": lambda old, rule, tokens: [*old[::2], *old[1::2]],
    "linear": lambda old, rule, tokens: [one / rule["factor"] for one in old],
    "llama3": llama3,
    "longrope": longrope,
    "ntk": lambda old, rule, tokens: grown(old, rule["factor"]),
    "proportional": proportional,
    "yarn": yarn,
}


def fresh(layer: Layer, trained: int, tokens: int, before: bool = False) -> list[bool]:
    """Which pairs of a RoPE layer reach angles in a text of `tokens` tokens that no text of the trained length has.

    A pair that makes a full turn within the trained length reaches no new angle. With a window or a chunk no pair does,
    unless keys beyond it are compressed. before=True means that the trained length is the length before the model was
    stretched, with its original frequencies.

    >>> llama = read({"model_type": "llama", "head_dim": 128})
    >>> sum(fresh(llama["kinds"][0], 4096, 8192))
    18
    """
    encoding = layer["encoding"]
    omega = in_force(encoding, tokens)[0]
    before = before or rule_kind(encoding) == "dynamic_ntk"  # which leaves short texts as they are
    limits = [size for size in (layer["window"], layer["chunk"]) if size and layer["compressed"] is None]
    reach, past = min([tokens, *limits]), min([trained, *limits])
    angles = [past * one for one in (plain(encoding) if before else omega)]
    return [
        angle < 2 * math.pi and reach * one > angle * (1 + 1e-9) and one > 0
        for angle, one in zip(angles, omega, strict=True)
    ]
