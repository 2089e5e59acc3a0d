"""A `config.json` as people have it, and a sentence for what is another file."""

import json
from typing import Any

# Keys that only another file has, and what that file is.
OTHERS = {
    ("peft_type",): "an adapter's configuration: read the config.json of the model that it was made for",
    ("tokenizer_class", "added_tokens_decoder"): "a tokenizer's configuration",
    ("added_tokens",): "a tokenizer",
    ("weight_map",): "a list of files of weights",
    ("image_processor_type",): "an image processor's configuration",
    ("_from_model_config",): "a generation's configuration",
}
LARGEST = 1 << 20  # bytes of a configuration


def parse(text: str, name: str = "the file") -> dict[str, Any]:
    """The configuration that a file holds. Raises a ValueError, one sentence, where it holds none."""
    if len(text) > LARGEST:
        raise ValueError(f"{name} must be a config.json of at most 1 MB; it has {len(text) / LARGEST:.1f} MB")
    try:
        values = json.loads(text, parse_constant=no_number)
    except ValueError as error:
        raise ValueError(f"{name} must be JSON, and is none: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{name} must be a config.json, which is an object of keys; it is a {type(values).__name__}")  # noqa: TRY004
    for keys, what in OTHERS.items():
        if any(key in values for key in keys) and "model_type" not in values:
            raise ValueError(f"{name} must be the config.json of a model; it is {what}")
    if "model_type" not in values:
        raise ValueError(f"{name} must have model_type, which says whose code reads it; it has none")
    return values


def no_number(word: str) -> None:
    """NaN and Infinity, which Python writes and JSON has not."""
    raise ValueError(f"{word} is no number of JSON")
