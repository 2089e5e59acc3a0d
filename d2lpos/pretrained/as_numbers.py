"""What is read from a configuration, as JSON values: the page that reads a file in the browser has the same.

`book/_static/reader.js` returns this shape, too, and tests/parity/test_reader.py holds both together.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial

from ..encoding import Encoding
from ..rotary.normed import Normed
from ..rotary.scaling import unscaled
from .build import encoding_of
from .layer import Layer, Reading
from .serving import (
    cache_bytes,
    file_allows,
    frequencies,
    longest,
    original_length,
    reads_pictures,
    rope_of,
    rows_of,
    slopes_of,
    traps,
    without,
)

__all__ = ["as_numbers"]

# Of each encoding, the arguments that make it; what turns has frequencies besides.
ARGUMENTS = {
    "ALiBi": ("heads",),
    "BEiT": ("heads", "height", "width"),
    "DeBERTa": ("heads", "features", "clip", "largest"),
    "Decomposed": ("features", "height", "width"),
    "Learned": ("length", "dim"),
    "MRoPE": ("dim", "rotary", "base", "layout", "axes", "deal"),
    "RoPE": ("dim", "rotary", "base", "layout", "axes"),
    "RoPEValues": ("dim", "rotary", "base", "layout", "axes"),
    "Sinusoidal": ("dim", "base", "layout", "endpoint"),
    "Swin": ("heads", "height", "width"),
    "SwinV2": ("heads", "height", "width", "measure"),
    "T5Bias": ("heads", "buckets", "max_distance", "bidirectional"),
}
PLAIN = (
    *("attends", "crosses", "features", "window", "chunk", "tile", "shift", "merged", "cosine", "counts", "scale"),
    *("sinks", "keys", "compressed"),
)


def as_numbers(config: object, tokens: int | None = None, ignore: Collection[str] = ()) -> dict[str, object]:
    """A reading and what serving needs, as dictionaries, lists, numbers, words and None.

    Arguments and errors are those of `encoding_of`. `kinds` has each kind of layer once, and `layers` a number of a
    kind for each layer. What turns has `omega`, the frequencies in force, and `plain`, those before any stretch, both in
    radians per position; `rule` with its numbers; and `attention`, by which turned queries and keys are multiplied.
    `serving` has lengths in tokens, `memory` in bytes of half precision for `tokens` by kind of layer, or in `unknown`
    the sentence why it is not known, and `traps` with their sections.

    >>> llama = as_numbers({"model_type": "llama", "head_dim": 4})
    >>> llama["kinds"][0]["encoding"]["omega"], len(llama["layers"])
    ([1.0, 0.01], 32)
    """
    reading = encoding_of(config, tokens, ignore)
    values = without(config if isinstance(config, Mapping) else config.to_dict(), ignore)
    return {**numbers_of(reading), "serving": serving(values, reading, tokens)}


def numbers_of(reading: Reading) -> dict[str, object]:
    kinds: list[dict] = []
    layers = []
    for layer in map(of_layer, reading.layers):
        if layer not in kinds:
            kinds.append(layer)
        layers.append(kinds.index(layer))
    return {
        "family": reading.family,
        "causal": reading.causal,
        "input": of_encoding(reading.input),
        "first": reading.first,
        "kinds": kinds,
        "layers": layers,
        "pictures": reads_pictures(reading.family),
        "defaults": dict(reading.defaults),
        "ignored": list(reading.ignored),
        "encoder": reading.encoder and numbers_of(reading.encoder),
    }


def of_layer(layer: Layer) -> dict[str, object]:
    found = {name: getattr(layer, name) for name in PLAIN}
    return {
        **found,
        "features": layer.features and list(layer.features),
        "encoding": of_encoding(layer.encoding),
        "indexer": of_encoding(layer.indexer),
        "temperature": layer.temperature and of_function(layer.temperature),
    }


def of_encoding(encoding: Encoding | None) -> dict[str, object] | None:
    if encoding is None:
        return None
    if isinstance(encoding, Normed):
        return {**of_encoding(encoding.rope), "norm": encoding.eps}
    kind = type(encoding).__name__
    found = {"kind": kind, **{name: getattr(encoding, name) for name in ARGUMENTS[kind]}}
    if kind == "ALiBi":
        found |= {"slopes": slopes_of(encoding).tolist(), "divided": encoding.slopes is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()} | of_turn(encoding)


def of_turn(encoding: Encoding) -> dict[str, object]:
    """The frequencies of what turns; `backward` where it turns the other way."""
    layer = Layer(encoding=encoding)
    if rope_of(layer) is None:
        return {}
    omega, plain = frequencies(layer)
    backward = hasattr(encoding.scaling, "rule")
    rule = getattr(encoding.scaling, "rule", encoding.scaling)
    return {
        "rule": None if rule is unscaled else of_function(rule),
        "backward": backward,
        "norm": None,
        "omega": omega.tolist(),
        "plain": plain.tolist(),
        "attention": encoding.scaled()[1],
    }


def of_function(function: Callable) -> dict[str, object]:
    """A rule of scaling or temperature: its name and its numbers."""
    if isinstance(function, partial):
        return {"kind": function.func.__name__, **function.keywords}
    return {"kind": function.__name__}


def serving(values: Mapping, reading: Reading, tokens: int | None) -> dict[str, object]:
    memory, unknown = None, None
    if reads_pictures(reading.family):
        unknown = f"{reading.family} reads pictures, whose tokens are counted by their size"
    elif tokens is not None:
        try:
            memory = cache_bytes(values, tokens)
        except ValueError as error:
            unknown = str(error)
    return {
        "original": original_length(values),
        "longest": longest(values),
        "by_class": not file_allows(values),
        "rows": rows_of(reading),
        "memory": memory,
        "unknown": unknown,
        "traps": [list(trap) for trap in traps(values)],
    }
