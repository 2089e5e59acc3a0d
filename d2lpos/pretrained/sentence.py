"""A reading in one sentence of plain words. `book/_static/reader.js` writes the same."""

from collections.abc import Mapping
from typing import Any

from ..positions.arguments import check_positive
from .serving import STRETCHES

__all__ = ["sentence"]

# What an encoding of the scores does, and its name.
ADDS = {
    "ALiBi": ("lowers each score by the distance", "ALiBi"),
    "BEiT": ("adds a learned number for each step between two cells to the scores", "BEiT's table"),
    "DeBERTa": ("adds products with learned vectors of distances to the scores", "DeBERTa's two terms"),
    "Decomposed": ("adds products with learned vectors of rows and columns to the scores", "ViTDet's vectors"),
    "Swin": ("adds a learned number for each step between two cells to the scores", "Swin's table"),
    "SwinV2": ("adds a number that a network finds for each step between two cells to the scores", "Swin V2's network"),
    "T5Bias": ("adds a learned number for each range of distances to the scores", "T5's buckets"),
}
BY = {1: "place", 2: "row and column", 3: "time, row and column"}


def sentence(reading: Mapping[str, Any], trained: int | None = None, name: str | None = None) -> str:
    """What turns, adds or biases, where, what a token sees, and on what lengths, in one sentence.

    reading is what `as_numbers` returns, trained the length of the training in tokens, where it is known. name stands for
    the model. Raises TypeError where trained is no integer, ValueError where it is not positive.

    >>> from d2lpos.pretrained.as_numbers import as_numbers
    >>> mpt = as_numbers({"model_type": "mpt", "n_layers": 8})
    >>> sentence(mpt, name="MPT").split(", ")[0]
    'MPT lowers each score by the distance in all 8 layers (ALiBi)'
    """
    if trained is not None:
        check_positive(trained=trained)
    encoder = reading["encoder"]
    subject, longest = name or f"The model ({reading['family']})", reading["serving"]["longest"]
    what = doings(reading, longest)
    parts = [f"{subject}{', in its decoder,' if encoder else ''} {what}", *besides(reading)]
    if encoder:
        other = doings(encoder, longest)
        parts.append(f"its encoder {'does the same' if other == what else other}")
    return "; ".join(parts + lengths(reading, trained)) + "."


def doings(reading: Mapping[str, Any], longest: int | None) -> str:
    """What the input gets, what layers do with positions, and what a token sees."""
    layers = [reading["kinds"][kind] for kind in reading["layers"]]
    found = [added(reading["input"])] if reading["input"] else []
    done: dict[tuple[str, str], int] = {}
    for layer in layers:
        if what := door(layer["encoding"]):
            done[what] = done.get(what, 0) + 1
    found += [f"{what} in {of_all(count, len(layers))} ({kind})" for (what, kind), count in done.items()]
    if not any(layer["attends"] for layer in layers):
        return listed([*(found or ["adds no positions to its input"]), f"has no attention in its {counted(len(layers))}"])
    if not found:
        found.append("gives its attention no positions")
    return listed([*found, sights(reading, layers, longest, [*done.values()])])


def added(encoding: Mapping[str, Any]) -> str:
    kind = {"Learned": "a learned row", "Sinusoidal": "sinusoids"}[encoding["kind"]]
    return f"adds {kind} for each place to its input"


def door(encoding: Mapping[str, Any] | None) -> tuple[str, str] | None:
    """What an encoding does in a layer, and its name; None where there is none."""
    if encoding is None:
        return None
    if encoding["kind"] in ADDS:
        return ADDS[encoding["kind"]]
    turned = "queries, keys and values" if encoding["kind"] == "RoPEValues" else "queries and keys"
    return f"turns {turned} by their {BY[encoding['axes']]}", "M-RoPE" if encoding["kind"] == "MRoPE" else "RoPE"


def sights(
    reading: Mapping[str, Any], layers: list[Mapping[str, Any]], longest: int | None, named: list[int]
) -> str:
    """What a token sees, and in how many layers: in each of those where a door is open, if that is all."""
    seen: dict[str, int] = {}
    for layer in layers:
        if layer["attends"] and not layer["crosses"]:
            what = sight(reading, layer, longest)
            seen[what] = seen.get(what, 0) + 1
    if len(seen) != 1:
        return "sees " + " and ".join(f"{what} in {counted(count)}" for what, count in seen.items())
    [(what, count)] = seen.items()
    return f"sees {what} in {'each' if named == [count] else of_all(count, len(layers))}"


def sight(reading: Mapping[str, Any], layer: Mapping[str, Any], longest: int | None) -> str:
    window = layer["window"]
    if window is not None and (longest is None or window < longest):
        what = f"a window of {window:,} tokens" if reading["causal"] else f"{window - 1:,} tokens on each side"
        return what if layer["compressed"] is None else f"{what}, with a key for each {layer['compressed']:,} before it,"
    if layer["chunk"] is not None:
        return f"its own chunk of {layer['chunk']:,} tokens"
    if layer["tile"] is not None:
        return f"its own square of {layer['tile']} × {layer['tile']} cells"
    if layer["keys"] is not None:
        return f"at most {layer['keys']:,} tokens that an indexer chooses"
    return "the whole picture" if reading["pictures"] else "the whole text"


def besides(reading: Mapping[str, Any]) -> list[str]:
    """Layers without positions beside others with them, layers that see a picture, and those without attention."""
    layers = [reading["kinds"][kind] for kind in reading["layers"]]
    attending = [layer for layer in layers if layer["attends"] and not layer["crosses"]]
    silent = sum(layer["encoding"] is None for layer in attending)
    found = []
    if 0 < silent < len(attending):
        found.append(f"{counted(silent)} {'has' if silent == 1 else 'have'} no positions")
    if crossing := sum(layer["crosses"] for layer in layers):
        found.append(f"{counted(crossing)} {'sees' if crossing == 1 else 'see'} a picture")
    still = sum(not layer["attends"] for layer in layers)
    if 0 < still < len(layers):
        found.append(f"{counted(still)} {'has' if still == 1 else 'have'} no attention")
    return found


def lengths(reading: Mapping[str, Any], trained: int | None) -> list[str]:
    """On what lengths it was trained, where that is known, and what its file or its table allows."""
    said = reading["serving"]
    original, longest, rows = said["original"], said["longest"], said["rows"]
    rules = [kind["encoding"].get("rule") for kind in reading["kinds"] if kind["encoding"]]
    stretched = any(rule and rule["kind"] in STRETCHES for rule in rules)
    told = [] if trained is None else [f"it was trained on texts of {trained:,} tokens"]
    if reading["pictures"]:
        return told
    if rows is not None:
        told.append(f"its table ends after {rows:,} tokens")
    elif stretched and original and longest and original < longest:
        told.append(f"its file stretches {original:,} tokens to {longest:,}")
    elif longest and longest == trained:
        return [f"{told[0]}, as many as {'its class takes' if said['by_class'] else 'its file allows'}"]
    elif longest:
        told.append(f"its {'class takes' if said['by_class'] else 'file allows'} {longest:,} tokens")
    return [", and ".join(told)] if told else []


def of_all(count: int, depth: int) -> str:
    if count < depth:
        return f"{count} of its {counted(depth)}"
    return {1: "its one layer", 2: "both layers"}.get(depth, f"all {depth} layers")


def counted(count: int) -> str:
    return f"{count} layer{'s' * (count != 1)}"


def listed(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])}, and {parts[-1]}"
