"""What a configuration may be read wrong by, and the section of the book that explains it."""

import math
from collections.abc import Iterator, Mapping
from typing import TypedDict

from .angles import turns
from .rope import kind_of
from .schema import Reading
from .tables import table
from .words import fill


class Trap(TypedDict):
    """A trap by its code, with the numbers that its sentence names."""

    code: str
    fields: dict[str, object]


def traps(reading: Reading) -> list[Trap]:
    """The mistakes that programs make when they read this configuration, each once.

    >>> traps(read({"model_type": "roberta"}))
    [{'code': 'first', 'fields': {'first': 2}}]
    """
    every: list[Trap] = []
    for code, fields in [*of_rules(reading), *of_layers(reading)]:
        trap: Trap = {"code": code, "fields": fields}
        every += [trap] if trap not in every else []
    return every


def in_words(trap: Trap) -> tuple[str, str]:
    """The sentence of a trap, and notebook and heading of its section.

    >>> in_words({"code": "first", "fields": {"first": 2}})[0]
    'Its first token is at row 2 of the table, and not at row 0.'
    """
    sentence, section = table("words")["traps"][trap["code"]]
    return fill(sentence, **trap["fields"]), table("words")["sections"][section]


def of_rules(reading: Reading) -> Iterator[tuple[str, dict]]:
    """Traps of RoPE's parameters."""
    allowed, outer = (
        reading["lengths"]["allowed"],
        reading["at"]["keys"].get("original_max_position_embeddings"),
    )
    for rule in filter(None, reading["at"]["rules"].values()):
        yield from of_rule(rule, reading["family"], allowed, outer)


def of_rule(rule: Mapping, family: str, allowed: int | None, outer: int | None) -> Iterator[tuple[str, dict]]:
    kind, factor, original = kind_of(rule), rule.get("factor"), rule.get("original_max_position_embeddings")
    if kind in ("yarn", "llama3"):
        if allowed and not original and not outer:
            yield "no_original", {"allowed": allowed}
        if factor and original and allowed and not math.isclose(factor, allowed / original):
            yield "quotient", {"factor": factor, "quotient": allowed / original}
    if kind == "longrope" and (switch := original or outer or allowed):
        yield "switch", {"tokens": switch}
    if families := table("words")["released_with"].get(kind):
        optional = family in table("words")["released_without_a_stretch"].split()
        known = family in families.split()
        yield ("released", {}) if known else ("optional" if optional else "unsure", {"rule": kind})
    if kind == "dynamic" and not rule.get("alpha"):
        yield "dynamic", {}
    if rule.get("attn_factor") is not None:
        yield "attn_factor", {}
    if rule.get("truncate") is False:
        yield "truncate", {}


def of_layers(reading: Reading) -> Iterator[tuple[str, dict]]:
    """Traps of what turns, of the table and of slopes."""
    turning = [layer["encoding"] for layer in reading["kinds"] if turns(layer)]
    if len({encoding["base"] for encoding in turning}) > 1:
        yield "bases", {}
    if any(encoding["layout"] == "interleaved" for encoding in turning):
        yield "neighbors", {}
    if reading["first"]:
        yield "first", {"first": reading["first"]}
    if any(layer["encoding"] and layer["encoding"].get("divided") is not None for layer in reading["kinds"]):
        yield "slopes", {}
