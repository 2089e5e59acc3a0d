"""A config.json as people have it, and a sentence for what is another file."""

import codecs
import json
import re

from .outer import check_depth
from .tables import Refused, table

KINDS = {"bool": "flag", "float": "number", "int": "number", "str": "text", "NoneType": "null"}
FENCE = re.compile(r"^```\w*\n(.*)\n```$", re.DOTALL)  # as chats and pages have code
PRINTED = re.compile(r"^\w+Config (?=\{)")  # as Python prints a configuration of transformers
GGUF = "GGUF"  # with which such a file of weights begins


def text_of_bytes(data: bytes, name: str = "the file") -> str:
    """The text of a file's bytes, UTF-8 or, where a mark says so, UTF-16. Raises Refused where they are none."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if data.startswith(GGUF.encode()):
        raise Refused("gguf", name=name)
    try:
        return data.decode("utf-16" if utf16 else "utf-8")
    except UnicodeDecodeError:
        raise Refused("no_text_file", name=name) from None


def parse(text: str, name: str = "the file") -> dict[str, object]:
    """The configuration in the text of a file, or as transformers prints it. Raises Refused if there is none.

    >>> parse('LlamaConfig {"model_type": "llama"}')
    {'model_type': 'llama'}
    """
    return checked(values_of(text, name), name)


def values_of(text: str, name: str) -> dict:
    """The keys of a text, of whatever kind it is. Raises Refused where it is no object of JSON."""
    largest = table("keys")["files"]["largest"]
    if len(text) > largest:
        raise Refused("large", name=name, limit=largest >> 20, size=len(text) / (1 << 20))
    if text.startswith(GGUF):
        raise Refused("gguf", name=name)
    text = text.removeprefix("\ufeff").strip()
    text = PRINTED.sub("", FENCE.sub(r"\1", text))
    try:
        values = json.loads(text, parse_int=whole)
        check_depth(values, name)
    except Refused:
        raise
    except RecursionError:
        raise Refused("deep", name=name) from None
    except ValueError as error:
        raise Refused("json", name=name, why=str(error)) from None
    if not isinstance(values, dict):
        raise Refused("object", name=name, kind=KINDS.get(type(values).__name__, type(values).__name__))
    return values


def checked(values: dict, name: str) -> dict:
    """The keys, of a model's configuration. Raises Refused where they are those of another file."""
    if "model_type" in values:
        return values
    for marks, what in table("keys")["files"]["others"]:
        if any(mark in values for mark in marks):
            raise Refused("other_file", name=name, what=what)
    raise Refused("no_model_type", name=name)


def whole(digits: str) -> float:
    """A whole number; one of more digits than a float holds is infinite, as in other languages."""
    return int(digits) if len(digits) < 310 else float(digits)
