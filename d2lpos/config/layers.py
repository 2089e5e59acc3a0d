"""Layers as data: what each does where nothing says otherwise, and layers of one kind put together."""

from .schema import Layer, Part

PLAIN: Layer = {
    "type": None,
    "attends": True,
    "crosses": False,
    "encoding": None,
    "features": None,
    "window": None,
    "chunk": None,
    "tile": None,
    "shift": 0,
    "merged": 1,
    "cosine": False,
    "temperature": None,
    "counts": False,
    "scale": 1.0,
    "sinks": False,
    "indexer": None,
    "keys": None,
    "compressed": None,
    "cache": None,
}


def layer(**fields: object) -> Layer:
    return {**PLAIN, **fields}


def stack(layers: list[Layer], **fields: object) -> dict:
    """A part of a model: its layers, and what else differs from a decoder without a table."""
    return {"causal": True, "input": None, "first": 0, "layers": layers, **fields}


def with_kinds(part: dict) -> Part:
    """The part with each kind of layer once, and the number of a kind for each layer."""
    kinds: list[Layer] = []
    numbers: dict[int, int] = {}
    for one in part["layers"]:
        if id(one) not in numbers:
            kinds += [] if one in kinds else [one]
            numbers[id(one)] = kinds.index(one)
    order = [numbers[id(one)] for one in part["layers"]]
    return {**{key: part[key] for key in ("causal", "input", "first")}, "kinds": kinds, "layers": order}
