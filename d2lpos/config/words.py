"""Words and numbers: how a template of the tables is filled. The page's script fills the same templates by the same rules."""

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

FIELD = re.compile(r"\{(\w+)(?:!([npr]))?(?::(,?)(?:\.(\d+))?([fg]?))?\}")
LONGEST = 80  # characters of a value that an error shows
WIDE = Context(prec=400, rounding=ROUND_HALF_UP)  # enough digits for any float


def fill(template: str, **fields: object) -> str:
    """A template with its fields filled in. Raises KeyError for a field that is missing.

    `{n}` is a word or a number in its fewest digits, `{n:,}` has a comma before each three digits, `{n:.4g}` four significant
    digits, `{n:g}` six, `{n:.1f}` one decimal; a comma may stand before the others. `{x!r}` is a value as JSON, `{x!p}` are keys
    with their values, `{x!n}` names as JSON, and words of a list have commas between them.

    >>> fill("{n:,} tokens, {x:g} and {size:,.1f}", n=131072, x=4.0, size=2048.25)
    '131,072 tokens, 4 and 2,048.3'
    """

    def filled(match: re.Match) -> str:
        name, conversion, comma, digits, form = match.groups()
        value = fields[name]
        if conversion:
            return CONVERSIONS[conversion](value)
        if isinstance(value, list | tuple):
            return ", ".join(one if isinstance(one, str) else as_json(one) for one in value)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return value if isinstance(value, str) else as_json(value)
        if form == "f":
            text = fixed(value, int(digits))
        else:
            text = number(value, int(digits or 6) if form == "g" else None)
        return grouped(text) if comma else text

    return FIELD.sub(filled, template)


def number(value: float, digits: int | None = None) -> str:
    """A number as String(value) of JavaScript has it: the fewest digits that mean it, 4 for 4.0.

    With digits it is rounded to so many significant ones before, halves away from zero, as toPrecision rounds them.

    >>> number(4.0), number(1e-05), number(2.5e-09), number(0.125, 2)
    ('4', '0.00001', '2.5e-9', '0.13')
    """
    if abs(value) > sys.float_info.max:
        return "Infinity" if value > 0 else "-Infinity"
    if math.isnan(value):
        return "NaN"
    if digits is not None:
        value = float(Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(Decimal(value)))
    if isinstance(value, int) and abs(value) < 1 << 53:
        return str(value)
    exact = Decimal(repr(float(value)))
    if exact and not Decimal("1e-6") <= abs(exact) < Decimal("1e21"):
        return f"{exact.normalize():e}"
    text = f"{exact:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals, halves away from zero, as toFixed of JavaScript rounds them."""
    return f"{WIDE.quantize(Decimal(value), Decimal(1).scaleb(-decimals)):f}"


def grouped(text: str) -> str:
    """A printed number with a comma before each three digits of its whole part."""
    whole, point, rest = text.partition(".")
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", whole) + point + rest


def as_json(value: object) -> str:
    """A value as JSON, its numbers as `number` prints them.

    >>> as_json({"a": [1.0, True, None, "b"]})
    '{"a": [1, true, null, "b"]}'
    """
    return "".join(pieces(value))


def pieces(value: object) -> Iterator[str]:
    """The text of `as_json`, piece by piece."""
    if isinstance(value, Mapping):
        for i, (key, one) in enumerate(value.items()):
            yield f"{', ' if i else '{'}{json.dumps(str(key), ensure_ascii=False)}: "
            yield from pieces(one)
        yield "}" if value else "{}"
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for i, one in enumerate(value):
            yield ", " if i else "["
            yield from pieces(one)
        yield "]" if value else "[]"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield number(value)
    else:
        yield json.dumps(value, ensure_ascii=False, default=str)


def shown(value: object) -> str:
    """A value as JSON, the end of a long one cut."""
    text = ""
    for piece in pieces(value):
        text += piece
        if len(text) > LONGEST:
            return f"{text[: LONGEST - 1]}…"
    return text


CONVERSIONS = {
    "n": lambda names: as_json(list(names)),
    "p": lambda keys: ", ".join(f"{key} = {shown(value)}" for key, value in keys.items()),
    "r": shown,
}


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence, the last one after an "and"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers with runs drawn together.

    >>> ranges([0, 1, 2, 4])
    '0–2, 4'
    """
    runs: list[list[int]] = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
