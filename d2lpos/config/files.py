"""A config.json as people have it, and a sentence for what is another file."""

import json

from .tables import Refused, table

KINDS = {"bool": "flag", "float": "number", "int": "number", "str": "text", "NoneType": "null"}


def parse(text: str, name: str = "the file") -> dict:
    """The configuration that a file holds. Raises Refused where it holds none."""
    known = table("keys")["files"]
    if len(text) > known["largest"]:
        raise Refused("large", name=name, limit=known["largest"] >> 20, size=len(text) / (1 << 20))
    try:
        values = json.loads(text.removeprefix("\ufeff"), parse_constant=no_number)
    except RecursionError:
        raise Refused("deep", name=name) from None
    except ValueError as error:
        raise Refused("json", name=name, why=str(error)) from None
    if not isinstance(values, dict):
        raise Refused("object", name=name, kind=KINDS.get(type(values).__name__, type(values).__name__))
    if "model_type" in values:
        return values
    for marks, what in known["others"]:
        if any(mark in values for mark in marks):
            raise Refused("other_file", name=name, what=what)
    raise Refused("no_model_type", name=name)


def no_number(word: str) -> None:
    """NaN and Infinity, which Python writes and JSON has not."""
    raise ValueError(f"{word} is no number of JSON")
