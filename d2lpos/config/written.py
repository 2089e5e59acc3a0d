"""A length as somebody writes it, in tokens.

k and m are thousands and millions, K and M 1,024 and its square, as vLLM reads the numbers of its command line
(`human_readable_int` in vllm/engine/arg_utils.py); other programs take digits alone.
"""

import re
from fractions import Fraction
from typing import NotRequired, TypedDict

from .arguments import LARGEST
from .tables import Refused, table
from .words import fill

NUMBER = re.compile(r"([-+\N{MINUS SIGN}]?)([0-9]+(?:\.[0-9]+)?)(?:e\+?([0-9]+))?\s*([kKmM]?)")
DIGITS = 30  # of an exponent or a number, beyond which no text is


class Length(TypedDict):
    """told says how a unit is read, where there is one."""

    tokens: int
    told: NotRequired[str]


def written(text: str) -> Length:
    """The tokens of a text that is written as 131072, 131,072, 1e5, 128K or 200k.

    Raises Refused if text is not a number, or not a whole number, or too large for a text.

    >>> written("131,072 tokens"), written("200k")["tokens"]
    ({'tokens': 131072}, 200000)
    """
    plain = re.sub(r"\s*tokens?$", "", text.strip(), flags=re.IGNORECASE)
    plain = re.sub(r"(?<=[0-9])[,_\s](?=[0-9]{3}(?![0-9]))", "", plain)
    match = NUMBER.fullmatch(plain)
    if not match:
        raise Refused("length_none", got=text)
    sign, number, exponent, unit = match.groups()
    power = (exponent or "").lstrip("0") or "0"
    less, large = sign not in ("", "+"), len(number) > DIGITS or len(power) > 2 or int(power) > DIGITS
    units = table("verdict")["units"]
    value = Fraction(number) * 10 ** (0 if large else int(power))
    tokens = value * units.get(unit, 1)
    if less or not large and tokens < 1:
        raise Refused("length_small", got=text)
    if large or tokens > LARGEST:
        raise Refused("length_large", got=text, limit=LARGEST)
    if tokens.denominator > 1:
        raise Refused("length_part", got=text)
    if not unit:
        return {"tokens": int(tokens)}
    other = f"{number}{unit.swapcase()}"
    others = value * units[unit.swapcase()]
    told = fill(table("verdict")["read_as"], got=plain, tokens=int(tokens), other=other, others=float(others))
    return {"tokens": int(tokens), "told": told}
