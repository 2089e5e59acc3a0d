"""`encoding_of`: from a configuration to what turns, biases or adds in each layer."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from .families import FAMILIES, READ_BY, REFUSED
from .keys import SAYS_NO, SILENT_KEYS
from .layer import Config, Reading

__all__ = ["encoding_of"]


def encoding_of(config: object, tokens: int | None = None, ignore: Collection[str] = ()) -> Reading:
    """What a configuration says about position, layer by layer.

    config is a `config.json` as a dictionary, as transformers 4 or 5 writes it, or a configuration of transformers.
    One that holds a `text_config` is read for its text. tokens is the length of the text that will be read, which
    dynamic NTK and LongRoPE depend on. ignore names keys to pass over; the reading keeps their names. `print` of a
    reading shows it in words. Raises TypeError for another config or ignore; ValueError for a family that is not
    known or whose positions no reading says, for keys that are neither understood nor known to say nothing of
    positions, for a value that is not understood, and without tokens where these count.

    Learned tables come untrained, in the right size: the weights are the model's. Of a model that reads pictures it
    tells what happens to one of the configuration's size.

    >>> sizes = {"hidden_size": 64, "num_attention_heads": 4}
    >>> llama = {"model_type": "llama", "num_hidden_layers": 2, **sizes}
    >>> rope = encoding_of(llama | {"rope_theta": 5e5}).encodings[0]
    >>> rope.dim, rope.base, rope.layout
    (16, 500000.0, 'half')
    """
    values = config if isinstance(config, Mapping) else getattr(config, "to_dict", lambda: None)()
    if not isinstance(values, Mapping):
        raise TypeError(
            f"config must be a dictionary or a configuration of transformers; got {type(config).__name__}"
        )
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be names of keys, such as ({ignore!r},); got {ignore!r}")
    passed_over = tuple(key for key in ignore if key in values)
    values = {key: value for key, value in values.items() if key not in passed_over}
    family = values.get("model_type")
    if family in REFUSED:
        raise ValueError(f"model_type {family!r} is refused: {REFUSED[family]}")
    if family not in FAMILIES and isinstance(values.get("text_config"), Mapping):
        return encoding_of({"model_type": f"{family}_text", **values["text_config"]}, tokens, ignore)
    if family not in FAMILIES:
        raise ValueError(f"model_type {family!r} is not known")
    read = Config(values, hidden=frozenset(key for key, readers in READ_BY.items() if family not in readers))
    family_row = FAMILIES[family]
    found = family_row.read(family, read, tokens)
    check_keys(family, values, read.used | set(family_row.ignored_keys))
    return replace(found, ignored=passed_over) if passed_over else found


def check_keys(family: str, values: Mapping, understood: set[str]) -> None:
    """Raise a ValueError that names all keys that are not understood, and not known to say nothing of positions."""
    strange = []
    for key, value in values.items():
        if key in understood or key in SILENT_KEYS or value is None or value in ([], {}):
            continue
        if key in SAYS_NO and value is False:
            continue
        if key == "use_bidirectional_attention" and value == "vision":
            continue  # words see as ever
        strange.append(f"{key} = {value!r}")
    if strange:
        raise ValueError(
            f"{family} has keys that are not understood: {', '.join(strange)}. "
            "A key may speak of positions by any word; ignore= names those to pass over"
        )
